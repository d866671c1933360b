// deno run --allow-read=. --allow-write=/tmp deno_word_index.ts
import { walk } from 'jsr:@std/fs@1/walk';

const index: Record<string, Set<string>> = Object.create(null);

for await (const { path } of walk('.', { exts: ['.md'], skip: [/node_modules/], includeDirs: false })) {
  const text = await Deno.readTextFile(path);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}{4,}/gu)) {
    (index[word] ??= new Set()).add(path);
  }
}

const target: string = await Deno.makeTempFile({ prefix: 'word-index-', suffix: '.json' });
const serialised = JSON.stringify(index, (_key, value) => (value instanceof Set ? [...value] : value));
await Deno.writeTextFile(target, serialised);

const { size } = await Deno.stat(target);
console.log(`${Object.keys(index).length} words, ${size} bytes in ${target}`);
