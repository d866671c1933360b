// The data, what is selected of it, and small means. Every text goes into the page by textContent.
const D = JSON.parse(document.getElementById("data").textContent);
const S = D.strings, KINDS = D.kinds, RUNS = D.runs, N = D.rows;
// Columns that hold nothing but zeros are left out of the document.
const column = (name, type = Int32Array) => D.columns[name] ? type.from(D.columns[name]) : new type(N);
const E = {
  seq: column("seq", Float64Array), time: column("time", Float64Array), run: column("run"), verdict: column("verdict", Uint8Array),
  kind: column("kind", Uint8Array), target: column("target"), asked: column("asked"), call: column("call"), pid: column("pid"),
  program: column("program"), rule: column("rule"), grant: column("grant"), more: column("more"), count: column("count"),
  explains: column("explains", Uint8Array),
};
delete D.columns;
const ALLOWED = 1, REFUSED = 2, ASKED = 3;
const VERDICTS = ["", "allowed", "refused", "asked"];
const CHANGES = ["write", "create", "delete", "metadata"], FILES = ["read", "execute", ...CHANGES];
const NETWORK = ["connect", "listen", "resolve"];
const kinds = names => KINDS.map(name => names.includes(name));
const isChange = kinds(CHANGES), isFile = kinds(FILES), isNetwork = kinds(NETWORK), isAccess = KINDS.map((_, at) => at < D.accesses);

const $ = id => document.getElementById(id);
function el(tag, cls, text) {
  const made = document.createElement(tag);
  if (cls) made.className = cls;
  if (text !== undefined) made.textContent = text;
  return made;
}
function add(parent, ...children) {
  for (const child of children) if (child !== null && child !== undefined) parent.append(child);
  return parent;
}
function button(text, act, cls) {
  const made = el("button", cls, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}
const number = count => count.toLocaleString("en-US");
const many = (count, one, more = one + "s") => `${number(count)} ${count === 1 ? one : more}`;
function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  const s = Math.round(ms / 1000), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  if (h >= 48) return `${Math.floor(h / 24)} d ${h % 24} h`;
  return h ? `${h} h ${m} min` : `${m} min ${s % 60} s`;
}
// Times of the document are milliseconds since D.start, which is one since 1970, or 0 where only the distance is known.
function moment(time, parts = 23) {
  const date = new Date(D.start + time);
  return isNaN(date) ? "?" : date.toISOString().slice(0, parts).replace("T", " ");
}
const oneRun = () => RUNS.length === 2 ? 1 : (state.facets.find(facet => facet.by === "run") || { value: 0 }).value;
function since(time) {
  const run = oneRun();
  if (!run && D.start) return moment(time).slice(5);
  const past = time - (run && RUNS[run].start !== null ? RUNS[run].start : 0);
  return (past < 0 ? "−" : "+") + (Math.abs(past) / 1000).toFixed(3) + " s";
}
const base = text => text.slice(text.lastIndexOf("/", text.length - 2) + 1);
function path(text) {
  const cut = text.startsWith("/") ? text.length - base(text).length : 0;
  const made = el("span", "path");
  if (cut) made.append(el("span", "d", text.slice(0, cut)));
  made.append(el("span", "b", text.slice(cut)));
  return made;
}

// The host of an access to the network: the name that was asked for, else the address.
const hostOf = row => S[E.asked[row]] && E.asked[row] ? E.asked[row] : E.target[row];

const state = { text: "", verdict: 0, kind: -1, program: 0, facets: [], span: null };
// Rows that match all but the time, and those that match all.
let matching = new Uint32Array(0), shown = matching;
const listeners = [];

// What a facet lets pass; `value` is an index, or a text for `under`.
const FACETS = {
  run: value => row => E.run[row] === value,
  process: ([run, pid]) => row => E.run[row] === run && E.pid[row] === pid,
  rule: ([rule, verdict]) => row => E.rule[row] === rule && E.verdict[row] === verdict && isAccess[E.kind[row]],
  host: value => row => isNetwork[E.kind[row]] && hostOf(row) === value,
  target: value => row => E.target[row] === value,
  under: top => {
    const below = top === "/" ? "/" : top + "/";
    const is = S.map(text => text === top || text.startsWith(below));
    return row => is[E.target[row]] && isFile[E.kind[row]];
  },
};

// Names hold no characters that a page wouldn't show: a search for one looks for its escaped form.
const escapedForm = text => text.replace(/[^\x20-\x7e]/gu, c => `\\u{${c.codePointAt(0).toString(16)}}`);

function textMatch() {
  const words = state.text.toLowerCase().split(" ").filter(word => word);
  return words.map(word => {
    const escaped = escapedForm(word);
    const has = text => { const low = text.toLowerCase(); return low.includes(word) || low.includes(escaped); };
    const strings = Uint8Array.from(S, has), names = KINDS.map(has), verdicts = VERDICTS.map(has);
    return row => strings[E.target[row]] || strings[E.program[row]] || strings[E.rule[row]] || strings[E.asked[row]] ||
      strings[E.more[row]] || strings[E.call[row]] || names[E.kind[row]] || verdicts[E.verdict[row]];
  });
}
function select() {
  const tests = state.facets.map(facet => FACETS[facet.by](facet.value)).concat(textMatch());
  if (state.verdict) tests.push(row => E.verdict[row] === state.verdict);
  if (state.kind >= 0) tests.push(row => E.kind[row] === state.kind);
  if (state.program) tests.push(row => E.program[row] === state.program);
  const found = new Uint32Array(N);
  let count = 0;
  rows: for (let row = 0; row < N; row++) {
    for (const test of tests) if (!test(row)) continue rows;
    found[count++] = row;
  }
  matching = found.subarray(0, count);
  cut();
}
// Applies the chosen span of time.
function cut() {
  const [from, to] = state.span || [-Infinity, Infinity];
  shown = state.span ? matching.filter(row => E.time[row] >= from && E.time[row] <= to) : matching;
  for (const listener of listeners) listener();
}
function facet(by, value, label) {
  state.facets = state.facets.filter(other => other.by !== by);
  state.facets.push({ by, value, label });
  select();
}
