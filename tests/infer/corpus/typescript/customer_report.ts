import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Customer {
  id: number;
  name: string;
  email: string;
  city: string;
  signedUp: Date;
}

type Grouped<K extends PropertyKey, V> = Partial<Record<K, V[]>>;

const DATA_DIR = './data' as const;

function groupBy<T, K extends PropertyKey>(items: readonly T[], key: (item: T) => K): Grouped<K, T> {
  const out: Grouped<K, T> = {};
  for (const item of items) (out[key(item)] ??= []).push(item);
  return out;
}

function loadCustomers(file: string): Customer[] {
  const [, ...lines] = readFileSync(join(DATA_DIR, file), 'utf8').trim().split('\n');
  return lines.map((line): Customer => {
    const [id, name, email, city, signedUp] = line.split(',') as [string, string, string, string, string];
    return { id: Number(id), name, email, city, signedUp: new Date(signedUp) };
  });
}

const customers = loadCustomers('customers.csv');
const byCity = groupBy(customers, (c) => c.city);
const byYear = groupBy(customers, (c) => c.signedUp.getUTCFullYear());

for (const [city, list] of Object.entries(byCity)) {
  console.log(`${city}: ${list!.map((c) => c.name).join(', ')}`);
}
for (const [year, list] of Object.entries(byYear)) {
  console.log(`${year}: ${'*'.repeat(list!.length)}`);
}
