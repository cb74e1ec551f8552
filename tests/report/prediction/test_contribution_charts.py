"""The bar chart of contributions that a row of the held-out predictions opens."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from report_checks import BROWSER, found_by
from report_records import Study, arguments, collected

from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits, embedded_data
from genesig.report.page.tables import Table
from genesig.report.prediction.collect import MAX_SHOWN_TERMS, with_contributions
from genesig.report.prediction.section import contribution_bars, samples_section
from genesig.report.render import render
from genesig.selection.model.contributions import HeldOutContributions

MAX_BYTES_PER_SAMPLE = 120
STUDIES = (Study(), Study(regression=True))


def table_of(data) -> Table:
    items = samples_section(data, Limits(3, 5)).items
    return next(item for item in items if item.name == "held-out-samples")


@pytest.mark.parametrize("study", STUDIES)
def test_bars_of_a_sample_sum_to_its_mean_score(study: Study) -> None:
    data = collected(study)
    table = table_of(data)
    samples = {sample["sample"]: sample for sample in data["held_out"]["samples"]}
    assert len(table.bars) == len(table.rows) == len(samples)
    assert table.search  # a reader looks for one patient among hundreds
    for row, bars in zip(table.rows, table.bars, strict=True):
        sample = samples[row[0].text]
        assert bars == contribution_bars(sample)
        assert sum(value for _, value in bars) == pytest.approx(sample["mean"], abs=1e-5)
        assert [label for label, _ in bars][-1] == "intercept"
        sizes = np.abs(sample["contributions"])
        assert (np.diff(sizes) <= 0).all()
        assert len(sizes) <= MAX_SHOWN_TERMS


def test_chart_of_many_genes_sums_up_all_but_the_largest() -> None:
    data = collected(Study())
    dataset = arguments(Study())["dataset"]
    n, p = len(dataset.samples), 12
    terms = np.random.default_rng(0).normal(size=(n, p))
    contributions = HeldOutContributions(np.arange(p), (), terms, np.full(n, 0.25), np.full(n, 1))
    scores = terms.sum(axis=1) + 0.25
    means = dict(zip(dataset.samples, scores.tolist(), strict=True))
    samples = [{**s, "mean": means[s["sample"]]} for s in data["held_out"]["samples"]]
    held_out = with_contributions({**data["held_out"], "samples": samples}, dataset, contributions)
    sample = held_out["samples"][0]
    row = dataset.samples.index(sample["sample"])
    bars = contribution_bars(sample)
    assert bars[MAX_SHOWN_TERMS][0] == f"{p - MAX_SHOWN_TERMS} others"
    rest = np.sort(np.abs(terms[row]))[: p - MAX_SHOWN_TERMS]
    is_rest = np.isin(np.abs(terms[row]), rest)
    assert bars[MAX_SHOWN_TERMS][1] == pytest.approx(terms[row][is_rest].sum(), abs=2e-3)


def test_charts_of_hundreds_of_samples_add_few_bytes_per_sample() -> None:
    rng = np.random.default_rng(0)
    n = 600
    names = [f"GENE{k}" for k in range(300)]
    table = replace(
        table_of(collected(Study())),
        bars=[
            [
                *((str(name), round(float(value), 4)) for name, value in pairs),
                ("120 others", 0.1234),
                ("intercept", 0.0123),
            ]
            for pairs in (
                zip(
                    rng.choice(names, MAX_SHOWN_TERMS),
                    rng.normal(size=MAX_SHOWN_TERMS),
                    strict=True,
                )
                for _ in range(n)
            )
        ],
    )
    added = len(embedded_data([table])) - len(embedded_data([replace(table, bars=())]))
    assert added < MAX_BYTES_PER_SAMPLE * n


ODD_NAME = "<b>&</b>"
OPEN = """
  // Time is virtual here, unpacking is not: wait by tasks, not by the clock.
  const task = () => new Promise((done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); done(); };
    channel.port2.postMessage(0);
  });
  const wait = async (ready) => {
    for (let k = 0; k < 4000 && !ready(); k++) {
      await new Promise((done) => setTimeout(done, 1));
      for (let n = 0; n < 500; n++) await task();
    }
  };
  const labels = () =>
    Array.from(chart().querySelectorAll("span:nth-child(3n + 1)"), (span) => span.textContent);
  const box = document.getElementById("table-held-out-samples");
  for (let at = box; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const opener = box.querySelector("tbody button"), chart = () => box.querySelector(".chart");
  const found = { name: opener.textContent, closed: opener.ariaExpanded };
  opener.click(); await wait(chart);
  found.labels = labels();
  found.numbers = Array.from(chart().querySelectorAll(".n"), (s) => s.textContent);
  found.bold = chart().querySelectorAll("b").length;
  found.expanded = opener.ariaExpanded;
  const { left, right } = chart().getBoundingClientRect();
  found.width = [left, right, innerWidth];
  const bars = Array.from(chart().querySelectorAll("i"), (bar) => bar.getBoundingClientRect());
  found.inside = bars.every((bar) => bar.left >= left && bar.right <= right + 1);
  found.colours = Array.from(chart().querySelectorAll("i"), (bar) =>
    getComputedStyle(bar).backgroundColor);
  const next = box.querySelectorAll(".tools button")[1];
  next.click(); await wait(() => box.querySelector("tbody button").textContent !== found.name);
  found.gone = chart() === null;
  found.second = box.querySelector("tbody button").textContent;
  box.querySelector("tbody button").click(); await wait(chart);
  found.secondLabels = labels();
  box.querySelector("tbody button").click(); await wait(() => chart() === null);
  found.closedAgain = chart() === null;
"""


@pytest.mark.slow
@pytest.mark.drawn
def test_name_of_a_sample_opens_its_chart_in_a_browser_of_400_pixels(tmp_path) -> None:
    if BROWSER is None:
        pytest.skip("neither Chromium nor Chrome is installed")
    data = json.loads(json.dumps(collect(StudyResults(**arguments(Study())))))
    for sample in data["held_out"]["samples"]:
        sample["terms"][:1] = [ODD_NAME]
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="t", gene_cards=3, table_rows=5)
    found = found_by(OPEN, page.read_text(encoding="utf-8"), tmp_path, width=400)
    table = table_of(data)
    first, second = table.bars[0], table.bars[5]
    assert found["name"] == table.rows[0][0].text
    assert found["second"] == table.rows[5][0].text
    assert found["labels"] == [label for label, _ in first]
    assert found["secondLabels"] == [label for label, _ in second]
    assert found["labels"][0] == ODD_NAME
    assert found["bold"] == 0
    numbers = [float(text.replace("−", "-")) for text in found["numbers"]]
    np.testing.assert_allclose(numbers, [value for _, value in first], rtol=5.1e-3)
    assert [found["closed"], found["expanded"]] == ["false", "true"]
    left, right, width = found["width"]
    assert 0 <= left < right <= width
    assert found["inside"]
    assert len(set(found["colours"])) <= 2
    assert found["gone"]
    assert found["closedAgain"]


def test_labels_are_data_of_the_page_and_no_markup(tmp_path) -> None:
    data = collected(Study())
    for sample in data["held_out"]["samples"]:
        sample["terms"][:1] = [ODD_NAME]
    page = tmp_path / "report.html"
    render(data, page, tmp_path / "figures", title="t", gene_cards=3, table_rows=5)
    text = page.read_text(encoding="utf-8")
    assert ODD_NAME not in text
    packed = text.split('id="rows"', 1)[1].split(">", 1)[1].split("<", 1)[0]
    bars = json.loads(gzip.decompress(base64.b64decode(packed)))["bars"]
    assert bars["held-out-samples"][0][0][0] == ODD_NAME
