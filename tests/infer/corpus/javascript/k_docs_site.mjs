#!/usr/bin/env node
// Turns docs/**/*.md into pages under public/.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fg from 'fast-glob';
import { marked } from 'marked';

const SOURCE = 'docs';
const TARGET = 'public';

const shell = (title, body) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body>${body}</body></html>
`;

function titleOf(markdown, fallback) {
  return /^#\s+(.+)$/m.exec(markdown)?.[1] ?? fallback;
}

async function page(name) {
  const markdown = await readFile(path.join(SOURCE, name), 'utf8');
  const file = path.join(TARGET, name.replace(/\.md$/, '.html'));
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, shell(titleOf(markdown, name), marked.parse(markdown)));
  return file;
}

const names = await fg('**/*.md', { cwd: SOURCE, ignore: ['drafts/**'] });
const written = await Promise.all(names.map(page));
console.log(`${written.length} pages`);
