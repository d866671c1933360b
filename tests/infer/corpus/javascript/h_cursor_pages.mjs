// Lists all tickets. The service pages with an opaque cursor that it hands out in `meta.next_cursor`.
const BASE = 'https://support.example.com';
const PAGE_SIZE = 50;

async function* tickets(query) {
  let cursor = null;
  do {
    const url = new URL('/api/v2/tickets', BASE);
    url.searchParams.set('q', query);
    url.searchParams.set('limit', PAGE_SIZE);
    if (cursor) url.searchParams.set('cursor', cursor);

    const response = await fetch(url, { headers: { accept: 'application/json' } });
    if (response.status === 429) {
      const wait = Number(response.headers.get('retry-after') ?? 1);
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      continue;
    }
    if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
    const body = await response.json();
    yield* body.items;
    cursor = body.meta.next_cursor;
  } while (cursor);
}

const query = process.argv[2] ?? 'status:open';
try {
  let n = 0;
  for await (const { id, subject } of tickets(query)) {
    console.log(`#${id} ${subject}`);
    n++;
  }
  console.log(`${n} tickets`);
} catch (error) {
  console.error(`can't list tickets: ${error.message}`);
  process.exitCode = 1;
}
