// usage: h_export_json.ts [OUTPUT]     exports the active users
import { readFile, rm, writeFile } from 'fs/promises';

type User = { id: number; name: string; active: boolean; tags: string[] };

const DEFAULT_OUTPUT = '/tmp/stockade-corpus-active-users.json';

async function activeUsers(): Promise<User[]> {
  const users = JSON.parse(await readFile('./data/users.json', 'utf8')) as User[];
  return users.filter(({ active }) => active);
}

async function main(argv: readonly string[]): Promise<void> {
  const output = argv[0] ?? DEFAULT_OUTPUT;
  const users = await activeUsers();
  await writeFile(output, JSON.stringify(users, null, 2) + '\n');
  console.log(`${users.length} users written to ${output}`);
  if (output === DEFAULT_OUTPUT) {
    // Nobody asked for the file: it was only a trial.
    await rm(DEFAULT_OUTPUT);
  }
}

void main(process.argv.slice(2));
