// What all parts of the script use; the page can be read without any of it.
const make = (tag, attributes, ...children) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
};

function save(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// All rows of all tables, data and names of all figures, unpacked once, as soon as there is time.
let unpacked = null;
function everything() {
  unpacked = unpacked || (async function () {
    const letters = atob(document.getElementById("rows").textContent);
    const bytes = new Uint8Array(letters.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  })();
  return unpacked;
}
(window.requestIdleCallback ?? setTimeout)(() => everything());

function button(text, action) {
  const made = make("button", { type: "button", textContent: text });
  made.addEventListener("click", action);
  return made;
}

function asTsv(columns) {
  const word = (value) => value === null ? ""
    : typeof value === "boolean" ? (value ? "True" : "False") : `${value}`.replace(/[\t\r\n]/g, " ");
  const lines = [columns.map((column) => column.key).join("\t")];
  columns[0]?.values.forEach((_, row) =>
    lines.push(columns.map((column) => word(column.values[row])).join("\t")));
  return lines.join("\n") + "\n";
}

function open(element) {
  for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}
