"""The pages of whole studies that no one looked at before, each held against its own record.

    python benchmarks/robustness/page_contradictions.py [--number 48] [--first 0] [--seed 0]
        [--out FOLDER]

Every kind of response with every design (plain, groups, a batch, a covariate, missing values, gene
sets, another study, one in which all is the other way round), a third of them noise, a third with a
weak and a third with a strong signal: run from their files, written as a page, and read by
`report_checks`. A line for each study: its grade, its words, and what its page says against its
record or against itself. FOLDER keeps the pages.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/materials"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/claims"))

from report_checks import contradictions
from study_data import COLUMNS
from whole_studies import DESIGNS, drawn, with_cohort
from whole_study import Tables, run

from genesig.errors import InvalidInput
from genesig.report.page.verdict import grade
from genesig.report.render import render

SIGNALS = (0.0, 0.3, 1.0)
COHORTS = {"another study": False, "another study, turned": True}
ALL = (*DESIGNS, *COHORTS)


def study(number: int) -> tuple[str, str, float]:
    """Return kind, design and signal: all pairs of the first two come before one comes again."""
    kind = number % len(COLUMNS)
    design = number // len(COLUMNS)
    return list(COLUMNS)[kind], ALL[design % len(ALL)], SIGNALS[(kind + design) % 3]


def files_of(kind: str, design: str, seed: int, signal: float) -> Tables:
    """Return the files of a study."""
    if design in COHORTS:
        return with_cohort(kind, seed, signal, reversed_labels=COHORTS[design])
    return drawn(kind, design, seed, signal)


def words(page: str) -> int:
    """Count what is to be read on a page with everything open, tables and figures left out."""
    page = re.sub(r"(?s)<(script|style|svg|table)\b.*?</\1>", " ", page)
    return len(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def main() -> int:
    """Run, write and read each; end with 1 where a page contradicts itself."""
    asks = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asks.add_argument("--number", type=int, default=48)
    asks.add_argument("--first", type=int, default=0, help="the one to begin with")
    asks.add_argument("--seed", type=int, default=0)
    asks.add_argument("--out", type=Path)
    options = asks.parse_args()
    wrong = 0
    grades = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.number):
            kind, design, signal = study(number)
            seed = 1000 * options.seed + number
            try:
                data = run(files_of(kind, design, seed, signal), seed).report
            except InvalidInput as error:
                print(f"{number:02d} {kind}, {design}, signal {signal}: refused, {error}")
                grades["refused"] += 1
                continue
            page = (options.out or Path(folder)) / f"{number:02d}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            render(data, page, page.with_suffix(""), title="", gene_cards=20, table_rows=100)
            text = page.read_text(encoding="utf-8")
            contradiction_lines = contradictions(data, text)
            wrong += bool(contradiction_lines)
            grades[grade(data).value] += 1
            print(
                f"{number:02d} {kind}, {design}, signal {signal}: {grade(data).value},"
                f" {words(text)} words; {'; '.join(contradiction_lines) or 'no contradiction'}",
                flush=True,
            )
    n_pages = grades.total() - grades["refused"]
    print(f"{wrong} of {n_pages} pages contradict themselves; grades {dict(grades)}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
