// The timeline: one lane for each sort of access, what was refused in red, questions with the time that they were open.
// A span chosen by mouse or keys selects the rows of that time.
const LANES = ["read", "change", "execute", "network", "other", "questions"];
const LANE = 16, laneOf = KINDS.map((name, kind) => {
  if (name === "read") return 0;
  if (isChange[kind]) return 1;
  if (name === "execute") return 2;
  if (isNetwork[kind]) return 3;
  return name === "asked" || name === "answered" || name === "granted" ? 5 : 4;
});
const chart = $("chart");
let drag = null;
const whole = (() => {
  let from = Infinity, to = -Infinity;
  for (const time of E.time) { if (time < from) from = time; if (time > to) to = time; }
  for (const run of RUNS) if (run.start !== null && run.start !== undefined) { from = Math.min(from, run.start); to = Math.max(to, run.start + (run.duration || 0)); }
  return from <= to ? [from, Math.max(to, from + 1)] : [0, 1];
})();
// The time of the one run that is chosen, else all of it.
function extent() {
  const run = RUNS.length > 2 && RUNS[oneRun()];
  if (!run || run.start === null) return whole;
  return [run.start, run.start + Math.max(1, run.duration === null ? whole[1] - run.start : run.duration)];
}

function drawTimeline() {
  const css = getComputedStyle(document.documentElement), colour = name => css.getPropertyValue("--" + name).trim();
  const scale = devicePixelRatio || 1, width = chart.clientWidth, height = chart.clientHeight;
  if (!width) return;
  chart.width = width * scale;
  chart.height = height * scale;
  const pen = chart.getContext("2d");
  pen.scale(scale, scale);
  const [from, to] = extent(), bins = Math.max(1, Math.floor(width / 2));
  const at = time => (time - from) / (to - from) * (width - 8) + 4;
  const all = LANES.map(() => new Uint32Array(bins)), bad = LANES.map(() => new Uint32Array(bins));
  for (const row of matching) {
    const time = E.time[row];
    if (time < from || time > to) continue;
    const bin = Math.min(bins - 1, Math.floor(at(time) / width * bins)), lane = laneOf[E.kind[row]];
    (E.verdict[row] === REFUSED ? bad : all)[lane][bin] += E.count[row] || 1;
  }
  const inks = [colour("read"), colour("change"), colour("exec"), colour("net"), colour("other"), colour("ask")];
  LANES.forEach((_, lane) => {
    const top = lane * LANE;
    pen.fillStyle = colour("row");
    pen.fillRect(0, top + LANE - 1, width, 1);
    let most = 1;
    for (let bin = 0; bin < bins; bin++) most = Math.max(most, all[lane][bin], bad[lane][bin]);
    // By logarithm, so that one access is seen beside ten thousand.
    const tall = count => count ? Math.max(3, Math.round(Math.log1p(count) / Math.log1p(most) * (LANE - 3))) : 0;
    for (let bin = 0; bin < bins; bin++) {
      const x = bin * width / bins;
      for (const [counts, ink, least] of [[all, inks[lane], 0], [bad, colour("mark"), 7]]) {
        const count = counts[lane][bin], size = count ? Math.max(least, tall(count)) : 0;
        pen.fillStyle = ink;
        if (size) pen.fillRect(x, top + LANE - 1 - size, Math.max(2, width / bins), size);
      }
    }
  });
  pen.fillStyle = inks[5];
  for (const { time, waited } of D.questions) {
    if (time !== null && waited && time >= from && time <= to) pen.fillRect(at(time), 5 * LANE + 5, Math.max(2, at(time + waited) - at(time)), 6);
  }
  drawAxis(pen, at, [from, to], width, colour("soft"));
  if (state.span) {
    const [a, b] = state.span.map(time => Math.max(0, Math.min(width, at(time))));
    pen.fillStyle = colour("focus");
    pen.globalAlpha = .13;
    pen.fillRect(a, 0, Math.max(1, b - a), LANES.length * LANE);
    pen.globalAlpha = 1;
    pen.fillRect(a, 0, 1, LANES.length * LANE);
    pen.fillRect(b, 0, 1, LANES.length * LANE);
  }
  chart.setAttribute("aria-label", `Timeline, ${duration(to - from)}. ` +
    (state.span ? `Selected ${since(state.span[0])} to ${since(state.span[1])}.` : "Nothing selected.") +
    " Arrow keys move the selected time, plus and minus change its length, Escape selects all.");
}
function drawAxis(pen, at, [from, to], width, ink) {
  const y = LANES.length * LANE;
  pen.fillStyle = ink;
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "top";
  const isPast = oneRun() || !D.start, origin = isPast && RUNS[oneRun()] ? RUNS[oneRun()].start || 0 : 0;
  if (!isPast) {
    const parts = to - from < 120000 ? [11, 23] : to - from < 172800000 ? [5, 16] : [0, 10];
    for (let mark = 0; mark <= 4; mark++) {
      if (width < 420 && mark % 2) continue;
      const text = moment(from + (to - from) * mark / 4).slice(...parts), wide = pen.measureText(text).width;
      pen.fillText(text, Math.max(2, Math.min(width - wide - 2, at(from + (to - from) * mark / 4) - wide / 2)), y + 2);
    }
    return;
  }
  const step = [1, 2, 5].flatMap(unit => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(zeros => unit * 10 ** zeros))
    .sort((a, b) => a - b).find(step => (to - from) / step * 90 <= width) || to - from;
  for (let time = Math.ceil((from - origin) / step) * step; origin + time <= to; time += step) {
    const x = at(origin + time), text = to - from >= 2000 ? `${number(time / 1000)} s` : `${number(time)} ms`;
    pen.fillRect(x, y, 1, 3);
    pen.fillText(text, Math.min(x + 3, width - pen.measureText(text).width - 1), y + 2);
  }
}
function timeAt(x) {
  const [from, to] = extent();
  return from + Math.max(0, Math.min(1, (x - 4) / (chart.clientWidth - 8))) * (to - from);
}
function span(value) {
  state.span = value;
  cut();
}
function startTimeline() {
  for (const name of LANES) $("lanes").append(el("div", "", name));
  const x = event => event.clientX - chart.getBoundingClientRect().left;
  chart.addEventListener("pointerdown", event => { if (event.button === 0) { drag = x(event); chart.setPointerCapture(event.pointerId); } });
  chart.addEventListener("pointermove", event => {
    if (drag === null || Math.abs(x(event) - drag) < 3) return;
    state.span = [drag, x(event)].sort((a, b) => a - b).map(timeAt);
    drawTimeline();
  });
  chart.addEventListener("pointerup", event => {
    if (drag === null) return;
    span(Math.abs(x(event) - drag) < 3 ? null : state.span);
    drag = null;
  });
  chart.addEventListener("pointercancel", () => { drag = null; });
  chart.addEventListener("keydown", event => {
    const [from, to] = extent(), all = to - from, [a, b] = state.span || [from, to], long = b - a;
    const within = (start, size) => [Math.max(from, Math.min(to - size, start)), Math.max(from, Math.min(to - size, start)) + size];
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const step = (state.span ? long : all / 10) / 4 * (event.key === "ArrowLeft" ? -1 : 1);
      span(state.span ? within(a + step, long) : within(step > 0 ? from : to - all / 10, all / 10));
    } else if (event.key === "+" || event.key === "=") span(within(a + long / 4, long / 2));
    else if (event.key === "-") span(long * 2 >= all ? null : within(a - long / 2, long * 2));
    else if (event.key === "Escape") span(null);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(drawTimeline).observe(chart);
  listeners.push(drawTimeline);
}
