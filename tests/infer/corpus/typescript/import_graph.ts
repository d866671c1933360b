// Draws which module of src/ imports which.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, posix } from 'node:path';

type Graph = Map<string, Set<string>>;

const SOURCE_ROOT = 'src';
const IMPORT = /(?:from\s+|require\(|import\()\s*['"](\.{1,2}\/[^'"]+)['"]/g;

async function modules(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry): Promise<string[]> => {
      const full = join(dir, entry.name);
      if (entry.isDirectory()) return modules(full);
      return /\.[mc]?[jt]s$/.test(entry.name) ? [full] : [];
    }),
  );
  return nested.flat();
}

async function graph(root: string): Promise<Graph> {
  const out: Graph = new Map();
  for (const module of await modules(root)) {
    const text = await readFile(module, 'utf8');
    const targets = [...text.matchAll(IMPORT)].map(([, target]) => normalize(posix.join(dirname(module), target!)));
    out.set(module, new Set(targets));
  }
  return out;
}

function unused(g: Graph): string[] {
  const used = new Set([...g.values()].flatMap((targets) => [...targets]));
  return [...g.keys()].filter((m) => !used.has(m));
}

graph(SOURCE_ROOT).then((g) => {
  for (const [module, targets] of g) {
    console.log(module);
    for (const target of targets) console.log(`  -> ${target}`);
  }
  console.log(`imported by nobody: ${unused(g).sort().join(', ') || 'none'}`);
});
