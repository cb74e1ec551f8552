// A button for each text of the part for a paper, which copies the text.
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
  const message = make("span");
  message.setAttribute("role", "status");
  const copyButton = button("Copy", async function () {
    message.textContent = await copy(text()) ? "copied" : "select the text and copy it by hand";
  });
  copyButton.setAttribute("aria-label", `Copy ${box.querySelector("h3, summary").textContent.trim()}`);
  const tools = make("div", { className: "tools" }, copyButton, message);
  const head = box.querySelector(":scope > h3, :scope > summary");
  head.after(tools);
}

// Paragraphs and facts, line by line.
function linesOf(box) {
  const all = (selector, text) => Array.from(box.querySelectorAll(selector), text);
  return [
    ...all(":scope > p, :scope > .start > p", (p) => `${p.textContent}\n`),
    ...all(".facts dl > div", (div) => Array.from(div.children, (one) => one.textContent).join("\t")),
  ].join("\n").trim();
}

function makeCopies() {
  const part = document.getElementById("part-writeup");
  part?.querySelectorAll(":scope > section, :scope > details").forEach(function (box) {
    if (linesOf(box).length > 200) makeCopy(box, () => linesOf(box));
  });
}
