// Sessions of users, built from the event log with a pipeline of asynchronous generators.
import { open } from 'node:fs/promises';
import * as path from 'node:path';

interface LogEvent {
  ts: string;
  user: number;
  event: 'login' | 'logout' | 'click' | 'purchase';
  ms: number;
}

interface Session {
  user: number;
  from: Date;
  to: Date;
  events: number;
}

const GAP_MS = 4 * 60 * 60 * 1000;

abstract class Source<T> {
  protected abstract readonly file: string;

  async *read(): AsyncGenerator<T> {
    const handle = await open(path.join(process.cwd(), 'data', this.file));
    try {
      for await (const line of handle.readLines()) {
        if (line) yield JSON.parse(line) as T;
      }
    } finally {
      await handle.close();
    }
  }
}

class EventSource extends Source<LogEvent> {
  protected readonly file = 'events.jsonl';
}

async function* sessions(events: AsyncIterable<LogEvent>): AsyncGenerator<Session> {
  const open = new Map<number, Session>();
  for await (const { ts, user } of events) {
    const at = new Date(ts);
    const current = open.get(user);
    if (current && at.getTime() - current.to.getTime() <= GAP_MS) {
      current.to = at;
      current.events += 1;
    } else {
      if (current) yield current;
      open.set(user, { user, from: at, to: at, events: 1 });
    }
  }
  yield* open.values();
}

async function main(): Promise<void> {
  let count = 0;
  let longest: Session | undefined;
  const length = (s: Session): number => s.to.getTime() - s.from.getTime();
  for await (const session of sessions(new EventSource().read())) {
    count += 1;
    if (!longest || length(session) > length(longest)) longest = session;
  }
  console.log(`${count} sessions`);
  if (longest) console.log(`the longest: user ${longest.user}, ${length(longest) / 60_000} minutes`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
