// A digest of one of our tables, with the date as the office writes it.
// usage: h_month_digest.mjs [sales|customers|temperatures]
import { execSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const TABLES = {
  sales: { file: 'sales.csv', separator: ',' },
  customers: { file: 'customers.csv', separator: ',' },
  temperatures: { file: 'temperatures.tsv', separator: '\t' },
};

const name = process.argv[2] ?? 'sales';
if (!Object.hasOwn(TABLES, name)) {
  console.error(`unknown table; one of ${Object.keys(TABLES).join(', ')}`);
  process.exit(2);
}
const { file, separator } = TABLES[name];
const today = execSync('date -u "+%d %B %Y"').toString().trim();

let columns;
let rows = 0;
const lines = createInterface({ input: createReadStream(`./data/${file}`), crlfDelay: Infinity });
for await (const line of lines) {
  if (!columns) columns = line.split(separator);
  else if (line.trim()) rows += 1;
}
console.log(`${today}: ${name} has ${rows} rows of ${columns.length} columns (${columns.join(', ')})`);
