// Builds the documentation: docs/*.md to dist/*.html with a small renderer.
import { promises as fs } from 'node:fs';
import path from 'node:path';

const SOURCE = 'docs';
const TARGET = 'dist';

const escape = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const inline = (s) =>
  escape(s)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_, text, to) => `<a href="${to.replace(/\.md$/, '.html')}">${text}</a>`);

function render(markdown) {
  return markdown
    .split(/\n{2,}/)
    .map((block) => {
      const heading = /^(#{1,3})\s+(.*)/.exec(block);
      if (heading) return `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`;
      return block.trim() ? `<p>${inline(block.trim())}</p>` : '';
    })
    .join('\n');
}

async function build() {
  const template = await fs.readFile('templates/page.html', 'utf8');
  await fs.rm(TARGET, { recursive: true, force: true });
  await fs.mkdir(TARGET, { recursive: true });
  const pages = (await fs.readdir(SOURCE)).filter((f) => f.endsWith('.md'));
  for (const page of pages) {
    const body = render(await fs.readFile(path.join(SOURCE, page), 'utf8'));
    const html = template.replace('{{ title }}', path.parse(page).name).replace('{{ body }}', body);
    await fs.writeFile(path.join(TARGET, page.replace(/\.md$/, '.html')), html);
  }
  return pages.length;
}

console.log(`${await build()} pages`);
