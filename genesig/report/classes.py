"""How well each of several classes is told from the others."""

from __future__ import annotations

import numpy as np

from genesig.report.page.measure import shrinkage_words, two
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import FROM, TO, Column, filled_table
from genesig.report.page.words import clean, counted, percent
from genesig.selection.assess.intervals import wilson

TITLE = "Class by class"
COLUMNS = (
    Column("Class", "text"),
    Column("Samples", "integer"),
    Column("Recognised", "share", "Sensitivity: share of its held-out samples that are called so"),
    Column(FROM, "share"),
    Column(TO, "share"),
    Column("Most often taken for", "text"),
)


def classes(data: Study, limits: Limits) -> Section:
    """Show the sensitivity of each class; nothing for two classes or a number."""
    names, counts = data["study"]["classes"], data["held_out"]["confusion"]
    if names is None or two(data["study"]) or counts is None:
        return Section("classes", TITLE, part="prediction")
    sizes = data["study"]["counts"] or []
    units = data["study"]["units"] or sizes
    rows = [_row(k, names, counts[k], sizes[k], units[k]) for k in range(len(names))]
    table = filled_table(
        "classes", "Each class while its samples were held out, the mean over the repeats.",
        COLUMNS, rows, len(rows), shown=True,
    )  # fmt: skip
    words = [_words(names, counts), *_certain(data)]
    return Section("classes", TITLE, words, [table], part="prediction")


def _certain(data: Study) -> list[str]:
    """Hold the probability of the class that is called against how often that is right."""
    found, asked = data["held_out"], data["config"]["probabilities"]
    mean, counts = found.get("probability"), np.array(found["confusion"], dtype=float)
    if mean is None or not counts.sum():
        return []
    made = (
        "Probabilities follow from the scores by one slope and an intercept for each class, fitted"
        " to left-out samples of the training set"
    )
    if asked != "study":
        shares = "equal" if asked == "equal" else ", ".join(map(percent, asked))
        return [
            f"{made}. {shrinkage_words(data)}They hold for classes of other shares than these"
            f" samples': {shares}."
        ]
    right = float(np.trace(counts) / counts.sum())
    return [
        f"The class that is called has a probability of {percent(mean)} on average, and is right in"
        f" {percent(right)}. {made}. {shrinkage_words(data)}They know how frequent the classes"
        " are; what a sample is called does not, so that another class may be more probable."
    ]


def _row(k: int, names: list[str], counts: list[float], size: int, units: int) -> list[object]:
    total = sum(counts)
    right = counts[k] / total if total else None
    low, high = (None, None) if right is None else wilson(right, units)
    others = sorted(((n, other) for j, (n, other) in enumerate(zip(counts, names, strict=True))
                     if j != k and n), reverse=True)  # fmt: skip
    taken = f"{others[0][1]} ({percent(others[0][0] / total)})" if others else ""
    return [names[k], size, right, low, high, taken]


def _words(names: list[str], counts: list[list[float]]) -> str:
    """Say which two classes are taken for each other most often."""
    pairs = [
        (counts[a][b] + counts[b][a], names[a], names[b])
        for a in range(len(names))
        for b in range(a)
    ]
    most, one, other = max(pairs)
    if not most:
        return "No class is taken for another while held out."
    return (
        f"Most often taken for each other: {clean(one)} and {clean(other)},"
        f" {counted(round(most), 'sample')} per repeat."
    )
