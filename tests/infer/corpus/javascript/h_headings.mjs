// A table of contents over all Markdown files under docs/.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const DOCS = 'docs';

const files = execFileSync('find', [DOCS, '-type', 'f', '-name', '*.md'], { encoding: 'utf8' })
  .split('\n')
  .filter(Boolean)
  .sort();

function headings(text) {
  let fenced = false;
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('```')) fenced = !fenced;
    const m = fenced ? null : line.match(/^(#{1,3})\s+(.*)$/);
    return m ? [{ depth: m[1].length, title: m[2] }] : [];
  });
}

for (const file of files) {
  console.log(file);
  for (const { depth, title } of headings(readFileSync(file, 'utf8'))) {
    console.log(`${'  '.repeat(depth)}- ${title}`);
  }
}
