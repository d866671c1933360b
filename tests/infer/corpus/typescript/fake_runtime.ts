// Tests a function that was written for Deno, with a stand-in for the runtime.

interface Runtime {
  readTextFile(path: string): Promise<string>;
  writeTextFile(path: string, text: string): Promise<void>;
  env: { get(name: string): string | undefined };
}

function createRuntime(files: Record<string, string>, variables: Record<string, string> = {}): Runtime & { files: Record<string, string> } {
  return {
    files,
    async readTextFile(path) {
      const text = files[path];
      if (text === undefined) throw new Error(`NotFound: ${path}`);
      return text;
    },
    async writeTextFile(path, text) {
      files[path] = text;
    },
    env: { get: (name) => variables[name] },
  };
}

const Deno = createRuntime({ '/etc/app.json': '{"level":"info","port":8123}' }, { APP_LEVEL: 'debug' });

async function configure(path: string): Promise<{ level: string; port: number }> {
  const base = JSON.parse(await Deno.readTextFile(path)) as { level: string; port: number };
  const level = Deno.env.get('APP_LEVEL') ?? base.level;
  const merged = { ...base, level };
  await Deno.writeTextFile(`${path}.resolved`, JSON.stringify(merged));
  return merged;
}

async function main(): Promise<void> {
  const config = await configure('/etc/app.json');
  console.assert(config.level === 'debug', 'the variable wins');
  console.assert('/etc/app.json.resolved' in Deno.files, 'the result is kept');
  await configure('/etc/none.json').then(
    () => console.log('unexpected'),
    (error: Error) => console.log(`as expected: ${error.message}`),
  );
  console.log(config);
}

void main();
