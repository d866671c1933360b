import React, { type FC, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { mkdir, writeFile } from 'node:fs/promises';

interface LayoutProps {
  title: string;
  children: ReactNode;
}

const Layout: FC<LayoutProps> = ({ title, children }) => (
  <html lang="en">
    <head>
      <meta charSet="utf-8" />
      <title>{title}</title>
    </head>
    <body>{children}</body>
  </html>
);

const Prices: FC<{ prices: Record<string, number> }> = ({ prices }) => (
  <dl>
    {Object.entries(prices).map(([name, price]) => (
      <React.Fragment key={name}>
        <dt>{name}</dt>
        <dd>{price.toFixed(2)} EUR</dd>
      </React.Fragment>
    ))}
  </dl>
);

async function main(): Promise<void> {
  const page = renderToStaticMarkup(
    <Layout title="Prices">
      <Prices prices={{ 'Desk lamp': 29.9, Whiteboard: 75.5 }} />
    </Layout>,
  );
  await mkdir('public', { recursive: true });
  await writeFile('public/prices.html', `<!doctype html>${page}`, 'utf8');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
