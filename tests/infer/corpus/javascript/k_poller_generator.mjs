// Asks for the state of a build until it's over, or patience is.
const BUILDS = 'https://ci.example.com/api/builds';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function* poll(ask, { every, times }) {
  for (let i = 0; i < times; i += 1) {
    yield ask(i);
    await sleep(every);
  }
}

const overHttp = (get, number) => async () => {
  const answer = await get(`${BUILDS}/${number}`, { headers: { accept: 'application/json' } });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.json()).state;
};

const pretend = (states) => async (i) => states[Math.min(i, states.length - 1)];

async function outcome(ask) {
  for await (const state of poll(ask, { every: 10, times: 5 })) {
    if (state !== 'running') return state;
  }
  return 'timeout';
}

console.log('pretended:', await outcome(pretend(['running', 'running', 'passed'])));
try {
  console.log('real:', await outcome(overHttp(fetch, 4711)));
} catch (error) {
  console.log('real:', error.cause?.code ? 'unreachable' : error.message);
  process.exitCode = 3;
}
