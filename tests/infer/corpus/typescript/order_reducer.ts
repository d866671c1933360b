type OrderEvent =
  | { kind: 'created'; id: string; customer: string }
  | { kind: 'line-added'; id: string; sku: string; qty: number; cents: number }
  | { kind: 'paid'; id: string; cents: number }
  | { kind: 'cancelled'; id: string; reason?: string };

enum Status {
  Open = 'open',
  Paid = 'paid',
  Cancelled = 'cancelled',
}

interface Order {
  customer: string;
  status: Status;
  lines: Array<{ sku: string; qty: number; cents: number }>;
  paid: number;
}

type Orders = ReadonlyMap<string, Readonly<Order>>;

function assertNever(value: never): never {
  throw new Error(`unknown event: ${JSON.stringify(value)}`);
}

const due = (order: Order): number => order.lines.reduce((sum, l) => sum + l.qty * l.cents, 0) - order.paid;

function reduce(orders: Orders, event: OrderEvent): Orders {
  const next = new Map(orders);
  const order = orders.get(event.id);
  if (event.kind === 'created') {
    return next.set(event.id, { customer: event.customer, status: Status.Open, lines: [], paid: 0 });
  }
  if (!order) throw new Error(`no order ${event.id}`);
  switch (event.kind) {
    case 'line-added': {
      const { sku, qty, cents } = event;
      return next.set(event.id, { ...order, lines: [...order.lines, { sku, qty, cents }] });
    }
    case 'paid': {
      const after: Order = { ...order, paid: order.paid + event.cents };
      return next.set(event.id, { ...after, status: due(after) <= 0 ? Status.Paid : after.status });
    }
    case 'cancelled':
      return next.set(event.id, { ...order, status: Status.Cancelled });
    default:
      return assertNever(event);
  }
}

const log: OrderEvent[] = [
  { kind: 'created', id: 'a', customer: 'Ada' },
  { kind: 'line-added', id: 'a', sku: 'lamp', qty: 2, cents: 2990 },
  { kind: 'created', id: 'b', customer: 'Ben' },
  { kind: 'paid', id: 'a', cents: 5980 },
  { kind: 'cancelled', id: 'b', reason: 'changed his mind' },
];

const state = log.reduce<Orders>(reduce, new Map());
for (const [id, order] of state) console.log(id, order.customer, order.status, due(order));
