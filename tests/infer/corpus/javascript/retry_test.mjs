// Tests of a retrying client. The client gets its `fetch` handed in, so no request is ever made.
import test from 'node:test';
import assert from 'node:assert/strict';

function createClient({ fetch, baseUrl, attempts = 3, wait = async () => {} }) {
  return {
    async getJson(path) {
      let last;
      for (let n = 1; n <= attempts; n += 1) {
        try {
          const response = await fetch(`${baseUrl}${path}`);
          if (response.ok) return await response.json();
          last = new Error(`status ${response.status}`);
          if (response.status < 500) break;
        } catch (error) {
          last = error;
        }
        await wait(100 * 2 ** n);
      }
      throw last;
    },
  };
}

function stub(...answers) {
  const calls = [];
  const fetch = async (url) => {
    calls.push(url);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return { ok: answer.status === 200, status: answer.status, json: async () => answer.body };
  };
  return { fetch, calls };
}

test('answers what the server says', async () => {
  const { fetch, calls } = stub({ status: 200, body: { name: 'lamp' } });
  const client = createClient({ fetch, baseUrl: 'https://api.shop.example.com' });
  assert.deepEqual(await client.getJson('/items/1'), { name: 'lamp' });
  assert.deepEqual(calls, ['https://api.shop.example.com/items/1']);
});

test('tries again after a failure', async () => {
  const { fetch, calls } = stub(new Error('reset'), { status: 503 }, { status: 200, body: [] });
  const client = createClient({ fetch, baseUrl: 'https://api.shop.example.com' });
  assert.deepEqual(await client.getJson('/items'), []);
  assert.equal(calls.length, 3);
});

test('gives up at once where the request is wrong', async () => {
  const { fetch, calls } = stub({ status: 404 });
  const client = createClient({ fetch, baseUrl: 'https://api.shop.example.com' });
  await assert.rejects(client.getJson('/nothing'), /404/);
  assert.equal(calls.length, 1);
});
