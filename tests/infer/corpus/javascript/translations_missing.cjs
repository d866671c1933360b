// Which keys have no translation yet? The dictionaries are loaded as modules.
const en = require('./data/i18n/en.json');
const LANGUAGES = ['de', 'fr'];

function flatten(object, prefix = '') {
  return Object.entries(object).flatMap(([key, value]) => {
    const name = prefix ? `${prefix}.${key}` : key;
    return value !== null && typeof value === 'object' ? flatten(value, name) : [name];
  });
}

const wanted = new Set(flatten(en));
let missing = 0;

for (const language of LANGUAGES) {
  const known = new Set(flatten(require(`./data/i18n/${language}.json`)));
  for (const key of wanted) {
    if (!known.has(key)) {
      console.log(`${language}: missing ${key}`);
      missing += 1;
    }
  }
  for (const key of known) {
    if (!wanted.has(key)) console.log(`${language}: superfluous ${key}`);
  }
}

console.log(missing === 0 ? 'all is translated' : `${missing} to translate`);
