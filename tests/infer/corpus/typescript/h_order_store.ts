// Revenue by product code, over a small store of JSON files.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Line { sku: string; qty: number; price: number }
interface Order { order: number; customer: number; lines: Line[] }

abstract class Store<T> {
  protected abstract readonly folder: string;
  protected static readonly root = './data';

  protected get dir(): string {
    return join(Store.root, this.folder);
  }

  *all(): Iterable<T> {
    for (const name of readdirSync(this.dir).filter((n) => n.endsWith('.json'))) {
      yield this.load(name);
    }
  }

  private load(name: string): T {
    return JSON.parse(readFileSync(join(this.dir, name), 'utf8')) as T;
  }
}

class OrderStore extends Store<Order> {
  protected readonly folder = 'orders';
}

const revenue = new Map<string, number>();
for (const { lines } of new OrderStore().all()) {
  for (const { sku, qty, price } of lines) revenue.set(sku, (revenue.get(sku) ?? 0) + qty * price);
}
for (const [sku, amount] of [...revenue].sort(([a], [b]) => a.localeCompare(b))) {
  console.log(`${sku}\t${amount.toFixed(2)}`);
}
