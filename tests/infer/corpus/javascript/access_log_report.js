'use strict';
const { readdirSync, readFileSync, statSync } = require('node:fs');
const { join, extname } = require('node:path');

const ROOT = join(__dirname, 'data');
const LINE = /^(\S+) \S+ \S+ \[([^\]]+)\] "(\w+) (\S+) [^"]*" (\d{3}) (\d+)/;

function* walk(dir) {
  for (const entry of readdirSync(dir)) {
    const full = join(dir, entry);
    if (statSync(full).isDirectory()) yield* walk(full);
    else if (extname(entry) === '.log') yield full;
  }
}

function parse(file) {
  return readFileSync(file, { encoding: 'utf8' })
    .split('\n')
    .map((line) => LINE.exec(line))
    .filter(Boolean)
    .map(([, ip, when, method, url, status, bytes]) => ({ ip, when, method, url, status: +status, bytes: +bytes }));
}

const hits = [...walk(ROOT)].flatMap(parse);
const byStatus = Object.groupBy
  ? Object.groupBy(hits, (h) => h.status)
  : hits.reduce((acc, h) => ({ ...acc, [h.status]: [...(acc[h.status] ?? []), h] }), {});

for (const [status, list] of Object.entries(byStatus)) {
  const bytes = list.reduce((sum, h) => sum + h.bytes, 0);
  console.log(`${status}: ${list.length} requests, ${(bytes / 1024).toFixed(1)} KiB`);
}
const missing = hits.filter((h) => h.status === 404).map((h) => h.url);
if (missing.length) console.log('not found:', [...new Set(missing)].join(' '));
