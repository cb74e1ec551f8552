// What is marked is a list: named, kept, copied, saved, compared with those kept before.
const kept = [];
const bar = make("aside", { className: "marked", hidden: true });
bar.setAttribute("aria-label", "Marked");
document.querySelector("main").after(bar);
const called = make("input", { placeholder: "name of the list" });
const heard = make("span", { className: "shown" });
heard.setAttribute("role", "status");

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const inShort = (names, most) =>
  names.slice(0, most).join(", ") + (names.length > most ? ", …" : "");
const marked = () => Array.from(chosen, ([kind, names]) => ({ kind, names: [...names].sort(collator.compare) }))
  .filter((one) => one.names.length);

// One line for each list: two of one kind say what they share.
function lineOf(one, now) {
  const other = now.find((each) => each.kind === one.kind);
  const both = other ? one.names.filter((name) => other.names.includes(name)) : [];
  const same = other ? ` ${both.length} of them marked${both.length ? `: ${inShort(both, 6)}` : ""}.` : "";
  return make("li", {}, `${one.name}: ${counted(one.names.length, one.kind)}.${same} `,
    button("Mark", () => markNames((name) => one.names.includes(name))),
    button("Drop", function () {
      kept.splice(kept.indexOf(one), 1);
      showMarks();
    }));
}

function showMarks() {
  const now = marked();
  bar.hidden = !now.length && !kept.length;
  if (bar.hidden) return;
  const text = now.map((one) => `${counted(one.names.length, one.kind)}: ${inShort(one.names, 8)}`);
  heard.textContent = text.length ? `Marked: ${text.join("; ")}` : "Nothing is marked.";
  const tools = make("div", { className: "tools" }, make("label", {}, "Name ", called),
    button("Keep", keep),
    button("Copy", async () => {
      const lines = marked().flatMap((one) => one.names).join("\n");
      heard.textContent = await copy(lines) ? "Copied." : "Save as TSV instead.";
    }),
    button("Save as TSV", saveLists),
    button("Clear", () => markNames(null)));
  bar.replaceChildren(heard, tools, make("ul", {}, ...kept.map((one) => lineOf(one, now))));
}

function keep() {
  marked().forEach((one) => kept.push({ ...one, name: called.value.trim() || `list ${kept.length + 1}` }));
  called.value = "";
  markNames(null);
}

function saveLists() {
  const all = [...kept, ...marked().map((one) => ({ ...one, name: called.value.trim() || "marked" }))];
  const rows = all.flatMap((one) => one.names.map((name) => [one.name, one.kind, name]));
  save("lists.tsv", asTsv(["list", "kind", "name"].map((key, k) =>
    ({ key, values: rows.map((row) => row[k]) }))), "text/tab-separated-values");
}
