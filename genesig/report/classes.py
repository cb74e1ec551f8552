"""How well each of several classes is recognised."""

from __future__ import annotations

import numpy as np

from genesig.report.page.measure import shrinkage_words, two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, filled_table
from genesig.report.page.words import clean, counted, percent
from genesig.selection.assess.intervals import wilson

TITLE = "Class by class"
COLUMNS = (
    Column("Class", "text"),
    Column("Samples", "integer"),
    Column("Recognised", "share", "Sensitivity: share of its held-out samples that are called so"),
    Column(CI_FROM, "share"),
    Column(CI_TO, "share"),
    Column("Most often taken for", "text"),
)


def classes(data: Study, limits: Limits) -> Section:
    """Show the sensitivity of each class; nothing for two classes or a number."""
    names = data["study"]["classes"]
    counts = data["held_out"]["confusion"]
    if names is None or two_classes(data["study"]) or counts is None:
        return Section("classes", TITLE, part="prediction")
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
    words = [_confusion_words(names, counts), *_probability_words(data)]
    return Section("classes", TITLE, words, [table], part="prediction")


def _probability_words(data: Study) -> list[str]:
    """Compare the mean probability of the called class with the share of correct calls."""
    held_out = data["held_out"]
    assumed_shares = data["config"]["probabilities"]
    mean = held_out.get("probability")
    counts = np.array(held_out["confusion"], dtype=float)
    if mean is None or not counts.sum():
        return []
    method = (
        "Probabilities follow from the scores by one slope and an intercept for each class, fitted"
        " to left-out samples of the training set"
    )
    if assumed_shares != "study":
        shares = "equal" if assumed_shares == "equal" else ", ".join(map(percent, assumed_shares))
        return [
            f"{method}. {shrinkage_words(data)}They hold for classes of other shares than these"
            f" samples': {shares}."
        ]
    right = float(np.trace(counts) / counts.sum())
    return [
        f"The class that is called has a probability of {percent(mean)} on average, and is right in"
        f" {percent(right)}. {method}. {shrinkage_words(data)}They know how frequent the classes"
        " are; what a sample is called does not, so that another class may be more probable."
    ]


def _class_row(
    class_index: int, names: list[str], counts: list[float], size: int, units: int
) -> list[object]:
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


def _confusion_words(names: list[str], counts: list[list[float]]) -> str:
    """Return the text on which two classes are taken for each other most often."""
    pairs = [
        (counts[a][b] + counts[b][a], names[a], names[b])
        for a in range(len(names))
        for b in range(a)
    ]
    n_confused, first_class, second_class = max(pairs)
    if not n_confused:
        return "No class is taken for another while held out."
    return (
        f"Most often taken for each other: {clean(first_class)} and {clean(second_class)},"
        f" {counted(round(n_confused), 'sample')} per repeat."
    )
