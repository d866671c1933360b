// The answer first: how it ended, what was refused and what would allow it. Then tabs, filters, keys.
let current = "events";

function answer() {
  const run = oneRun(), box = $("answer");
  box.replaceChildren();
  if (D.fault) box.append(el("p", "bad fault", `The audit trail isn't as it was written: ${D.fault}`));
  if (run) answerOfRun(box, RUNS[run]); else answerOfRuns(box);
  const refused = refusedRows(run);
  if (refused.length) box.append(refusedTable(refused));
  const FEW = 5;
  if (refused.length > FEW) box.append(button(`all ${number(refused.length)} different refusals`, () => show("events", () => { state.verdict = REFUSED; select(); }), "all"));
}
function answerOfRun(box, run) {
  add(box, el("h1", run.tone, run.ended.slice(0, 1).toUpperCase() + run.ended.slice(1)), el("p", "command mono", run.command), factLine(run.brief));
  if (!run.suggestion) return;
  const line = el("p", "allow");
  line.append("To allow it: ", el("code", "", run.suggestion.flags || run.suggestion.profile));
  if (run.suggestion.flags && run.suggestion.profile) line.append(" or more widely ", el("code", "", run.suggestion.profile));
  box.append(line);
}
function answerOfRuns(box) {
  const runs = RUNS.slice(1), bad = runs.filter(run => run.tone === "bad").length;
  let refused = 0, lost = 0;
  for (let row = 0; row < N; row++) if (E.verdict[row] === REFUSED) refused++;
  for (const run of runs) lost += run.lost || 0;
  const title = runs.length ? `${many(runs.length, "run")}, ${bad ? bad + " failed or were ended" : "none failed"}` : N ? "No run" : "The audit trail holds nothing for this choice";
  add(box, el("h1", bad ? "bad" : "", title), factLine([
    ["rows", number(N)], ["refused", number(refused)], ["questions", number(D.questions.length)],
    ["from", N ? moment(whole[0], 19) : ""], ["to", N ? moment(whole[1], 19) + " UTC" : ""]]));
}
function factLine(facts) {
  const line = el("div", "facts");
  for (const [name, value] of facts) if (value !== "") line.append(add(el("span", "", name + " "), el("b", "", value)));
  return line;
}
// Each refused access once: those that explain a failure or may first, then in the order of time.
function refusedRows(run) {
  const found = new Map();
  for (let row = 0; row < N; row++) {
    if (E.verdict[row] !== REFUSED || run && E.run[row] !== run) continue;
    const key = `${E.kind[row]} ${E.target[row]} ${E.rule[row]}`, known = found.get(key);
    if (known === undefined) found.set(key, row);
  }
  return [...found.values()].sort((a, b) => E.explains[b] - E.explains[a] || a - b);
}
function refusedTable(rows) {
  const table = el("table"), head = el("tr"), body = el("tbody");
  for (const name of ["refused", "target", "program", "why", "would allow it"]) { const cell = el("th", "", name); cell.scope = "col"; head.append(cell); }
  for (const row of rows.slice(0, 5)) {
    const line = el("tr", ["", "perhaps", "why"][E.explains[row]]);
    const cell = (tag, text, cls) => { const made = el("td"); made.append(add(el("span", "cut"), el(tag, cls, text))); line.append(made); };
    cell("span", KINDS[E.kind[row]] + (E.explains[row] === 1 ? ", perhaps the reason" : ""), "bad");
    cell("span", S[E.target[row]], "mono");
    cell("span", program(S[E.program[row]]));
    cell("span", why(row), "soft");
    if (S[E.grant[row]].startsWith("-")) cell("code", S[E.grant[row]]); else cell("span", S[E.grant[row]], "soft");
    body.append(line);
  }
  return add(table, add(el("thead"), head), body);
}

function drawTabs() {
  const bar = $("tabs");
  bar.replaceChildren();
  for (const [id, view] of Object.entries(VIEWS)) {
    const tab = button(view.name + " ", () => show(id));
    const count = id === "events" ? shown.length : id === "questions" ? D.questions.length : 0;
    if (count) tab.append(el("small", "", number(count)));
    tab.id = "tab-" + id;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", id === current);
    tab.tabIndex = id === current ? 0 : -1;
    bar.append(tab);
  }
}
function drawView() {
  const had = document.activeElement && document.activeElement.closest("#tabs,.list");
  drawTabs();
  $("view").replaceChildren(...VIEWS[current].make().nodes);
  $("view").setAttribute("aria-labelledby", "tab-" + current);
  if (had && had.id === "tabs") $("tab-" + current).focus();
  else if (had) ($("view").querySelector(".list") || $("view")).focus({ preventScroll: true });
}
function show(id, before) {
  current = id;
  closeDetail();
  if (before) before(); else drawView();
}

function drawFilters() {
  $("verdicts").querySelectorAll("button").forEach((one, at) => one.setAttribute("aria-pressed", at === state.verdict));
  $("kind").value = state.kind;
  $("program").value = state.program;
  const chips = state.facets.map(({ by, label }) => {
    const chip = button(`${label} ×`, () => { state.facets = state.facets.filter(one => one.by !== by); select(); });
    chip.setAttribute("aria-label", `Remove the filter ${label}`);
    return chip;
  });
  if (state.span) chips.push(button(`${since(state.span[0])} to ${since(state.span[1])} ×`, () => span(null)));
  $("chips").replaceChildren(...chips);
  $("count").textContent = shown.length === N ? many(N, "row") : `${number(shown.length)} of ${many(N, "row")}`;
}
function options(menu, first, entries) {
  for (const [value, text] of [first, ...entries]) {
    const made = el("option", "", text);
    made.value = value;
    menu.append(made);
  }
}
function startFilters() {
  ["all", ...VERDICTS.slice(1)].forEach((name, at) => $("verdicts").append(button(name, () => { state.verdict = at; select(); })));
  const perKind = new Map(), perProgram = new Map();
  for (let row = 0; row < N; row++) {
    perKind.set(E.kind[row], (perKind.get(E.kind[row]) || 0) + 1);
    if (E.program[row]) perProgram.set(E.program[row], (perProgram.get(E.program[row]) || 0) + 1);
  }
  const cutText = text => text.length > 60 ? "…" + text.slice(-59) : text;
  options($("kind"), [-1, "every kind"], [...perKind].sort((a, b) => a[0] - b[0]).map(([kind, count]) => [kind, `${KINDS[kind]} (${number(count)})`]));
  options($("program"), [0, "every program"], [...perProgram].sort((a, b) => b[1] - a[1]).slice(0, 200).map(([at, count]) => [at, `${cutText(S[at])} (${number(count)})`]));
  $("kind").addEventListener("change", () => { state.kind = +$("kind").value; select(); });
  $("program").addEventListener("change", () => { state.program = +$("program").value; select(); });
  let waits = 0;
  $("text").addEventListener("input", () => { clearTimeout(waits); waits = setTimeout(() => { state.text = $("text").value.trim(); select(); }, 90); });
}
function startTheme() {
  const names = ["", "light", "dark"], label = ["as the system", "light", "dark"];
  let at = 0;
  const tell = () => {
    $("theme").textContent = ["◐", "○", "●"][at];
    $("theme").setAttribute("aria-label", `Colours: ${label[at]}`);
    if (names[at]) document.documentElement.dataset.theme = names[at]; else delete document.documentElement.dataset.theme;
    drawTimeline();
  };
  $("theme").addEventListener("click", () => { at = (at + 1) % 3; tell(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
  tell();
}
function startKeys() {
  $("tabs").addEventListener("keydown", event => {
    const ids = Object.keys(VIEWS), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) show(ids[(ids.indexOf(current) + step + ids.length) % ids.length]);
  });
  document.addEventListener("keydown", event => {
    const isTyping = ["INPUT", "SELECT"].includes(event.target.tagName);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "/" && !isTyping) { $("text").focus(); event.preventDefault(); }
    if (event.key === "Escape" && !$("detail").hidden) closeDetail();
    const at = "1234567".indexOf(event.key);
    if (!isTyping && at >= 0) show(Object.keys(VIEWS)[at]);
  });
}

document.title = RUNS.length === 2 ? `Stockade: ${RUNS[1].command.slice(0, 80)}` : "Stockade: audit report";
$("source").textContent = D.source;
if (RUNS.length > 2) current = "run";
startFilters();
startTimeline();
startTheme();
startKeys();
listeners.push(drawFilters, drawView, () => { const run = oneRun(); if (run !== answer.run) { answer.run = run; answer(); } });
for (const query of [WIDE, MIDDLE]) query.addEventListener("change", drawView);
select();
answer();
// For the tests: milliseconds until here.
document.documentElement.dataset.ready = Math.round(performance.now());
