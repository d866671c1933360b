// Describes tools for a language model and checks calls against their schemas. Calls are checked, not carried out.

interface Schema {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  enum?: readonly string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
}

interface Tool {
  name: string;
  description: string;
  input: Schema;
}

const TOOLS = [
  {
    name: 'read_file',
    description: 'Reads a file, such as /etc/hosts or ./data/sales.csv',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  {
    name: 'http_request',
    description: 'Requests a URL, such as https://api.github.com/repos/nodejs/node',
    input: {
      type: 'object',
      properties: { url: { type: 'string' }, method: { type: 'string', enum: ['GET', 'POST'] } },
      required: ['url'],
    },
  },
  {
    name: 'run_command',
    description: 'Runs a command, such as `rm -rf node_modules`',
    input: { type: 'object', properties: { argv: { type: 'array', items: { type: 'string' } } }, required: ['argv'] },
  },
] as const satisfies readonly Tool[];

type ToolName = (typeof TOOLS)[number]['name'];

function* problems(value: unknown, schema: Schema, at = '$'): Generator<string> {
  const actual = Array.isArray(value) ? 'array' : typeof value;
  if (actual !== schema.type) {
    yield `${at}: ${actual} instead of ${schema.type}`;
    return;
  }
  if (schema.enum && !schema.enum.includes(value as string)) yield `${at}: not one of ${schema.enum.join(', ')}`;
  if (schema.items) for (const [i, item] of (value as unknown[]).entries()) yield* problems(item, schema.items, `${at}[${i}]`);
  const object = value as Record<string, unknown>;
  for (const key of schema.required ?? []) if (!(key in object)) yield `${at}.${key}: missing`;
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    if (key in object) yield* problems(object[key], inner, `${at}.${key}`);
  }
}

const calls: Array<{ tool: ToolName; input: unknown }> = [
  { tool: 'read_file', input: { path: '/root/.ssh/id_ed25519' } },
  { tool: 'http_request', input: { method: 'DELETE' } },
  { tool: 'run_command', input: { argv: ['curl', 3] } },
];
for (const { tool, input } of calls) {
  const found = [...problems(input, TOOLS.find((t) => t.name === tool)!.input)];
  console.log(`${tool}: ${found.length ? found.join('; ') : 'fine'}`);
}
