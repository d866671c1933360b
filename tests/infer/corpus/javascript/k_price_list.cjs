'use strict';
// The highest and lowest price at which each product was sold.
const { readFileSync } = require('fs');
const { formatEuro, padStart } = require('./lib/currency');

function parse(text) {
  const [header, ...lines] = text.trim().split('\n');
  const names = header.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i], cell])));
}

function ranges(rows) {
  const found = new Map();
  for (const { product, unit_price: price } of rows) {
    const value = Number(price);
    const { low, high } = found.get(product) ?? { low: Infinity, high: -Infinity };
    found.set(product, { low: Math.min(low, value), high: Math.max(high, value) });
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b));
}

const rows = parse(readFileSync('data/sales.csv', 'utf8'));
for (const [product, { low, high }] of ranges(rows)) {
  console.log(product.padEnd(16), padStart(formatEuro(low), 12), padStart(formatEuro(high), 12));
}
