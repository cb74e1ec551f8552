"use strict";
// Search, sorting and saving; the page can be read without them.
(function () {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
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

  // All rows of all tables, unpacked when they are first asked for.
  let unpacked = null;
  function allRows() {
    unpacked = unpacked || (async function () {
      const text = document.getElementById("rows").textContent;
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return JSON.parse(await new Response(stream).text());
    })();
    return unpacked;
  }

  const textOf = (column, row) => (column.texts || column.values)[row] ?? "–";

  // What can be searched of each row, made once.
  function haystack(state) {
    if (!state.hay) {
      const wordy = state.columns.filter((column) => !column.numeric);
      state.hay = state.columns[0].values.map((_, row) =>
        wordy.map((column) => `${column.values[row] ?? ""}`).join(" ").toLowerCase());
    }
    return state.hay;
  }

  function found(state, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = haystack(state);
    const all = state.order || rows.map((_, row) => row);
    return words.length ? all.filter((row) => words.every((word) => rows[row].includes(word))) : all;
  }

  // Empty cells stay at the end in both directions.
  function sorted(column, down) {
    const values = column.values, sign = down ? -1 : 1;
    const order = Array.from(values.keys());
    const empty = (value) => value === null || value === "";
    return order.sort((a, b) => empty(values[a]) || empty(values[b])
      ? empty(values[a]) - empty(values[b])
      : sign * (column.numeric ? values[a] - values[b] : collator.compare(values[a], values[b])));
  }

  function draw(state) {
    const rows = found(state, state.query);
    const last = Math.max(0, Math.ceil(rows.length / state.most) - 1);
    state.at = Math.min(Math.max(state.at, 0), last);
    const start = state.at * state.most;
    state.body.replaceChildren(...rows.slice(start, start + state.most).map(function (row) {
      return make("tr", {}, ...state.columns.map((column, place) =>
        make("td", { className: state.looks[place], textContent: textOf(column, row) })));
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
    if (!state.columns) state.columns = (await allRows())[state.name];
    return state;
  }

  function asTsv(columns) {
    const word = (value) => value === null ? ""
      : typeof value === "boolean" ? (value ? "True" : "False") : `${value}`;
    const lines = [columns.map((column) => column.key).join("\t")];
    columns[0]?.values.forEach((_, row) =>
      lines.push(columns.map((column) => word(column.values[row])).join("\t")));
    return lines.join("\n") + "\n";
  }

  function button(text, action) {
    const made = make("button", { type: "button", textContent: text });
    made.addEventListener("click", action);
    return made;
  }

  function makeTable(table) {
    const body = table.tBodies[0], outer = table.closest(".table");
    const heads = Array.from(table.tHead.rows[0].cells);
    const state = {
      name: table.dataset.name, most: Number(table.dataset.most), body, at: 0, query: "",
      looks: Array.from(body.rows[0]?.cells ?? [], (cell) => cell.className), outer,
      count: make("span", { className: "shown" }),
    };
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
        state.order = sorted(state.columns[place], down);
        state.at = 0;
        draw(state);
      });
      head.append(sorter);
    });
    const tools = make("div", { className: "tools" });
    if ("search" in table.dataset) {
      state.input = make("input", { type: "search", placeholder: "gene, symbol, sample …" });
      state.input.addEventListener("input", async function () {
        await loaded(state);
        state.query = state.input.value;
        state.at = 0;
        draw(state);
      });
      tools.append(make("label", {}, "Search all rows ", state.input));
    }
    tools.append(state.back, state.on, state.count, button("Save as TSV", async function () {
      await loaded(state);
      save((table.dataset.file || `${state.name}.tsv`).split("/").pop(),
        asTsv(state.columns), "text/tab-separated-values");
    }));
    outer.querySelector(".scroll").before(tools);
    return state;
  }

  // Figures: as they are drawn for paper, whatever the colours of the screen.
  const sheet = (svg, width) => {
    const copy = svg.cloneNode(true), [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
    copy.setAttribute("width", `${width}mm`);
    copy.setAttribute("height", `${(width * h / w).toFixed(2)}mm`);
    return { text: new XMLSerializer().serializeToString(copy), ratio: h / w };
  };

  const DPI = 600;
  const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n >>> 0;
  });
  const crc = (bytes) =>
    ~bytes.reduce((sum, byte) => TABLE[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;

  // The size in millimetres is in the file: dots per metre, a chunk after the header of 33 bytes.
  function withSize(png) {
    const chunk = new DataView(new ArrayBuffer(21)), perMetre = Math.round(DPI / 0.0254);
    chunk.setUint32(0, 9);
    [..."pHYs"].forEach((letter, k) => chunk.setUint8(4 + k, letter.charCodeAt(0)));
    chunk.setUint32(8, perMetre);
    chunk.setUint32(12, perMetre);
    chunk.setUint8(16, 1);
    chunk.setUint32(17, crc(new Uint8Array(chunk.buffer, 4, 13)));
    return new Blob([png.slice(0, 33), chunk.buffer, png.slice(33)]);
  }

  function savePng(svg, name, width) {
    const { text, ratio } = sheet(svg, width);
    const canvas = make("canvas", { width: Math.round((width / 25.4) * DPI) });
    canvas.height = Math.round(canvas.width * ratio);
    const image = new Image();
    image.onload = function () {
      const context = canvas.getContext("2d");
      context.fillStyle = "#ffffff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.imageSmoothingEnabled = false;
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(async (blob) =>
        save(`${name}_${width}mm.png`, withSize(await blob.arrayBuffer()), "image/png"));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function makeFigure(figure) {
    const svg = figure.querySelector("svg"), name = figure.id.replace("figure-", "");
    const tools = make("div", { className: "tools", role: "group" }, "Save as ",
      button("SVG", () => save(`${name}.svg`, sheet(svg, 178).text, "image/svg+xml")),
      ...[85, 178].map((width) => button(`PNG ${width} mm`, () => savePng(svg, name, width))));
    tools.setAttribute("aria-label", `Save ${figure.querySelector(".number").textContent}`);
    const head = make("div", { className: "head" });
    figure.prepend(head);
    head.append(figure.querySelector("h4"), tools);
  }

  // Text to be taken into a paper: each paragraph, list of references or checklist by itself.
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = make("textarea", { value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  function makeCopy(box, text) {
    const said = make("span");
    said.setAttribute("role", "status");
    const made = button("Copy", async function () {
      said.textContent = await copy(text()) ? "copied" : "select the text and copy it by hand";
    });
    made.setAttribute("aria-label", `Copy ${box.querySelector("h3, summary").textContent.trim()}`);
    const tools = make("div", { className: "tools" }, made, said);
    const head = box.querySelector(":scope > h3, :scope > summary");
    head.after(tools);
  }

  function makeCopies() {
    const part = document.getElementById("part-writeup");
    part?.querySelectorAll(":scope > section, :scope > details").forEach(function (box) {
      const words = Array.from(box.querySelectorAll(":scope > p"), (p) => p.textContent);
      if (words.join("").length > 200) makeCopy(box, () => words.join("\n\n"));
    });
    part?.querySelectorAll("details.text").forEach((box) =>
      makeCopy(box, () => box.querySelector("pre").textContent));
  }

  function open(element) {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  }

  // One search over all tables; names in figures are marked.
  function makeSearch(states) {
    const input = make("input", { type: "search", placeholder: "gene, symbol, sample …" });
    const list = make("ul", { className: "hits" });
    const said = make("span", { className: "shown" });
    said.setAttribute("role", "status");
    const texts = Array.from(document.querySelectorAll("figure svg text"));
    let last = 0;
    input.addEventListener("input", async function () {
      const turn = ++last, query = input.value.trim().toLowerCase();
      await Promise.all(states.map(loaded));
      if (turn !== last) return;
      texts.forEach((text) => text.classList.toggle("hit",
        query.length > 1 && text.textContent.toLowerCase().includes(query)));
      const hits = query.length > 1
        ? states.map((state) => [state, found(state, query).length]).filter((pair) => pair[1]) : [];
      const marked = new Set(texts.filter((text) => text.classList.contains("hit"))
        .map((text) => text.closest("figure")));
      list.replaceChildren(...hits.map(function ([state, count]) {
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
      said.textContent = query.length < 2 ? ""
        : hits.length || marked.size ? "Found in" : "Found nowhere";
    });
    document.querySelector("header").append(make("search", { className: "everywhere" },
      make("label", {}, "Find a gene or sample everywhere ", input), said, list));
  }

  const states = Array.from(document.querySelectorAll("table[data-name]"), makeTable);
  document.querySelectorAll("figure").forEach(makeFigure);
  makeCopies();
  makeSearch(states.filter((state) => state.input));

  const shown = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) open(target);
  };
  addEventListener("hashchange", shown);
  shown();
  let closed = [];
  addEventListener("beforeprint", function () {
    closed = Array.from(document.querySelectorAll("main details:not([open]):not(.columns)"));
    closed.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
})();
