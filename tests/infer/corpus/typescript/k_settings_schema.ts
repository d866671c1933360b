// Settings by a schema of readers; where they come from is the caller's affair.
type Bag = Record<string, string | undefined>;
type Reader<T> = (raw: string | undefined, name: string) => T;

const text = (fallback: string): Reader<string> => (raw) => raw ?? fallback;
const integer = (fallback: number): Reader<number> => (raw, name) => {
  if (raw === undefined) return fallback;
  const value = Number.parseInt(raw, 10);
  if (Number.isNaN(value)) throw new TypeError(`${name} is not a number`);
  return value;
};
const flag: Reader<boolean> = (raw) => ['1', 'true', 'yes'].includes((raw ?? '').toLowerCase());

type Schema = Record<string, Reader<unknown>>;
type Settings<S extends Schema> = { [K in keyof S]: ReturnType<S[K]> };

function settings<S extends Schema>(schema: S, bag: Bag): Settings<S> {
  const entries = Object.entries(schema).map(([name, reader]) => [name, reader(bag[name], name)]);
  return Object.fromEntries(entries) as Settings<S>;
}

const schema = { LEDGER_REGION: text('north'), LEDGER_WORKERS: integer(2), LEDGER_DRY_RUN: flag };

const tested = settings(schema, { LEDGER_WORKERS: '8', LEDGER_DRY_RUN: 'yes' });
console.assert(tested.LEDGER_WORKERS === 8 && tested.LEDGER_DRY_RUN);

const { LEDGER_REGION: region, LEDGER_WORKERS: workers } = settings(schema, process.env);
console.log(`${workers} workers for ${region}`);
