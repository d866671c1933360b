// Converts a table of temperatures from Celsius to Fahrenheit: convert_units.ts [FILE]. Prints the result.
import fs from 'node:fs';
import { argv, stdout } from 'node:process';

type Row = readonly string[];
type Converter = (value: number) => number;

const CONVERTERS = {
  fahrenheit: (c) => (c * 9) / 5 + 32,
  kelvin: (c) => c + 273.15,
} satisfies Record<string, Converter>;

interface Options {
  file: string;
  unit: keyof typeof CONVERTERS;
}

function options(args: string[]): Options {
  const unit = args.find((a) => a.startsWith('--unit='))?.slice('--unit='.length) ?? 'fahrenheit';
  if (!(unit in CONVERTERS)) throw new TypeError(`unknown unit ${unit}`);
  const [file = 'data/temperatures.tsv'] = args.filter((a) => !a.startsWith('--'));
  return { file, unit: unit as Options['unit'] };
}

function* convert(rows: Iterable<Row>, unit: Options['unit']): Generator<Row> {
  for (const [time, sensor, value] of rows) {
    const number = Number(value);
    yield [time!, sensor!, Number.isNaN(number) ? unit : CONVERTERS[unit](number).toFixed(1)];
  }
}

const { file, unit } = options(argv.slice(2));
const rows = fs.readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => line.split('\t'));
for (const row of convert(rows, unit)) stdout.write(`${row.join('\t')}\n`);
