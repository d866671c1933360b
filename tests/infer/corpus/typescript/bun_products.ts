// bun run bun_products.ts
import { Database } from 'bun:sqlite';

interface Product {
  id: number;
  name: string;
  price: number;
}

const db = new Database('data/shop.db', { readonly: true });
const expensive = db.query<Product, [number]>('SELECT id, name, price FROM product WHERE price > ? ORDER BY price DESC');

const users = await Bun.file('./data/users.json').json<Array<{ name: string; active: boolean }>>();

console.log(`${users.filter((u) => u.active).length} active users may see:`);
for (const { name, price } of expensive.all(50)) {
  console.log(`  ${name.padEnd(16)} ${price.toFixed(2)}`);
}
db.close();
