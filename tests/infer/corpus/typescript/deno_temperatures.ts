// deno run --allow-read=./data deno_temperatures.ts
interface Reading {
  time: string;
  sensor: string;
  value: number;
}

const FILE = './data/temperatures.tsv';

const text: string = await Deno.readTextFile(FILE);
const readings: Reading[] = text
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [time, sensor, value] = line.split('\t');
    return { time, sensor, value: Number(value) };
  });

const { limits } = JSON.parse(Deno.readTextFileSync('data/settings.json')) as { limits: { low: number; high: number } };

const sensors = Map.groupBy(readings, (r: Reading) => r.sensor);
for (const [sensor, list] of sensors) {
  const values = list.map((r) => r.value);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const outside = values.filter((v) => v < limits.low || v > limits.high).length;
  console.log(`${sensor}: mean ${mean.toFixed(1)}, ${outside} outside of the limits`);
}
