/** Writes src/version.ts from package.json, so that the client can show its version. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const root = resolve('.');
const manifest = join(root, 'package.json');
const target = join(dirname(manifest), 'src', 'version.ts');

function render(fields: Record<string, string | number>): string {
  const lines = Object.entries(fields).map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`);
  return ['// Generated: do not edit.', ...lines, ''].join('\n');
}

const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as { name: string; version: string };
const [major, minor] = version.split('.').map(Number);

writeFileSync(target, render({ NAME: name, VERSION: version, MAJOR: major, MINOR: minor }));
console.log(`${name} ${version}`);
