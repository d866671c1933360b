// Says how large the configured database is and whether it looks like SQLite at all.
import { open, readFile, stat } from 'node:fs/promises';

function parseToml(text) {
  const result = {};
  let section = result;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (!line || line.startsWith('#')) continue;
    const header = line.match(/^\[(\w+)\]$/);
    if (header) {
      section = result[header[1]] = {};
      continue;
    }
    const [key, value] = line.split(/\s*=\s*/, 2);
    section[key] = value.startsWith('"') ? value.slice(1, -1) : Number(value);
  }
  return result;
}

const config = parseToml(await readFile('config/app.toml', 'utf8'));
const file = config.database.path;

const { size } = await stat(file);
const handle = await open(file, 'r');
try {
  const magic = Buffer.alloc(16);
  await handle.read(magic, 0, 16, 0);
  const sqlite = magic.toString('latin1').startsWith('SQLite format 3');
  console.log(`${config.name}: ${file}, ${size} bytes, ${sqlite ? 'SQLite' : 'something else'}`);
} finally {
  await handle.close();
}
