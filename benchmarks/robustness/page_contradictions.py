"""Look for contradictions between the pages and the records of newly drawn whole studies.

    python benchmarks/robustness/page_contradictions.py [--number 48] [--first 0] [--seed 0]
        [--out FOLDER]

Studies of every kind of response with every design (plain, groups, a batch, a covariate, missing
values, gene sets, an external cohort, a cohort with exchanged labels); a third are noise, a third
have a weak and a third a strong signal. They are run from their files, written as a page, and read
by `report_checks`. It prints a line for each study: grade, number of words, and contradictions of
its page with its record or with itself. FOLDER keeps the pages.
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
COHORTS = {"another study": False, "another study, turned": True}  # design -> exchanged labels
ALL_DESIGNS = (*DESIGNS, *COHORTS)


def study_properties(number: int) -> tuple[str, str, float]:
    """Return kind, design and signal of a study; numbers run through all kinds and designs."""
    kind = number % len(COLUMNS)
    design = number // len(COLUMNS)
    return list(COLUMNS)[kind], ALL_DESIGNS[design % len(ALL_DESIGNS)], SIGNALS[(kind + design) % 3]


def draw_files(kind: str, design: str, seed: int, signal: float) -> Tables:
    """Return the files of a simulated study."""
    if design in COHORTS:
        return with_cohort(kind, seed, signal, reversed_labels=COHORTS[design])
    return drawn(kind, design, seed, signal)


def count_words(page: str) -> int:
    """Return the number of words on a page with everything open, without tables and figures."""
    page = re.sub(r"(?s)<(script|style|svg|table)\b.*?</\1>", " ", page)
    return len(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def main() -> int:
    """Run the studies and check their pages; return 1 if there is a contradiction."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=48)
    parser.add_argument("--first", type=int, default=0, help="number of the first study")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    n_wrong = 0
    grades = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.number):
            kind, design, signal = study_properties(number)
            title = f"{number:02d} {kind}, {design}, signal {signal}"
            seed = 1000 * options.seed + number
            try:
                data = run(draw_files(kind, design, seed, signal), seed).report
            except InvalidInput as error:
                print(f"{title}: refused, {error}")
                grades["refused"] += 1
                continue
            page = (options.out or Path(folder)) / f"{number:02d}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            render(data, page, page.with_suffix(""), title="", gene_cards=20, table_rows=100)
            text = page.read_text(encoding="utf-8")
            lines = contradictions(data, text)
            n_wrong += bool(lines)
            grades[grade(data).value] += 1
            outcome = "; ".join(lines) or "no contradiction"
            print(f"{title}: {grade(data).value}, {count_words(text)} words; {outcome}", flush=True)
    n_pages = grades.total() - grades["refused"]
    print(f"{n_wrong} of {n_pages} pages have contradictions; grades {dict(grades)}")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
