/** @jsx h */
/** @jsxFrag Fragment */
// Renders an invoice to HTML with a JSX factory of twenty lines; no framework is needed.

type Child = string | number | false | null | undefined | Child[];
type Props = Record<string, unknown> | null;
type Component<P = any> = (props: P & { children?: Child[] }) => string;

declare global {
  namespace JSX {
    type Element = string;
    interface IntrinsicElements {
      [name: string]: any;
    }
  }
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function flat(children: Child[]): string {
  return children
    .flat(Infinity as 1)
    .filter((c) => c !== false && c != null)
    .map(String)
    .join('');
}

function h(tag: string | Component, props: Props, ...children: Child[]): string {
  if (typeof tag === 'function') return tag({ ...props, children });
  const attributes = Object.entries(props ?? {})
    .map(([k, v]) => ` ${k === 'className' ? 'class' : k}="${escape(String(v))}"`)
    .join('');
  return `<${tag}${attributes}>${flat(children)}</${tag}>`;
}

const Fragment: Component = ({ children = [] }) => flat(children);

interface Line {
  name: string;
  qty: number;
  price: number;
}

const Row = ({ name, qty, price }: Line) => (
  <tr className={qty > 1 ? 'many' : 'one'}>
    <td>{name}</td>
    <td>{qty}</td>
    <td>{(qty * price).toFixed(2)}</td>
  </tr>
);

const Invoice = ({ id, lines }: { id: string; lines: Line[] }) => (
  <>
    <h1>Invoice {id}</h1>
    <link rel="stylesheet" href="https://cdn.example.com/invoice.css" />
    <table>{lines.map((line) => <Row {...line} />)}</table>
    {lines.length === 0 && <p>nothing ordered</p>}
  </>
);

const lines: Line[] = [
  { name: 'Desk lamp', qty: 2, price: 29.9 },
  { name: 'Office chair', qty: 1, price: 189 },
];
console.log(<Invoice id="2024-003" lines={lines} />);
