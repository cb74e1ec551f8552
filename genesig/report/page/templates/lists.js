// The marked names are lists, one of each kind; they can be kept, copied, saved and compared.
const keptLists = [];
const bar = make("aside", { className: "marked", hidden: true });
bar.setAttribute("aria-label", "Marked");
document.querySelector("main").after(bar);
const nameInput = make("input", { placeholder: "name of the list" });
const status = make("span", { className: "shown" });
status.setAttribute("role", "status");

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const firstNames = (names, most) =>
  names.slice(0, most).join(", ") + (names.length > most ? ", …" : "");
const marked = () => Array.from(chosen, ([kind, names]) => ({ kind, names: [...names].sort(collator.compare) }))
  .filter((list) => list.names.length);

// The line of a kept list, with the names that it shares with the marked ones of its kind.
function lineOf(list, markedLists) {
  const other = markedLists.find((candidate) => candidate.kind === list.kind);
  const shared = other ? list.names.filter((name) => other.names.includes(name)) : [];
  const sharedText = other ? ` ${shared.length} of them marked${shared.length ? `: ${firstNames(shared, 6)}` : ""}.` : "";
  return make("li", {}, `${list.name}: ${counted(list.names.length, list.kind)}.${sharedText} `,
    button("Mark", () => markNames((name) => list.names.includes(name))),
    button("Drop", function () {
      keptLists.splice(keptLists.indexOf(list), 1);
      showMarks();
    }));
}

function showMarks() {
  const markedLists = marked();
  bar.hidden = !markedLists.length && !keptLists.length;
  if (bar.hidden) return;
  const text = markedLists.map((list) =>
    `${counted(list.names.length, list.kind)}: ${firstNames(list.names, 8)}`);
  status.textContent = text.length ? `Marked: ${text.join("; ")}` : "Nothing is marked.";
  const tools = make("div", { className: "tools" }, make("label", {}, "Name ", nameInput),
    button("Keep", keep),
    button("Copy", async () => {
      const lines = marked().flatMap((list) => list.names).join("\n");
      status.textContent = await copy(lines) ? "Copied." : "Save as TSV instead.";
    }),
    button("Save as TSV", saveLists),
    button("Clear", () => markNames(null)));
  bar.replaceChildren(status, tools, make("ul", {}, ...keptLists.map((list) => lineOf(list, markedLists))));
}

function keep() {
  marked().forEach((list) =>
    keptLists.push({ ...list, name: nameInput.value.trim() || `list ${keptLists.length + 1}` }));
  nameInput.value = "";
  markNames(null);
}

function saveLists() {
  const name = nameInput.value.trim() || "marked";
  const lists = [...keptLists, ...marked().map((list) => ({ ...list, name }))];
  const rows = lists.flatMap((list) => list.names.map((member) => [list.name, list.kind, member]));
  save("lists.tsv", asTsv(["list", "kind", "name"].map((key, k) =>
    ({ key, values: rows.map((row) => row[k]) }))), "text/tab-separated-values");
}
