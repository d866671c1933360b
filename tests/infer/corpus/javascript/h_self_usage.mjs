/**
 * usage: h_self_usage.mjs [--celsius N | --fahrenheit N]
 *
 * Converts a temperature. Without arguments it prints this text,
 * which is taken from the comment at the head of the program.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);

function usage() {
  const source = readFileSync(here, 'utf8');
  const comment = source.slice(source.indexOf('/**') + 3, source.indexOf('*/'));
  return comment.replace(/^\s*\* ?/gm, '').trim();
}

const [flag, value] = process.argv.slice(2);
const degrees = Number(value);
switch (flag) {
  case '--celsius':
    console.log(`${((degrees * 9) / 5 + 32).toFixed(1)} °F`);
    break;
  case '--fahrenheit':
    console.log(`${(((degrees - 32) * 5) / 9).toFixed(1)} °C`);
    break;
  default:
    console.log(usage());
}
