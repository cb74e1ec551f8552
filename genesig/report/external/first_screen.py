"""What the first screen says of samples of other studies."""

from __future__ import annotations

from genesig.report.external.record import CohortRecord, External
from genesig.report.page.words import between, clean, counted, decimal, rate

MOST_COHORTS = 3


def elsewhere(data: External) -> list[str]:
    """Return one sentence about samples of other studies, or nothing."""
    cohorts = data["external"]
    if not cohorts:
        return []
    found = [_cohort(one, data["study"]["classes"] is not None) for one in cohorts[:MOST_COHORTS]]
    more = f"; {len(cohorts) - len(found)} more below" if len(cohorts) > len(found) else ""
    return [f"In other cohorts the final model, unchanged, reached {'; '.join(found)}{more}."]


def caution(data: External) -> list[str]:
    """Say what is missing where there are no samples of another study."""
    if data["external"]:
        return []
    return ["Validate it in an independent cohort before any clinical use."]


def samples_tested(cohort: CohortRecord) -> str:
    """Count the samples of another study, and those of them that trained the model."""
    seen = cohort["seen_before"]
    if seen == 0:
        return counted(cohort["samples"], "sample")
    who = "all" if seen == cohort["samples"] else f"{seen} of them"
    return f"{counted(cohort['samples'], 'sample')}, {who} seen in training"


def _cohort(one: CohortRecord, classes: bool) -> str:
    moved = ", after ComBat" if one["combat"] else ""
    where = f"in {clean(one['name'])} ({samples_tested(one)}{moved})"
    scores = one["scores"]
    row = scores["auc" if classes else "r2"]
    if row["value"] is None:
        wrong = scores["misclassification"]["value"] if classes else None
        return f"{rate(wrong)} error {where}, of one class" if classes else f"no R² {where}"
    reached = f"{decimal(row['value'])}{between(row['low'], row['high'], decimal)}"
    if not classes:
        return f"R² {reached} {where}"
    return f"AUC {reached} and {rate(scores['balanced_error']['value'])} error {where}"
