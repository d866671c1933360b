// Raises the minor version of the package through the gateway's file tools and notes it in the change log.
declare const mcp: {
  filesystem: Record<
    'read_text_file' | 'write_file' | 'edit_file',
    (args: { path: string; content?: string; edits?: Array<{ oldText: string; newText: string }> }) => Promise<{ content: string }>
  >;
};

type Version = [major: number, minor: number, patch: number];

const parse = (text: string): Version => text.split('.').map(Number) as Version;
const raise = ([major, minor]: Version): string => `${major}.${minor + 1}.0`;

const files = mcp.filesystem;
const manifest = JSON.parse((await files.read_text_file({ path: './package.json' })).content) as { version: string };
const next = raise(parse(manifest.version));

await files.edit_file({
  path: './package.json',
  edits: [{ oldText: `"version": "${manifest.version}"`, newText: `"version": "${next}"` }],
});
const log = await files.read_text_file({ path: './CHANGELOG.md' });
await files.write_file({ path: './CHANGELOG.md', content: `## ${next}\n\n- \n\n${log.content}` });
console.log(`${manifest.version} -> ${next}`);
