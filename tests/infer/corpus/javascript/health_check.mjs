// Asks every service of the shop for its health and prints one line for each.
import { setTimeout as sleep } from 'node:timers/promises';

const SERVICES = {
  catalogue: { host: 'catalogue.internal.example.com', path: '/healthz' },
  payments: { host: 'payments.internal.example.com', path: '/health' },
  search: { host: 'search.example.com', port: 9200, path: '/_cluster/health' },
};

const urlOf = ({ host, port, path }) => `https://${host}${port ? `:${port}` : ''}${path}`;

async function probe(name, service, tries = 2) {
  const started = performance.now();
  for (let n = 1; ; n += 1) {
    try {
      const { status } = await globalThis.fetch(urlOf(service), { method: 'HEAD', signal: AbortSignal.timeout(800) });
      return { name, up: status < 500, ms: performance.now() - started };
    } catch (error) {
      if (n >= tries) return { name, up: false, why: error.cause?.code ?? error.name };
      await sleep(50);
    }
  }
}

const results = await Promise.all(Object.entries(SERVICES).map(([name, service]) => probe(name, service)));
for (const { name, up, ms, why } of results) {
  console.log(`${up ? 'up  ' : 'DOWN'} ${name}${up ? ` ${ms.toFixed(0)} ms` : ` (${why})`}`);
}
process.exitCode = results.every((r) => r.up) ? 0 : 1;
