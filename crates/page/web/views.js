// The views: each makes a list of what is selected, by one aspect.
const hasCounts = E.count.some(count => count > 1);
// What the list leaves out, where it does.
const noAllowed = E.verdict.includes(ALLOWED) ? "" : D.start ? "Allowed accesses aren't recorded here: runs with --audit all record them." : "A report has refused accesses alone.";
const verdictText = row => E.verdict[row] ? VERDICTS[E.verdict[row]] : "";
const rowClass = row => "v" + E.verdict[row];
const program = text => text ? base(text) : "";
// Why, for one row: what would allow it where that is known, else the rule.
function why(row) {
  if (E.rule[row]) return S[E.rule[row]];
  if (E.verdict[row] === REFUSED && isAccess[E.kind[row]]) return "nothing grants it";
  return E.verdict[row] === ALLOWED && isAccess[E.kind[row]] ? "rule not recorded" : "";
}

const VIEWS = {
  events: {
    name: "Events", count: () => shown.length,
    make: () => makeList({
      label: "Events", count: () => shown.length, rowClass: at => rowClass(shown[at]),
      columns: [
        { name: oneRun() ? "time" : "time (UTC)", width: oneRun() ? "92px" : "152px", cls: "num", cell: at => since(E.time[shown[at]]) },
        { name: "", width: "58px", cls: "verdict", cell: at => verdictText(shown[at]) },
        { name: "kind", width: "66px", cell: at => KINDS[E.kind[shown[at]]] },
        { name: "target", width: "minmax(0,3fr)", cell: at => E.target[shown[at]] ? path(S[E.target[shown[at]]]) : el("span", "soft", S[E.more[shown[at]]]) },
        ...(hasCounts ? [{ name: "times", width: "44px", cls: "num mid", cell: at => E.count[shown[at]] > 1 ? number(E.count[shown[at]]) : "" }] : []),
        { name: "program", width: "minmax(60px,.6fr)", cls: "mid", cell: at => program(S[E.program[shown[at]]]) },
        { name: "why", width: "minmax(80px,1.4fr)", cls: "soft wide", cell: at => why(shown[at]) },
      ],
      open: at => showRow(shown[at]),
    }),
  },
  paths: { name: "Paths", make: makeTree },
  hosts: {
    name: "Hosts",
    make: () => {
      const hosts = grouped(row => isNetwork[E.kind[row]] && E.target[row] ? hostOf(row) : null);
      return makeGroups("Hosts", hosts, `Bytes per host are not recorded. ${noAllowed}`, [
        { name: "host", width: "minmax(0,2fr)", cell: ({ key }) => path(S[key]) },
        { name: "kinds", width: "minmax(70px,1fr)", cls: "mid soft", cell: ({ kinds }) => [...kinds].map(kind => KINDS[kind]).join(", ") },
      ], ({ key }) => ["host", key, S[key]]);
    },
  },
  processes: {
    name: "Processes",
    make: () => {
      const processes = grouped(row => E.pid[row] ? `${E.run[row]} ${E.pid[row]}` : null);
      return makeGroups("Processes", processes, `As seen by their accesses. Which process started which is not recorded. ${noAllowed}`, [
        { name: "process", width: "70px", cls: "num", cell: ({ row }) => String(E.pid[row]) },
        { name: "programs", width: "minmax(0,2fr)", cell: ({ programs }) => path([...programs].map(at => S[at]).join(" → ")) },
        { name: "first", width: "110px", cls: "num wide", cell: ({ row }) => since(E.time[row]) },
        { name: "seen for", width: "80px", cls: "num mid", cell: ({ from, to }) => duration(to - from) },
      ], ({ row }) => ["process", [E.run[row], E.pid[row]], `process ${E.pid[row]}`]);
    },
  },
  questions: { name: "Questions", make: makeQuestions },
  rules: {
    name: "Rules",
    make: () => {
      const rules = grouped(row => isAccess[E.kind[row]] && E.verdict[row] ? `${E.verdict[row]} ${E.rule[row]}` : null);
      return makeGroups("Rules", rules, `What decided, and where it is written: a profile and its line, a flag, an answer, a built-in list. ${noAllowed}`, [
        { name: "", width: "58px", cls: "verdict", cell: ({ row }) => verdictText(row) },
        { name: "rule, from", width: "minmax(0,2fr)", cell: ({ row }) => why(row) },
        { name: "for example", width: "minmax(0,1.4fr)", cls: "wide", cell: ({ row }) => path(S[E.target[row]]) },
      ], ({ row }) => ["rule", [E.rule[row], E.verdict[row]], why(row)]);
    },
  },
  run: { name: RUNS.length > 2 ? "Runs" : "Run", make: () => RUNS.length > 2 && !oneRun() ? makeRuns() : makeRun(oneRun()) },
};

// Groups of the selected rows: how many of each verdict, from when to when.
function grouped(keyOf) {
  const found = new Map();
  for (const row of shown) {
    const key = keyOf(row);
    if (key === null || key === false) continue;
    let group = found.get(key);
    if (!group) found.set(key, group = { key, row, counts: [0, 0, 0, 0], programs: new Set(), kinds: new Set(), from: E.time[row], to: E.time[row] });
    group.counts[E.verdict[row]] += E.count[row] || 1;
    if (E.program[row] && group.programs.size < 8) group.programs.add(E.program[row]);
    group.kinds.add(E.kind[row]);
    group.from = Math.min(group.from, E.time[row]);
    group.to = Math.max(group.to, E.time[row]);
  }
  return [...found.values()].sort((a, b) => b.counts[REFUSED] - a.counts[REFUSED] || b.counts[ALLOWED] - a.counts[ALLOWED]);
}
const tally = (name, verdict, cls) => ({ name, width: "66px", cls: "num", cell: group => group.counts[verdict] ? el("span", cls, number(group.counts[verdict])) : "" });
// Opening a group shows its events.
function makeGroups(label, groups, note, columns, facetOf) {
  const all = [...columns, tally("refused", REFUSED, "bad"), tally("allowed", ALLOWED, "")];
  return makeList({
    label, note, count: () => groups.length,
    rowClass: at => label === "Rules" ? rowClass(groups[at].row) : "",
    columns: all.map(column => ({ ...column, cell: at => column.cell(groups[at]) })),
    open: (at, isWanted) => {
      const [by, value, name] = facetOf(groups[at]);
      if (isWanted) return show("events", () => facet(by, value, name));
      showGroup(groups[at], [by, value, name]);
    },
  });
}

// The tree of paths, from the selected rows. A directory with one entry alone is drawn with that entry.
const opened = new Set();
function makeTree() {
  const top = { name: "", path: "", below: new Map(), read: 0, change: 0, exec: 0, refused: 0 };
  for (const row of shown) {
    const target = S[E.target[row]];
    if (!isFile[E.kind[row]] || !target.startsWith("/")) continue;
    const count = E.count[row] || 1;
    const what = E.verdict[row] === REFUSED ? "refused" : isChange[E.kind[row]] ? "change" : KINDS[E.kind[row]] === "read" ? "read" : "exec";
    let node = top;
    node[what] += count;
    for (const name of target.split("/")) {
      if (!name) continue;
      let next = node.below.get(name);
      if (!next) node.below.set(name, next = { name, path: node.path + "/" + name, below: new Map(), read: 0, change: 0, exec: 0, refused: 0 });
      node = next;
      node[what] += count;
    }
  }
  const lines = [];
  const isOpen = node => opened.has(node.path) || node.auto && !opened.has("-" + node.path);
  function walk(node, depth, budget) {
    const entries = [...node.below.values()].sort((a, b) => b.refused - a.refused || (a.name < b.name ? -1 : 1));
    for (let entry of entries) {
      let name = entry.name;
      while (entry.below.size === 1) { entry = entry.below.values().next().value; name += "/" + entry.name; }
      // Opened at first: what holds few entries near the top.
      entry.auto = depth < 1 && entry.below.size > 0 && entry.below.size * entries.length <= budget;
      lines.push({ entry, name: (depth ? "" : "/") + name, depth });
      if (entry.below.size && isOpen(entry)) walk(entry, depth + 1, budget);
    }
  }
  const rebuild = () => { lines.length = 0; walk(top, 0, 60); };
  function toggle(at, to) {
    const { entry } = lines[at];
    if (!entry.below.size || to === isOpen(entry)) return false;
    const was = isOpen(entry);
    opened.delete(entry.path);
    opened.delete("-" + entry.path);
    opened.add(was ? "-" + entry.path : entry.path);
    rebuild();
    list.resize();
    return true;
  }
  const tallyOf = (name, field, cls = "") => ({ name, width: "66px", cls: "num", cell: at => lines[at].entry[field] ? el("span", cls, number(lines[at].entry[field])) : "" });
  rebuild();
  const list = makeList({
    label: "Paths", note: noAllowed, count: () => lines.length,
    columns: [
      { name: "path", width: "minmax(0,1fr)", cell: at => {
        const { entry, name, depth } = lines[at], cell = el("span", "path");
        cell.style.paddingLeft = depth * 16 + "px";
        cell.append(el("span", "twig", entry.below.size ? (isOpen(entry) ? "▾" : "▸") : ""), el("span", entry.refused ? "n bad" : "n", name + (entry.below.size ? "/" : "")));
        return cell;
      } },
      tallyOf("refused", "refused", "bad"), tallyOf("read", "read"), tallyOf("changed", "change"), { ...tallyOf("executed", "exec"), cls: "num mid" },
    ],
    open: (at, isWanted) => {
      const { entry } = lines[at];
      if (isWanted) return show("events", () => facet("under", entry.path, entry.path));
      const pairs = [["path", entry.path], ["refused", number(entry.refused)], ["read", number(entry.read)], ["changed", number(entry.change)], ["executed", number(entry.exec)]];
      showDetail("Path", pairs, [button("its events", () => show("events", () => facet("under", entry.path, entry.path)))]);
    },
    key: (key, at) => {
      if (key === "toggle" || key === " ") return toggle(at);
      if (key === "ArrowRight") { if (!toggle(at, true) && at + 1 < lines.length && lines[at + 1].depth > lines[at].depth) list.pick(at + 1); return true; }
      if (key !== "ArrowLeft") return false;
      if (!toggle(at, false)) { let up = at; while (up > 0 && lines[up].depth >= lines[at].depth) up--; if (lines[up].depth < lines[at].depth) list.pick(up); }
      return true;
    },
  });
  return list;
}

// Questions have times of their own; the filters by text, run and time apply.
function makeQuestions() {
  const run = oneRun(), low = state.text.toLowerCase();
  const asked = D.questions.filter(question => (!run || question.run === run) &&
    (!low || [question.target, question.requested, question.answer, question.program].join(" ").toLowerCase().includes(low)) &&
    (!state.span || question.time === null || question.time <= state.span[1] && question.time + (question.waited || 0) >= state.span[0]));
  return makeList({
    label: "Questions", count: () => asked.length,
    note: D.questions.length ? null : "No question was asked.",
    columns: [
      { name: "time", width: oneRun() ? "92px" : "152px", cls: "num mid", cell: at => asked[at].time === null ? "" : since(asked[at].time) },
      { name: "access", width: "66px", cell: at => asked[at].access },
      { name: "target", width: "minmax(0,2fr)", cell: at => path(asked[at].target) },
      { name: "asked for", width: "minmax(0,1.4fr)", cls: "wide mono", cell: at => asked[at].requested },
      { name: "answer", width: "minmax(90px,1.2fr)", cell: at => el("span", asked[at].tone, asked[at].answer) },
      { name: "waited", width: "66px", cls: "num mid", cell: at => asked[at].waited === null ? "" : duration(asked[at].waited) },
    ],
    open: at => showDetail("Question", asked[at].facts, []),
  });
}

function makeRuns() {
  const rows = new Map();
  for (const row of shown) rows.set(E.run[row], (rows.get(E.run[row]) || 0) + 1);
  const runs = [...rows.keys()].filter(run => run);
  return makeList({
    label: "Runs", count: () => runs.length,
    columns: [
      { name: "started (UTC)", width: "142px", cls: "num mid", cell: at => RUNS[runs[at]].start === null ? "" : moment(RUNS[runs[at]].start, 19) },
      { name: "ended", width: "minmax(0,1.4fr)", cell: at => el("span", RUNS[runs[at]].tone, RUNS[runs[at]].ended) },
      { name: "command", width: "minmax(0,2fr)", cls: "mono", cell: at => RUNS[runs[at]].command },
      { name: "profile", width: "minmax(0,.6fr)", cls: "wide", cell: at => RUNS[runs[at]].profile },
      { name: "rows", width: "66px", cls: "num", cell: at => number(rows.get(runs[at])) },
    ],
    open: (at, isWanted) => {
      const run = runs[at], narrow = () => show("events", () => facet("run", run, `run ${RUNS[run].id}`));
      if (isWanted) return narrow();
      showDetail("Run", [["run", RUNS[run].id], ...RUNS[run].facts], [button("only this run", narrow)]);
    },
  });
}
function makeRun(run) {
  const made = el("div", "text"), facts = el("dl");
  for (const [name, value] of RUNS[run] ? [["run", RUNS[run].id], ...RUNS[run].facts] : []) add(facts, el("dt", "", name), el("dd", "", value));
  made.append(facts);
  made.tabIndex = 0;
  return { nodes: [made] };
}

function showDetail(title, pairs, links) {
  const pane = $("detail"), facts = el("dl");
  for (const [name, value] of pairs) {
    if (value === "" || value === undefined || value === null) continue;
    const isCode = !String(value).startsWith("no flag") && ["target", "asked as", "would grant", "path", "command", "asked for", "granted", "flags", "program"].includes(name);
    add(facts, el("dt", "", name), add(el("dd"), el(isCode ? "code" : "span", "", String(value))));
  }
  const close = button("×", closeDetail, "close");
  close.setAttribute("aria-label", "Close the details");
  pane.replaceChildren(close, el("h2", "", title), facts, add(el("div", "links"), ...links));
  pane.hidden = false;
  $("panes").classList.add("open");
  pane.scrollIntoView({ block: "nearest" });
}
function closeDetail() {
  $("detail").hidden = true;
  $("panes").classList.remove("open");
}
function showGroup(group, [by, value, name]) {
  const pairs = [
    [by === "host" ? "target" : by, by === "process" ? String(value[1]) : name], ["refused", group.counts[REFUSED] ? number(group.counts[REFUSED]) : ""], ["allowed", group.counts[ALLOWED] ? number(group.counts[ALLOWED]) : ""],
    ["program", [...group.programs].map(at => S[at]).join("\n")], ["first", since(group.from)], ["last", since(group.to)],
    by === "rule" ? ["for example", S[E.target[group.row]]] : ["bytes", by === "host" ? "not recorded" : ""],
  ];
  showDetail(name, pairs, [button("its events", () => show("events", () => facet(by, value, name)))]);
}
function showRow(row) {
  const text = index => S[index], run = E.run[row], links = [];
  const narrow = (label, by, value, name) => links.push(button(label, () => facet(by, value, name)));
  if (run && RUNS.length > 2) narrow("only this run", "run", run, `run ${RUNS[run].id}`);
  if (E.pid[row]) narrow("only this process", "process", [run, E.pid[row]], `process ${E.pid[row]}`);
  if (isFile[E.kind[row]] && text(E.target[row]).startsWith("/")) {
    const above = text(E.target[row]).slice(0, -base(text(E.target[row])).length - 1) || "/";
    narrow("only its directory", "under", above, above);
  }
  if (isAccess[E.kind[row]] && E.verdict[row]) narrow("only this rule", "rule", [E.rule[row], E.verdict[row]], why(row));
  showDetail(`${KINDS[E.kind[row]]}${E.verdict[row] ? ": " + verdictText(row) : ""}`, [
    ["target", text(E.target[row])],
    ["asked as", E.asked[row] !== E.target[row] ? text(E.asked[row]) : ""],
    ["why", why(row)],
    ["would grant", text(E.grant[row])],
    [{ started: "command", ended: "how", asked: "question", answered: "answer", granted: "granted" }[KINDS[E.kind[row]]] || "more", text(E.more[row])],
    ["program", text(E.program[row])],
    ["process", E.pid[row] || ""],
    ["system call", text(E.call[row])],
    ["times", E.count[row] > 1 ? number(E.count[row]) : ""],
    ["time", D.start ? `${moment(E.time[row])} UTC (${since(E.time[row])})` : since(E.time[row])],
    ["run", run ? `${RUNS[run].id}: ${RUNS[run].command}` : ""],
    ["row of the trail", E.seq[row] || ""],
  ], links);
}
