// Says which of the tools that the build needs are installed, looking through PATH like a shell.
const { accessSync, constants } = require('node:fs');
const { delimiter, join } = require('node:path');

const NEEDED = ['git', 'tar', 'gzip', 'no-such-tool'];
const { PATH: searchPath = '' } = process.env;

function which(program) {
  for (const dir of searchPath.split(delimiter).filter(Boolean)) {
    const candidate = join(dir, program);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this one.
    }
  }
  return null;
}

const missing = NEEDED.filter((tool) => which(tool) === null);
console.log(`found ${NEEDED.length - missing.length} of ${NEEDED.length}`);
if (missing.length) console.log(`missing: ${missing.join(', ')}`);
