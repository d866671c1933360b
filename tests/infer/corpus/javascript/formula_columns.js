// Computed columns of a small table. Formulas are compiled with `new Function` after their names were checked.
const rows = [
  { product: 'lamp', quantity: 3, price: 36.7 },
  { product: 'chair', quantity: 1, price: 159.0 },
  { product: 'tray', quantity: 12, price: 16.7 },
];

const FORMULAS = {
  net: 'quantity * price',
  vat: 'net * 0.2',
  gross: 'net + vat',
  bulk: 'quantity >= 10 ? "yes" : "no"',
};

function compile(formula, names) {
  const used = formula.replace(/"[^"]*"/g, '').match(/[a-z_]\w*/gi) ?? [];
  for (const name of used) {
    if (!names.includes(name)) throw new Error(`unknown column in formula: ${name}`);
  }
  return new Function(...names, `"use strict"; return (${formula});`);
}

const names = Object.keys(rows[0]);
for (const [column, formula] of Object.entries(FORMULAS)) {
  const compute = compile(formula, names);
  for (const row of rows) {
    row[column] = compute(...names.map((n) => row[n]));
  }
  names.push(column);
}
console.table(rows);
