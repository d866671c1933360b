#!/usr/bin/env node
// Shows the newest releases of the projects we depend on.
const API = 'https://api.github.com';
const PROJECTS = ['nodejs/node', 'denoland/deno', 'oven-sh/bun'];

async function latest(project) {
  const response = await fetch(`${API}/repos/${project}/releases/latest`, {
    headers: { Accept: 'application/vnd.github+json', 'User-Agent': 'release-watch' },
    signal: AbortSignal.timeout(2000),
  });
  if (response.status === 403) throw new Error('rate limit reached');
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const { tag_name: tag, published_at: published } = await response.json();
  return { tag, published: published.slice(0, 10) };
}

let failed = false;
for (const project of PROJECTS) {
  try {
    const { tag, published } = await latest(project);
    console.log(`${project.padEnd(16)} ${tag} (${published})`);
  } catch (error) {
    failed = true;
    console.error(`${project}: ${error.cause?.code ?? error.message}`);
  }
}
process.exit(failed ? 1 : 0);
