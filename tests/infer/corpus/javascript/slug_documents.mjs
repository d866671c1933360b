// Checks that no two headings of the documentation get the same anchor. Uses the project's own helper.
import { readFile } from 'node:fs/promises';

const { slugify } = await import('./src/lib/slug.mjs');
const DOCUMENTS = ['docs/guide.md', 'docs/api.md', 'README.md'];

const anchors = new Map();
for (const document of DOCUMENTS) {
  const text = await readFile(new URL(document, import.meta.url), 'utf8');
  for (const [, title] of text.matchAll(/^#{1,4}\s+(.+)$/gm)) {
    const anchor = slugify(title);
    if (!anchors.has(anchor)) anchors.set(anchor, []);
    anchors.get(anchor).push(`${document}: ${title}`);
  }
}

const clashes = [...anchors].filter(([, places]) => places.length > 1);
for (const [anchor, places] of clashes) {
  console.log(`#${anchor}`);
  places.forEach((place) => console.log(`  ${place}`));
}
console.log(`${anchors.size} anchors, ${clashes.length} clashes`);
