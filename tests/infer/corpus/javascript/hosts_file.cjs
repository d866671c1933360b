// Lists the names of the loopback addresses in the machine's hosts file.
const { createReadStream } = require('node:fs');
const readline = require('node:readline');
const { isIP } = require('node:net');

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const LOOPBACK = /^(127\.|::1$)/;

async function parse(file) {
  const names = new Set();
  const input = createReadStream(file);
  for await (const line of readline.createInterface({ input })) {
    const [address, ...aliases] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (isIP(address) && LOOPBACK.test(address)) aliases.forEach((a) => names.add(a));
  }
  return names;
}

parse(HOSTS)
  .then((names) => console.log(names.has('localhost') ? 'localhost is known' : 'localhost is missing'))
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
