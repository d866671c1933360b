// usage: h_stage_status.ts [staging|production]
type Stage = 'staging' | 'production';

const ENDPOINTS: Record<Stage, string> = {
  staging: 'https://status.staging.example.net',
  production: 'https://status.example.net',
};

function isStage(text: string | undefined): text is Stage {
  return text === 'staging' || text === 'production';
}

class StatusClient {
  constructor(private readonly stage: Stage) {}

  private get base(): string {
    return ENDPOINTS[this.stage];
  }

  async components(): Promise<{ name: string; state: string }[]> {
    const response = await fetch(`${this.base}/components.json`, { signal: AbortSignal.timeout(2000) });
    if (!response.ok) throw new Error(`${response.status}`);
    return (await response.json()).components;
  }
}

async function main() {
  const wanted = process.argv[2];
  const client = new StatusClient(isStage(wanted) ? wanted : 'staging');
  for (const { name, state } of await client.components()) {
    console.log(`${state === 'up' ? '✓' : '✗'} ${name}`);
  }
}

main().catch((error: Error) => {
  console.error('status page not available:', error.message);
  process.exitCode = 1;
});
