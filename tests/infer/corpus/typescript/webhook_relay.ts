// Relays an event to the host that the operator names:  webhook_relay.ts hooks.example.com
type Event<K extends string = string, D = unknown> = { kind: K; data: D; sent: string };

const DEFAULT_HOST = 'hooks.example.com';

const host: string = process.argv[2] ?? DEFAULT_HOST;
const endpoint = new URL('https://placeholder.invalid/events');
endpoint.hostname = host;

async function relay<K extends string, D>(event: Event<K, D>): Promise<number> {
  const body = JSON.stringify(event);
  const { status } = await fetch(endpoint, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-length': String(body.length) },
    signal: AbortSignal.timeout(1_500),
  });
  return status;
}

relay({ kind: 'order.paid', data: { id: 1001 }, sent: new Date().toISOString() })
  .then((status) => console.log(`${host} answered ${status}`))
  .catch(() => {
    console.error(`${host} can't be reached`);
    process.exit(1);
  });
