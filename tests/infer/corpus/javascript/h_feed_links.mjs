// Are the links of our feed still alive?
import fs from 'node:fs/promises';

const feed = await fs.readFile(new URL('data/feed.xml', `file://${process.cwd()}/`), 'utf8');
const links = [...feed.matchAll(/<link>(https?:\/\/[^<]+)<\/link>/g)].map(([, href]) => href);

async function check(href) {
  try {
    const { status } = await fetch(href, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(1500) });
    return { href, ok: status < 400, note: String(status) };
  } catch (error) {
    return { href, ok: false, note: error.cause?.code ?? error.name };
  }
}

const results = await Promise.all(links.map(check));
for (const { href, ok, note } of results) {
  console.log(`${ok ? 'ok  ' : 'DEAD'} ${href} (${note})`);
}
process.exitCode = results.every((r) => r.ok) ? 0 : 1;
