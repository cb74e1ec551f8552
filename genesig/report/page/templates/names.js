// Names of samples and genes in figures, by pointer, touch and arrow keys. A marked name is marked in
// all figures.
const SVG = "http://www.w3.org/2000/svg", REACH = { mouse: 9, pen: 12, touch: 18 };
const namedFigures = [], chosen = new Map();
const tip = make("div", { className: "tip", hidden: true });
tip.setAttribute("role", "status");
document.body.append(tip);

function say(text, x, y) {
  tip.hidden = !text;
  tip.textContent = text;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - 12 - tip.offsetHeight : y + 18}px`;
}

async function withNames() {
  const all = (await pageData()).figures;
  namedFigures.forEach(function (state) { state.marks ??= all[state.name]?.marks ?? []; });
}

// Half the width of a column, or the height of a row, of named columns or rows; 0 for points.
function halfStep(marks) {
  const positions = marks.x && marks.y ? null : marks.x || marks.y;
  if (!positions) return 0;
  const [left, top, right, bottom] = marks.box;
  const length = positions === marks.x ? right - left : bottom - top;
  const step = positions.length > 1
    ? Math.abs(positions.at(-1) - positions[0]) / (positions.length - 1) : length;
  return Math.min(step, length) / 2;
}

// The indices of at most four names at the smallest distance from a point; [] beyond reach.
function near(marks, x, y, reach) {
  const [left, top, right, bottom] = marks.box;
  if (x < left - reach || x > right + reach || y < top - reach || y > bottom + reach) return [];
  const count = marks.names.length, distances = new Float64Array(count);
  let best = Infinity;
  for (let k = 0; k < count; k++) {
    const dx = marks.x ? marks.x[k] - x : 0, dy = marks.y ? marks.y[k] - y : 0;
    best = Math.min(best, distances[k] = Math.hypot(dx, dy));
  }
  if (best > (halfStep(marks) + 1 || reach)) return [];
  const nearest = [];
  for (let k = 0; k < count && nearest.length < 4; k++) if (distances[k] <= best + 0.5) nearest.push(k);
  return nearest;
}

// The value of a cell of a heat map: its figure has a column for each sample and a row for each gene.
function cellOf(state, hits) {
  const row = hits.find(([marks]) => !marks.x), column = hits.find(([marks]) => !marks.y);
  const values = row && column && state.data?.find((entry) => entry.key === column[0].names[column[1]]);
  return values ? `: ${values.values[row[1]]}` : "";
}

const wordsOf = (state, hits) =>
  [...new Set(hits.map(([marks, k]) => marks.names[k]))].join(" · ") + cellOf(state, hits);

function shape(marks, k) {
  const [left, top, right, bottom] = marks.box, room = halfStep(marks);
  if (marks.x && marks.y) {
    return `M${marks.x[k] - 6} ${marks.y[k]}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0`;
  }
  return marks.x ? `M${marks.x[k] - room} ${top}h${2 * room}V${bottom}h${-2 * room}Z`
    : `M${left} ${marks.y[k] - room}H${right}v${2 * room}H${left}Z`;
}

function over(state, look, d) {
  let path = state.svg.querySelector(`.over.${look}`);
  if (!path) {
    path = document.createElementNS(SVG, "path");
    path.setAttribute("class", `over ${look}`);
    state.svg.append(path);
  }
  path.setAttribute("d", d);
}

function redraw() {
  namedFigures.forEach(function (state) {
    const d = (state.marks ?? []).flatMap((marks) => marks.names.map((name, k) =>
      chosen.get(marks.kind)?.has(name) ? shape(marks, k) : "")).join("");
    if (d || state.svg.querySelector(".over.chosen")) over(state, "chosen", d);
  });
  showMarks();
}

const chosenOf = (kind) => chosen.get(kind) ?? chosen.set(kind, new Set()).get(kind);

// Mark the names that pass the test, no others; return the figures that have such names.
function markNames(passes) {
  chosen.forEach((names) => names.clear());
  const figures = new Set();
  namedFigures.forEach((state) => (passes ? state.marks ?? [] : []).forEach(function (marks) {
    marks.names.filter(passes).forEach(function (name) {
      chosenOf(marks.kind).add(name);
      if (state.figure.tagName === "FIGURE") figures.add(state.figure);
    });
  }));
  redraw();
  return figures;
}

function toggle(hits) {
  hits.forEach(function ([marks, k]) {
    const all = chosenOf(marks.kind);
    if (!all.delete(marks.names[k])) all.add(marks.names[k]);
  });
  redraw();
}

function makeNamed(figure) {
  const svg = figure.querySelector("svg"), scroll = figure.querySelector(".scroll");
  const state = { figure, svg, name: figure.id.replace("figure-", ""), at: [-1, -1] };
  namedFigures.push(state);
  const ready = async function () {
    await withNames();
    state.data ??= (await pageData()).figures[state.name]?.data;
  };
  const place = (event) => new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(svg.getScreenCTM().inverse());
  const hitsAt = (event) => {
    const { x, y } = place(event), reach = REACH[event.pointerType] ?? 12;
    return (state.marks ?? []).flatMap((marks) => near(marks, x, y, reach).map((k) => [marks, k]));
  };
  const point = function (event) {
    const hits = hitsAt(event);
    say(wordsOf(state, hits), event.clientX, event.clientY);
    return hits;
  };
  let from = null;
  svg.addEventListener("pointerenter", ready);
  svg.addEventListener("pointerdown", function (event) {
    ready();
    if (event.button === 0) from = place(event);
    if (event.pointerType !== "touch") event.preventDefault();
  });
  svg.addEventListener("pointermove", function (event) {
    if (!from || event.pointerType === "touch") return point(event);
    const { x, y } = place(event);
    over(state, "brush", `M${from.x} ${from.y}H${x}V${y}H${from.x}Z`);
  });
  svg.addEventListener("pointerleave", () => say("", 0, 0));
  svg.addEventListener("pointercancel", () => { from = null; });
  svg.addEventListener("pointerup", async function (event) {
    await ready();
    const start = from, { x, y } = place(event);
    from = null;
    over(state, "brush", "");
    if (!start) return;
    if (event.pointerType === "touch" || Math.hypot(x - start.x, y - start.y) < 4) {
      return toggle(point(event));
    }
    inside(state, [start.x, x].sort((a, b) => a - b), [start.y, y].sort((a, b) => a - b));
  });
  scroll.addEventListener("keydown", async function (event) {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!along && !down && event.key !== "Enter") return;
    if (!state.marks) event.preventDefault();
    await ready();
    const rows = state.marks.filter((marks) => !marks.x), others = state.marks.filter((m) => m.x);
    if (down && !rows.length) return;
    event.preventDefault();
    if (event.key === "Enter") return toggle(current(rows, others));
    step(down ? rows : others, down ? 1 : 0, along ?? down);
    const hits = current(rows, others);
    over(state, "here", hits.map(([marks, k]) => shape(marks, k)).join(""));
    const mark = svg.querySelector(".over.here").getBoundingClientRect();
    const frame = scroll.getBoundingClientRect();
    if (mark.top < frame.top) scroll.scrollTop -= frame.top - mark.top + 20;
    if (mark.bottom > frame.bottom && mark.height < frame.height) {
      scroll.scrollTop += mark.bottom - frame.bottom + 20;
    }
    if (mark.left < frame.left) scroll.scrollLeft -= frame.left - mark.left + 20;
    if (mark.right > frame.right && mark.width < frame.width) {
      scroll.scrollLeft += mark.right - frame.right + 20;
    }
    const seen = svg.querySelector(".over.here").getBoundingClientRect();
    say(wordsOf(state, hits), seen.left, Math.min(seen.bottom, innerHeight - 60));
  });
  scroll.addEventListener("blur", function () {
    over(state, "here", "");
    say("", 0, 0);
  });
  const flat = (sets) => sets.flatMap((marks) => {
    const order = marks.names.map((_, k) => k), place = marks.x || marks.y;
    return order.sort((a, b) => place[a] - place[b]).map((k) => [marks, k]);
  });
  const step = function (sets, which, by) {
    const count = flat(sets).length;
    if (count) state.at[which] = Math.max(0, Math.min(count - 1, state.at[which] + by));
  };
  const current = (rows, others) =>
    [flat(others)[state.at[0]], flat(rows)[state.at[1]]].filter(Boolean);
}

// Mark the names inside a rectangle, no others of their kinds.
function inside(state, [left, right], [top, bottom]) {
  const within = (values, k, low, high) => !values || (values[k] >= low && values[k] <= high);
  const namesOfKind = new Map();
  state.marks.forEach(function (marks) {
    const [a, b, c, d] = marks.box;
    if (right < a || left > c || bottom < b || top > d) return;
    const names = namesOfKind.get(marks.kind) ?? namesOfKind.set(marks.kind, new Set()).get(marks.kind);
    marks.names.forEach(function (name, k) {
      if (within(marks.x, k, left, right) && within(marks.y, k, top, bottom)) names.add(name);
    });
  });
  namesOfKind.forEach((names, kind) => chosen.set(kind, names));
  redraw();
}

document.addEventListener("keydown", function (event) {
  if (event.key !== "Escape") return;
  say("", 0, 0);
  markNames(null);
});
