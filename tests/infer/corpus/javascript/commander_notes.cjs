#!/usr/bin/env node
const { Command, InvalidArgumentError } = require('commander');
const fs = require('node:fs');

const program = new Command();

function load(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [];
}

function save(file, notes) {
  fs.writeFileSync(`${file}.new`, JSON.stringify(notes, null, 2));
  fs.renameSync(`${file}.new`, file);
}

const number = (value) => {
  const n = Number.parseInt(value, 10);
  if (Number.isNaN(n)) throw new InvalidArgumentError('not a number');
  return n;
};

program.name('notes').version('0.2.0').option('-f, --file <path>', 'where notes are kept', 'notes.json');

program
  .command('add <text...>')
  .description('adds a note')
  .action((words) => {
    const { file } = program.opts();
    const notes = load(file);
    notes.push({ text: words.join(' '), done: false });
    save(file, notes);
  });

program
  .command('done')
  .argument('<number>', 'which', number)
  .action((n) => {
    const { file } = program.opts();
    const notes = load(file);
    notes[n - 1].done = true;
    save(file, notes);
  });

program.command('list', { isDefault: true }).action(() => {
  load(program.opts().file).forEach(({ text, done }, i) => console.log(`${i + 1}. [${done ? 'x' : ' '}] ${text}`));
});

program.parse();
