import fse from 'fs-extra';
import path from 'node:path';

const { copy, ensureDir, emptyDir, outputJson, readJson, pathExists } = fse;

const SNAPSHOTS = path.join(process.cwd(), 'snapshots');
const KEEP = 5;

async function snapshot(directories) {
  const stamp = new Date().toISOString().replace(/[:.]/g, '-');
  const target = path.join(SNAPSHOTS, stamp);
  await ensureDir(target);
  for (const directory of directories) {
    if (await pathExists(directory)) {
      await copy(directory, path.join(target, directory), { preserveTimestamps: true });
    }
  }
  return stamp;
}

async function prune(index) {
  const old = index.slice(0, -KEEP);
  for (const stamp of old) {
    await emptyDir(path.join(SNAPSHOTS, stamp));
    await fse.remove(path.join(SNAPSHOTS, stamp));
  }
  return index.slice(-KEEP);
}

const indexFile = path.join(SNAPSHOTS, 'index.json');
const index = (await pathExists(indexFile)) ? await readJson(indexFile) : [];
index.push(await snapshot(['config', 'data']));
await outputJson(indexFile, await prune(index), { spaces: 2 });
console.log(`${index.length} snapshots`);
