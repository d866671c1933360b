// Fetches a feed through the gateway and stores a reduced copy for other tools.
declare const mcp: {
  api: { fetch(url: string): Promise<{ ok: boolean; text(): Promise<string> }> };
  fs: { write(path: string, content: string): Promise<void>; exists(path: string): Promise<boolean> };
};

interface Item {
  title: string;
  link: string;
}

const FEED = 'https://blog.example.org/feed.xml';
const STORE = '/tmp/feeds';

function parse(xml: string): Item[] {
  const field = (block: string, name: string): string =>
    new RegExp(`<${name}>(?:<!\\[CDATA\\[)?(.*?)(?:\\]\\]>)?</${name}>`, 's').exec(block)?.[1]?.trim() ?? '';
  return [...xml.matchAll(/<item>(.*?)<\/item>/gs)].map(([, block]) => ({
    title: field(block!, 'title'),
    link: field(block!, 'link'),
  }));
}

const response = await mcp.api.fetch(FEED);
if (!response.ok) throw new Error('the feed is not available');
const items = parse(await response.text()).slice(0, 10);

const target = `${STORE}/${new URL(FEED).hostname}.json`;
if (!(await mcp.fs.exists(target))) {
  await mcp.fs.write(target, JSON.stringify(items));
}
console.log(`${items.length} items in ${target}`);
