// Functions that all scripts use. The page is complete without scripts.
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

// Rows of all tables, data and names of all figures; unpacked once, when the browser is idle.
let unpacked = null;
function pageData() {
  unpacked = unpacked || (async function () {
    const letters = atob(document.getElementById("rows").textContent);
    const bytes = new Uint8Array(letters.length);
    for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  })();
  return unpacked;
}
(window.requestIdleCallback ?? setTimeout)(() => pageData());

function button(text, action) {
  const element = make("button", { type: "button", textContent: text });
  element.addEventListener("click", action);
  return element;
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
  for (let node = element; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
}
