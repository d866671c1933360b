// Looks for text files that mention a customer, starting from the directory above the data.
const fs = require('node:fs');
const path = require('node:path');

const DATA = path.join(__dirname, 'data');
const START = path.resolve(DATA, '..', 'docs', '..');
const NAMES = fs
  .readFileSync(path.join(DATA, 'customers.csv'), 'utf8')
  .split('\n')
  .slice(1)
  .map((line) => line.split(',')[1])
  .filter(Boolean);

const texts = fs.readdirSync(START, { recursive: true }).filter((f) => /\.(md|txt)$/.test(f));
let mentions = 0;
for (const text of texts.sort()) {
  const body = fs.readFileSync(path.join(START, text), 'utf8');
  for (const name of NAMES) {
    const [first] = name.split(' ');
    if (new RegExp(`\\b${first}\\b`).test(body)) {
      console.log(`${text}: ${name}`);
      mentions += 1;
    }
  }
}
console.log(`${mentions} mentions in ${texts.length} files`);
