// Wraps grep: counts open points per file.
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';

const PATTERN = 'TODO';
const PLACES = ['docs', 'src', 'README.md'] as const;

class CommandError extends Error {
  constructor(
    readonly program: string,
    readonly result: SpawnSyncReturns<string>,
  ) {
    super(`${program} ended with ${result.status}: ${result.stderr.trim()}`);
  }
}

function run(program: string, args: readonly string[], accept: number[] = [0]): string {
  const result = spawnSync(program, args, { encoding: 'utf8' });
  if (result.error) throw result.error;
  if (!accept.includes(result.status ?? -1)) throw new CommandError(program, result);
  return result.stdout;
}

// grep ends with 1 where it finds nothing.
const output = run('grep', ['-rc', '--include=*.md', PATTERN, ...PLACES], [0, 1]);
const counts = output
  .trim()
  .split('\n')
  .map((line) => line.split(':') as [string, string])
  .map(([file, count]) => ({ file, count: Number(count) }))
  .filter(({ count }) => count > 0);

console.log(counts.length ? counts.map(({ file, count }) => `${count} ${file}`).join('\n') : 'nothing open');
