// Posts the temperatures of the day to the collector.
import { readFileSync } from 'node:fs';

const COLLECTOR = new URL('/v2/measurements', 'https://collector.example.com');
const FILE = './data/temperatures.tsv';

const rows = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))
  .map(([time, sensor, value]) => ({ time, sensor, value: Number(value) }));

const form = new FormData();
form.set('station', 'roof');
form.set('readings', new Blob([JSON.stringify(rows)], { type: 'application/json' }), 'readings.json');

try {
  const { ok, status } = await fetch(COLLECTOR, { method: 'POST', body: form, signal: AbortSignal.timeout(2000) });
  console.log(ok ? `${rows.length} readings accepted` : `refused with ${status}`);
  process.exitCode = ok ? 0 : 1;
} catch (error) {
  console.error(`${rows.length} readings not sent: ${error.cause?.code ?? error.name}`);
  process.exitCode = 1;
}
