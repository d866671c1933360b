import { readFile } from 'fs/promises';

interface User {
  id: number;
  name: string;
  active: boolean;
}

type Source = () => Promise<string>;

/** Users from wherever the source has them. */
class UserRepository {
  private cache?: Promise<User[]>;

  constructor(private readonly source: Source) {}

  all(): Promise<User[]> {
    this.cache ??= this.source().then((text) => JSON.parse(text) as User[]);
    return this.cache;
  }

  async find(predicate: (user: User) => boolean): Promise<User | undefined> {
    return (await this.all()).find(predicate);
  }
}

class Greeter {
  constructor(private readonly users: Pick<UserRepository, 'find'>) {}

  async greet(id: number): Promise<string> {
    const user = await this.users.find((candidate) => candidate.id === id);
    return user ? `Good morning, ${user.name}.` : 'Who are you?';
  }
}

const fromFile = (path: string): Source => () => readFile(path, 'utf8');
const fromText = (text: string): Source => async () => text;

async function main() {
  const real = new Greeter(new UserRepository(fromFile('./data/users.json')));
  const fake = new Greeter(new UserRepository(fromText('[{"id":7,"name":"Test","active":true}]')));
  console.log(await real.greet(1));
  console.log(await real.greet(-1));
  console.log(await fake.greet(7));
}

void main();
