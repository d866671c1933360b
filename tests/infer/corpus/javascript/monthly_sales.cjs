#!/usr/bin/env node
// Totals of sales by month and region.
const fs = require('fs');
const path = require('path');

const SOURCE = path.join('data', 'sales.csv');

function parseCsv(text) {
  const [header, ...lines] = text.trim().split(/\r?\n/);
  const names = header.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  });
}

function totals(rows) {
  const out = {};
  for (const row of rows) {
    const month = row.date.slice(0, 7);
    const amount = Number(row.quantity) * Number(row.unit_price);
    out[month] ??= {};
    out[month][row.region] = (out[month][row.region] ?? 0) + amount;
  }
  return out;
}

const rows = parseCsv(fs.readFileSync(SOURCE, 'utf8'));
for (const [month, regions] of Object.entries(totals(rows)).sort()) {
  const sum = Object.values(regions).reduce((a, b) => a + b, 0);
  const best = Object.entries(regions).sort((a, b) => b[1] - a[1])[0];
  console.log(`${month}  ${sum.toFixed(2).padStart(10)}  best: ${best[0]} (${best[1].toFixed(2)})`);
}
console.log(`${rows.length} rows`);
