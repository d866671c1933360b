// Packs the sales table for a download: NDJSON, gzipped, in a directory of its own that is removed at the end.
import { createReadStream, createWriteStream } from 'fs';
import { mkdtemp, rm, stat } from 'fs/promises';
import { pipeline } from 'stream/promises';
import { Transform } from 'stream';
import { createGzip } from 'zlib';
import os from 'os';
import path from 'path';

class CsvToNdjson extends Transform {
  #rest = '';
  #names = null;

  _transform(chunk, _encoding, done) {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
    done();
  }

  _flush(done) {
    if (this.#rest) this.#line(this.#rest);
    done();
  }

  #line(line) {
    const cells = line.split(',');
    if (!this.#names) {
      this.#names = cells;
      return;
    }
    this.push(JSON.stringify(Object.fromEntries(this.#names.map((n, i) => [n, cells[i]]))) + '\n');
  }
}

const work = await mkdtemp(path.join(os.tmpdir(), 'stockade-corpus-sales-'));
const target = path.join(work, 'sales.ndjson.gz');
try {
  await pipeline(createReadStream('data/sales.csv'), new CsvToNdjson(), createGzip({ level: 9 }), createWriteStream(target));
  const { size } = await stat(target);
  console.log(size > 0 ? 'packed' : 'empty');
} finally {
  await rm(work, { recursive: true });
}
