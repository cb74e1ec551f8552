"""docs/claims.md, from the table of what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "claims" / "measured.tsv"
PAGE = ROOT / "docs" / "claims.md"

HEAD = """# What the stated numbers are worth

Each number that genesig states, what it promises, and what came of it on simulated data with known
truth: independent draws, by genesig's own functions, with the settings named. ± is one standard
error of the measured mean. `python tests/benchmarks/claims.py run` measures, `… page` writes this
page; a few draws of each trial run in the fast suite. *Within its error* means that the mean is at
most two standard errors outside the bounds; a number that does not keep its promise says so here.

{summary}
"""


def kept(row: Any) -> str:
    """Say whether a measured mean lies between the bounds of its promise."""
    if row.low <= row.measured <= row.high:
        return "holds"
    near = row.low - 2 * row.error <= row.measured <= row.high + 2 * row.error
    return "within its error" if near else "**does not hold**"


def lines(table: pd.DataFrame) -> Iterable[str]:
    """Yield a table for each topic, with a row for each claim."""
    for topic, part in table.groupby("topic", sort=False):
        yield f"## {str(topic)[0].upper()}{str(topic)[1:]}\n"
        yield "| stated | promise | data | measured | draws | |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for row in part.itertuples():
            figure = f"{row.measured:.3g} ± {row.error:.2g}"
            cells = [row.number, row.promise, row.data, figure, str(row.draws), kept(row)]
            yield f"| {' | '.join(map(str, cells))} |"
        yield ""


def page(table: pd.DataFrame) -> str:
    """Return docs/claims.md."""
    said = pd.Series([kept(row) for row in table.itertuples()])
    number = {word: int((said == word).sum()) for word in ("holds", "within its error")}
    summary = (
        f"Of {len(said)} claims {number['holds']} hold, {number['within its error']} hold within"
        f" their error, {len(said) - sum(number.values())} do not."
    )
    return "\n".join([HEAD.format(summary=summary), *lines(table)]).rstrip("\n") + "\n"
