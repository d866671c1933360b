// deno run deno_digest.ts WORD...
// Digests of words, in hexadecimal. Needs no permission at all.
import { encodeHex } from 'jsr:@std/encoding@1/hex';

const ALGORITHMS = ['SHA-1', 'SHA-256'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

async function digest(word: string, algorithm: Algorithm): Promise<string> {
  const bytes = new TextEncoder().encode(word);
  return encodeHex(await crypto.subtle.digest(algorithm, bytes));
}

const words: string[] = Deno.args.length > 0 ? Deno.args : ['lamp', 'chair'];
for (const word of words) {
  for (const algorithm of ALGORITHMS) {
    console.log(`${algorithm.padEnd(8)} ${word.padEnd(12)} ${await digest(word, algorithm)}`);
  }
}
Deno.exit(0);
