import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Reads from one directory, whichever its subclass says. */
class Repository {
  constructor(directory) {
    this.directory = path.join(here, directory);
  }

  all() {
    return fs
      .readdirSync(this.directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => this.load(name));
  }

  load(name) {
    return JSON.parse(fs.readFileSync(path.join(this.directory, name)));
  }
}

class Orders extends Repository {
  static PLACE = 'data/orders';

  constructor() {
    super(Orders.PLACE);
  }

  get revenue() {
    return this.all()
      .flatMap((order) => order.lines)
      .reduce((sum, { qty, price }) => sum + qty * price, 0);
  }
}

const orders = new Orders();
console.log(`${orders.all().length} orders`);
console.log(`revenue ${orders.revenue.toFixed(2)}`);
