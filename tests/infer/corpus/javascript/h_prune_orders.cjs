// Removes all but the newest KEEP orders.
const fs = require('node:fs/promises');
const path = require('node:path');

const KEEP = 3;
const folder = path.join('data', 'orders');

const numberOf = (name) => Number(name.match(/order-(\d+)\.json/)?.[1] ?? NaN);

async function prune(dryRun) {
  const names = (await fs.readdir(folder)).filter((name) => !Number.isNaN(numberOf(name)));
  names.sort((a, b) => numberOf(b) - numberOf(a));
  for (const name of names.slice(KEEP)) {
    const target = path.join(folder, name);
    if (dryRun) {
      console.log(`would remove ${target}`);
    } else {
      await fs.unlink(target);
      console.log(`removed ${target}`);
    }
  }
}

prune(process.argv.includes('--dry-run')).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
