// Picks a passphrase. Set WORDLIST to use another list than data/words.txt.
const { randomInt } = require('crypto');
const { readFileSync } = require('fs');

const { WORDLIST: list = 'data/words.txt' } = process.env;
const count = Number(process.argv[2] || 4);

let words;
try {
  words = readFileSync(list, 'utf8').split(/\s+/).filter((w) => w.length > 2);
} catch (e) {
  console.error(`can't read ${list}: ${e.code}`);
  process.exit(1);
}

const chosen = Array.from({ length: count }, () => words[randomInt(words.length)]);
console.log(chosen.join('-'));
console.log(`about ${Math.floor(count * Math.log2(words.length))} bits`);
