// What was installed on this machine of late? Reads the package manager's log.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';

interface Action {
  at: Date;
  verb: 'install' | 'upgrade' | 'remove';
  name: string;
}

const LOG_DIRECTORY = '/var/log';
const CANDIDATES = ['dpkg.log', 'dpkg.log.1'].map((name) => `${LOG_DIRECTORY}/${name}`);
const LINE = /^(\S+ \S+) (install|upgrade|remove) ([^:\s]+)/;

async function* actions(file: string): AsyncGenerator<Action> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const m = LINE.exec(line);
    if (m) yield { at: new Date(`${m[1]!.replace(' ', 'T')}Z`), verb: m[2] as Action['verb'], name: m[3]! };
  }
}

async function main(): Promise<void> {
  const counts: Record<Action['verb'], number> = { install: 0, upgrade: 0, remove: 0 };
  for (const file of CANDIDATES.filter((f) => existsSync(f))) {
    for await (const { verb } of actions(file)) counts[verb] += 1;
  }
  const total = Object.values(counts).reduce((a, b) => a + b);
  console.log(total > 0 ? counts : 'nothing is recorded');
}

main().catch((error: NodeJS.ErrnoException) => {
  console.error(`no log to read: ${error.code}`);
  process.exitCode = 1;
});
