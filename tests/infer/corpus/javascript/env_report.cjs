// Which variables are set? Values that look like secrets are masked.
const SECRET = /(key|token|secret|password|credential)/i;

function mask(name, value) {
  if (!SECRET.test(name)) return value.length > 60 ? `${value.slice(0, 57)}...` : value;
  return '*'.repeat(Math.min(value.length, 8));
}

const names = Object.keys(process.env).sort();
const groups = new Map();
for (const name of names) {
  const [prefix] = name.split('_');
  if (!groups.has(prefix)) groups.set(prefix, []);
  groups.get(prefix).push(name);
}

if (process.argv.includes('--groups')) {
  for (const [prefix, members] of groups) console.log(`${prefix}: ${members.length}`);
} else {
  for (const name of names) console.log(`${name}=${mask(name, process.env[name])}`);
}
console.error(`${names.length > 0 ? 'some' : 'no'} variables`);
