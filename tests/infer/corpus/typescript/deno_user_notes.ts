// deno run --allow-env=HOME --allow-read deno_user_notes.ts
import { join } from 'jsr:@std/path@1';

interface Note {
  title: string;
  words: number;
}

const home = Deno.env.get('HOME');
if (!home) {
  console.error('HOME is not set');
  Deno.exit(1);
}

const directory = join(home, 'notes');
const notes: Note[] = [];
try {
  for await (const entry of Deno.readDir(directory)) {
    if (!entry.isFile || !entry.name.endsWith('.md')) continue;
    const text = await Deno.readTextFile(join(directory, entry.name));
    notes.push({ title: /^#\s+(.*)/.exec(text)?.[1] ?? entry.name, words: text.split(/\s+/).length });
  }
} catch (error) {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

notes.sort((a, b) => b.words - a.words);
console.table(notes);
