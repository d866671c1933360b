// Formats a file's size with a module that is fetched when the program starts.
import prettyBytes from 'https://esm.example.dev/pretty-bytes@6.1.1?target=deno';
import { parseArgs } from 'https://deno.land/std@0.224.0/cli/parse_args.ts';

const { bits, _: sizes } = parseArgs(Deno.args, { boolean: ['bits'] });

const numbers: number[] = sizes.length > 0 ? sizes.map(Number) : [1337, 98_932_688];
for (const size of numbers) {
  console.log(`${size}: ${prettyBytes(size, { bits, maximumFractionDigits: 1 })}`);
}
