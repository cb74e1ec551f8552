"""Tables of docs/evidence/speed.md and other pages: as Markdown, between the marks of the page."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "speed.md"
CPU_INFO = Path("/proc/cpuinfo")  # Linux


def processor_name() -> str:
    """Return the name of this machine's processor."""
    text = CPU_INFO.read_text(encoding="utf-8") if CPU_INFO.exists() else ""
    model = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return model[1] if model else platform.processor() or platform.machine()


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, whose first row has the headings."""
    separator = ["---"] * len(rows[0])
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], separator, *rows[1:]))


def publish(section: str, text: str, write: bool, page: Path = PAGE) -> None:
    """Print a section of a page; with `write`, put it between its marks in the page."""
    print(f"\n{text}", flush=True)
    if write:
        page_text = page.read_text(encoding="utf-8")
        marks = re.compile(f"<!-- {section} -->.*?<!-- / -->", re.DOTALL)
        if not marks.search(page_text):
            raise SystemExit(f"{page.name}: no marks of section '{section}'")
        marked = f"<!-- {section} -->\n\n{text}\n\n<!-- / -->"
        page.write_text(marks.sub(lambda _: marked, page_text), encoding="utf-8")
