"""What a gene does by itself, in words and numbers that are read rightly at a glance.

An AUC of 0.03 separates two classes as well as one of 0.97, the other way round: the page says the
direction in words and gives the number from 0.5 up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from genesig.report.genes.record import Card, Genes, Limited
from genesig.report.page.words import clean, decimal, percent, shorten

Write = Callable[[float | None], str]
Gene = Card


@dataclass(frozen=True)
class Alone:
    """The measure of a gene by itself, by the test of genes.

    Attributes
    ----------
    short, title : str
        Its name beside the name of a gene; as a heading, ``{}`` for the class that is meant.
    ways : (str, str)
        What is said above and below the middle; ``{}`` is the class or the label.
    middle, neutral : float
        Where there is no direction; the size of an effect that is none.
    turned : bool
        Whether it is given from the middle up, as the direction says the rest.
    help : str
        Its definition.
    write : callable
    kind : str
        How tables write it.
    """

    short: str
    title: str
    ways: tuple[str, str]
    middle: float
    turned: bool
    help: str
    neutral: float = 0.0
    write: Write = decimal
    kind: str = "number"


AREA = (
    "Area under the ROC curve of this gene alone in the direction given: the share of pairs of a"
    " sample of the class and another one that it puts in that order; 0.5 is chance, 1 separates"
    " them. Interval: DeLong's, or the score interval where that is wider"
)
_HIGHER = ("higher in {}", "lower in {}")
ALONE = {
    "welch": Alone("AUC", "AUC alone", _HIGHER, 0.5, True, AREA),
    "anova": Alone("AUC", "AUC alone, {} against the others", _HIGHER, 0.5, True, AREA),
    "differences": Alone(
        "share of pairs", "Share of pairs in this direction", _HIGHER, 0.5, True,
        "Pairs that differ in the direction given, ties counting half. Interval: Wilson's",
        0.0, percent, "share",
    ),
    "correlation": Alone(
        "r", "Correlation with {}", ("rises with {}", "falls with {}"), 0.0, False,
        "Pearson's correlation with the response. Interval: Fisher's",
    ),
    "score": Alone(
        "C", "C alone", ("higher with early events", "lower with early events"), 0.5, True,
        "Harrell's C of this gene alone in the direction given: the share of comparable pairs that"
        " it puts in that order; 0.5 is chance",
        neutral=1.0,
    ),
}  # fmt: skip


def alone(data: Genes) -> Alone:
    """Return the measure of the study's test of genes."""
    return ALONE[data["cards"]["test"]]


def about(data: Genes, one: Gene) -> str:
    """Return the class that the direction of a gene is about, or the label."""
    classes = data["study"]["classes"]
    return clean(one["of"] or (classes[1] if classes else data["study"]["label"]))


def direction(data: Genes, one: Gene) -> str:
    """Return ``"lower in AML"``; nothing where there is none, or order and size disagree."""
    it, value, effect = alone(data), one["separation"]["value"], one["effect"]["value"]
    if value is None or value == it.middle:
        return ""
    if effect is not None and (effect - it.neutral) * (value - it.middle) < 0:
        return "in no clear direction"
    return it.ways[value < it.middle].format(shorten(about(data, one), 24))


def separation(data: Genes, one: Gene) -> Limited:
    """Return the measure with its interval, from the middle up where the direction is in words."""
    it, found = alone(data), one["separation"]
    value, low, high = found["value"], found["low"], found["high"]
    if not it.turned or value is None or value >= it.middle:
        return found
    return {
        "value": round(1 - value, 4),
        "low": None if high is None else round(1 - high, 4),
        "high": None if low is None else round(1 - low, 4),
    }


def in_short(data: Genes, one: Gene) -> str:
    """Return ``"lower in AML, AUC 0.97"``."""
    it = alone(data)
    number = f"{it.short} {it.write(separation(data, one)['value'])}"
    return ", ".join(filter(None, (direction(data, one), number)))
