#!/usr/bin/env tsx
// File names of assets become kebab-case, as the bundler wants them.
import { readdir, rename } from 'node:fs/promises';
import { extname, join, parse } from 'node:path';
import { toKebab } from './lib/strings';

const FOLDER = 'assets';
const IMAGES: ReadonlySet<string> = new Set(['.png', '.svg', '.ppm', '.jpg']);

type Renaming = readonly [from: string, to: string];

function plan(names: string[]): Renaming[] {
  return names
    .filter((name) => IMAGES.has(extname(name).toLowerCase()))
    .map((name): Renaming => {
      const { name: stem, ext } = parse(name);
      return [name, `${toKebab(stem)}${ext.toLowerCase()}`];
    })
    .filter(([from, to]) => from !== to);
}

const renamings = plan(await readdir(FOLDER));
for (const [from, to] of renamings) {
  await rename(join(FOLDER, from), join(FOLDER, to));
  console.log(`${from} -> ${to}`);
}
console.log(`${renamings.length} renamed`);
