import axios, { AxiosError, type AxiosInstance, type AxiosResponse } from 'axios';

interface Rates {
  base: string;
  rates: Record<string, number>;
}

const HOST = 'api.exchangerate.host';

function createClient(version: number): AxiosInstance {
  const protocol = 'https';
  return axios.create({
    baseURL: `${protocol}://${HOST}/v${version}`,
    timeout: 4_000,
    validateStatus: (status) => status < 500,
  });
}

export async function convert(amount: number, from: string, to: string): Promise<number> {
  const client = createClient(1);
  const { data, status }: AxiosResponse<Rates> = await client.get<Rates>('latest', { params: { base: from, symbols: to } });
  if (status !== 200) throw new Error(`unexpected status ${status}`);
  const rate = data.rates[to];
  if (rate === undefined) throw new RangeError(`no rate of ${to}`);
  return amount * rate;
}

convert(100, 'EUR', 'USD')
  .then((value) => console.log(value.toFixed(2)))
  .catch((error: unknown) => {
    console.error(error instanceof AxiosError ? error.code : error);
    process.exitCode = 1;
  });
