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
