// Makes thumbnails with ImageMagick, in parallel, next to the originals.
import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { parse, format } from 'node:path';

const FOLDER = 'assets';
const SIZE = '64x64';

function convert(from, to) {
  return new Promise((resolve, reject) => {
    const child = spawn('magick', [from, '-thumbnail', SIZE, '-strip', to], { stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve(to) : reject(new Error(`${from}: code ${code}`))));
  });
}

const thumbnail = (name) => format({ dir: FOLDER, name: `${parse(name).name}-small`, ext: '.png' });

const images = (await readdir(FOLDER)).filter((name) => /\.(ppm|png|jpe?g)$/.test(name) && !name.includes('-small'));
const results = await Promise.allSettled(images.map((name) => convert(`${FOLDER}/${name}`, thumbnail(name))));
for (const { status, value, reason } of results) {
  console.log(status === 'fulfilled' ? `made ${value}` : `failed: ${reason.code ?? reason.message}`);
}
process.exitCode = results.every((r) => r.status === 'fulfilled') ? 0 : 1;
