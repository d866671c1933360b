// Compiles filters such as {price: {gt: 50}} to predicates.
type Operator = 'gt' | 'lt' | 'eq';
type Filter<T> = { [K in keyof T]?: Partial<Record<Operator, T[K]>> };

const SIGNS: Record<Operator, string> = { gt: '>', lt: '<', eq: '===' };

function compile<T extends object>(filter: Filter<T>): (item: T) => boolean {
  const terms: string[] = [];
  for (const [field, operators] of Object.entries(filter) as Array<[string, Partial<Record<Operator, unknown>>]>) {
    for (const [operator, value] of Object.entries(operators)) {
      terms.push(`item[${JSON.stringify(field)}] ${SIGNS[operator as Operator]} ${JSON.stringify(value)}`);
    }
  }
  const source = `(item) => ${terms.join(' && ') || 'true'}`;
  // eslint-disable-next-line no-eval
  return (0, eval)(source) as (item: T) => boolean;
}

interface Product {
  name: string;
  price: number;
}

const products: Product[] = [
  { name: 'lamp', price: 29.9 },
  { name: 'chair', price: 189 },
  { name: 'board', price: 75.5 },
];

const dear = compile<Product>({ price: { gt: 50, lt: 100 } });
console.log(products.filter(dear).map((p) => p.name));
console.log(products.filter(compile<Product>({ name: { eq: 'lamp' } })).length);
