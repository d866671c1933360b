// Squeezes white space out of the templates and leaves the results below /tmp.
import { join } from 'node:path';

const OUT = '/tmp/stockade-corpus-minified';
const TEMPLATES: readonly string[] = ['page.html', 'invoice.txt'];

async function minify(name: string): Promise<{ name: string; before: number; after: number }> {
  const source = Bun.file(join('templates', name));
  const text = await source.text();
  const small = text.replace(/\s+/g, ' ').replace(/> </g, '><').trim();
  const after = await Bun.write(join(OUT, name), small);
  return { name, before: source.size, after };
}

for (const { name, before, after } of await Promise.all(TEMPLATES.map(minify))) {
  console.log(`${name}: ${before} -> ${after} (${Math.round((1 - after / before) * 100)} % less)`);
}
