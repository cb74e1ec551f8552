"""The printed page has the summary on the first sheet and each figure under its heading.

Needs Chromium or Chrome, and Ghostscript, which reads what the sheets say.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape

import pytest
from report_checks import BROWSER, FLAGS
from report_records import Study, arguments, held_arguments, kind_arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.page.verdict import conclusion, headline
from genesig.report.render import render

pytestmark = pytest.mark.drawn

READER = shutil.which("gs")
SHEETS_OF_KIND = {
    "two classes": 14,
    "several classes": 11,
    "survival": 17,
    "regression": 14,
    "cohorts": 22,
    "covariates": 16,
    "noise": 9,
}
"""Sheets at most, of the small studies of these tests."""
FIGURES_OF_KIND = {
    "two classes": 5,
    "several classes": 5,
    "survival": 5,
    "regression": 4,
    "cohorts": 6,
    "covariates": 6,
    "noise": 2,
}
"""Sections whose heading leads to a figure, with no more than text between."""


def inputs_and_cohorts(kind):
    if kind in ("several classes", "survival"):
        return kind_arguments(kind.replace(" ", "_")), []
    if kind == "covariates":
        return held_arguments(Study(nonlinear=False), "adds"), []
    if kind == "noise":
        inputs = arguments(Study(permutations=99, named=0))
        controls = inputs["tables"]["controls"]
        rows = (controls["model"] == "genesig") & controls["mu"].isna()
        controls.loc[rows, ["p_value", "error", "low", "high"]] = (0.6, 0.52, 0.4, 0.64)
        return inputs, []
    inputs = arguments(Study(permutations=19, regression=kind == "regression"))
    cohorts = [make_about(inputs["dataset"], f"c{k}") for k in range(4 if kind == "cohorts" else 0)]
    return inputs, cohorts


def printed(page, folder):
    """Return the lines of each sheet."""
    pdf = folder / "page.pdf"
    flags = [*FLAGS, f"--user-data-dir={folder / 'profile'}", "--no-pdf-header-footer"]
    command = [BROWSER, *flags, f"--print-to-pdf={pdf}", page.as_uri()]
    subprocess.run(command, capture_output=True, timeout=300, check=True)
    read = [READER, "-q", "-sDEVICE=txtwrite", "-o", str(folder / "sheet%03d.txt"), str(pdf)]
    subprocess.run(read, capture_output=True, timeout=300, check=True)
    sheets = sorted(folder.glob("sheet*.txt"))
    return [re.sub(r"[ \t]+", " ", sheet.read_text(encoding="utf-8")) for sheet in sheets]


@pytest.fixture(scope="module", params=SHEETS_OF_KIND)
def paper(request, tmp_path_factory):
    if BROWSER is None or READER is None:
        pytest.skip("needs Chromium or Chrome, and Ghostscript (gs)")
    folder = tmp_path_factory.mktemp("print")
    (inputs, cohorts) = inputs_and_cohorts(request.param)
    data = json.loads(json.dumps(collect(StudyResults(**inputs, external=cohorts))))
    page = folder / "report.html"
    render(data, page, folder / "figures", title="A study", gene_cards=12, table_rows=15)
    return request.param, page.read_text(encoding="utf-8"), data, printed(page, folder)


def after_summary(html):
    return html[re.search(r'class="part \w', html).start() :]


def first_figures(html):
    """Return (heading, title of the figure that follows it) of each section after the summary."""
    pattern = (
        r"<h3[^>]*>([^<]+)</h3>((?:(?!<h3|</figure>).)*?)<figure [^>]*>\s*<h4>.*?</a>(.*?)</h4>"
    )
    found = re.findall(pattern, after_summary(html), re.DOTALL)
    return [
        (unescape(heading), unescape(title).strip())
        for heading, between, title in found
        if not re.search(r"<(table|dl)", between)
    ]


def places(sheets, text):
    text = re.split(r"[^ -~]", text)[0].strip()  # the reader does not know every Greek letter
    return {k for k, lines in enumerate(sheets) if text in lines}


@pytest.mark.slow
def test_the_summary_is_the_first_sheet_and_all_have_numbers(paper):
    kind, _, data, sheets = paper
    assert len(sheets) <= SHEETS_OF_KIND[kind]
    assert conclusion(data).upper() in sheets[0]
    assert re.split(r"[^ -~]", headline(data))[0].strip() in " ".join(sheets[0].split())
    assert re.search(r"^ *2 (Genes|External cohorts|Prediction)", sheets[1], re.MULTILINE)
    assert ("Limits of this study" if kind == "noise" else "Before you rely on this") in sheets[0]
    for number, lines in enumerate(sheets, start=1):
        assert f"{number} / {len(sheets)}" in lines
    text = "\n".join(sheets)
    assert "Varma S, Simon R (2006)" in text
    assert "@article" not in text
    assert re.search(r"Printed on \d{4}-\d\d-\d\d\.", text)


@pytest.mark.slow
def test_no_heading_is_parted_from_its_figure(paper):
    kind, html, _, sheets = paper
    pairs = first_figures(html)
    assert len(pairs) == FIGURES_OF_KIND[kind]
    for heading, title in pairs:
        # The title of a figure of the summary may be that of a later figure, too.
        assert places(sheets, heading) & places(sheets, title), (heading, title)


@pytest.mark.slow
def test_the_figures_of_the_summary_are_on_its_sheet(paper):
    _, html, _, sheets = paper
    summary = html.removesuffix(after_summary(html))
    titles = re.findall(r"<h4><a[^>]*>Figure \d+</a>(.*?)</h4>", summary)
    assert 1 <= len(titles) <= 2
    for title in titles:
        first_words = " ".join(unescape(title).split()[:3])  # a long title has two lines
        assert 0 in places(sheets, first_words)
