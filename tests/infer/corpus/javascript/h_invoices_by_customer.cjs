#!/usr/bin/env node
// Copies invoices to out/<customer>/<invoice>.txt, as the accountant wants them.
'use strict';
const fs = require('fs');
const path = require('path');

const SOURCE = 'data/invoices';
const TARGET = path.resolve('out');

function customerOf(text) {
  const match = text.match(/^Customer:\s*(.+)$/m);
  return match ? match[1].trim().toLowerCase().replace(/\W+/g, '_') : 'unknown';
}

let copied = 0;
for (const entry of fs.readdirSync(SOURCE, { withFileTypes: true })) {
  if (!entry.isFile() || path.extname(entry.name) !== '.txt') continue;
  const from = path.join(SOURCE, entry.name);
  const folder = path.join(TARGET, customerOf(fs.readFileSync(from, 'utf8')));
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(from, path.join(folder, entry.name));
  copied += 1;
}
console.log(`${copied} invoices copied`);
