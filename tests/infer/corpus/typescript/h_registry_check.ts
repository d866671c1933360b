// Does the image that config/deploy.yaml names exist in its registry?
import { promises as fs } from 'fs';
import * as https from 'https';

interface Image {
  registry: string;
  repository: string;
  tag: string;
}

async function configuredImage(file: string): Promise<Image> {
  const text = await fs.readFile(file, 'utf8');
  const match = text.match(/^image:\s*([^/\s]+)\/([^:\s]+):(\S+)$/m);
  if (!match) throw new Error(`no image in ${file}`);
  const [, registry, repository, tag] = match;
  return { registry, repository, tag };
}

function head(url: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    https
      .request(url, { method: 'HEAD', timeout: 2000 }, (response) => resolve(response.statusCode ?? 0))
      .on('error', reject)
      .end();
  });
}

(async () => {
  const { registry, repository, tag } = await configuredImage('./config/deploy.yaml');
  const url = new URL(`/v2/${repository}/manifests/${tag}`, `https://${registry}`);
  try {
    const status = await head(url);
    console.log(status === 200 ? 'found' : `not found (${status})`);
  } catch {
    console.error(`${registry} can't be reached`);
    process.exitCode = 1;
  }
})();
