// Sorts the lines of app.log into one file per month and level: /tmp/…/2024/05/error.log
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const OUT = '/tmp/stockade-corpus-shards';
const LINE = /^(\d{4})-(\d{2})-\d{2} \S+ (INFO|WARN|ERROR) /;

if (existsSync(OUT)) rmSync(OUT, { recursive: true });

const counts: Record<string, number> = {};
for (const line of readFileSync(path.join('data', 'logs', 'app.log'), 'utf8').split('\n')) {
  const match = LINE.exec(line);
  if (!match) continue;
  const [, year, month, level] = match;
  const folder = path.join(OUT, year, month);
  mkdirSync(folder, { recursive: true });
  const shard = path.join(folder, `${level.toLowerCase()}.log`);
  appendFileSync(shard, `${line}\n`);
  counts[shard] = (counts[shard] ?? 0) + 1;
}

for (const [shard, n] of Object.entries(counts)) console.log(`${shard}: ${n}`);
rmSync(OUT, { recursive: true, force: true });
