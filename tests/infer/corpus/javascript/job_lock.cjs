// Runs a job at most once at a time: a lock file in /tmp holds the process's number.
const { openSync, writeSync, closeSync, unlinkSync, readFileSync } = require('node:fs');

const lockPath = (job) => `/tmp/${['stockade', 'corpus', job].join('-')}.lock`;

function withLock(job, action) {
  const path = lockPath(job);
  let fd;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = readFileSync(path, 'utf8').trim();
    console.error(`${job} is running already (process ${holder})`);
    return undefined;
  }
  try {
    writeSync(fd, `${process.pid}\n`);
    return action();
  } finally {
    closeSync(fd);
    unlinkSync(path);
  }
}

const primes = withLock('sieve', () => {
  const limit = 10_000;
  const composite = new Uint8Array(limit + 1);
  const found = [];
  for (let n = 2; n <= limit; n += 1) {
    if (composite[n]) continue;
    found.push(n);
    for (let m = n * n; m <= limit; m += n) composite[m] = 1;
  }
  return found;
});
console.log(primes ? `${primes.length} primes, the last is ${primes.at(-1)}` : 'skipped');
