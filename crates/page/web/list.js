// A list of any length, of which only the visible rows are in the page.
// `columns`: name, width, class, and a function from the row's number to a node or text.
const HEIGHT = 21;
const WIDE = matchMedia("(min-width: 901px)"), MIDDLE = matchMedia("(min-width: 561px)");

function makeList({ label, columns, count, rowClass, open, key, note }) {
  const seen = columns.filter(({ cls = "" }) => (WIDE.matches || !cls.includes("wide")) && (MIDDLE.matches || !cls.includes("mid")));
  const widths = seen.map(({ width }) => width).join(" ");
  const head = el("div", "head"), body = el("div", "list"), space = el("div"), rows = el("div", "rows");
  for (const { name, cls } of seen) head.append(el("span", cls && cls.includes("num") ? "num" : "", name));
  body.tabIndex = 0;
  for (const [name, value] of [["role", "listbox"], ["aria-label", label]]) body.setAttribute(name, value);
  space.setAttribute("role", "none");
  rows.setAttribute("role", "none");
  head.setAttribute("aria-hidden", "true");
  for (const part of [head, body]) part.style.setProperty("--cols", widths);
  body.append(space, rows);
  let picked = -1, first = -1, last = -1, waits = false;

  function row(at) {
    const made = el("div", "r");
    made.setAttribute("role", "option");
    made.id = "row" + at;
    made.setAttribute("aria-setsize", count());
    made.setAttribute("aria-posinset", at + 1);
    made.setAttribute("aria-selected", at === picked);
    if (rowClass) made.className += " " + rowClass(at);
    if (at === picked) made.classList.add("pick");
    for (const { cell, cls } of seen) {
      const content = cell(at);
      if (content instanceof Node && content.nodeType === 1) { if (cls) content.classList.add(...cls.split(" ")); made.append(content); }
      else made.append(el("span", cls, content));
    }
    return made;
  }
  function draw(again) {
    waits = false;
    const from = Math.max(0, Math.floor(body.scrollTop / HEIGHT) - 8);
    const to = Math.min(count(), from + Math.ceil(body.clientHeight / HEIGHT) + 16);
    if (!again && from === first && to === last) return;
    [first, last] = [from, to];
    const made = document.createDocumentFragment();
    for (let at = from; at < to; at++) made.append(row(at));
    rows.replaceChildren(made);
    rows.style.transform = `translateY(${from * HEIGHT}px)`;
  }
  function resize() {
    space.style.height = count() * HEIGHT + "px";
    draw(true);
  }
  function pick(at, opens = true) {
    picked = Math.max(0, Math.min(count() - 1, at));
    const top = picked * HEIGHT;
    if (top < body.scrollTop) body.scrollTop = top;
    if (top + HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = top + HEIGHT - body.clientHeight;
    draw(true);
    body.setAttribute("aria-activedescendant", "row" + picked);
    if (opens && open) open(picked, false);
  }
  body.addEventListener("scroll", () => { if (!waits) { waits = true; requestAnimationFrame(() => draw()); } });
  rows.addEventListener("click", event => {
    const found = event.target.closest(".r");
    if (!found || getSelection().toString()) return;
    const at = +found.id.slice(3);
    if (event.target.classList.contains("twig") && key) { picked = at; key("toggle", at); } else pick(at);
  });
  rows.addEventListener("dblclick", () => { if (open && picked >= 0) open(picked, true); });
  body.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(body.clientHeight / HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -count(), End: count() };
    if (event.key in steps && count()) pick(picked < 0 && steps[event.key] === 1 ? 0 : picked + steps[event.key]);
    else if (event.key === "Enter" && picked >= 0 && open) open(picked, true);
    else if (!key || picked < 0 || !key(event.key, picked)) return;
    event.preventDefault();
  });
  new ResizeObserver(() => draw(true)).observe(body);
  const whole = [note ? el("div", "note", note) : null, head, body, count() ? null : el("div", "empty", "Nothing here, with these filters.")];
  if (!count()) { head.hidden = true; body.hidden = true; }
  requestAnimationFrame(resize);
  return { nodes: whole.filter(node => node), resize, pick, body, draw };
}
