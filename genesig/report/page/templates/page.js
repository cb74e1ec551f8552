"use strict";
// Sorting and searching of tables; the page can be read without them.
(function () {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function value(row, column) {
    const cell = row.cells[column];
    return cell.hasAttribute("data-v") ? cell.getAttribute("data-v") : cell.textContent;
  }

  // Empty cells stay at the end in both directions.
  function compare(a, b, numeric, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (numeric ? Number(a) - Number(b) : collator.compare(a, b));
  }

  function sort(table, column) {
    const heads = table.tHead.rows[0].cells;
    const head = heads[column];
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const numeric = head.classList.contains("n");
    const rows = Array.from(body.rows, (row) => [value(row, column), row]);
    rows.sort((a, b) => compare(a[0], b[0], numeric, down ? -1 : 1));
    body.append(...rows.map((pair) => pair[1]));
  }

  function makeSortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column));
      head.append(button);
    });
  }

  function makeSearchable(box) {
    const rows = Array.from(box.querySelectorAll("tbody tr"));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    input.type = "search";
    input.placeholder = "gene, symbol, sample …";
    count.setAttribute("role", "status");
    label.append("Search ", input);
    label.className = "find";
    label.append(count);
    input.addEventListener("input", function () {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach(function (row, i) {
        row.hidden = !words.every((word) => texts[i].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
    });
    box.prepend(label);
  }

  document.querySelectorAll(".table table").forEach(makeSortable);
  document.querySelectorAll(".table.search").forEach(makeSearchable);
})();
