// JSON-RPC over TCP, line by line. Serves one client of its own as a check, then closes.
import { createServer, createConnection, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

interface Request {
  id: number;
  method: string;
  params?: unknown[];
}

type Response = { id: number } & ({ result: unknown } | { error: string });
type Method = (...params: any[]) => unknown;

const methods: Record<string, Method> = {
  add: (a: number, b: number) => a + b,
  upper: (text: string) => text.toUpperCase(),
  now: () => 'never mind',
};

function answer({ id, method, params = [] }: Request): Response {
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!handler) return { id, error: `no method ${method}` };
  return { id, result: handler(...params) };
}

function serve(socket: Socket): void {
  createInterface({ input: socket }).on('line', (line) => {
    socket.write(`${JSON.stringify(answer(JSON.parse(line) as Request))}\n`);
  });
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const client = createConnection({ port, host: '127.0.0.1' });
  const requests: Request[] = [
    { id: 1, method: 'add', params: [2, 3] },
    { id: 2, method: 'upper', params: ['lamp'] },
    { id: 3, method: 'drop' },
  ];
  let open = requests.length;
  createInterface({ input: client }).on('line', (line) => {
    console.log(line);
    open -= 1;
    if (open === 0) {
      client.end();
      server.close();
    }
  });
  for (const request of requests) client.write(`${JSON.stringify(request)}\n`);
});
