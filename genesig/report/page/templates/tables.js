// Tables: search, sorting and saving of all rows.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const textOf = (column, row) => (column.texts || column.values)[row] ?? "–";

// The searchable text of each row, made once.
function searchTexts(state) {
  if (!state.searchTexts) {
    const textColumns = state.columns.filter((column) => !column.numeric);
    state.searchTexts = state.columns[0].values.map((_, row) =>
      textColumns.map((column) => `${column.values[row] ?? ""}`).join(" ").toLowerCase());
  }
  return state.searchTexts;
}

function rowsWith(state, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = searchTexts(state);
  const ordered = state.order || rows.map((_, row) => row);
  return words.length
    ? ordered.filter((row) => words.every((word) => rows[row].includes(word))) : ordered;
}

// Sort by name; numbers inside names by size. Other letters than English ones need a collator, which
// is slow, but fast on rows that are nearly in its order already.
function byName(rows, values) {
  const keys = values.map((value) =>
    `${value}`.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0")));
  rows.sort((a, b) => keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0);
  return values.some((value) => /[^\x20-\x7e]/.test(value ?? ""))
    ? rows.sort((a, b) => collator.compare(values[a], values[b]) || a - b) : rows;
}

// Empty cells stay at the end in both directions; a column is sorted once.
function sortedRows(column, down) {
  const values = column.values, empty = (row) => values[row] === null || values[row] === "";
  if (!column.rising) {
    const rows = Array.from(values.keys()), full = rows.filter((row) => !empty(row));
    column.rising = column.numeric ? full.sort((a, b) => values[a] - values[b])
      : byName(full, values);
    column.empty = rows.filter(empty);
  }
  return [...(down ? column.rising.slice().reverse() : column.rising), ...column.empty];
}

// Long names may go on in the next line after each underscore, as in render.py.
function breakable(text) {
  const parts = text.length > 16 ? text.split(/(?<=_)/) : [text];
  return parts.flatMap((part, k) => (k ? [make("wbr", {}), part] : [part]));
}

// Labelled numbers as bars from a common zero.
function chartOf(bars) {
  const values = bars.map((bar) => bar[1]), low = Math.min(0, ...values);
  const range = Math.max(0, ...values) - low || 1, percent = (value) => `${100 * value / range}%`;
  return make("div", { className: "chart" }, ...bars.flatMap(function ([label, value]) {
    const bar = make("i", { className: value < 0 ? "down" : "up" });
    bar.style.left = percent(Math.min(0, value) - low);
    bar.style.width = percent(Math.abs(value));
    const number = `${Number(value.toPrecision(3))}`.replace("-", "−");
    return [make("span", { textContent: label }), make("span", {}, bar),
      make("span", { className: "n", textContent: number })];
  }));
}

// The name in the first cell of a row opens and closes its chart.
function makeOpener(state, line, row) {
  const opener = button("", async function () {
    const { bars } = await pageData(), next = line.nextElementSibling;
    const isOpen = next?.matches(".bars");
    if (isOpen) next.remove();
    else line.after(make("tr", { className: "bars" },
      make("td", { colSpan: line.cells.length }, chartOf(bars[state.name][row]))));
    opener.ariaExpanded = `${!isOpen}`;
  });
  opener.ariaExpanded = "false";
  opener.append(...line.cells[0].childNodes);
  line.cells[0].append(opener);
  return line;
}

function draw(state) {
  const rows = rowsWith(state, state.query);
  const last = Math.max(0, Math.ceil(rows.length / state.most) - 1);
  state.at = Math.min(Math.max(state.at, 0), last);
  const start = state.at * state.most;
  state.body.replaceChildren(...rows.slice(start, start + state.most).map(function (row) {
    const line = make("tr", {}, ...state.columns.map((column, place) =>
      make("td", { className: state.looks[place] }, ...breakable(textOf(column, row)))));
    return state.bars ? makeOpener(state, line, row) : line;
  }));
  const total = state.columns[0].values.length;
  const end = Math.min(start + state.most, rows.length);
  state.count.textContent = rows.length
    ? `Rows ${start + 1} to ${end} of ${rows.length}${state.query ? ` found in ${total}` : ""}`
    : `None of ${total} rows`;
  state.back.disabled = state.at === 0;
  state.on.disabled = state.at === last;
}

async function loaded(state) {
  if (!state.columns) state.columns = (await pageData()).tables[state.name];
  return state;
}

function makeTable(table) {
  const body = table.tBodies[0], outer = table.closest(".table");
  const heads = Array.from(table.tHead.rows[0].cells);
  const state = {
    name: table.dataset.name, most: Number(table.dataset.most), body, at: 0, query: "",
    looks: Array.from(body.rows[0]?.cells ?? [], (cell) => cell.className), outer,
    count: make("span", { className: "shown" }), bars: "bars" in table.dataset,
  };
  if (state.bars) Array.from(body.rows, (line, row) => makeOpener(state, line, row));
  const turn = (step) => async function () {
    await loaded(state);
    state.at += step;
    draw(state);
  };
  state.back = button("‹ Back", turn(-1));
  state.on = button("Next ›", turn(1));
  state.back.disabled = true;
  state.count.setAttribute("role", "status");
  heads.forEach(function (head, place) {
    const sorter = make("button", { type: "button" }, ...head.childNodes);
    sorter.addEventListener("click", async function () {
      await loaded(state);
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      state.order = sortedRows(state.columns[place], down);
      state.at = 0;
      draw(state);
    });
    head.append(sorter);
  });
  // The rows are unpacked when the pointer or the focus comes near.
  for (const near of ["pointerenter", "focusin"]) {
    outer.addEventListener(near, async () => searchTexts(await loaded(state)), { once: true });
  }
  const tools = make("div", { className: "tools" });
  if ("search" in table.dataset) {
    state.input = make("input", { type: "search", placeholder: "gene, symbol, sample …" });
    state.input.addEventListener("input", async function () {
      await loaded(state);
      state.query = state.input.value;
      state.at = 0;
      draw(state);
    });
    tools.append(make("label", {}, "Search ", state.input));
  }
  if (outer.querySelector(".first")) tools.append(state.back, state.on);
  tools.append(state.count, button("Save as TSV", async function () {
    await loaded(state);
    save((table.dataset.file || `${state.name}.tsv`).split("/").pop(),
      asTsv(state.columns), "text/tab-separated-values");
  }));
  outer.querySelector(".scroll").before(tools);
  return state;
}
