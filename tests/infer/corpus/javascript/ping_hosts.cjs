// Tries port 80 of each host of a list.
const net = require('net');
const { readFileSync } = require('fs');

const LIST = './data/hosts.txt';
const PORT = 80;

function reachable(host, port, timeout = 500) {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout });
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish('open'));
    socket.once('timeout', () => finish('timeout'));
    socket.once('error', (error) => finish(error.code === 'ECONNREFUSED' ? 'closed' : 'unreachable'));
  });
}

async function main() {
  const hosts = readFileSync(LIST, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);
  for (const host of hosts) {
    console.log(`${host}:${PORT} is ${await reachable(host, PORT)}`);
  }
}

main();
