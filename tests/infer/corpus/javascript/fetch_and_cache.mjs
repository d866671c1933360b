// Downloads the list of public holidays, keeping a copy in /tmp for the day.
import { mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';

const YEAR = 2024;
const SOURCE = `https://date.nager.at/api/v3/PublicHolidays/${YEAR}/AT`;
const CACHE_DIRECTORY = '/tmp/stockade-corpus-holidays';
const CACHE = `${CACHE_DIRECTORY}/${YEAR}.json`;
const DAY = 24 * 60 * 60 * 1000;

async function fresh(file) {
  try {
    return Date.now() - (await stat(file)).mtimeMs < DAY;
  } catch {
    return false;
  }
}

async function holidays() {
  if (await fresh(CACHE)) return JSON.parse(await readFile(CACHE, 'utf8'));
  await mkdir(CACHE_DIRECTORY, { recursive: true });
  const response = await fetch(SOURCE, { signal: AbortSignal.timeout(2000) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const list = await response.json();
  await writeFile(CACHE, JSON.stringify(list));
  return list;
}

try {
  for (const { date, localName } of await holidays()) console.log(date, localName);
} catch (error) {
  // Leaves no empty directory behind; one with an older copy stays.
  await rmdir(CACHE_DIRECTORY).catch(() => {});
  console.error('no holidays:', error.cause?.code ?? error.message);
  process.exitCode = 1;
}
