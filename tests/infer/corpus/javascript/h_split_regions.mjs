// Splits the sales table into one file per region, in a fresh directory for the mailer to pick up.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

function groupBy(rows, key) {
  const groups = {};
  for (const row of rows) (groups[key(row)] ??= []).push(row);
  return groups;
}

const [header, ...rows] = readFileSync('./data/sales.csv', 'utf8').trim().split('\n');
const column = header.split(',').indexOf('region');
const groups = groupBy(rows, (row) => row.split(',')[column]);

const target = mkdtempSync(path.join(tmpdir(), 'stockade-corpus-regions-'));
try {
  for (const [region, lines] of Object.entries(groups)) {
    const name = `${slug(region)}.csv`;
    writeFileSync(path.join(target, name), [header, ...lines].join('\n') + '\n');
  }
  for (const name of readdirSync(target).sort()) {
    console.log(name, statSync(path.join(target, name)).size);
  }
} finally {
  rmSync(target, { recursive: true });
}
