// Percentiles of how long each kind of event took, streamed so that large logs fit in memory.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const LOG = new URL('./data/events.jsonl', import.meta.url);

class Percentiles {
  constructor() {
    this.values = [];
  }

  add(value) {
    this.values.push(value);
  }

  at(share) {
    const sorted = [...this.values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }
}

const kinds = new Map();
let broken = 0;

const lines = createInterface({ input: createReadStream(LOG), crlfDelay: Infinity });
for await (const line of lines) {
  if (!line.trim()) continue;
  try {
    const { event, ms } = JSON.parse(line);
    if (!kinds.has(event)) kinds.set(event, new Percentiles());
    kinds.get(event).add(ms);
  } catch {
    broken += 1;
  }
}

for (const [kind, p] of [...kinds].sort()) {
  console.log(`${kind.padEnd(10)} n=${p.values.length}  p50=${p.at(0.5)}  p95=${p.at(0.95)}  max=${p.at(1)}`);
}
if (broken > 0) console.error(`${broken} lines couldn't be read`);
