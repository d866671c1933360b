// Turns CHANGELOG.md into JSON for the web site's build, which picks it up from /tmp.
import { readFileSync, writeFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

const INPUT = 'CHANGELOG.md';
const OUTPUT = '/tmp/stockade-corpus-changelog/releases.json';

function parse(markdown) {
  const releases = [];
  for (const line of markdown.split('\n')) {
    const heading = /^##\s+\[?v?(\d+\.\d+\.\d+)\]?(?:\s*[-(]\s*([\d-]+))?/.exec(line);
    if (heading) {
      releases.push({ version: heading[1], date: heading[2] ?? null, changes: [] });
    } else if (/^[-*]\s/.test(line) && releases.length > 0) {
      releases.at(-1).changes.push(line.replace(/^[-*]\s+/, ''));
    }
  }
  return releases;
}

const releases = parse(readFileSync(INPUT, 'utf8'));
mkdirSync(dirname(OUTPUT), { recursive: true });
try {
  writeFileSync(OUTPUT, JSON.stringify(releases, null, 2));
  const back = JSON.parse(readFileSync(OUTPUT, 'utf8'));
  console.log(`${back.length} releases, newest ${back[0]?.version ?? 'none'}`);
} finally {
  rmSync(dirname(OUTPUT), { recursive: true, force: true });
}
