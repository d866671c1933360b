// Finds relative links of the documentation that lead nowhere.
import { existsSync, promises as fsp, type Dirent } from 'node:fs';
import path from 'node:path';

interface Link {
  from: string;
  to: string;
  line: number;
}

const isLocal = (target: string): boolean => !/^[a-z]+:|^#/i.test(target);

async function linksOf(document: string): Promise<Link[]> {
  const lines = (await fsp.readFile(document, 'utf8')).split('\n');
  return lines.flatMap((text, i) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((m) => m[1]!)
      .filter(isLocal)
      .map((to): Link => ({ from: document, to: to.replace(/#.*/, ''), line: i + 1 })),
  );
}

const leadsNowhere = ({ from, to }: Link): boolean => !existsSync(path.join(path.dirname(from), to));

async function main(root: string = 'docs'): Promise<number> {
  const entries: Dirent[] = await fsp.readdir(root, { withFileTypes: true });
  const documents = entries.filter((e) => e.isFile() && e.name.endsWith('.md')).map((e) => path.join(root, e.name));
  const links = (await Promise.all([...documents, 'README.md'].map(linksOf))).flat();
  const dead = links.filter(leadsNowhere);
  dead.forEach(({ from, to, line }) => console.log(`${from}:${line} ${to}`));
  console.log(`${links.length} links, ${dead.length} dead`);
  return dead.length > 0 ? 1 : 0;
}

main().then((code) => {
  process.exitCode = code;
});
