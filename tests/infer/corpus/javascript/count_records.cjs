// Row counts of the data files, with the tools that are there anyway.
const cp = require('child_process');

const FILES = ['data/sales.csv', 'data/customers.csv', 'data/events.jsonl'];

function run(program, ...args) {
  const { stdout, status, error } = cp.spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  return stdout;
}

const counts = run('wc', '-l', ...FILES)
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
  .filter(([, name]) => name !== 'total')
  .map(([count, name]) => ({ name, rows: Number(count) - (name.endsWith('.csv') ? 1 : 0) }));

console.table(counts);

const errors = cp.execSync('grep -c ERROR data/logs/app.log || true').toString().trim();
console.log(`errors in the log: ${errors}`);
