// Runs a step of a "playbook": the step says with which function of child_process, and what.
const child = require('node:child_process');

const playbook = JSON.parse(
  process.argv[2] ?? Buffer.from('W3siaG93IjoiZXhlY0ZpbGUiLCJ3aXRoIjpbImVjaG8iLFsiaGVsbG8iXV19XQ==', 'base64').toString(),
);

for (const { how, with: args } of playbook) {
  const step = child[`${how}Sync`];
  if (typeof step !== 'function') {
    console.error(`no such way: ${how}`);
    process.exitCode = 2;
    break;
  }
  const output = step.apply(null, args);
  process.stdout.write(output);
}
