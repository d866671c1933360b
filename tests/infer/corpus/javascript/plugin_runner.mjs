// Runs whatever plugins a directory holds. Each exports `name` and `run(context)`.
import { readdirSync, existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const PLUGINS = path.resolve(process.argv[2] ?? './src/plugins');

async function load(directory) {
  if (!existsSync(directory)) return [];
  const plugins = [];
  for (const file of readdirSync(directory).filter((f) => /\.m?js$/.test(f))) {
    const module = await import(pathToFileURL(path.join(directory, file)).href);
    if (typeof module.run !== 'function') throw new TypeError(`${file} exports no run()`);
    plugins.push({ name: module.name ?? file, run: module.run });
  }
  return plugins;
}

const plugins = await load(PLUGINS);
const context = { started: new Date(), results: {} };
for (const { name, run } of plugins) {
  context.results[name] = await run(context);
}
console.log(`${plugins.length} plugins ran`);
