// Jobs tell what happens to them; a journal for the time of the run listens.
const { EventEmitter } = require('events');
const fs = require('fs');
const os = require('os');
const path = require('path');

class Queue extends EventEmitter {
  #jobs = [];

  add(name, work) {
    this.#jobs.push({ name, work });
    this.emit('added', name);
    return this;
  }

  async drain() {
    for (const { name, work } of this.#jobs.splice(0)) {
      try {
        this.emit('done', name, await work());
      } catch (error) {
        this.emit('failed', name, error);
      }
    }
    this.emit('idle');
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stockade-corpus-queue-'));
const journal = path.join(folder, 'journal.txt');
const note = (kind) => (name, detail) => fs.appendFileSync(journal, `${kind} ${name} ${detail ?? ''}\n`);

const queue = new Queue();
for (const kind of ['added', 'done', 'failed']) queue.on(kind, note(kind));
queue.once('idle', () => {
  console.log(fs.readFileSync(journal, 'utf8').trimEnd());
  fs.rmSync(folder, { recursive: true });
});

queue
  .add('sum', () => [1, 2, 3].reduce((a, b) => a + b))
  .add('parse', () => JSON.parse('{'))
  .drain();
