#!/usr/bin/env node
// Counts words of the standard input and draws a histogram:
//   cat notes.txt | node stdin_histogram.mjs
import { readFileSync } from 'node:fs';
import process from 'node:process';

const STDIN = 0;
const WIDTH = 40;

function words(text) {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

function* ranked(counts, limit) {
  const entries = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  yield* entries.slice(0, limit);
}

const counts = new Map();
for (const word of words(readFileSync(STDIN, 'utf8'))) {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

if (counts.size === 0) {
  process.stderr.write('nothing to count\n');
  process.exitCode = 1;
} else {
  const top = Math.max(...counts.values());
  for (const [word, count] of ranked(counts, 20)) {
    process.stdout.write(`${word.padEnd(16)} ${'#'.repeat(Math.ceil((count / top) * WIDTH))} ${count}\n`);
  }
}
