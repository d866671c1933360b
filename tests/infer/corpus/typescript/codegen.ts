// Generates types from the translations: src/generated/messages.d.ts. Run it after each change of data/i18n.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

type Tree = { [key: string]: string | Tree };

const INPUT = 'data/i18n';
const OUTPUT_DIRECTORY = join('src', 'generated');
const HEADER = '// Generated; changes are lost.\n';

function keys(tree: Tree, prefix: string[] = []): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[...prefix, key].join('.')] : keys(value, [...prefix, key]),
  );
}

function emit(languages: string[], messages: string[]): string {
  const union = (words: string[]): string => words.map((w) => `\n  | ${JSON.stringify(w)}`).join('');
  return `${HEADER}export type Language =${union(languages)};\nexport type MessageKey =${union(messages)};\n`;
}

const files = readdirSync(INPUT).filter((f) => f.endsWith('.json')).sort();
const messages = new Set<string>();
for (const file of files) {
  for (const key of keys(JSON.parse(readFileSync(join(INPUT, file), 'utf8')) as Tree)) messages.add(key);
}

mkdirSync(OUTPUT_DIRECTORY, { recursive: true });
const target = join(OUTPUT_DIRECTORY, 'messages.d.ts');
writeFileSync(target, emit(files.map((f) => basename(f, '.json')), [...messages].sort()));
console.log(`${target}: ${messages.size} keys`);
