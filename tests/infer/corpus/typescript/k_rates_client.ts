/** Interest rates of the central bank's interface, with what asks for them handed in. */
interface Rate {
  name: string;
  value: number;
}

type Fetcher = (input: URL, init?: RequestInit) => Promise<Response>;

abstract class Client {
  protected abstract readonly base: URL;
  constructor(private readonly fetcher: Fetcher = (input, init) => fetch(input, init)) {}

  protected async json<T>(path: string): Promise<T> {
    const response = await this.fetcher(new URL(path, this.base), { signal: AbortSignal.timeout(2000) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()) as T;
  }
}

class RatesClient extends Client {
  protected readonly base = new URL('https://rates.example.net/v3/');

  latest(): Promise<Rate[]> {
    return this.json<Rate[]>('latest');
  }
}

const recorded: Fetcher = async () => Response.json([{ name: 'overnight', value: 3.25 }]);

async function show(label: string, client: RatesClient): Promise<void> {
  const rates = await client.latest();
  console.log(label, rates.map(({ name, value }) => `${name} ${value}%`).join(', '));
}

show('recorded', new RatesClient(recorded))
  .then(() => show('now', new RatesClient()))
  .catch(() => {
    console.error('no rates today');
    process.exitCode = 2;
  });
