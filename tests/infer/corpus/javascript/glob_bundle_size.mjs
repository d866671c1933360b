// Estimates what the client bundle weighs, compressed.
import { glob } from 'glob';
import { readFile } from 'node:fs/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const BUDGET = 50 * 1024;

const sources = await glob('src/**/*.{js,mjs}', { ignore: ['**/*.test.js'] });
let raw = 0;
let gz = 0;
let br = 0;
for (const source of sources.sort()) {
  const content = await readFile(source);
  raw += content.length;
  gz += gzipSync(content).length;
  br += brotliCompressSync(content).length;
}

console.log(`${sources.length} files: ${raw} B, gzip ${gz} B, brotli ${br} B`);
if (gz > BUDGET) {
  console.error(`over the budget of ${BUDGET} B`);
  process.exit(1);
}
