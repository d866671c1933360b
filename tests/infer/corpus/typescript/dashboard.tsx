/** @jsx el */
// Prints a dashboard of the stored events as HTML.
import fs from 'fs';
import path from 'path';

declare namespace JSX {
  interface IntrinsicElements {
    [tag: string]: Record<string, unknown>;
  }
}

type Node = string;
interface Counter {
  label: string;
  value: number;
}

function el(tag: string | ((p: any) => Node), props: any, ...children: unknown[]): Node {
  if (typeof tag === 'function') return tag({ ...props, children });
  const attributes = Object.entries(props ?? {}).map(([k, v]) => ` ${k}="${v}"`);
  return `<${tag}${attributes.join('')}>${children.flat().join('')}</${tag}>`;
}

const Store = {
  root: path.resolve(__dirname, 'data'),
  lines<T>(name: string): T[] {
    const file = path.join(this.root, `${name}.jsonl`);
    return fs.readFileSync(file, 'utf-8').trim().split('\n').map((l) => JSON.parse(l) as T);
  },
};

function Bar({ label, value }: Counter) {
  return <div class="bar" style={`width: ${value * 10}px`}>{label}: {value}</div>;
}

const counts = Store.lines<{ event: string }>('events').reduce<Record<string, number>>((acc, { event }) => {
  acc[event] = (acc[event] ?? 0) + 1;
  return acc;
}, {});

console.log(
  <main>
    <h1>Events</h1>
    {Object.entries(counts).sort().map(([label, value]) => <Bar label={label} value={value} />)}
  </main>,
);
