/**
 * Asks the server named in config/app.toml for its health page.
 * Tries three times before it gives up.
 */
const fs = require('node:fs');
const path = require('node:path');
const http = require('node:http');

const CONFIG = path.join('config', 'app.toml');
const ATTEMPTS = 3;

function serverSettings() {
  const text = fs.readFileSync(CONFIG, 'utf8');
  const section = text.split('[server]')[1].split('[')[0];
  const host = /host\s*=\s*"([^"]+)"/.exec(section)?.[1];
  const port = Number(/port\s*=\s*(\d+)/.exec(section)?.[1]);
  return { host, port };
}

function request({ host, port }) {
  return new Promise((resolve, reject) => {
    const req = http.get({ host, port, path: '/health', timeout: 400 }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on('timeout', () => req.destroy(new Error('timeout')));
    req.on('error', reject);
  });
}

(async () => {
  const server = serverSettings();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const status = await request(server);
      console.log(`healthy (${status})`);
      return;
    } catch (error) {
      console.error(`attempt ${attempt}: ${error.code || error.message}`);
      await new Promise((wake) => setTimeout(wake, 100 * attempt));
    }
  }
  process.exitCode = 1;
})();
