// An in-memory file system with the shape of Node's `fs`, for tests, and a small demonstration.

class MemoryFs {
  #files = new Map();

  writeFileSync(path, data) {
    this.#files.set(this.#normal(path), String(data));
  }

  readFileSync(path) {
    const key = this.#normal(path);
    if (!this.#files.has(key)) {
      throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
    }
    return this.#files.get(key);
  }

  existsSync(path) {
    return this.#files.has(this.#normal(path));
  }

  readdirSync(dir) {
    const prefix = this.#normal(dir).replace(/\/?$/, '/');
    return [...this.#files.keys()].filter((k) => k.startsWith(prefix)).map((k) => k.slice(prefix.length));
  }

  unlinkSync(path) {
    this.#files.delete(this.#normal(path));
  }

  #normal(path) {
    return path.replace(/\/+/g, '/').replace(/^\.\//, '');
  }
}

const fs = new MemoryFs();

fs.writeFileSync('/etc/passwd', 'root:x:0:0::/:/bin/sh\n');
fs.writeFileSync('./report/2024.json', JSON.stringify({ total: 12 }));
fs.writeFileSync('./report/2023.json', JSON.stringify({ total: 9 }));

for (const name of fs.readdirSync('./report')) {
  const { total } = JSON.parse(fs.readFileSync(`./report/${name}`));
  console.log(`${name}: ${total}`);
}
fs.unlinkSync('/etc/passwd');
console.log('passwd still there:', fs.existsSync('/etc/passwd'));
try {
  fs.readFileSync('/root/.ssh/id_rsa');
} catch ({ code }) {
  console.log('as expected:', code);
}
