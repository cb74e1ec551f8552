// The sentence on a gene: whether the model uses it, how often halves select it, its single-gene rank.
async function answerTo(query) {
  const { tables } = await pageData();
  const column = (table, key) => tables[table]?.find((candidate) => candidate.key === key);
  const rowOf = (table) => ["gene", "symbol"].map((key) => (column(table, key)?.values ?? [])
    .findIndex((name) => [`${name}`, `${name}`.split(" ")[0]].some((text) => text.toLowerCase() === query)))
    .find((row) => row >= 0) ?? -1;
  const text = (table, key, row) => {
    const entry = column(table, key);
    return entry && row >= 0 ? (entry.texts ?? entry.values)[row] : null;
  };
  const testRow = rowOf("univariate");
  if (testRow < 0) return "";
  const modelRow = rowOf("signature"), halvesRow = rowOf("selection");
  const weight = Number(column("signature", "weight")?.values[modelRow] ?? 0);
  const isSelected = column("selection", "fdr_selected")?.values[halvesRow];
  const parts = [weight ? "in the predictive model" : isSelected ? "not in the predictive model" : "not selected"];
  if (tables.selection) {
    parts.push(halvesRow < 0 ? "in no half of the samples" : `${isSelected ? "FDR-selected: " : ""}in `
      + `${text("selection", "selection_frequency", halvesRow)} of half-sample lists, q ${text("selection", "selection_q", halvesRow)}`);
  }
  const name = ["symbol", "gene"].map((key) => `${column("univariate", key)?.values[testRow] ?? ""}`)
    .flatMap((text) => [text, text.split(" ")[0]]).find((text) => text.toLowerCase() === query);
  const q = text("univariate", "q_value", testRow);
  parts.push(`alone: rank ${testRow + 1} of ${column("univariate", "gene").values.length}${q ? `, q ${q}` : ""}`);
  return `${name}: ${parts.join("; ")}.`;
}

// One search over all tables; names in figures are marked.
function makeSearch(states) {
  const input = make("input", { type: "search", placeholder: "gene or sample" });
  const list = make("ul", { className: "hits" });
  const message = make("span", { className: "shown" });
  message.setAttribute("role", "status");
  const texts = Array.from(document.querySelectorAll("figure svg text"));
  const cards = Array.from(document.querySelectorAll("details.card"),
    (card) => [card, card.querySelector("h4").textContent]);
  let last = 0;
  input.addEventListener("input", async function () {
    const turn = ++last, query = input.value.trim().toLowerCase();
    await Promise.all([...states.map(loaded), withNames()]);
    if (turn !== last) return;
    const figuresWithName = query.length > 1 ? markNames((name) => name.toLowerCase().includes(query))
      : markNames(null);
    texts.forEach((text) => text.classList.toggle("hit",
      query.length > 1 && text.textContent.toLowerCase().includes(query)));
    const hits = query.length > 1
      ? states.map((state) => [state, rowsWith(state, query).length]).filter((pair) => pair[1]) : [];
    const hitFigures = new Set([...texts.filter((text) => text.classList.contains("hit"))
      .map((text) => text.closest("figure")), ...figuresWithName]);
    const cardHits = query.length > 1
      ? cards.filter((pair) => pair[1].toLowerCase().includes(query)).slice(0, 6) : [];
    list.replaceChildren(...cardHits.map(function ([card, name]) {
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
    }), ...Array.from(hitFigures, function (figure) {
      const link = make("a", { href: `#${figure.id}`,
        textContent: figure.querySelector(".number").textContent });
      link.addEventListener("click", () => open(figure));
      return make("li", {}, link);
    }));
    const first = query.length > 1 ? await answerTo(query) : "";
    if (turn !== last) return;
    message.textContent = query.length < 2 ? ""
      : hits.length || hitFigures.size ? `${first} Found in`.trim() : "Found nowhere";
  });
  document.querySelector("header").append(make("search", { className: "everywhere" },
    make("label", {}, "Find ", input),
    make("details", { className: "hint" }, make("summary", { textContent: "?",
      ariaLabel: "How to use figures" }), make("span", { textContent: "In figures: point, tap or use"
      + " arrow keys for names; drag, click or press Enter to mark them everywhere; Esc ends it." })),
    message, list));
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
  closed.forEach((details) => { details.open = true; });
  document.querySelector("footer p").dataset.printed = new Date().toISOString().slice(0, 10);
});
addEventListener("afterprint", () => closed.forEach((details) => { details.open = false; }));
