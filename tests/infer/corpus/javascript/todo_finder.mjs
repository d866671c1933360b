// Lists TODO and FIXME comments of the whole project with their places.
import { opendir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const MARK = /\b(TODO|FIXME|XXX)\b[:\s]*(.*)/;
const TEXT = /\.(js|mjs|cjs|ts|py|sh|md|txt)$/;

async function* files(dir) {
  for await (const entry of await opendir(dir)) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const full = join(dir, entry.name);
    if (entry.isDirectory()) yield* files(full);
    else if (TEXT.test(entry.name)) yield full;
  }
}

const root = process.cwd();
const found = [];
for await (const file of files(root)) {
  const text = await readFile(file, 'utf8');
  text.split('\n').forEach((line, i) => {
    const m = MARK.exec(line);
    if (m) found.push({ place: `${relative(root, file)}:${i + 1}`, kind: m[1], text: m[2].trim() });
  });
}

found.sort((a, b) => a.place.localeCompare(b.place));
for (const { place, kind, text } of found) console.log(`${place}  ${kind}  ${text}`);
console.log(`${found.length} open`);
