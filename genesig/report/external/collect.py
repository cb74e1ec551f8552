"""The part of report_data.json about data sets of other studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from genesig.report.page.record import (
    MOST_SAMPLES,
    GroupCurve,
    Limited,
    Study,
    group_curves,
    plain,
    rounded,
    rounded_row,
    spread,
)
from genesig.report.page.words import clean, counted, decimal


class Grouping(TypedDict):
    """Groups of samples that are not independent: their column, their number, that by class."""

    column: str
    count: int
    classes: dict[str, int] | None


class LeftOut(TypedDict):
    """Samples left out for one reason."""

    reason: str
    count: int


class Score(Limited):
    """A measure, and the samples that it is of."""

    samples: float


class Point(TypedDict):
    """A sample: its label there and here, what the model made of it, and whether that is wrong.

    Of several classes the score is the largest.
    """

    sample: str
    given: str
    label: str
    predicted: str | float
    wrong: bool | None
    score: float


class Roc(TypedDict):
    """False and true positive rates over falling thresholds."""

    x: list[float]
    y: list[float]


class Group(TypedDict):
    """Samples of similar scores: the share of positive ones, and the one expected of the score."""

    score: float
    samples: int
    share: float
    low: float
    high: float
    expected: float


class Gene(TypedDict):
    """A row of genes.tsv; ``shift_before`` after ComBat only."""

    gene: str
    symbol: str
    weight: float
    training_mean: float | None
    training_sd: float | None
    mean: float | None
    sd: float | None
    shift: float | None
    shift_before: NotRequired[float | None]
    score_shift: float | None
    imputed: int


class Shifts(TypedDict):
    """Genes in each bar, the median size of the shift, and the share beyond 1."""

    genes: int
    counts: list[int]
    median: float
    beyond: float


class Shift(TypedDict):
    """Shifts of all genes, in training standard deviations; ``by_chance`` is one of them."""

    measured: Shifts
    scored: Shifts
    edges: list[float]
    by_chance: float


class Quantiles(TypedDict):
    """Quantiles of the values of both studies."""

    share: list[float]
    training: list[float]
    cohort: list[float]


class CohortRecord(TypedDict):
    """A data set of another study.

    ``classes`` maps each class to its samples. ``needed`` are the genes of the model, ``absent``
    those nowhere measured, ``imputed`` the samples with a gene filled in, ``missing`` the largest
    share allowed; ``seen_before`` counts samples of the training set. ``inputs`` maps file to
    SHA-256. There are at most 1000 ``points``; ``confusion`` has a row for each true class. Of
    survival there are ``events``, the ``curves`` of the groups of risk and the ``horizon``; if
    samples come in groups there are ``groups``.
    """

    name: str
    file: str
    classes: dict[str, int] | None
    combat: bool
    batches: int
    needed: int
    absent: int
    imputed: int
    missing: float
    seen_before: int
    inputs: dict[str, str]
    warnings: list[str]
    samples: int
    left_out: list[LeftOut]
    scores: dict[str, Score]
    points: list[Point]
    roc: Roc | None
    confusion: list[list[int]] | None
    reliability: list[Group]
    genes: list[Gene]
    shift: Shift
    quantiles: Quantiles
    events: NotRequired[int]
    curves: NotRequired[list[GroupCurve]]
    horizon: NotRequired[float]
    groups: NotRequired[Grouping]


class NotAssessable(TypedDict):
    """A data set that the model could not be tested on, and why."""

    name: str
    reason: str


class External(Study):
    """What this topic reads: one record for each data set that was tested; the others."""

    external: list[CohortRecord]
    not_assessable: list[NotAssessable]


Row = Mapping[str, Any]
"""Of about.json."""
SCORE = ("value", "low", "high", "samples")
AS_IT_IS = ("name", "file", "classes", "combat", "batches", "needed", "absent", "imputed",
            "missing", "seen_before", "inputs", "warnings")  # fmt: skip
FAR = 1.0  # of the median gene, in training standard deviations


def external(cohorts: Sequence[Row], classes: Sequence[str] | None) -> list[CohortRecord]:
    """Sum up what `score_cohort` found in each data set."""
    return [_cohort(plain(each), classes) for each in cohorts]


def assessed(cohorts: Sequence[Row]) -> list[Row]:
    """Return the data sets that the model was tested on."""
    return [each for each in cohorts if "not_assessable" not in each]


def not_assessable(cohorts: Sequence[Row]) -> list[NotAssessable]:
    """Return those that it could not be tested on, and why."""
    return [{"name": each["name"], "reason": each["not_assessable"]}
            for each in cohorts if "not_assessable" in each]  # fmt: skip


def warnings(cohorts: Sequence[CohortRecord]) -> list[str]:
    """Say what makes a test on another study's samples say little."""
    found = []
    for one in cohorts:
        name, median = clean(one["name"]), one["shift"]["scored"]["median"]
        if one["seen_before"]:
            count = counted(one["seen_before"], "sample")
            found.append(
                f"{name}: {count} with the values of a training sample, so that its test says"
                " nothing of new samples."
            )
        if median > FAR:
            found.append(
                f"{name}: half of the genes lie more than {decimal(median, 1)} training standard"
                " deviations off, so that the threshold may not hold there even where the order of"
                " the samples does."
            )
    return found


def _cohort(about: Row, classes: Sequence[str] | None) -> CohortRecord:
    samples, two = about["predictions"], classes if len(classes or ()) == 2 else None
    found: CohortRecord = {
        **{key: about[key] for key in AS_IT_IS},  # type: ignore[typeddict-item]
        "samples": len(samples),
        "left_out": _reasons(about["dropped"]),
        "scores": {row["measure"]: rounded_row(row, 4, *SCORE) for row in about["scores"]},
        "points": [_point(samples[row]) for row in spread(len(samples), MOST_SAMPLES)],
        "roc": _roc(samples, two[1]) if two and all(about["classes"].values()) else None,
        "confusion": _confusion(samples, classes) if classes else None,
        "reliability": [_rounded(row) for row in about["reliability"]],
        "genes": [_rounded(row) for row in about["genes"]],
        "shift": {
            "measured": _rounded(about["shift"]["measured"]),
            "scored": _rounded(about["shift"]["scored"]),
            "edges": about["shift"]["edges"],
            "by_chance": rounded(about["shift"]["by_chance"], 4),
        },
        "quantiles": rounded_row(about["quantiles"], 4, "share", "training", "cohort"),
    }
    if "groups" in about:
        found["groups"] = about["groups"]
    if "curves" in about:
        found |= {"events": about["events"], "curves": group_curves(about["curves"]),
                  "horizon": about["horizon"]}  # fmt: skip
    return found


def _point(one: Row) -> Point:
    found: Point = {key: one[key] for key in ("sample", "given", "label", "predicted", "wrong")}  # type: ignore[assignment]
    return {**found, "score": rounded(one["score"] if "score" in one else _largest(one), 4)}


def _largest(one: Row) -> float:
    return max(float(value) for key, value in one.items() if key.startswith("score of "))


def _rounded(row: Row) -> Any:
    return {k: rounded(v, 4) if isinstance(v, float) else v for k, v in row.items()}


def _reasons(dropped: Sequence[Row]) -> list[LeftOut]:
    reasons = [str(note["reason"]) for note in dropped if note["kind"] == "sample"]
    return [{"reason": r, "count": reasons.count(r)} for r in dict.fromkeys(reasons)]


def _roc(samples: Sequence[Row], positive: str) -> Roc:
    """Trace (false, true) positive rates over falling thresholds; tied scores are one step."""
    score = np.array([one["score"] for one in samples], dtype=float)
    hit = np.array([one["label"] == positive for one in samples])
    steps = np.sort(np.unique(score))[::-1]
    x, y = ([0.0, *(float(np.mean(score[side] >= step)) for step in steps)] for side in (~hit, hit))
    return {"x": rounded(x, 4), "y": rounded(y, 4)}


def _confusion(samples: Sequence[Row], classes: Sequence[str]) -> list[list[int]]:
    """Count samples, rows = true class.

    Of two classes a score of 0 counts as the other one, of more it is left out.
    """
    counts = [[0] * len(classes) for _ in classes]
    for one in samples:
        true = classes.index(one["label"])
        if len(classes) == 2:
            counts[true][1 - true if one["wrong"] else true] += 1
        elif one["predicted"] in classes:
            counts[true][classes.index(one["predicted"])] += 1
    return counts
