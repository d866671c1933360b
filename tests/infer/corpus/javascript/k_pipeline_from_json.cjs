// A report whose parts are named by a list, each with the function that makes it.
const fs = require('fs');

const read = (file) => fs.readFileSync(file, 'utf8');

const makers = {
  json: ({ file, pick }) => pick.split('.').reduce((value, key) => value?.[key], JSON.parse(read(file))),
  lines: ({ file }) => read(file).split('\n').length - 1,
  first: ({ file, pattern }) => new RegExp(pattern, 'm').exec(read(file))?.[1],
};

const REPORT = [
  { label: 'version', maker: 'json', file: 'package.json', pick: 'version' },
  { label: 'log level', maker: 'json', file: 'config/logging.json', pick: 'level' },
  { label: 'requirements', maker: 'lines', file: 'requirements.txt' },
  { label: 'guide', maker: 'first', file: 'docs/guide.md', pattern: '^#\\s+(.*)$' },
];

function run(parts, onError) {
  const result = {};
  for (const { label, maker, ...options } of parts) {
    try {
      result[label] = makers[maker](options);
    } catch (error) {
      onError(label, error);
    }
  }
  return result;
}

console.table(run(REPORT, (label, error) => console.error(`${label}: ${error.message}`)));
