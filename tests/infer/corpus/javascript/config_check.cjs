// Validates the service's configuration before a deployment.
const fsp = require('fs').promises;
const { join } = require('path');
const assert = require('assert');

class ConfigDirectory {
  static #DIR = 'config';
  name = (file) => join(ConfigDirectory.#DIR, file);

  async json(file) {
    return JSON.parse(await fsp.readFile(this.name(file), 'utf8'));
  }

  async keyValues(file) {
    const handle = await fsp.open(this.name(file), 'r');
    try {
      const out = {};
      for await (const line of handle.readLines()) {
        const m = /^([A-Z_]+)=(.*)$/.exec(line);
        if (m) out[m[1]] = m[2];
      }
      return out;
    } finally {
      await handle.close();
    }
  }
}

async function main() {
  const dir = new ConfigDirectory();
  const logging = await dir.json('logging.json');
  assert.ok(['DEBUG', 'INFO', 'WARNING', 'ERROR'].includes(logging.level), 'logging.level');
  const settings = await dir.keyValues('settings.env.example');
  assert.match(settings.APP_PORT, /^\d+$/, 'APP_PORT');
  console.log(`level ${logging.level}, port ${settings.APP_PORT}`);
}

main().catch((error) => {
  console.error(`configuration: ${error.message}`);
  process.exit(1);
});
