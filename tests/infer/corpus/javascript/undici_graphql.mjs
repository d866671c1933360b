import { request, Agent, setGlobalDispatcher } from 'undici';

setGlobalDispatcher(new Agent({ keepAliveTimeout: 1000, connect: { timeout: 3000 } }));

const ENDPOINT = 'https://countries.trevorblades.com/graphql';
const QUERY = /* GraphQL */ `
  query Countries($continent: String!) {
    countries(filter: { continent: { eq: $continent } }) {
      name
      capital
      currency
    }
  }
`;

async function graphql(query, variables) {
  const { statusCode, body } = await request(ENDPOINT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await body.json();
  if (statusCode !== 200 || errors) {
    throw new Error(errors?.map((e) => e.message).join('; ') ?? `status ${statusCode}`);
  }
  return data;
}

const { countries } = await graphql(QUERY, { continent: 'EU' });
for (const { name, capital, currency } of countries) {
  console.log([name, capital ?? '–', currency].join('\t'));
}
