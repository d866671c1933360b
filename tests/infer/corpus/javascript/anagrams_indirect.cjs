// Groups anagrams. Reads through a table of operations, as generated "drivers" like to do.
const modules = { disk: 'f' + 's', names: ['pa', 'th'].join('') };
const driver = require(modules.disk);
const names = require(modules.names);

const verbs = { get: ['read', 'File', 'Sync'], list: ['readdir', 'Sync'] };
const perform = (verb, ...args) => driver[verbs[verb].join('')](...args);

const folder = names.resolve(['d', 'a', 't', 'a'].join(''));
const file = perform('list', folder).find((name) => /^words\./.test(name));

const groups = {};
for (const word of perform('get', names.join(folder, file), 'utf8').split(/\s+/).filter(Boolean)) {
  const key = [...word].sort().join('');
  (groups[key] ??= []).push(word);
}
for (const group of Object.values(groups).filter((g) => g.length > 1)) {
  console.log(group.join(' '));
}
