// The first answer to the name of a gene: in the model or not, how often halves list it, its rank alone.
async function answerTo(query) {
  const { tables } = await everything();
  const column = (table, key) => tables[table]?.find((one) => one.key === key);
  const rowOf = (table) => ["gene", "symbol"].map((key) => (column(table, key)?.values ?? [])
    .findIndex((name) => [`${name}`, `${name}`.split(" ")[0]].some((one) => one.toLowerCase() === query)))
    .find((row) => row >= 0) ?? -1;
  const text = (table, key, row) => {
    const one = column(table, key);
    return one && row >= 0 ? (one.texts ?? one.values)[row] : null;
  };
  const alone = rowOf("univariate");
  if (alone < 0) return "";
  const model = rowOf("signature"), halves = rowOf("selection");
  const weight = Number(column("signature", "weight")?.values[model] ?? 0);
  const named = column("selection", "fdr_selected")?.values[halves];
  const said = [weight ? "in the predictive model" : named ? "not in the predictive model" : "not selected"];
  if (tables.selection) {
    said.push(halves < 0 ? "in no half of the samples" : `${named ? "FDR-selected: " : ""}in `
      + `${text("selection", "selection_frequency", halves)} of half-sample lists, q ${text("selection", "selection_q", halves)}`);
  }
  const name = ["symbol", "gene"].map((key) => `${column("univariate", key)?.values[alone] ?? ""}`)
    .flatMap((one) => [one, one.split(" ")[0]]).find((one) => one.toLowerCase() === query);
  const q = text("univariate", "q_value", alone);
  said.push(`alone: rank ${alone + 1} of ${column("univariate", "gene").values.length}${q ? `, q ${q}` : ""}`);
  return `${name}: ${said.join("; ")}.`;
}

// One search over all tables; names in figures are marked.
function makeSearch(states) {
  const input = make("input", { type: "search", placeholder: "gene or sample" });
  const list = make("ul", { className: "hits" });
  const said = make("span", { className: "shown" });
  said.setAttribute("role", "status");
  const texts = Array.from(document.querySelectorAll("figure svg text"));
  const cards = Array.from(document.querySelectorAll("details.card"),
    (card) => [card, card.querySelector("h4").textContent]);
  let last = 0;
  input.addEventListener("input", async function () {
    const turn = ++last, query = input.value.trim().toLowerCase();
    await Promise.all([...states.map(loaded), withNames()]);
    if (turn !== last) return;
    const named = query.length > 1 ? markNames((name) => name.toLowerCase().includes(query))
      : markNames(null);
    texts.forEach((text) => text.classList.toggle("hit",
      query.length > 1 && text.textContent.toLowerCase().includes(query)));
    const hits = query.length > 1
      ? states.map((state) => [state, found(state, query).length]).filter((pair) => pair[1]) : [];
    const marked = new Set([...texts.filter((text) => text.classList.contains("hit"))
      .map((text) => text.closest("figure")), ...named]);
    const mine = query.length > 1
      ? cards.filter((pair) => pair[1].toLowerCase().includes(query)).slice(0, 6) : [];
    list.replaceChildren(...mine.map(function ([card, name]) {
      const link = make("a", { href: `#${card.id}`, textContent: name.split(" · ")[0] });
      link.addEventListener("click", () => open(card));
      return make("li", {}, link);
    }), ...hits.map(function ([state, count]) {
      const link = make("a", { href: `#${state.outer.id}`, textContent:
        `${state.outer.querySelector(".number").textContent}: ${count}` });
      link.addEventListener("click", function () {
        open(state.outer);
        state.input.value = query;
        state.input.dispatchEvent(new Event("input"));
      });
      return make("li", {}, link);
    }), ...Array.from(marked, function (figure) {
      const link = make("a", { href: `#${figure.id}`,
        textContent: figure.querySelector(".number").textContent });
      link.addEventListener("click", () => open(figure));
      return make("li", {}, link);
    }));
    const first = query.length > 1 ? await answerTo(query) : "";
    if (turn !== last) return;
    said.textContent = query.length < 2 ? ""
      : hits.length || marked.size ? `${first} Found in`.trim() : "Found nowhere";
  });
  document.querySelector("header").append(make("search", { className: "everywhere" },
    make("label", {}, "Find ", input),
    make("details", { className: "hint" }, make("summary", { textContent: "?",
      ariaLabel: "How to use figures" }), make("span", { textContent: "In figures: point, tap or use"
      + " arrow keys for names; drag, click or press Enter to mark them everywhere; Esc ends it." })),
    said, list));
}

const states = Array.from(document.querySelectorAll("table[data-name]"), makeTable);
document.querySelectorAll("figure").forEach(makeFigure);
document.querySelectorAll("figure, details.card").forEach(makeNamed);
makeCopies();
makeSearch(states.filter((state) => state.input));

const shown = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  open(target);
  target.scrollIntoView();
};
addEventListener("hashchange", shown);
shown();
let closed = [];
addEventListener("beforeprint", function () {
  closed = Array.from(document.querySelectorAll("main details:not([open]):not(.columns):not(.menu)"));
  closed.forEach((one) => { one.open = true; });
  document.querySelector("footer p").dataset.printed = new Date().toISOString().slice(0, 10);
});
addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
