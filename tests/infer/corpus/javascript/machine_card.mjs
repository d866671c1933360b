// Prints a card about the machine: what the kernel and the distribution say about themselves.
import { cpus, totalmem, hostname, release, arch, EOL } from 'node:os';
import { readFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';

async function distribution() {
  try {
    const text = await readFile('/etc/os-release', 'utf8');
    const fields = Object.fromEntries(
      text
        .split('\n')
        .filter((line) => line.includes('='))
        .map((line) => {
          const [key, ...rest] = line.split('=');
          return [key, rest.join('=').replace(/^"|"$/g, '')];
        }),
    );
    return fields.PRETTY_NAME ?? fields.ID;
  } catch {
    return 'unknown';
  }
}

const gib = (bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const card = {
  host: hostname(),
  system: await distribution(),
  kernel: release(),
  machine: execFileSync('uname', ['-m'], { encoding: 'utf8' }).trim(),
  node: `${process.version} (${arch()})`,
  processors: cpus().length,
  memory: gib(totalmem()),
};

const width = Math.max(...Object.keys(card).map((k) => k.length));
process.stdout.write(
  Object.entries(card)
    .map(([k, v]) => `${k.padEnd(width)}  ${v}`)
    .join(EOL) + EOL,
);
