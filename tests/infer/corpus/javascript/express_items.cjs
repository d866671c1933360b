const express = require('express');

const PORT = 8123;
const items = new Map([
  [1, { id: 1, name: 'Desk lamp', price: 29.9 }],
  [2, { id: 2, name: 'Office chair', price: 189 }],
]);

const app = express();
app.use(express.json({ limit: '16kb' }));
app.use((req, _res, next) => {
  console.log(`${req.method} ${req.path}`);
  next();
});

app.get('/items', (_req, res) => res.json([...items.values()]));

app.get('/items/:id', (req, res) => {
  const item = items.get(Number(req.params.id));
  if (!item) return res.status(404).json({ error: 'no such item' });
  return res.json(item);
});

app.post('/items', ({ body: { name, price } }, res) => {
  if (typeof name !== 'string' || !(price >= 0)) {
    return res.status(422).json({ error: 'name and price are needed' });
  }
  const id = Math.max(...items.keys()) + 1;
  items.set(id, { id, name, price });
  return res.status(201).location(`/items/${id}`).json({ id });
});

app.listen(PORT, () => console.log(`http://localhost:${PORT}/items`));
