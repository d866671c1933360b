/** Tries the store of sessions: what was saved is found, what is old is forgotten. */
import { SessionStore, type Session } from './lib/session-store.js';

const FOLDER = '/tmp/stockade-corpus-sessions';
const HOUR = 60 * 60 * 1000;

const fixtures: Session[] = [
  { id: 'a1', user: 'ada', lastSeen: Date.now() },
  { id: 'b2', user: 'ben', lastSeen: Date.now() - 3 * HOUR },
];

async function main(): Promise<number> {
  const store = new SessionStore({ directory: FOLDER, maxAge: HOUR });
  await Promise.all(fixtures.map((session) => store.save(session)));

  const forgotten = await store.prune();
  const found = await store.load('a1');
  await store.clear();

  const right = forgotten === 1 && found?.user === 'ada';
  console.log(right ? 'the store works' : `forgot ${forgotten}, found ${found?.user}`);
  return right ? 0 : 1;
}

process.exitCode = await main();
