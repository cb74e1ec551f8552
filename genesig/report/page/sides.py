"""The classes of a study as pictures and sentences take them: two sides, or several."""

from __future__ import annotations

from collections.abc import Sequence

from genesig.report.page.record import StudyFacts
from genesig.report.page.words import clean


def codes(classes: Sequence[str]) -> tuple[int, ...]:
    """Return the response of each class: -1 and 1 of two, 0, 1, .. of more."""
    return (-1, 1) if len(classes) == 2 else tuple(range(len(classes)))


def class_of(value: float, classes: Sequence[str]) -> int:
    """Return the number of the class whose response this is."""
    return codes(classes).index(round(value))


def two(study: StudyFacts) -> list[str] | None:
    """Return the negative and the positive class, where there are just these."""
    classes = study["classes"]
    return classes if classes is not None and len(classes) == 2 else None


def named(classes: Sequence[str]) -> str:
    """Return ``"A, B and C"``."""
    *first, last = map(clean, classes)
    return f"{', '.join(first)} and {last}"
