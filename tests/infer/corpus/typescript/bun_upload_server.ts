// bun run bun_upload_server.ts: takes uploads of text and says how long they are.
interface Upload {
  name: string;
  size: number;
  lines: number;
}

const received: Upload[] = [];

const server = Bun.serve({
  port: 3000,
  maxRequestBodySize: 1024 * 1024,
  async fetch(req: Request): Promise<Response> {
    const { pathname } = new URL(req.url);
    if (req.method === 'GET' && pathname === '/uploads') return Response.json(received);
    if (req.method !== 'POST') return new Response('not allowed', { status: 405 });
    const text = await req.text();
    const upload: Upload = { name: pathname.slice(1), size: text.length, lines: text.split('\n').length };
    received.push(upload);
    await Bun.write(`/tmp/uploads/${crypto.randomUUID()}.txt`, text);
    return Response.json(upload, { status: 201 });
  },
  error: (error: Error) => new Response(error.message, { status: 500 }),
});

console.log(`listening on ${server.url}`);
