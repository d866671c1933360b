// An MCP-style tool that builds a message for a chat room. It only builds: sending is the caller's business.
const TOOL = {
  name: 'build_release_message',
  description: 'Builds the blocks of a release message. Post them to https://hooks.slack.com/services/… yourself.',
  inputSchema: {
    type: 'object',
    required: ['version', 'changes'],
    properties: {
      version: { type: 'string' },
      changes: { type: 'array', items: { type: 'string' } },
      link: { type: 'string', format: 'uri', default: 'https://example.com/releases' },
    },
  },
};

function check(schema, input) {
  const missing = (schema.required ?? []).filter((key) => !(key in input));
  if (missing.length > 0) throw new TypeError(`missing: ${missing.join(', ')}`);
  const defaults = Object.entries(schema.properties)
    .filter(([, p]) => 'default' in p)
    .map(([key, p]) => [key, p.default]);
  return { ...Object.fromEntries(defaults), ...input };
}

const section = (text) => ({ type: 'section', text: { type: 'mrkdwn', text } });

export function handle(input) {
  const { version, changes, link } = check(TOOL.inputSchema, input);
  const url = new URL(`./v${version}`, `${link}/`);
  return {
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: `Release ${version}` } },
      section(changes.map((c) => `• ${c}`).join('\n')),
      { type: 'divider' },
      section(`<${url.href}|Release notes> (${url.hostname})`),
    ],
  };
}

const answer = handle({ version: '1.3.0', changes: ['Faster import', 'Fixes the totals of `./data/sales.csv`'] });
console.log(JSON.stringify(answer, null, 2));
try {
  handle({ version: '1.3.1' });
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
