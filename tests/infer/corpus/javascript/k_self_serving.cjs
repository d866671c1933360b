'use strict';
// Checks the handler of the greeting service by serving it for the length of one request.
const http = require('http');
const { once } = require('events');

function greet(request, response) {
  const url = new URL(request.url, 'http://service.invalid');
  const name = url.searchParams.get('name') || 'stranger';
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.end(`Hello, ${name}!`);
}

async function withServer(handler, use) {
  const server = http.createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

withServer(greet, async (base) => {
  const cases = { '/?name=Ada': 'Hello, Ada!', '/': 'Hello, stranger!' };
  for (const [path, expected] of Object.entries(cases)) {
    const text = await (await fetch(base + path)).text();
    console.log(path, text === expected ? 'ok' : `wrong: ${text}`);
    if (text !== expected) process.exitCode = 1;
  }
});
