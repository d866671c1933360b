// A cache on disk for expensive results, with an expiry; here for Collatz chains.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createHash } from 'node:crypto';

interface Stored<V> {
  expires: number;
  value: V;
}

class DiskCache<V> {
  constructor(
    private readonly directory: string,
    private readonly lifetimeMs: number = 60_000,
  ) {
    fs.mkdirSync(directory, { recursive: true });
  }

  private file(key: string): string {
    return path.join(this.directory, `${createHash('sha256').update(key).digest('hex').slice(0, 16)}.json`);
  }

  get(key: string): V | undefined {
    try {
      const { expires, value } = JSON.parse(fs.readFileSync(this.file(key), 'utf8')) as Stored<V>;
      return expires > Date.now() ? value : undefined;
    } catch {
      return undefined;
    }
  }

  set(key: string, value: V): V {
    const stored: Stored<V> = { expires: Date.now() + this.lifetimeMs, value };
    fs.writeFileSync(this.file(key), JSON.stringify(stored));
    return value;
  }

  clear(): void {
    fs.rmSync(this.directory, { recursive: true, force: true });
  }
}

function collatz(start: number): number {
  let n = start;
  let steps = 0;
  for (; n !== 1; steps += 1) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
  return steps;
}

const cache = new DiskCache<number>('/tmp/stockade-corpus-collatz');
const cached = (n: number): number => cache.get(`${n}`) ?? cache.set(`${n}`, collatz(n));

for (const n of [27, 97, 27]) console.log(n, cached(n));
cache.clear();
