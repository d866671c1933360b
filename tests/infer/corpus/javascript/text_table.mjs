// Renders rows as a plain-text table, the way `psql` does.
// Usage from other code: import { table } from './text_table.mjs'

const MEASURES = [
  { name: 'boot', runs: 12, median: 183.2, unit: 'ms' },
  { name: 'first paint', runs: 12, median: 412.9, unit: 'ms' },
  { name: 'heap after load', runs: 5, median: 31.04, unit: 'MiB' },
];

export function table(rows, columns = Object.keys(rows[0] ?? {})) {
  const cells = rows.map((row) => columns.map((c) => String(row[c] ?? '')));
  const widths = columns.map((c, i) => Math.max(c.length, ...cells.map((r) => r[i].length)));
  const numeric = columns.map((c) => rows.every((r) => typeof r[c] === 'number'));
  const line = (values) =>
    values.map((v, i) => (numeric[i] ? v.padStart(widths[i]) : v.padEnd(widths[i]))).join(' | ');
  return [
    line(columns),
    widths.map((w) => '-'.repeat(w)).join('-+-'),
    ...cells.map(line),
    `(${rows.length} rows)`,
  ].join('\n');
}

export const toCsv = (rows) => {
  const quote = (v) => (/[",\n]/.test(v) ? `"${String(v).replaceAll('"', '""')}"` : v);
  const [first] = rows;
  return [Object.keys(first), ...rows.map(Object.values)].map((r) => r.map(quote).join(',')).join('\n');
};

console.log(table(MEASURES));
console.log();
console.log(toCsv(MEASURES));
