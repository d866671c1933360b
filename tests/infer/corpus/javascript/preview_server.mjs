// Serves a generated page for a quick look, asks itself once whether it works, and ends.
import { createServer } from 'node:http';
import { once } from 'node:events';

const page = (title, rows) => `<!doctype html><title>${title}</title>
<ul>${rows.map((r) => `<li>${r}</li>`).join('')}</ul>`;

const routes = {
  '/': () => ({ type: 'text/html', body: page('Preview', ['lamp', 'chair']) }),
  '/healthz': () => ({ type: 'application/json', body: JSON.stringify({ ok: true }) }),
};

const server = createServer((req, res) => {
  const { pathname } = new URL(req.url, 'http://localhost');
  const route = routes[pathname];
  if (!route) {
    res.writeHead(404).end('not found');
    return;
  }
  const { type, body } = route();
  res.writeHead(200, { 'content-type': type, connection: 'close' }).end(body);
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const health = await fetch(`http://127.0.0.1:${port}/healthz`);
console.log('healthy:', (await health.json()).ok);
const missing = await fetch(`http://127.0.0.1:${port}/nothing`);
console.log('missing page:', missing.status);
server.close();
