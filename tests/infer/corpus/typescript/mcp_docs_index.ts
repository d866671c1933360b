// Builds an index of the documentation inside of the gateway, so that only the result reaches the model.
interface Entry {
  name: string;
  type: 'file' | 'directory';
}

declare global {
  // eslint-disable-next-line no-var
  var mcp: {
    filesystem: {
      list_directory(args: { path: string }): Promise<Entry[]>;
      read_text_file(args: { path: string; head?: number }): Promise<{ content: string }>;
    };
  };
}

interface Heading {
  document: string;
  depth: number;
  title: string;
}

async function headings(document: string): Promise<Heading[]> {
  const { content } = await mcp.filesystem.read_text_file({ path: document });
  return content
    .split('\n')
    .map((line) => /^(#+)\s+(.*)$/.exec(line))
    .filter((m): m is RegExpExecArray => m !== null)
    .map(([, marks, title]) => ({ document, depth: marks!.length, title: title! }));
}

const { filesystem } = mcp;
const documents = (await filesystem.list_directory({ path: './docs' }))
  .filter((entry) => entry.type === 'file' && entry.name.endsWith('.md'))
  .map((entry) => `./docs/${entry.name}`);

const index = (await Promise.all(documents.map(headings))).flat();
console.log(JSON.stringify(index.filter((h) => h.depth <= 2), null, 2));

export {};
