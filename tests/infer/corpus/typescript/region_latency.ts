// Which region of the object store answers fastest?
import https from 'node:https';
import { performance } from 'node:perf_hooks';

enum Region {
  Frankfurt = 'eu-central-1',
  Oregon = 'us-west-2',
  Tokyo = 'ap-northeast-1',
}

interface Result {
  region: Region;
  ms?: number;
  error?: string;
}

const DOMAIN = 'storage.example.com';
const endpoint = (region: Region): string => `${region}.${DOMAIN}`;

function probe(region: Region): Promise<Result> {
  return new Promise((resolve) => {
    const started = performance.now();
    const request = https.request({ method: 'HEAD', host: endpoint(region), path: '/', timeout: 1_000 }, (response) => {
      response.resume();
      resolve({ region, ms: performance.now() - started });
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', (error: NodeJS.ErrnoException) => resolve({ region, error: error.code ?? error.message }));
    request.end();
  });
}

async function main(): Promise<void> {
  const results = await Promise.all(Object.values(Region).map(probe));
  const reached = results.filter((r): r is Result & { ms: number } => r.ms !== undefined);
  reached.sort((a, b) => a.ms - b.ms);
  for (const { region, ms } of reached) console.log(`${region}: ${ms.toFixed(0)} ms`);
  for (const { region, error } of results) if (error) console.error(`${region}: ${error}`);
  if (reached.length === 0) process.exitCode = 1;
}

void main();
