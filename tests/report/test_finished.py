"""The last lines of a run give the report and its two answers."""

from __future__ import annotations

import os
import subprocess
import sys

from report_records import Study, collected

from genesig.report.answer.sentences import write_paragraphs
from genesig.report.card import closing_lines, write_card
from genesig.report.page.verdict import conclusion, headline
from genesig.results import save_json


def test_the_last_words_are_where_the_report_is_and_its_two_answers(tmp_path):
    data = collected(Study())
    page = tmp_path / "report.html"
    value = tmp_path / "report_data.json"
    assert closing_lines(tmp_path) == ""
    save_json(value, data)
    assert closing_lines(tmp_path) == ""
    page.write_text("page")
    assert closing_lines(tmp_path) == ""
    (tmp_path / "model_card.md").write_text(write_card(data, "Two | *kinds*"))
    text = "\n".join(
        [
            f"Report: {page}",
            f"{conclusion(data)}. {headline(data)}",
            *map(str, write_paragraphs(data)[:2]),
        ]
    )
    assert closing_lines(tmp_path) == text
    os.utime(page, (0, 0))  # older than what it should show: of another run
    assert closing_lines(tmp_path) == ""


def test_last_lines_are_printed_without_the_modules_of_the_report():
    code = "import sys; import genesig.report.card; sys.exit('jinja2' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
