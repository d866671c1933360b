// Applies migrations in order. A migration is a module below ./migrations that exports `up`.
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';

interface Migration {
  up(log: (line: string) => void): Promise<void> | void;
}

const directory = resolve(process.env['MIGRATIONS'] ?? 'migrations');

async function main(): Promise<void> {
  const names = existsSync(directory) ? readdirSync(directory).filter((n) => /^\d+.*\.[jt]s$/.test(n)) : [];
  for (const name of names.sort()) {
    const migration = (await import(resolve(directory, name))) as Migration;
    await migration.up((line) => console.log(`${name}: ${line}`));
  }
  console.log(`${names.length} migrations`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
