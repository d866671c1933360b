// Counts something in statsd. UDP: nobody answers, and nobody needs to be there.
const dgram = require('node:dgram');

class StatsD {
  constructor({ host = '127.0.0.1', port = 8125, prefix = '' } = {}) {
    Object.assign(this, { host, port, prefix });
    this.socket = dgram.createSocket('udp4');
  }

  send(line) {
    return new Promise((resolve, reject) => {
      this.socket.send(Buffer.from(`${this.prefix}${line}`), this.port, this.host, (error) =>
        error ? reject(error) : resolve(),
      );
    });
  }

  count = (name, n = 1) => this.send(`${name}:${n}|c`);
  timing = (name, ms) => this.send(`${name}:${ms}|ms`);
  close = () => this.socket.close();
}

(async () => {
  const stats = new StatsD({ prefix: 'nightly.' });
  const before = process.hrtime.bigint();
  await stats.count('runs');
  await stats.timing('duration', Number((process.hrtime.bigint() - before) / 1_000_000n));
  stats.close();
  console.log('counted');
})();
