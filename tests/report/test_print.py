"""The printed page has the summary on the first sheet and each figure under its heading.

Needs Chromium or Chrome, and Ghostscript, which reads what the sheets say.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from report_checks import BROWSER, FLAGS
from report_records import Study, arguments, kind_arguments, make_about

from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits, flat_items
from genesig.report.page.svg import Picture
from genesig.report.page.verdict import conclusion, headline
from genesig.report.render import render
from genesig.report.sections import SECTIONS

pytestmark = pytest.mark.drawn

READER = shutil.which("gs")
SHEETS_OF_KIND = {
    "two classes": 28,
    "several classes": 18,
    "survival": 23,
    "regression": 28,
    "cohorts": 38,
}
"""Sheets at most, of the small studies of these tests."""


def inputs_and_cohorts(kind):
    if kind in ("several classes", "survival"):
        return kind_arguments(kind.replace(" ", "_")), []
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
    render(data, page, folder / "figures", title="A study", top_genes=12, table_rows=15)
    return request.param, data, printed(page, folder)


def places(sheets, text):
    text = re.split(r"[^ -~]", text)[0].strip()  # the reader does not know every Greek letter
    return [k for k, lines in enumerate(sheets) if text in lines]


@pytest.mark.slow
def test_the_summary_is_the_first_sheet_and_all_have_numbers(paper):
    kind, data, sheets = paper
    assert len(sheets) <= SHEETS_OF_KIND[kind]
    assert conclusion(data).upper() in sheets[0]
    assert re.split(r"[^ -~]", headline(data))[0].strip() in " ".join(sheets[0].split())
    assert re.search(r"^ *2 (Genes|External cohorts)", sheets[1], re.MULTILINE)
    assert "Before you rely on this" in sheets[0]
    for number, lines in enumerate(sheets, start=1):
        assert f"{number} / {len(sheets)}" in lines
    text = "\n".join(sheets)
    assert "Varma S, Simon R (2006)" in text
    assert "@article" not in text
    assert re.search(r"Printed on \d{4}-\d\d-\d\d\.", text)


@pytest.mark.slow
def test_no_heading_is_parted_from_its_figure(paper):
    _, data, sheets = paper
    checked = 0
    for write in SECTIONS.values():
        section = write(data, Limits(12, 15))
        pictures = [item for item in flat_items(section.items[:1]) if isinstance(item, Picture)]
        for image in pictures[:1]:
            heading, figure = (places(sheets, text) for text in (section.title, image.title))
            assert set(figure) & set(heading), (section.title, image.title)
            checked += 1
    assert checked > 6
