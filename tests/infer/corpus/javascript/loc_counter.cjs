#!/usr/bin/env node
'use strict';
// Counts lines of code by language below src/.
const fs = require('fs');
const path = require('path');

const LANGUAGES = { '.js': 'JavaScript', '.mjs': 'JavaScript', '.py': 'Python', '.sh': 'Shell' };
const SKIP = new Set(['node_modules', '.git', '__pycache__']);

function count(file) {
  let code = 0;
  let blank = 0;
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '') blank += 1;
    else code += 1;
  }
  return { code, blank };
}

function collect(dir, totals = {}) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    if (SKIP.has(entry.name)) continue;
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) {
      collect(full, totals);
    } else if (LANGUAGES[path.extname(entry.name)]) {
      const language = LANGUAGES[path.extname(entry.name)];
      const t = (totals[language] ??= { files: 0, code: 0, blank: 0 });
      const { code, blank } = count(full);
      t.files += 1;
      t.code += code;
      t.blank += blank;
    }
  }
  return totals;
}

console.table(collect('./src'));
