// Merges built-in settings with the user's own from ~/.config/ledgerline/settings.json.
import os from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';

const DEFAULTS = { currency: 'EUR', decimals: 2, theme: { dark: false, accent: 'teal' } };

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

function merge(base, over) {
  const out = { ...base };
  for (const [key, value] of Object.entries(over)) {
    out[key] = isObject(value) && isObject(base[key]) ? merge(base[key], value) : value;
  }
  return out;
}

function userSettings() {
  const file = join(os.homedir(), '.config', 'ledgerline', 'settings.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

const settings = merge(DEFAULTS, userSettings());
console.log(new Intl.NumberFormat('en', { style: 'currency', currency: settings.currency }).format(1234.5));
console.log(settings.theme.dark ? 'dark' : 'light', settings.theme.accent);
