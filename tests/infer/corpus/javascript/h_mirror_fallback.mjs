// Which mirror of the package index answers first? The next one is asked only when one fails.
const MIRRORS = ['mirror-a', 'mirror-b', 'mirror-c'].map((name) => `${name}.packages.example.com`);
const INDEX = '/simple/index.json';

async function withRetry(task, times = 2) {
  let last;
  for (let i = 0; i < times; i++) {
    try {
      return await task();
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

async function fetchIndex(host) {
  const response = await fetch(`https://${host}${INDEX}`, { signal: AbortSignal.timeout(300) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

let index;
for (const host of MIRRORS) {
  try {
    index = await withRetry(() => fetchIndex(host));
    console.log(`used ${host}`);
    break;
  } catch (error) {
    console.error(`${host}: failed`);
  }
}

if (!index) {
  console.error('no mirror answered');
  process.exit(1);
}
console.log(`${index.projects.length} projects`);
