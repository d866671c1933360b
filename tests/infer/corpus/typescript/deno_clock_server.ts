// deno serve-like: answers the time in a zone, /Europe/Oslo for instance.
const PORT = 8123;

const format = (timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(new Date());

function handler(request: Request): Response {
  const { pathname } = new URL(request.url);
  const zone = decodeURIComponent(pathname.slice(1)) || 'UTC';
  try {
    return new Response(`${format(zone)}\n`, { headers: { 'content-type': 'text/plain' } });
  } catch (error) {
    return Response.json({ error: (error as RangeError).message }, { status: 404 });
  }
}

const server = Deno.serve({ port: PORT, hostname: 'localhost', onListen: ({ port }) => console.log(`port ${port}`) }, handler);
await server.finished;
