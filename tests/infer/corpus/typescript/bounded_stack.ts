// A generic stack with a bound, and what people do with it: an undo history.

interface Command<S> {
  readonly label: string;
  apply(state: S): S;
  revert(state: S): S;
}

class BoundedStack<T> implements Iterable<T> {
  private readonly items: T[] = [];

  constructor(private readonly limit: number) {
    if (limit < 1) throw new RangeError('limit must be positive');
  }

  push(item: T): void {
    this.items.push(item);
    if (this.items.length > this.limit) this.items.shift();
  }

  pop(): T | undefined {
    return this.items.pop();
  }

  get size(): number {
    return this.items.length;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let i = this.items.length - 1; i >= 0; i -= 1) yield this.items[i]!;
  }
}

class Editor<S> {
  private undone = new BoundedStack<Command<S>>(10);
  private done = new BoundedStack<Command<S>>(10);

  constructor(public state: S) {}

  run(command: Command<S>): this {
    this.state = command.apply(this.state);
    this.done.push(command);
    return this;
  }

  undo(): boolean {
    const command = this.done.pop();
    if (!command) return false;
    this.state = command.revert(this.state);
    this.undone.push(command);
    return true;
  }

  history(): string[] {
    return [...this.done].map((c) => c.label);
  }
}

const add = (n: number): Command<number> => ({ label: `+${n}`, apply: (s) => s + n, revert: (s) => s - n });

const editor = new Editor(0).run(add(3)).run(add(4)).run(add(5));
console.log(editor.state, editor.history().join(' '));
while (editor.undo());
console.log(editor.state satisfies number);
