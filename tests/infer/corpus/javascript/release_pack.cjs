// Packs the sources for a release: out/ledgerline-VERSION.tar.gz and its checksum.
const { execSync, execFileSync } = require('child_process');
const { readFileSync, mkdirSync, writeFileSync } = require('fs');
const { createHash } = require('crypto');

const { name, version } = JSON.parse(readFileSync('./package.json', 'utf8'));
const archive = `out/${name}-${version}.tar.gz`;

mkdirSync('out', { recursive: true });
execFileSync('tar', ['--sort=name', '--mtime=2024-01-01', '-czf', archive, 'src', 'config', 'README.md'], {
  stdio: ['ignore', 'inherit', 'inherit'],
});

const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
writeFileSync(`${archive}.sha256`, `${digest}  ${archive}\n`);

const entries = execSync(`tar -tzf ${archive} | wc -l`).toString().trim();
console.log(`${archive}: ${entries} entries`);
