// Prints the slowest hours of the newest access log.
const { readdirSync, readFileSync } = require('fs');
const { join } = require('path');

const LOG_DIR = join('.', 'data', 'logs');
const NAME = /^access-(\d{4})-(\d{2})-(\d{2})\.log$/;

function newest(dir) {
  return readdirSync(dir)
    .map((name) => ({ name, match: NAME.exec(name) }))
    .filter(({ match }) => match)
    .map(({ name, match: [, year, month, day] }) => ({ name, when: Date.UTC(year, month - 1, day) }))
    .sort((a, b) => b.when - a.when)[0];
}

const log = newest(LOG_DIR);
if (!log) {
  console.log('no access logs');
  process.exit(0);
}

const hours = new Map();
for (const line of readFileSync(join(LOG_DIR, log.name), 'utf8').trim().split('\n')) {
  const hour = line.match(/\[\d+\/\w+\/\d+:(\d\d)/)?.[1];
  const bytes = Number(line.split(' ').pop());
  if (hour) hours.set(hour, (hours.get(hour) ?? 0) + bytes);
}

console.log(log.name);
[...hours].sort((a, b) => b[1] - a[1]).slice(0, 5).forEach(([hour, bytes]) => {
  console.log(`  ${hour}h ${(bytes / 1024).toFixed(1)} KiB`);
});
