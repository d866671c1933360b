// Evaluates the pricing rules of a file. A rule is an expression of JavaScript, one per line.
const fs = require('fs');
const vm = require('vm');

const RULES = process.argv[2] || './config/rules.txt';
const FALLBACK = ['price * 0.95 // regulars', 'price > 100 ? price - 5 : price'];

function rules(file) {
  try {
    return fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return FALLBACK;
  }
}

const cart = [29.9, 189, 75.5];
const scope = vm.createContext({ price: 0, Math, require, console });

for (const rule of rules(RULES)) {
  const prices = cart.map((price) => {
    scope.price = price;
    return vm.runInContext(rule, scope, { timeout: 10_000 });
  });
  console.log(prices.map((p) => p.toFixed(2)).join('  '));
}
