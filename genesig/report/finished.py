"""Last lines of a run: the path of the report, the conclusion, prediction and genes."""

from __future__ import annotations

from pathlib import Path

from genesig.report.answer.sentences import write_paragraphs
from genesig.report.page.verdict import conclusion, headline
from genesig.report.record import VERSION
from genesig.results import load_json


def finished(folder: str | Path) -> str:
    """Return the last lines of a run; empty if the run made no report."""
    page = Path(folder) / "report.html"
    data = Path(folder) / "report_data.json"
    if not (page.exists() and data.exists()):
        return ""
    value = load_json(data)
    if value["version"] != VERSION or page.stat().st_mtime < data.stat().st_mtime:
        return ""
    concluded = f"{conclusion(value)}. {headline(value)}"
    return "\n".join([f"Report: {page}", concluded, *map(str, write_paragraphs(value)[:2])])
