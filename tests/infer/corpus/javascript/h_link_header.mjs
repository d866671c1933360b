// Counts the commits of a project by following rel="next" of the Link header.
const FIRST = 'https://git.example.org/api/v1/repos/ledger/ledgerline/commits?per_page=100';

/** `<https://…?page=2>; rel="next", <https://…?page=9>; rel="last"` → Map { next → …, last → … } */
function parseLinks(header) {
  const links = new Map();
  for (const part of (header ?? '').split(',')) {
    const m = part.match(/<([^>]+)>\s*;\s*rel="(\w+)"/);
    if (m) links.set(m[2], m[1]);
  }
  return links;
}

async function page(url) {
  const response = await fetch(url, { headers: { 'user-agent': 'commit-counter/1.0' } });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return {
    items: await response.json(),
    next: parseLinks(response.headers.get('link')).get('next'),
  };
}

const perAuthor = {};
let url = FIRST;
try {
  while (url) {
    const { items, next } = await page(url);
    for (const { author } of items) perAuthor[author.login] = (perAuthor[author.login] ?? 0) + 1;
    url = next;
  }
} catch (error) {
  console.error(`stopped: ${error.message}`);
  process.exit(1);
}
console.table(perAuthor);
