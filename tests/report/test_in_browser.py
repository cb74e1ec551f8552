"""The page in a browser: its search, sorting and saving, by a script that stands in a copy of it.

Needs Chromium or Chrome.
"""

from __future__ import annotations

import json

import pytest
from report_checks import BROWSER, found_by
from report_kinds import KINDS, of_a_kind
from report_records import Study, arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.page.words import gene_anchor
from genesig.report.render import render

pytestmark = pytest.mark.drawn

WORDS_OPEN = 5000
"""With everything open, without the letters in figures: limit of every kind of study."""
COUNT_OPEN_WORDS = """
  const open_words = () => {
    document.querySelectorAll("main details").forEach((one) => { one.open = true; });
    const count = (one) => one.textContent.split(/\\s+/).filter(Boolean).length;
    const letters = Array.from(document.querySelectorAll("main svg text"), count);
    const all = document.querySelector("main").innerText.split(/\\s+/).length;
    return all - letters.reduce((sum, one) => sum + one, 0);
  };
"""

# A pointer, a tap and keys, on the figure that names genes and samples.
NAMES = """async function names(wait, saved) {
  const found = {}, figure = document.getElementById("figure-heat_map");
  const svg = figure.querySelector("svg"), tip = document.querySelector(".tip");
  const gzip = new DecompressionStream("gzip");
  const letters = atob(document.getElementById("rows").textContent);
  const packed = new Blob([Uint8Array.from(letters, (l) => l.charCodeAt(0))]).stream();
  const all = JSON.parse(await new Response(packed.pipeThrough(gzip)).text()).figures;
  const [, rows, columns] = all.heat_map.marks;
  const actOn = (on, type, x, y, how) => {
    const p = new DOMPoint(x, y).matrixTransform(on.getScreenCTM());
    const at = { clientX: p.x, clientY: p.y, button: 0, pointerType: "mouse", ...how };
    on.dispatchEvent(new PointerEvent(type, at));
  };
  const act = (...how) => actOn(svg, ...how);
  const marked = () => Array.from(document.querySelectorAll(".over.chosen"))
    .filter((path) => path.getAttribute("d"))
    .map((path) => path.closest("figure, details.card").id);
  const end = () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  act("pointerenter", 0, 0); await wait(); end();
  act("pointermove", columns.x[4], rows.y[2]);
  found.pointed = [tip.textContent, columns.names[4], rows.names[2]];
  act("pointerdown", columns.x[4] - 2, rows.y[2] - 2);
  act("pointermove", columns.x[7] + 2, rows.y[2] + 2);
  act("pointerup", columns.x[7] + 2, rows.y[2] + 2); await wait(() => marked().length);
  found.brushed = marked();
  const circles = document.querySelector("#figure-quality_components .over.chosen");
  found.circles = circles.getAttribute("d").split("M").length - 1;
  end();
  found.ended = marked();
  act("pointerdown", columns.x[3], rows.y[1], { pointerType: "touch" });
  act("pointerup", columns.x[3], rows.y[1], { pointerType: "touch" });
  await wait(() => marked().length);
  found.tapped = [tip.textContent, columns.names[3], rows.names[1], marked()];
  end();
  const scroll = figure.querySelector(".scroll"), press = async (key) => {
    scroll.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    await wait();
  };
  await press("ArrowRight"); await press("ArrowRight"); await press("ArrowDown");
  found.stepped = [tip.textContent, all.heat_map.marks[0].names[1], rows.names[0]];
  await press("Enter"); found.entered = marked();
  end();
  const card = document.querySelector("details.card"), plot = card.querySelector("svg");
  for (let at = card; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const [dots] = all[card.id].marks, touch = { pointerType: "touch" };
  actOn(plot, "pointermove", dots.x[5], dots.y[5]);
  found.onCard = [[tip.textContent, dots.names[5]]];
  actOn(plot, "pointerdown", dots.x[6], dots.y[6], touch);
  actOn(plot, "pointerup", dots.x[6], dots.y[6], touch);
  await wait(() => marked().length);
  found.onCard.push([tip.textContent, dots.names[6]]);
  found.fromCard = marked();
  end();
  const bar = document.querySelector(".marked");
  const click = (text) => Array.from(bar.querySelectorAll("button"))
    .find((one) => one.textContent === text).click();
  found.hidden = [bar.hidden];
  act("pointerdown", columns.x[4] - 2, rows.y[2] - 2);
  act("pointerup", columns.x[7] + 2, rows.y[2] + 2); await wait(() => marked().length);
  found.heard = bar.querySelector(".shown").textContent;
  bar.querySelector("input").value = "mine"; click("Keep");
  act("pointerdown", columns.x[6] - 2, rows.y[2] - 2);
  act("pointerup", columns.x[7] + 2, rows.y[2] + 2); await wait(() => marked().length);
  found.compared = Array.from(bar.querySelectorAll("li"), (one) => one.textContent);
  click("Save as TSV"); await wait(() => saved.length > 0);
  found.lists = await saved.at(-1).text();
  found.kept = [columns.names.slice(4, 8), rows.names[2]];
  click("Drop"); click("Drop"); click("Clear");
  found.hidden.push(bar.hidden);
  const first = dots.x.indexOf(Math.min(...dots.x));
  card.querySelector(".scroll").dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowRight", cancelable: true }));
  await wait();
  found.onCard.push([tip.textContent, dots.names[first]]);
  end();
  return found;
}
"""
ACT = """
  // Time is virtual here, unpacking and drawing are not: wait by tasks, not by the clock.
  const task = () => new Promise((done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); done(); };
    channel.port2.postMessage(0);
  });
  const wait = async (ready) => {
    for (let k = 0; k < (ready ? 4000 : 20) && !ready?.(); k++) {
      await new Promise((done) => setTimeout(done, 1));
      for (let n = 0; n < 500; n++) await task();
    }
  };
  const found = {}, box = document.getElementById("table-univariate");
  const seen = (one) => one.checkVisibility({ checkVisibilityCSS: true }) && one.tabIndex >= 0;
  const stops = "a[href], button, input, summary, [tabindex='0']";
  found.stops = Array.from(document.querySelectorAll(stops)).filter(seen).length;
  found.words = document.querySelector("main").innerText.split(/\\s+/).length;
  const first = (n) => Array.from(box.querySelectorAll("tbody tr"), (r) => r.cells[n].textContent);
  const type = async (input, text) => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
    await wait();
  };
  const saved = [], make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push(blob); return make.call(URL, blob); };
  found.nodes = document.querySelectorAll("*").length;
  found.height = document.documentElement.scrollHeight;
  await type(box.querySelector("input"), "SYM119");
  found.one = [first(1), box.querySelector(".shown").textContent];
  await type(box.querySelector("input"), "");
  const head = box.querySelectorAll("th button")[2];
  head.click(); await wait(); found.up = first(2);
  head.click(); await wait(); found.down = first(2);
  found.state = box.querySelectorAll("th")[2].getAttribute("aria-sort");
  await type(document.querySelector(".everywhere input"), "SYM0");
  found.hits = Array.from(document.querySelectorAll(".hits a"), (a) => a.getAttribute("href"));
  found.marked = Array.from(document.querySelectorAll("text.hit"), (t) => t.textContent);
  const of = box.querySelector("tbody tr").cells[0].textContent;
  await type(document.querySelector(".everywhere input"), of.toUpperCase());
  const answer = document.querySelector(".everywhere .shown");
  await wait(() => answer.textContent.includes("alone: rank"));
  found.answer = [of, answer.textContent];
  Array.from(box.querySelectorAll(".tools button")).at(-1).click();
  await wait(() => saved.length > 0); found.tsv = await saved.at(-1).text();
  const tools = document.querySelectorAll("#figure-controls .tools button");
  tools[0].click(); await wait(() => saved.length > 1); found.svg = await saved.at(-1).text();
  tools[1].click(); await wait(() => saved.length > 2);
  found.png = Array.from(new Uint8Array(await saved.at(-1).arrayBuffer()).slice(0, 62));
  tools[2].click(); await wait(() => saved.length > 3); found.figure = await saved.at(-1).text();
  Object.assign(found, await names(wait, saved));
  found.copies = document.querySelectorAll("#part-writeup .tools").length;
  location.hash = "#table-univariate"; await wait(); found.open = box.open;
  document.querySelectorAll("main details").forEach((one) => { one.open = true; });
  found.buttons = Array.from(document.querySelectorAll("button"), (b) => b.tabIndex);
  found.hover = document.querySelectorAll("[title]:not(svg)").length;
"""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    folder = tmp_path_factory.mktemp("browser")
    inputs = arguments(Study(permutations=19))
    data = json.loads(json.dumps(collect(StudyResults(**inputs))))
    page = folder / "report.html"
    render(data, page, folder / "figures", title="t", gene_cards=12, table_rows=5)
    return inputs, data, page


@pytest.fixture(scope="module")
def tried(rendered):
    inputs, data, page = rendered
    return inputs, data, found_by(NAMES + ACT, page.read_text(encoding="utf-8"), page.parent)


@pytest.mark.slow
def test_search_and_sorting_cover_all_rows(tried):
    inputs, _, observed = tried
    symbols, text = observed["one"]
    assert symbols == ["SYM119"]
    assert text == "Rows 1 to 1 of 1 found in 120"
    up, down = ([float(t.replace("−", "-")) for t in observed[k]] for k in ("up", "down"))
    ranked = inputs["tables"]["univariate"]["statistic"].sort_values()
    assert up == pytest.approx(ranked[:5].tolist(), rel=5e-3)
    assert down == pytest.approx(ranked[::-1][:5].tolist(), rel=5e-3)
    assert observed["state"] == "descending"


@pytest.mark.slow
def test_the_search_over_all_leads_to_tables_and_figures(tried):
    _, _, observed = tried
    name, answer = observed["answer"]
    assert name != name.upper()
    assert answer.startswith(f"{name}: ")
    assert "#table-signature" in observed["hits"]
    assert "#table-univariate" in observed["hits"]
    assert any(hit.startswith("#figure-") for hit in observed["hits"])
    assert all("SYM0" in text for text in observed["marked"])
    assert observed["marked"]
    assert observed["open"]


@pytest.mark.slow
def test_what_is_saved_is_what_the_tables_and_figures_hold(tried):
    _, data, observed = tried
    table = data["tables"]["univariate"]
    head, *rows = observed["tsv"].rstrip("\n").split("\n")
    assert head.split("\t") == table["columns"]
    assert len(rows) == table["total"] == 120
    for row, values in zip(rows, table["rows"], strict=True):
        for text, value in zip(row.split("\t"), values, strict=True):
            assert (float(text) if isinstance(value, float) else text) == value
    assert observed["svg"].startswith("<svg")
    assert 'width="178mm"' in observed["svg"]
    png = bytes(observed["png"])
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(png[16:20]) == round(178 / 25.4 * 600)
    assert png[37:41] == b"pHYs"
    assert int.from_bytes(png[41:45]) == round(600 / 0.0254)


@pytest.mark.slow
def test_the_data_of_a_figure_are_those_of_the_report(tried):
    _, data, observed = tried
    head, *rows = observed["figure"].rstrip("\n").split("\n")
    assert head.split("\t") == ["model", "balanced_accuracy", "low", "high"]
    values = {row.split("\t")[0]: [float(x) for x in row.split("\t")[1:]] for row in rows}
    error = data["answer"]["error"]
    scores = [1 - error[key] for key in ("value", "high", "low")]
    assert values["genesig"] == pytest.approx(scores)
    best = data["answer"]["best_other_method"]
    assert values[best["model"]][0] == pytest.approx(1 - best["error"])


@pytest.mark.slow
def test_names_are_told_to_a_pointer_a_finger_and_keys(tried):
    _, _, observed = tried
    for text, *names in (observed["pointed"], observed["tapped"][:3], observed["stepped"]):
        assert all(name in text for name in names)


@pytest.mark.slow
def test_the_plots_of_the_cards_tell_names_and_mark_them_everywhere(tried):
    _, data, observed = tried
    assert len(observed["onCard"]) == 3
    for text, name in observed["onCard"]:
        assert name in text
    samples = {"figure-heat_map", "figure-quality_components", "figure-held_out_scores"}
    assert samples <= set(observed["fromCard"])
    keys = {gene_anchor(card["gene"]) for card in data["cards"]["genes"][:12]}  # as many as asked
    assert keys <= set(observed["fromCard"])
    assert keys <= set(observed["brushed"])


@pytest.mark.slow
def test_what_is_marked_in_one_figure_is_marked_in_all(tried):
    _, _, observed = tried
    samples = {"figure-heat_map", "figure-quality_components", "figure-held_out_scores"}
    for marked in (observed["brushed"], observed["tapped"][3], observed["entered"]):
        assert samples | {"figure-volcano"} <= set(marked)  # a gene was inside, too
    assert observed["circles"] == 4
    assert observed["ended"] == []


@pytest.mark.slow
def test_marks_are_lists_that_are_kept_compared_and_saved(tried):
    _, _, observed = tried
    samples, gene = observed["kept"]
    assert observed["hidden"] == [True, True]
    assert observed["heard"].startswith("Marked: ")
    assert "4 samples: " in observed["heard"]
    assert "1 gene: " in observed["heard"]
    of_samples = next(line for line in observed["compared"] if "sample" in line.split(".")[0])
    assert of_samples.startswith("mine: 4 samples. 2 of them marked: ")
    head, *rows = (line.split("\t") for line in observed["lists"].rstrip("\n").split("\n"))
    assert head == ["list", "kind", "name"]
    assert {row[2] for row in rows if row[:2] == ["mine", "sample"]} == set(samples)
    assert ["mine", "gene", gene] in rows
    assert len([row for row in rows if row[:2] == ["marked", "sample"]]) == 2


@pytest.mark.slow
def test_the_page_keeps_its_size_and_hides_nothing_behind_a_pointer(tried):
    _, _, observed = tried
    assert observed["nodes"] < 8000
    assert observed["height"] < 12000
    assert observed["copies"] >= 4
    assert set(observed["buttons"]) == {0}
    assert observed["stops"] <= 200
    assert observed["words"] <= 1500
    assert observed["hover"] == 0


@pytest.mark.quick("640")
@pytest.mark.parametrize("width", [520, 640, 760, 780])
def test_the_words_of_a_card_have_room_between_a_phone_and_a_screen(undrawn, tmp_path, width):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    data = json.loads(json.dumps(collect(StudyResults(**arguments(Study(permutations=19))))))
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="t", gene_cards=1, table_rows=5)
    script = """
      document.querySelectorAll("details").forEach((one) => { one.open = true; });
      const cell = document.querySelector(".card dd").getBoundingClientRect();
      const found = [cell.width, cell.right, document.documentElement.clientWidth];
    """
    room, right, window = found_by(script, page.read_text(encoding="utf-8"), tmp_path, width=width)
    assert room > 150
    assert right <= window


@pytest.mark.slow
def test_the_page_of_a_large_study_with_ten_cohorts_keeps_its_bounds(tmp_path):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    inputs = arguments(Study(samples=300, genes=20_000, repeats=4, subsamples=20, nonlinear=False))
    cohorts = [make_about(inputs["dataset"], f"c{k}", n=120, genes=60) for k in range(10)]
    data = json.loads(json.dumps(collect(StudyResults(**inputs, external=cohorts))))
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="t", gene_cards=12, table_rows=15)
    assert page.stat().st_size < 6e6
    measure = "const found = document.documentElement.scrollHeight;"
    assert found_by(measure, page.read_text(encoding="utf-8"), tmp_path) < 12000


@pytest.fixture(scope="module", params=KINDS)
def page_of_kind(request, tmp_path_factory):
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    folder = tmp_path_factory.mktemp("kind")
    page = folder / "report.html"
    data = of_a_kind(request.param)
    render(data, page, folder / "figures", title="A study", gene_cards=12, table_rows=5)
    return page


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1280, 1040), (400, 2600)])
def test_first_screen_of_each_kind_fits_its_window(page_of_kind, width, height):
    script = """
      const answer = document.querySelector("#answer");
      const found = [answer.getBoundingClientRect().bottom, document.documentElement.scrollWidth];
    """
    text = page_of_kind.read_text(encoding="utf-8")
    bottom, wide = found_by(script, text, page_of_kind.parent, width=width)
    assert bottom <= height
    assert wide <= max(width, 500)  # headless Chromium opens no narrower window


@pytest.mark.slow
def test_open_page_of_each_kind_has_at_most_5000_words(page_of_kind):
    script = f"{COUNT_OPEN_WORDS} const found = open_words();"
    text = page_of_kind.read_text(encoding="utf-8")
    assert found_by(script, text, page_of_kind.parent) <= WORDS_OPEN


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1400])
def test_no_part_of_the_open_page_is_wider_than_its_window(rendered, tmp_path, width):
    # A frame, because headless Chromium opens no window narrower than 500 pixels.
    script = f"""
      const frame = document.createElement("iframe");
      frame.style.cssText = "border: 0; width: {width}px; height: 900px";
      const loaded = new Promise((done) => frame.addEventListener("load", done));
      frame.srcdoc = document.querySelector("template").innerHTML;
      document.body.append(frame);
      await loaded;
      const page = frame.contentDocument;
      page.querySelectorAll("details").forEach((one) => {{ one.open = true; }});
      const inside = (one) => one.closest(".scroll, nav, pre, .menu, .hint, .unseen, .skip, svg");
      const wide = Array.from(page.querySelectorAll("body *")).filter((one) =>
        !inside(one) && one.getBoundingClientRect().right > {width} + 1);
      const found = [page.documentElement.scrollWidth,
        wide.slice(0, 5).map((one) => one.outerHTML.slice(0, 200))];
    """
    page = rendered[2].read_text(encoding="utf-8")
    text = f"<!DOCTYPE html><template>{page}</template><body style='margin: 0'>"
    scroll_width, wide = found_by(script, text, tmp_path, width=1500)
    assert wide == []
    assert scroll_width <= width
