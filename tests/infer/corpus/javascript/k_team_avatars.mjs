// Lists who of the team hasn't got a picture yet.
import { fetchJson, withQuery } from './lib/http.js';

const API = 'https://people.example.com/v1';
const PAGE = 50;

async function* members(team) {
  let page = 1;
  for (;;) {
    const { items, more } = await fetchJson(withQuery(`${API}/teams/${team}/members`, { page, per_page: PAGE }));
    yield* items;
    if (!more) return;
    page += 1;
  }
}

const faceless = [];
try {
  for await (const member of members('platform')) {
    if (!member.avatar_url) faceless.push(member.name);
  }
  console.log(faceless.length ? faceless.join('\n') : 'everybody has a face');
} catch (error) {
  console.error(`people: ${error.message}`);
  process.exit(1);
}
