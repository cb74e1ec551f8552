"""docs/evidence/claims.md, from the table of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from csv import QUOTE_NONE
from pathlib import Path
from typing import Any

import pandas as pd
from certificate import Trial

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "claims" / "measured.tsv"
AUDIT = ROOT / "tests" / "claims" / "audit.tsv"
PAGE = ROOT / "docs" / "evidence" / "claims.md"

HEAD = """# What the stated numbers are worth

Numbers that genesig states, what they promise, and what came of it on simulated data with known
truth: independent draws, by genesig's own functions, with the settings named. ± is one standard
error of the measured mean. `python benchmarks/accuracy/claims.py run` measures, `… page` writes
this page; a few draws of each trial run in the fast suite. *Within its error* means that the mean
is at most two standard errors outside the bounds, so that the draws do not tell whether the promise
is kept; a number that does not keep it says so here. Where the data do not say otherwise, classes
are equal, genes independent, and 5 folds are repeated 4 times.

Not in the trials: the calibration slope of survival, whose interval is that of the scores at hand;
fewer than five samples of a class, for which the interval of the AUC is short (.88 to .90 with
four); two studies, which are too few to say how far studies differ.

{summary}
"""


def kept(row: Any) -> str:
    """Say whether a measured mean lies between the bounds of its promise."""
    if row.low <= row.measured <= row.high:
        return "holds"
    near = row.low - 2 * row.error <= row.measured <= row.high + 2 * row.error
    return "within its error" if near else "**does not hold**"


def lines(table: pd.DataFrame) -> Iterable[str]:
    """Yield a section for each topic, and in it a table for each kind of data."""
    for topic, of_topic in table.groupby("topic", sort=False):
        yield f"## {str(topic)[0].upper()}{str(topic)[1:]}\n"
        for data, part in of_topic.groupby("data", sort=False):
            yield f"{str(data)[0].upper()}{str(data)[1:]}; {part['draws'].max()} draws:\n"
            yield "| stated | promise | measured | |"
            yield "| --- | --- | --- | --- |"
            for row in part.itertuples():
                figure = f"{row.measured:.3g} ± {row.error:.2g}"
                yield f"| {row.number} | {row.promise} | {figure} | {kept(row)} |"
            yield ""


def before(table: pd.DataFrame) -> Iterable[str]:
    """Yield what an audit had found of a number, and what was measured of it since."""
    yield "## Before and after\n"
    yield "What audits found, of the commit 0d431e1 and of later ones, and what became of it:\n"
    yield "| stated | before | now |"
    yield "| --- | --- | --- |"
    known = table.drop_duplicates(["data", "number"]).set_index(["data", "number"])
    for row in pd.read_csv(AUDIT, sep="\t", quoting=QUOTE_NONE, keep_default_na=False).itertuples():
        now = row.now
        if row.number:
            measured = known.loc[(row.data, row.number)]
            now = f"{measured['measured']:.3g} ± {measured['error']:.2g}"
        yield f"| {row.stated} | {row.before} | {now} |"
    yield ""


def page(table: pd.DataFrame, trials: Sequence[Trial]) -> str:
    """Return docs/evidence/claims.md, of what was measured of trials."""
    said = pd.Series([kept(row) for row in table.itertuples()])
    number = {word: int((said == word).sum()) for word in ("holds", "within its error")}
    summary = (
        f"Of {len(said)} claims {number['holds']} hold, {number['within its error']} hold within"
        f" their error, {len(said) - sum(number.values())} do not."
    )
    done = set(zip(table["topic"], table["data"], strict=True))
    left = [f"- {t.topic}: {t.data}" for t in trials if (t.topic, t.data) not in done]
    still = ["## Not measured yet\n", *left] if left else []
    return (
        "\n".join([HEAD.format(summary=summary), *before(table), *lines(table), *still]).rstrip(
            "\n"
        )
        + "\n"
    )
