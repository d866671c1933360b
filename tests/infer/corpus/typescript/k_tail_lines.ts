#!/usr/bin/env tsx
/** Prints the last lines of a file: k_tail_lines.ts [FILE [COUNT]] */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

async function* lines(file: string): AsyncGenerator<string> {
  const input = createReadStream(file, { encoding: 'utf8' });
  yield* createInterface({ input, crlfDelay: Infinity });
}

async function tail<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const ring: T[] = [];
  for await (const item of items) {
    ring.push(item);
    if (ring.length > count) ring.shift();
  }
  return ring;
}

const [file = 'data/notes.txt', count = '2'] = process.argv.slice(2);

tail(lines(file), Number(count)).then(
  (last) => last.forEach((line) => console.log(line)),
  (error: NodeJS.ErrnoException) => {
    console.error(`${file}: ${error.code}`);
    process.exitCode = 1;
  },
);
