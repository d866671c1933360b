// Compares how popular a few libraries are, by way of the gateway's HTTP tools.
type Repo = { full_name: string; stargazers_count: number; open_issues_count: number };

declare const mcp: {
  api: {
    get<T>(url: string, options?: { headers?: Record<string, string> }): Promise<{ status: number; data: T }>;
  };
};

const LIBRARIES = ['axios/axios', 'nodejs/undici', 'sindresorhus/got'] as const;

async function stars(name: (typeof LIBRARIES)[number]): Promise<Repo> {
  const { status, data } = await mcp.api.get<Repo>(`https://api.github.com/repos/${name}`, {
    headers: { accept: 'application/vnd.github+json' },
  });
  if (status !== 200) throw new Error(`${name}: ${status}`);
  return data;
}

const repos = await Promise.all(LIBRARIES.map(stars));
repos.sort((a, b) => b.stargazers_count - a.stargazers_count);
console.log(repos.map((r, i) => `${i + 1}. ${r.full_name} (${r.stargazers_count})`).join('\n'));
