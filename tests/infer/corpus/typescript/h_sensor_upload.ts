// Sends the latest reading of each configured sensor to the telemetry service.
import { readFileSync } from 'node:fs';

interface Settings {
  threshold: number;
  sensors: string[];
}

const SERVICE = 'https://telemetry.example.com/v1';

function latest(sensor: string): number | undefined {
  const rows = readFileSync('data/temperatures.tsv', 'utf8').trim().split('\n').slice(1);
  const own = rows.map((row) => row.split('\t')).filter((cells) => cells[1] === sensor);
  return own.length ? Number(own[own.length - 1][2]) : undefined;
}

async function upload(sensor: string, value: number): Promise<void> {
  const response = await fetch(`${SERVICE}/sensors/${encodeURIComponent(sensor)}/readings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ value }),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
}

async function main(): Promise<number> {
  const settings: Settings = JSON.parse(readFileSync('data/settings.json', 'utf8'));
  let failures = 0;
  for (const sensor of settings.sensors) {
    const value = latest(sensor);
    if (value === undefined || value < settings.threshold) continue;
    try {
      await upload(sensor, value);
    } catch (error) {
      console.error(`${sensor}: ${(error as Error).message}`);
      failures += 1;
    }
  }
  return failures ? 1 : 0;
}

main().then((code) => process.exit(code));
