"""Write docs/evidence/claims.md from the table of measured values."""

from __future__ import annotations

import re
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

HEAD = """# Do the stated numbers hold?

{summary} A *claim* is a number of the report and its promise, tested on simulated data with known
truth: independent draws, genesig's own functions, the settings of the data. ± is one standard
error of the measured mean. *Undecided*: the measured value is outside the promised range, but by
less than two standard errors. Unless the data say otherwise, classes are equal, genes
independent, and 5 folds are repeated 4 times.

Not tested: the calibration slope of survival, whose interval is for the scores at hand; fewer
than five samples of a class, for which the interval of the AUC is short (0.88 to 0.90 with four);
two studies, which are too few to say how far studies differ.

    python benchmarks/accuracy/claims.py run
    python benchmarks/accuracy/claims.py page

The first command measures, the second writes this page. A few draws of each trial run in the slow
tests.
"""
RESULTS = ("holds", "undecided", "**does not hold**")
LEADING_ZERO = re.compile(r"(?<![\w.])([−-]?)\.(?=\d)")
PERCENT = re.compile(r"(?<=\d) %")
THOUSANDS = re.compile(r"\b(\d{1,3})(\d{3})(?= genes)")
TERMS = {
    "missing values go with the label": "missing values are associated with the outcome",
    "chosen anew": "chosen again",
}
"""Words of the trials, and the terms of the glossary."""


def plain(text: str) -> str:
    """Return a text with the glossary's terms, leading zeros, 1,000 and no space before %."""
    for word, term in TERMS.items():
        text = text.replace(word, term)
    text = THOUSANDS.sub(r"\1,\2", LEADING_ZERO.sub(r"\g<1>0.", text))
    return PERCENT.sub("%", text)


def result(row: Any) -> str:
    """Return whether a measured mean lies between the bounds of its promise."""
    if row.low <= row.measured <= row.high:
        return RESULTS[0]
    near = row.low - 2 * row.error <= row.measured <= row.high + 2 * row.error
    return RESULTS[1] if near else RESULTS[2]


def heading(topic: object) -> str:
    """Return a topic with a capital."""
    return plain(f"{str(topic)[0].upper()}{str(topic)[1:]}")


def summary_by_kind(table: pd.DataFrame) -> Iterable[str]:
    """Yield a table of how many claims of each topic hold."""
    yield "## By kind of number\n"
    yield "| kind | claims | hold | undecided | do not hold |"
    yield "| --- | --- | --- | --- | --- |"
    for topic, rows in table.groupby("topic", sort=False):
        counts = [int((rows["result"] == name).sum()) for name in RESULTS]
        yield f"| {heading(topic)} | {len(rows)} | {' | '.join(map(str, counts))} |"
    yield ""


def all_claims(table: pd.DataFrame) -> Iterable[str]:
    """Yield one table of all claims, and the list of the simulated data."""
    numbers = {data: f"D{k}" for k, data in enumerate(table["data"].unique(), 1)}
    yield "## All claims\n"
    yield "On the site, a click on a heading sorts the table. D1, D2, … are the [data](#data).\n"
    yield "| kind | stated | data | promise | measured | result |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in table.itertuples():
        value = f"{row.measured:.3g} ± {row.error:.2g}"
        cells = [heading(row.topic), plain(row.number), numbers[row.data], plain(row.promise)]
        yield f"| {' | '.join(cells)} | {value} | {row.result} |"
    yield "\n## Data\n"
    yield "| name | data | draws |"
    yield "| --- | --- | --- |"
    for data, rows in table.groupby("data", sort=False):
        yield f"| {numbers[data]} | {heading(data)} | {rows['draws'].max()} |"
    yield ""


def corrected(table: pd.DataFrame) -> Iterable[str]:
    """Yield the numbers that audits found wrong, and the values measured since."""
    yield "## Corrected after audits\n"
    yield "Numbers that audits of earlier versions found wrong, and the present values:\n"
    yield "| stated | before | now |"
    yield "| --- | --- | --- |"
    rows_by_claim = table.drop_duplicates(["data", "number"]).set_index(["data", "number"])
    for row in pd.read_csv(AUDIT, sep="\t", quoting=QUOTE_NONE, keep_default_na=False).itertuples():
        now = plain(row.now)
        if row.number:
            measured = rows_by_claim.loc[(row.data, row.number)]
            now = f"{measured['measured']:.3g} ± {measured['error']:.2g}"
        yield f"| {plain(row.stated)} | {plain(row.before)} | {now} |"
    yield ""


def page(table: pd.DataFrame, trials: Sequence[Trial]) -> str:
    """Return docs/evidence/claims.md, from the measured values of trials."""
    table = table.assign(result=[result(row) for row in table.itertuples()])
    n_holding, undecided, wrong = ((table["result"] == name).sum() for name in RESULTS)
    verb = "does" if wrong == 1 else "do"
    summary = (
        f"Of {len(table)} claims {n_holding} hold, {undecided} are undecided, "
        f"{wrong} {verb} not hold."
    )
    measured = set(zip(table["topic"], table["data"], strict=True))
    missing = [f"- {t.topic}: {t.data}" for t in trials if (t.topic, t.data) not in measured]
    lines = [HEAD.format(summary=summary), *summary_by_kind(table)]
    if missing:
        lines += ["## Not measured yet\n", *missing, ""]
    lines += [*all_claims(table), *corrected(table)]
    return "\n".join(lines).rstrip("\n") + "\n"
