// Checks a few data files for gaps before the nightly import.
import { readFile as slurp, access, constants as mode } from 'node:fs/promises';
import * as p from 'node:path';

const BASE = p.resolve('data');
const CHECKS = [
  { name: 'customers.csv', columns: 5, separator: ',' },
  { name: 'temperatures.tsv', columns: 3, separator: '\t' },
];

const inBase = (name) => p.join(BASE, name);

async function check({ name, columns, separator }) {
  const problems = [];
  const file = inBase(name);
  await access(file, mode.R_OK);
  const lines = (await slurp(file, 'utf8')).split('\n').filter((l) => l !== '');
  lines.forEach((line, n) => {
    const cells = line.split(separator);
    if (cells.length !== columns) problems.push(`line ${n + 1}: ${cells.length} columns`);
    if (cells.some((c) => c.trim() === '')) problems.push(`line ${n + 1}: empty cell`);
  });
  return { name, lines: lines.length, problems };
}

const results = await Promise.allSettled(CHECKS.map(check));
for (const [i, result] of results.entries()) {
  if (result.status === 'rejected') {
    console.log(`${CHECKS[i].name}: ${result.reason.code}`);
    process.exitCode = 1;
    continue;
  }
  const { name, lines, problems } = result.value;
  console.log(`${name}: ${lines} lines, ${problems.length} problems`);
  problems.slice(0, 5).forEach((problem) => console.log(`  ${problem}`));
}
