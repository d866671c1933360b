// Some services want TLS settings that only curl has here, so it is asked to do the request.
const { execFile } = require('node:child_process');

const ENDPOINT = 'https://api.statuspage.example.com/v1/summary.json';
const OPTIONS = ['--silent', '--show-error', '--fail', '--max-time', '2', '--tlsv1.2'];

execFile('curl', [...OPTIONS, ENDPOINT], (error, stdout, stderr) => {
  if (error) {
    console.error(`curl ended with ${error.code}: ${stderr.trim().split('\n')[0]}`);
    process.exitCode = 1;
    return;
  }
  const { status, components = [] } = JSON.parse(stdout);
  console.log(status.description);
  for (const { name, status: state } of components) {
    if (state !== 'operational') console.log(`- ${name}: ${state}`);
  }
});
