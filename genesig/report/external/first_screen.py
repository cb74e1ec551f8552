"""What the first screen says of samples of other studies."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from genesig.report.external.record import CohortRecord, External
from genesig.report.page.measure import Measure, measure
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import between, clean, counted, decimal, enumerated, rate

MOST_COHORTS, MOST_NAMED = 3, 5
"""Cohorts that have numbers of their own in the sentence; names of those that are not better."""


def elsewhere(data: External) -> list[str]:
    """Return a sentence about samples of other studies, and one for each not assessable."""
    cohorts = data["external"]
    if not cohorts:
        return not_assessed(data)
    if len(cohorts) > MOST_COHORTS and data["answer"]["cohorts"]["tested"]:
        return [_together(data), *not_assessed(data)]
    found = [_cohort(one, measure(data)) for one in cohorts[:MOST_COHORTS]]
    more = f"; {len(cohorts) - len(found)} more below" if len(cohorts) > len(found) else ""
    reached = f"In other cohorts the final model, unchanged, reached {'; '.join(found)}{more}."
    return [reached, *not_assessed(data)]


def not_assessed(data: External) -> list[str]:
    """Say of each data set that the model could not be tested on why not."""
    return [f"{clean(one['name'])}: not assessable, because {clean(one['reason'])}."
            for one in data["not_assessable"]]  # fmt: skip


def _together(data: External) -> str:
    """Say of many cohorts where the middle of them is, and which are no better than chance."""
    (key, name, chance), it = measure(data).elsewhere, data["answer"]["cohorts"]
    new = [(one["name"], one["scores"][key]) for one in data["external"] if not one["seen_before"]]
    values = sorted(row["value"] for _, row in new if row["value"] is not None)
    reached = ""
    if values:
        ends = f" (range {decimal(values[0])} to {decimal(values[-1])})"
        differ = decimal(values[0]) != decimal(values[-1])
        reached = f" reached a median {name} of {decimal(median(values))}{ends * differ} and"
    left = [who for who, row in new if row["low"] is not None and row["low"] <= chance]
    worse = f", not in {_named(left)}" if left and it["better"] else ""
    if unknown := [who for who, row in new if row["low"] is None]:
        worse += f", undecided in {_named(unknown)}"
    seen = len(data["external"]) - len(new)
    apart = f" {counted(seen, 'cohort')} with training samples not counted." * bool(seen)
    return (
        f"In {counted(len(new), 'other cohort')} the final model, unchanged,{reached} was better"
        f" than chance in {it['better'] or 'none'}{worse} (by the 95\u00a0% CI).{apart}"
    )


def _named(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return enumerated([*names[:MOST_NAMED], *more])


def caution(data: External) -> list[str]:
    """Say what is missing where there are no samples of another study."""
    if data["external"] or grade(data) is Grade.NONE:
        return []
    return ["Validate it in an independent cohort before any clinical use."]


def samples_tested(cohort: CohortRecord) -> str:
    """Count the samples of another study, and those of them that trained the model."""
    seen = cohort["seen_before"]
    if seen == 0:
        return counted(cohort["samples"], "sample")
    who = "all" if seen == cohort["samples"] else f"{seen} of them"
    return f"{counted(cohort['samples'], 'sample')}, {who} seen in training"


def _cohort(one: CohortRecord, shown: Measure) -> str:
    moved = ", after ComBat" if one["combat"] else ""
    where = f"in {clean(one['name'])} ({samples_tested(one)}{moved})"
    scores = one["scores"]
    key, name, _ = shown.elsewhere
    row, classes = scores[key], one["classes"]
    if row["value"] is None:
        wrong = scores["misclassification"]["value"] if classes else None
        some = "of one class" if len(classes or ()) == 2 else "not of every class"
        return f"{rate(wrong)} error {where}, {some}" if classes else f"no {name} {where}"
    reached = f"{decimal(row['value'])}{between(row['low'], row['high'], decimal)}"
    if not classes:
        return f"{name} {reached} {where}"
    return f"AUC {reached} and {rate(scores['balanced_error']['value'])} error {where}"
