// Formats the results of `fs.stat` as `ls -l` does. Only its types come from there.
import type { Stats, Dirent } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type ExecFileOptions } from 'node:child_process';

type Size = Pick<Stats, 'size' | 'mode' | 'mtimeMs'>;
export type Lister = (path: string, options?: ExecFileOptions) => Promise<Dirent[]>;
export type Handler = (request: IncomingMessage) => void;

const BITS = ['r', 'w', 'x'] as const;

function permissions(mode: number): string {
  let out = '';
  for (let shift = 8; shift >= 0; shift -= 1) {
    out += mode & (1 << shift) ? BITS[(8 - shift) % 3] : '-';
  }
  return out;
}

function human(size: number): string {
  const units = ['B', 'K', 'M', 'G'];
  let n = size;
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? n : n.toFixed(1)}${units[unit]}`;
}

export function line(name: string, { size, mode, mtimeMs }: Size): string {
  const day = new Date(mtimeMs).toISOString().slice(0, 10);
  return [permissions(mode), human(size).padStart(7), day, name].join('  ');
}

const SAMPLES: Record<string, Size> = {
  'README.md': { size: 4312, mode: 0o644, mtimeMs: Date.UTC(2024, 4, 1) },
  '/usr/bin/node': { size: 98_932_688, mode: 0o755, mtimeMs: Date.UTC(2024, 2, 24) },
  '~/.ssh/id_ed25519': { size: 411, mode: 0o600, mtimeMs: Date.UTC(2023, 0, 9) },
};

for (const [name, stat] of Object.entries(SAMPLES)) console.log(line(name, stat));
