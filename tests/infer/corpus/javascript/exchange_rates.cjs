'use strict';
const https = require('https');

const SERVICE = { hostname: 'api.frankfurter.app', port: 443 };
const WANTED = ['USD', 'GBP', 'NOK'];

function getJson(path) {
  return new Promise((resolve, reject) => {
    const request = https.get({ ...SERVICE, path, timeout: 2000, headers: { Accept: 'application/json' } }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        reject(new Error(`status ${response.statusCode}`));
        return;
      }
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part) => (body += part));
      response.on('end', () => resolve(JSON.parse(body)));
    });
    request.on('timeout', () => request.destroy(new Error('timed out')));
    request.on('error', reject);
  });
}

getJson(`/latest?from=EUR&to=${WANTED.join(',')}`)
  .then(({ date, rates }) => {
    console.log(`rates of ${date}`);
    for (const [currency, rate] of Object.entries(rates)) console.log(`1 EUR = ${rate} ${currency}`);
  })
  .catch((error) => {
    console.error(`no rates: ${error.code ?? error.message}`);
    process.exitCode = 3;
  });
