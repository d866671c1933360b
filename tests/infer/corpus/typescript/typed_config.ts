// Loads settings in layers: defaults, then config/logging.json, then the package's own fields.
import { readFileSync } from 'node:fs';

type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

interface Settings {
  level: 'DEBUG' | 'INFO' | 'ERROR';
  handlers: string[];
  service: { name: string; version: string };
}

const DEFAULTS: Settings = {
  level: 'ERROR',
  handlers: [],
  service: { name: 'unnamed', version: '0.0.0' },
};

function readJson<T>(relative: `./${string}.json`): T {
  return JSON.parse(readFileSync(relative, { encoding: 'utf8' })) as T;
}

function layer(base: Settings, over: DeepPartial<Settings>): Settings {
  return {
    level: over.level ?? base.level,
    handlers: (over.handlers as string[] | undefined) ?? base.handlers,
    service: { ...base.service, ...over.service },
  };
}

const { name, version } = readJson<{ name: string; version: string }>('./package.json');
const settings = [readJson<DeepPartial<Settings>>('./config/logging.json'), { service: { name, version } }].reduce(layer, DEFAULTS);
console.log(settings);
