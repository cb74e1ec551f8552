"""The part of report_data.json about data sets of other studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genesig.report.page.rounding import plain, rounded
from genesig.report.page.thinning import MOST_SAMPLES, spread
from genesig.report.page.words import clean, counted, decimal

Array = np.ndarray[Any, Any]
Data = Mapping[str, Any]
FAR = 1.0  # of the median gene, in training standard deviations


def external(cohorts: Sequence[Data], classes: Sequence[str] | None) -> list[dict[str, Any]]:
    """Sum up what `score_cohort` found in each data set.

    Parameters
    ----------
    cohorts : sequence of mapping
        The files about.json.
    classes : pair of str or None
        (negative, positive) class of the study.
    """
    return [_cohort(each, classes) for each in cohorts]


def warnings(cohorts: Sequence[Data]) -> list[str]:
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


def _cohort(about: Data, classes: Sequence[str] | None) -> dict[str, Any]:
    samples = about["predictions"]
    kept = [samples[row] for row in spread(len(samples), MOST_SAMPLES)]
    numbers = ("name", "file", "classes", "combat", "batches", "needed", "absent", "imputed",
               "missing", "seen_before", "inputs", "warnings")  # fmt: skip
    return {
        **{key: plain(about[key]) for key in numbers},
        "samples": len(samples),
        "left_out": _reasons(about["dropped"]),
        "scores": {row["measure"]: _limits(row) for row in about["scores"]},
        "points": [{**_plain(one, ("sample", "given", "label", "predicted", "wrong")),
                    "score": rounded(one["score"], 4)} for one in kept],
        "roc": _roc(samples, classes[1]) if classes and all(about["classes"].values()) else None,
        "confusion": _confusion(samples, classes) if classes else None,
        "reliability": [_rounded(row) for row in about["reliability"]],
        "genes": [_rounded(row) for row in about["genes"]],
        "shift": {**{key: _rounded(about["shift"][key]) for key in ("measured", "scored")},
                  "edges": about["shift"]["edges"],
                  "by_chance": rounded(about["shift"]["by_chance"], 4)},
        "quantiles": {key: rounded(values, 4) for key, values in about["quantiles"].items()},
    }  # fmt: skip


def _plain(row: Data, keys: Sequence[str]) -> dict[str, Any]:
    return {key: plain(row[key]) for key in keys}


def _limits(row: Data) -> dict[str, Any]:
    return {key: _number(row[key]) for key in ("value", "low", "high", "samples")}


def _number(value: Any) -> Any:
    return rounded(np.nan if value is None else value, 4)


def _rounded(row: Data) -> dict[str, Any]:
    return {k: rounded(v, 4) if isinstance(v, float) else plain(v) for k, v in row.items()}


def _reasons(dropped: Sequence[Data]) -> list[dict[str, Any]]:
    reasons = [str(one["reason"]) for one in dropped]
    return [{"reason": r, "count": reasons.count(r)} for r in dict.fromkeys(reasons)]


def _roc(samples: Sequence[Data], positive: str) -> dict[str, Any]:
    """Trace (false, true) positive rates over falling thresholds; tied scores are one step."""
    score = np.array([one["score"] for one in samples], dtype=float)
    hit = np.array([one["label"] == positive for one in samples])
    steps = np.sort(np.unique(score))[::-1]
    x, y = ([0.0, *(float(np.mean(score[side] >= step)) for step in steps)] for side in (~hit, hit))
    return {"x": rounded(x, 4), "y": rounded(y, 4)}


def _confusion(samples: Sequence[Data], classes: Sequence[str]) -> list[list[int]]:
    """Count samples, rows = true class; a score of 0 counts as the other class."""
    counts = [[0, 0], [0, 0]]
    for one in samples:
        true = classes.index(one["label"])
        counts[true][1 - true if one["wrong"] else true] += 1
    return counts
