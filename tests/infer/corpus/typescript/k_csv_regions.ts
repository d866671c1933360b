import { parse } from 'csv-parse/sync';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Sale {
  date: string;
  region: string;
  product: string;
  quantity: number;
  unit_price: number;
}

const DATA_DIR = join('.', 'data');

async function sales(): Promise<Sale[]> {
  const text = await readFile(join(DATA_DIR, 'sales.csv'), 'utf8');
  return parse(text, { columns: true, cast: (value, { column }) => (column === 'quantity' || column === 'unit_price' ? Number(value) : value) });
}

function best(rows: Sale[]): Map<string, Sale> {
  const found = new Map<string, Sale>();
  for (const row of rows) {
    const known = found.get(row.region);
    if (!known || row.quantity * row.unit_price > known.quantity * known.unit_price) found.set(row.region, row);
  }
  return found;
}

async function main(): Promise<void> {
  for (const [region, sale] of best(await sales())) {
    console.log(`${region}: ${sale.product} on ${sale.date}`);
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
