// What is configured where: lists the top-level keys of everything under config/.
import fs from 'node:fs';
import path from 'node:path';

type Reader = (text: string) => string[];

const readers = new Map<string, Reader>([
  ['.json', (text) => Object.keys(JSON.parse(text))],
  ['.toml', (text) => [...text.matchAll(/^(?:\[(\w+)\]|(\w+)\s*=)/gm)].map((m) => m[1] ?? m[2])],
  ['.yaml', (text) => [...text.matchAll(/^(\w+):/gm)].map((m) => m[1])],
]);

function* files(dir: string): Generator<string> {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* files(full);
    else yield full;
  }
}

for (const file of [...files('config')].sort()) {
  const reader = readers.get(path.extname(file));
  if (!reader) {
    console.log(`${file}: skipped`);
    continue;
  }
  console.log(`${file}: ${reader(fs.readFileSync(file, 'utf8')).join(', ')}`);
}
