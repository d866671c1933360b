// Finds free ports for a test run and prints them as shell assignments.
import { createServer, type AddressInfo } from 'node:net';

const NAMES = ['API_PORT', 'DB_PORT', 'METRICS_PORT'] as const;

function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.unref();
    server.on('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function main(): Promise<void> {
  const seen = new Set<number>();
  for (const name of NAMES) {
    let port: number;
    do port = await freePort();
    while (seen.has(port));
    seen.add(port);
    console.log(`${name}=${port}`);
  }
}

main();
