// Asks the local Redis for its version, speaking the protocol by hand.
import { connect, type Socket } from 'node:net';

interface RedisInfo {
  redis_version: string;
  uptime_in_seconds: string;
}

const PORT = 6379;

function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((w) => `$${Buffer.byteLength(w)}\r\n${w}\r\n`).join('')}`;
}

function info(host: string = 'localhost'): Promise<Partial<RedisInfo>> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(PORT, host, () => socket.write(command('INFO', 'server')));
    socket.setTimeout(1_000, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
    socket.on('data', (data: Buffer) => {
      socket.end();
      const fields = data
        .toString()
        .split('\r\n')
        .filter((line) => line.includes(':'))
        .map((line) => line.split(':', 2) as [string, string]);
      resolve(Object.fromEntries(fields) as Partial<RedisInfo>);
    });
  });
}

info().then(
  ({ redis_version: version, uptime_in_seconds: uptime }) => console.log(`Redis ${version}, up for ${uptime} s`),
  (error: AggregateError & NodeJS.ErrnoException) => {
    console.error(`no Redis here: ${error.code}`);
    process.exitCode = 1;
  },
);
