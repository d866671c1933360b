// A route matcher with typed parameters, and a few checks of it.
import assert from 'node:assert/strict';

type Params<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name | keyof Params<`/${Rest}`>]: string }
  : P extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : {};

type Handler<P extends string> = (params: Params<P>) => string;

class Router {
  private routes: { pattern: RegExp; run: (groups: Record<string, string>) => string }[] = [];

  get<P extends string>(path: P, handler: Handler<P>): this {
    const source = path.replace(/:(\w+)/g, '(?<$1>[^/]+)');
    this.routes.push({ pattern: new RegExp(`^${source}$`), run: (groups) => handler(groups as Params<P>) });
    return this;
  }

  open(path: string): string | null {
    for (const { pattern, run } of this.routes) {
      const match = pattern.exec(path);
      if (match) return run({ ...match.groups });
    }
    return null;
  }
}

const router = new Router()
  .get('/etc/:file', ({ file }) => `would read ${file}`)
  .get('/users/:user/orders/:order', ({ user, order }) => `${user} ordered ${order}`);

assert.equal(router.open('/etc/shadow'), 'would read shadow');
assert.equal(router.open('/users/ada/orders/17'), 'ada ordered 17');
assert.equal(router.open('http://localhost:8123/'), null);
console.log('3 checks passed');
