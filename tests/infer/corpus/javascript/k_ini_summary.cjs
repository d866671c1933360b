#!/usr/bin/env node
// Coloured summary of the warehouse's inventory file.
const fs = require('node:fs');
const path = require('node:path');
const ini = require('ini');
const pc = require('picocolors');

const FILE = path.join(__dirname, 'data', 'inventory.ini');

function paint(amount) {
  if (amount === 0) return pc.red('sold out');
  if (amount < 10) return pc.yellow(String(amount));
  return pc.green(String(amount));
}

function main() {
  let parsed;
  try {
    parsed = ini.parse(fs.readFileSync(FILE, 'utf-8'));
  } catch (error) {
    console.error(pc.red(`cannot read ${FILE}: ${error.message}`));
    return 1;
  }
  console.log(pc.bold(parsed.warehouse?.name ?? 'unnamed'));
  for (const [article, amount] of Object.entries(parsed.stock ?? {})) {
    console.log(`  ${article.padEnd(20)} ${paint(Number(amount))}`);
  }
  return 0;
}

process.exitCode = main();
