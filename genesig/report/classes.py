"""Sensitivity of each of several classes, and the classes that are confused most often."""

from __future__ import annotations

import numpy as np

from genesig.report.page.measure import two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, filled_table
from genesig.report.page.wording import Wording
from genesig.report.page.words import percent
from genesig.selection.assess.intervals import wilson

WORDS = Wording(__file__)
COLUMNS = (
    Column("Class", "text"),
    Column("Samples", "integer"),
    Column("Recognised", "share", "Sensitivity: share of its held-out samples that are called so"),
    Column(CI_FROM, "share"),
    Column(CI_TO, "share"),
    Column("Most often taken for", "text"),
)


def classes(data: Study, limits: Limits) -> Section | None:
    """Return the section about each class; None unless there are several."""
    names = data["study"]["classes"]
    counts = data["held_out"]["confusion"]
    if names is None or two_classes(data["study"]) or counts is None:
        return None
    sizes = data["study"]["counts"] or []
    units = data["study"]["units"] or sizes
    rows = [_class_row(k, names, counts[k], sizes[k], units[k]) for k in range(len(names))]
    table = filled_table(
        "classes",
        "Each class while its samples were held out, the mean over the repeats.",
        COLUMNS,
        rows,
        len(rows),
        is_open=True,
    )
    total = np.sum(counts)
    share_right = float(np.trace(counts) / total) if total else None
    words = WORDS.paragraphs("section", data, *_most_confused(names, counts), share_right)
    return Section("classes", "Class by class", words, [table], part="prediction")


def _class_row(
    class_index: int, names: list[str], counts: list[float], size: int, units: int
) -> list[object]:
    """Return the row of a class of so many samples and independent units; counts are its calls."""
    total = sum(counts)
    share_correct = counts[class_index] / total if total else None
    low, high = (None, None) if share_correct is None else wilson(share_correct, units)
    confusions = sorted(
        (
            (count, predicted_class)
            for j, (count, predicted_class) in enumerate(zip(counts, names, strict=True))
            if j != class_index and count
        ),
        reverse=True,
    )
    most_confused = (
        f"{confusions[0][1]} ({percent(confusions[0][0] / total)})" if confusions else ""
    )
    return [names[class_index], size, share_correct, low, high, most_confused]


def _most_confused(names: list[str], counts: list[list[float]]) -> tuple[float, tuple[str, str]]:
    """Return the pair of classes that are confused most often: number of samples, names."""
    pairs = [
        (counts[a][b] + counts[b][a], names[a], names[b])
        for a in range(len(names))
        for b in range(a)
    ]
    n_confused, first_class, second_class = max(pairs)
    return n_confused, (first_class, second_class)
