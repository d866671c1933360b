// A typed client of an issue tracker, and a list of what is open.

interface Issue {
  number: number;
  title: string;
  state: 'open' | 'closed';
  labels: Array<{ name: string }>;
}

interface Page<T> {
  items: T[];
  next?: string;
}

type Query = Record<string, string | number | boolean>;

class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

class TrackerClient {
  static readonly BASE = 'https://api.tracker.example.com';
  private readonly version: string = 'v3';

  constructor(private readonly timeoutMs = 2_000) {}

  private url(path: string, query: Query = {}): URL {
    const url = new URL(`/${this.version}${path}`, TrackerClient.BASE);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
    return url;
  }

  async get<T>(path: string, query?: Query): Promise<T> {
    const response = await fetch(this.url(path, query), { signal: AbortSignal.timeout(this.timeoutMs) });
    if (!response.ok) throw new ApiError(response.status, `GET ${path} answered ${response.status}`);
    return (await response.json()) as T;
  }

  async *issues(project: string): AsyncGenerator<Issue> {
    for (let page = 1; ; page += 1) {
      const { items, next } = await this.get<Page<Issue>>(`/projects/${project}/issues`, { state: 'open', page });
      yield* items;
      if (!next) return;
    }
  }
}

async function main(): Promise<void> {
  for await (const { number, title, labels } of new TrackerClient().issues('ledgerline')) {
    console.log(`#${number} ${title} ${labels.map((l) => `[${l.name}]`).join('')}`);
  }
}

main().catch((error: Error & { cause?: { code?: string } }) => {
  console.error(error.cause?.code ?? error.message);
  process.exit(error instanceof ApiError ? 2 : 1);
});
