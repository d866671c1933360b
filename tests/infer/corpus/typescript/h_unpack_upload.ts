// Unpacks an upload for the importer.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import JSZip from 'jszip';

const UPLOAD = 'data/upload.zip';
const TARGET = '/tmp/stockade-corpus-upload';
const LIMIT = 10 * 1024 * 1024;

async function unpack(archive: string, target: string): Promise<string[]> {
  const zip = await JSZip.loadAsync(await readFile(archive));
  const written: string[] = [];
  for (const entry of Object.values(zip.files)) {
    if (entry.dir) continue;
    const content = await entry.async('nodebuffer');
    if (content.length > LIMIT) {
      console.warn(`${entry.name} is too large`);
      continue;
    }
    const file = join(target, entry.name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    written.push(file);
  }
  return written;
}

unpack(UPLOAD, TARGET).then(
  (files) => files.forEach((file) => console.log(file)),
  (error) => {
    console.error(error.message);
    process.exit(1);
  },
);
