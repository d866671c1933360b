// The words of the guide that want an entry in the glossary: long, frequent, not yet explained.
import { readFileSync } from 'node:fs';
import _ from 'lodash';
import type { Entry } from './types';

const EXPLAINED = new Set(['ledger', 'account']);

function candidates(text: string, atLeast: number): Entry[] {
  return _(text.toLowerCase().match(/[a-z]{6,}/g) ?? [])
    .reject((word) => EXPLAINED.has(word))
    .countBy()
    .map((count, word) => ({ word, count }))
    .filter(({ count }) => count >= atLeast)
    .orderBy(['count', 'word'], ['desc', 'asc'])
    .value();
}

const guide: string = readFileSync('docs/guide.md', 'utf8');
for (const { word, count } of candidates(guide, 2)) {
  console.log(`${_.padEnd(_.capitalize(word), 20)} ${count}`);
}
