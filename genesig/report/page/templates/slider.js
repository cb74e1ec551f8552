// One mu for all: the lists, the rows of the heat map and the error move together.
const sliders = [];

const columnOf = (table, ...keys) => keys.map((key) => table?.find((one) => one.key === key)).find(Boolean);

// What the tables hold of the chosen lists and of each mu, in the order of the table of lists.
async function lists() {
  const { tables } = await everything();
  const names = columnOf(tables.lists, "mu"), all = tables["nested-lists"], own = tables.controls;
  const mu = columnOf(all, "mu").values, often = columnOf(all, "in_list").values;
  const kind = columnOf(tables.signature, "core") ? "core" : "frequent";
  const genes = columnOf(all, "gene").values, symbols = columnOf(all, "symbol");
  const model = columnOf(own, "model").values, at = columnOf(own, "mu").values;
  const error = columnOf(own, "error", "r2", "concordance");
  const places = names.values.map((_, k) => k).sort((a, b) =>
    (names.values[a] ?? -1) - (names.values[b] ?? -1));
  return places.map(function (place) {
    const value = names.values[place], same = (other) => (other ?? null) === (value ?? null);
    const rows = genes.map((_, k) => k).filter((k) => same(mu[k]) && often[k]);
    const row = model.findIndex((one, k) => one === "genesig" && same(at[k]));
    const limits = ["low", "high"].map((key) => textOf(columnOf(own, key), row)).join(" to ");
    return {
      name: textOf(names, place), genes: new Set(rows.map((k) => genes[k])),
      symbols: rows.map((k) => symbols?.values[k] ?? genes[k]),
      kind, said: row < 0 || !error ? "" : `; ${error.label.toLowerCase()} ${textOf(error, row)} (${limits})`,
    };
  });
}

function makeSlider(name) {
  const figure = document.getElementById(`figure-${name}`);
  if (!figure || !document.querySelector('table[data-name="lists"]')) return;
  const input = make("input", { type: "range", min: 0, max: 0, value: 0 });
  const said = make("output", { textContent: "move it to see the lists, the heat map and the error at each μ" });
  input.setAttribute("aria-valuetext", "chosen lists");
  input.addEventListener("focus", ready);
  input.addEventListener("pointerenter", ready);
  input.addEventListener("input", async function () {
    await ready();
    setMu((await known)[input.value].name);
  });
  sliders.push({ input, said });
  figure.querySelector(".head").after(make("div", { className: "tools slider" },
    make("label", {}, "List at μ ", input), said));
}

let known = null;
async function ready() {
  known ??= lists();
  const count = (await known).length - 1;
  sliders.forEach(({ input }) => { input.max = count; });
  await withNames();
}

async function setMu(name) {
  await ready();
  const all = await known, place = all.findIndex((one) => one.name === name);
  if (place < 0) return;
  const one = all[place], first = one.symbols.slice(0, 8).join(", ");
  const more = one.symbols.length > 8 ? ` and ${one.symbols.length - 8} more` : "";
  const text = `${name === "chosen" ? "chosen lists" : name}: ${one.symbols.length} ${one.kind} genes`
    + `${one.said}${first ? ` – ${first}${more}` : ""}`;
  sliders.forEach(function ({ input, said }) {
    input.value = place;
    input.setAttribute("aria-valuetext", text);
    said.textContent = text;
  });
  chosen.set("mu", new Set([name]));
  redraw();
  const heat = namedFigures.find((state) => state.name === "heat_map");
  const genes = (await everything()).figures.heat_map?.data.find((column) => column.key === "gene");
  heat?.marks.filter((marks) => !marks.x).forEach((marks) => over(heat, "dim",
    marks.names.map((_, k) => one.genes.has(genes.values[k]) ? "" : shape(marks, k)).join("")));
}
