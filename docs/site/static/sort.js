// A click on a heading sorts the rows of its table; a second click reverses them.
document.querySelectorAll("article table thead th").forEach(heading => {
  heading.addEventListener("click", () => {
    const table = heading.closest("table"), body = table.tBodies[0];
    const column = heading.cellIndex, down = heading.getAttribute("aria-sort") === "ascending";
    const value = row => row.cells[column].textContent.trim();
    const number = text => parseFloat(text.replace(/[,−]/g, sign => (sign === "−" ? "-" : "")));
    const order = (a, b) => {
      const [x, y] = [number(value(a)), number(value(b))];
      return Number.isNaN(x) || Number.isNaN(y) ? value(a).localeCompare(value(b)) : x - y;
    };
    const rows = [...body.rows].sort(order);
    body.append(...(down ? rows.reverse() : rows));
    table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  });
});
