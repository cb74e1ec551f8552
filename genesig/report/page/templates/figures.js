// Figures: as they are drawn for paper, whatever the colours of the screen.
const sheet = (svg, width) => {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll(".over").forEach((mark) => mark.remove());
  const [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
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
  const tools = make("details", { className: "menu" }, make("summary", { textContent: "Save" }),
    make("div", { className: "tools" },
    button("SVG", () => save(`${name}.svg`, sheet(svg, 178).text, "image/svg+xml")),
    make("a", { href: `figures/85mm/${name}.svg`, download: `${name}_85mm.svg`, textContent: "SVG 85 mm" }),
    button("PNG", () => savePng(svg, name, 178)),
    button("TSV", async () => save(`${name}.tsv`, asTsv((await pageData()).figures[name].data),
      "text/tab-separated-values"))));
  tools.firstChild.setAttribute("aria-label", `Save ${figure.querySelector(".number").textContent}`);
  const head = make("div", { className: "head" });
  figure.prepend(head);
  head.append(figure.querySelector("h4"), tools);
}
