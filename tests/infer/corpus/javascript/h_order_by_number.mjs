// usage: node h_order_by_number.mjs [NUMBER]
import { existsSync, readFileSync } from 'node:fs';

const number = Number.parseInt(process.argv[2] ?? '1003', 10);
if (!Number.isInteger(number) || number < 1) {
  console.error('the order number must be a whole number');
  process.exit(2);
}

const file = `data/orders/order-${number}.json`;
if (!existsSync(file)) {
  console.error(`there is no order ${number}`);
  process.exit(1);
}

const order = JSON.parse(readFileSync(file, 'utf8'));
let total = 0;
for (const { sku, qty, price } of order.lines) {
  total += qty * price;
  console.log(`${sku.padEnd(10)} ${String(qty).padStart(3)} × ${price.toFixed(2).padStart(8)}`);
}
console.log(`order ${order.order}, customer ${order.customer}: ${total.toFixed(2)}`);
