// Prints fresh totals whenever a data file changes. Ends with Ctrl-C.
import chokidar from 'chokidar';
import { readFileSync } from 'node:fs';

function total(file) {
  const [header, ...rows] = readFileSync(file, 'utf8').trim().split('\n');
  const column = header.split(',').indexOf('quantity');
  return column < 0 ? null : rows.reduce((sum, row) => sum + Number(row.split(',')[column]), 0);
}

const watcher = chokidar.watch('./data', {
  ignored: (path, stats) => stats?.isFile() && !path.endsWith('.csv'),
  persistent: true,
  awaitWriteFinish: { stabilityThreshold: 300 },
});

for (const event of ['add', 'change']) {
  watcher.on(event, (path) => {
    const sum = total(path);
    if (sum !== null) console.log(`${event} ${path}: ${sum}`);
  });
}
watcher.on('error', (error) => console.error('watch failed:', error.message));
process.on('SIGINT', async () => {
  await watcher.close();
  process.exit(0);
});
