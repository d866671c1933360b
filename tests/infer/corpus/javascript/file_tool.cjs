#!/usr/bin/env node
// A tool in the manner of an MCP file server: answers one request given on the command line.
//   file_tool.cjs read PATH | list PATH | stat PATH
const fs = require('node:fs/promises');
const path = require('node:path');

const handlers = {
  async read({ target }) {
    const text = await fs.readFile(target, 'utf8');
    return { type: 'text', text: text.length > 2000 ? `${text.slice(0, 2000)}…` : text };
  },
  async list({ target }) {
    const entries = await fs.readdir(target, { withFileTypes: true });
    return { type: 'entries', entries: entries.map((e) => e.name + (e.isDirectory() ? '/' : '')).sort() };
  },
  async stat({ target }) {
    const { size, mode } = await fs.stat(target);
    return { type: 'stat', size, mode: `0${(mode & 0o777).toString(8)}` };
  },
};

async function dispatch([verb = 'list', target = './data']) {
  const handler = handlers[verb];
  if (!handler) throw new Error(`unknown verb ${verb}`);
  return handler({ target: path.resolve(target) });
}

dispatch(process.argv.slice(2))
  .then((result) => console.log(JSON.stringify({ ok: true, result })))
  .catch((error) => {
    console.log(JSON.stringify({ ok: false, error: error.code ?? error.message }));
    process.exitCode = 1;
  });
