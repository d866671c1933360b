// Computes hashed asset names and the URLs they get on the CDN. Nothing is uploaded here: see `make publish`.
const { createHash } = require('node:crypto');
const path = require('node:path');

class AssetMap {
  #entries = new Map();

  constructor(base) {
    this.base = new URL(base);
  }

  write(file, content) {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
    const { dir, name, ext } = path.parse(file);
    this.#entries.set(file, path.posix.join(dir, `${name}.${hash}${ext}`));
    return this;
  }

  fetch(file) {
    const hashed = this.#entries.get(file);
    if (!hashed) throw new Error(`unknown asset ${file}`);
    return new URL(hashed, this.base).href;
  }

  *[Symbol.iterator]() {
    for (const file of this.#entries.keys()) yield [file, this.fetch(file)];
  }
}

const assets = new AssetMap('https://cdn.example.com/static/');
assets
  .write('css/site.css', 'body { margin: 0 }')
  .write('js/app.js', 'console.log("hi")')
  .write('../etc/odd.txt', 'odd');

for (const [file, url] of assets) console.log(`${file} -> ${url}`);
