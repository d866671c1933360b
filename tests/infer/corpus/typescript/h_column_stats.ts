// usage: h_column_stats.ts [--column NAME] [FILE]
import { parseArgs } from 'node:util';
import * as fs from 'node:fs';

const { values, positionals } = parseArgs({
  options: { column: { type: 'string', short: 'c', default: 'quantity' } },
  allowPositionals: true,
});

interface Stats {
  count: number;
  min: number;
  max: number;
  mean: number;
}

function stats(numbers: number[]): Stats {
  const sum = numbers.reduce((a, b) => a + b, 0);
  return {
    count: numbers.length,
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    mean: Number((sum / numbers.length).toFixed(2)),
  };
}

const input = positionals[0] ?? 'data/sales.csv';
const [head, ...body] = fs.readFileSync(input, 'utf8').trim().split(/\r?\n/);
const index = head.split(',').indexOf(values.column as string);
if (index < 0) {
  console.error(`no column ${values.column} in ${input}`);
  process.exit(1);
}
console.table(stats(body.map((row) => Number(row.split(',')[index]))));
