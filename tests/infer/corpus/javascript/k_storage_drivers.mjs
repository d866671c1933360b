// Drafts of texts are kept by a store that the editor is given.
import * as files from 'node:fs/promises';
import { join } from 'node:path';

class MemoryStore {
  #texts = new Map();
  async put(key, text) { this.#texts.set(key, text); }
  async get(key) { return this.#texts.get(key); }
}

class FolderStore {
  constructor(folder, io = files) {
    this.folder = folder;
    this.io = io;
  }

  async put(key, text) {
    await this.io.mkdir(this.folder, { recursive: true });
    await this.io.writeFile(join(this.folder, `${key}.txt`), text);
  }

  async get(key) {
    return this.io.readFile(join(this.folder, `${key}.txt`), 'utf8').catch(() => undefined);
  }
}

class Editor {
  constructor(store) { this.store = store; }

  async append(key, line) {
    const before = (await this.store.get(key)) ?? '';
    await this.store.put(key, `${before}${line}\n`);
    return before.split('\n').length;
  }
}

const stores = { memory: () => new MemoryStore(), folder: () => new FolderStore('var/drafts') };
for (const kind of Object.keys(stores)) {
  const editor = new Editor(stores[kind]());
  await editor.append('welcome', 'Dear reader,');
  console.log(kind, await editor.append('welcome', 'good to see you.'));
}
