"""The pictures of another study's samples, with their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from genesig.report.external import figures
from genesig.report.external.record import CohortRecord, External, Roc
from genesig.report.page import kaplan_meier
from genesig.report.page.confusion import confusion, confusion_data, confusion_words
from genesig.report.page.measure import measure
from genesig.report.page.record import Curve, HeldOut
from genesig.report.page.rows import columns_of, transposed
from genesig.report.page.svg import Picture, picture
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    first_of,
    percent,
    shorten,
    significant,
    with_limits,
)

MOST_LINES = 30
"""Cohorts in the forest."""


def forest(data: External) -> Picture:
    """Show the measure that stands first of every cohort, beside the study's own."""
    (key, name, chance), shown = measure(data).elsewhere, data["external"][:MOST_LINES]
    lines = [figures.Line("cross-validation, this study", *_own(data, key))]
    for one in shown:
        row = one["scores"].get(key) or {"value": None, "low": None, "high": None}
        seen = ", seen in training" if one["seen_before"] else ""
        label = f"{shorten(one['name'], 24)} ({counted(one['samples'], 'sample')}{seen})"
        lines.append(figures.Line(label, row["value"], row["low"], row["high"]))
    rows = [tuple(line) for line in lines]
    named = "; ".join(f"{line.name} {decimal(line.value)}" for line in lines)
    return picture(
        "external_forest",
        partial(figures.forest, lines, name, chance),
        data=transposed(("name", key, "low", "high"), rows),
        title=f"{name} of the final model in each cohort",
        description=f"{name}, with 95 % CI: {clean(named)}.",
        caption=f"{name} with its 95\u00a0% CI. Circle: the procedure in the cross-validation"
        " of this study; diamonds: the final model in other cohorts."
        f"{first_of(len(shown), len(data['external']), 'cohort')}",
    )


def _own(data: External, key: str) -> tuple[float | None, float | None, float | None]:
    """Return the measure in cross-validation: that of the first screen of this name, or its own."""
    for one in data["answer"]["measures"]:
        if one["name"] == key:
            return one["value"], one["low"], one["high"]
    error, own = data["answer"]["error"], measure(data)
    if data["study"]["classes"]:
        return None, None, None
    return own.value(error["value"]), *own.interval(error)


def of_classes(
    held_out: HeldOut, cohort: CohortRecord, classes: Sequence[str], stem: str
) -> Iterator[Picture]:
    """Show who is called what: at any threshold, at that of the model, and by the scores."""
    if len(classes) > 2:
        yield _confusion(cohort["confusion"] or [], cohort["name"], classes, stem)
        return
    if cohort["roc"] is not None:
        yield _roc(held_out["roc"] or [], cohort["roc"], cohort, classes, stem)
    if cohort["confusion"] is not None:
        yield _confusion(cohort["confusion"], cohort["name"], classes, stem)
    yield _scores(held_out, cohort, classes, stem)
    if cohort["scores"]["calibration_slope"]["value"] is not None:
        yield _reliability(cohort, classes, stem)


def _roc(own: Sequence[Curve], found: Roc, cohort: CohortRecord, classes: Sequence[str],
         stem: str) -> Picture:  # fmt: skip
    auc = cohort["scores"]["auc"]
    text = with_limits("AUC", auc["value"], auc["low"], auc["high"])
    return picture(
        f"{stem}_roc",
        partial(figures.roc, own, found, auc, classes),
        data={"false_positive_rate": found["x"], "true_positive_rate": found["y"]},
        title=f"{clean(cohort['name'])}: ROC curve",
        description=f"ROC curve of the other study's samples, {text}, and those of the held-out"
        " samples.",
        caption="Green: samples of the other study. Grey: held-out samples of this study, one"
        " curve per repeat. The AUC looks at the order of the scores only: a shift of all of them"
        " does not change it, but changes who is above the threshold.",
    )


def _confusion(
    counts: Sequence[Sequence[int]], name: str, classes: Sequence[str], stem: str
) -> Picture:
    return picture(
        f"{stem}_confusion",
        partial(confusion, counts, classes),
        data=confusion_data(counts, classes),
        title=f"{clean(name)}: confusion matrix",
        description=f"Number of samples: {confusion_words(counts, classes)}.",
        caption="Number of samples and share of the true class, at the threshold of the model"
        " (score 0), which was not adapted."
        if len(classes) == 2
        else "Number of samples and share of the true class; the largest score is the prediction.",
    )


def _scores(held_out: HeldOut, cohort: CohortRecord, classes: Sequence[str], stem: str) -> Picture:
    return picture(
        f"{stem}_scores",
        partial(figures.scores, held_out["samples"], cohort, classes),
        data=columns_of(cohort["points"], "sample", "label", "score"),
        title=f"{clean(cohort['name'])}: scores by class",
        description="Dots of the scores of each class in this study while held out and in the"
        " other study.",
        caption="One dot per sample, bars for the medians. If both classes shift together, suspect"
        " a batch effect; if they move closer, the signal is weaker in this cohort.",
    )


def _reliability(cohort: CohortRecord, classes: Sequence[str], stem: str) -> Picture:
    positive = clean(classes[1])
    parts = [f"score {decimal(one['score'])}: {percent(one['share'])} of {one['samples']}"
             for one in cohort["reliability"]]  # fmt: skip
    return picture(
        f"{stem}_calibration",
        partial(figures.reliability, cohort, classes),
        data=columns_of(cohort["reliability"], "score", "samples", "share", "low", "high"),
        title=f"{clean(cohort['name'])}: calibration",
        description=f"Share of {positive} in groups of similar scores: {'; '.join(parts)}.",
        caption=f"Dots: share of {positive} in groups of similar scores, with 95\u00a0% CI"
        " and the number of samples above; green: line fitted to all samples; dashed:"
        " (1 + score)/2, where the scores of a calibrated model would lie in the class mix it was"
        " trained on. Scores are ridge predictions of a ±1 label, not probabilities, and can lie"
        " outside −1 to 1.",
    )


def fit(cohort: CohortRecord, label: str, stem: str) -> Picture:
    """Set predicted numbers against observed ones."""
    return picture(
        f"{stem}_fit",
        partial(figures.observed_predicted, cohort, label),
        data=columns_of(cohort["points"], "sample", "label", "score"),
        title=f"{clean(cohort['name'])}: observed and predicted values",
        description="Scatter of observed values against predictions.",
        caption="The dashed line is perfect prediction, the green one is fitted to the dots. R² is"
        " against the mean of these samples, and below 0 where that mean would do better.",
    )


def survival(cohort: CohortRecord, label: str, stem: str) -> Picture:
    """Show the curves of the groups of risk."""
    p = cohort["scores"]["log_rank_p"]["value"]
    said = "" if p is None else f" Log-rank p = {significant(p, 2)}."
    return picture(
        f"{stem}_curves",
        partial(kaplan_meier.curves, cohort["curves"], label, cohort["horizon"]),
        data=kaplan_meier.curve_data(cohort["curves"]),
        title=f"{clean(cohort['name'])}: survival of the groups of high and of low risk",
        description=f"Kaplan-Meier curves of the other study's samples by {clean(label)}.{said}",
        caption="Kaplan-Meier curves, with 95 % CI, of the groups that the model makes. The"
        " cut is the median score of this study's training samples and was not adapted. Dashed"
        f" line: the horizon.{said}",
    )


def shift(cohort: CohortRecord, stem: str) -> Picture:
    """Show by how much the genes moved."""
    after = " Green line: after ComBat, other height." if cohort["combat"] else ""
    return picture(
        f"{stem}_shift",
        partial(figures.shift, cohort),
        data=columns_of(cohort["genes"], "gene", "symbol", "shift", "coef"),
        title=f"{clean(cohort['name'])}: shift of the genes",
        description=f"Histogram of the shift of every gene; {batch(cohort)}.",
        caption="Grey: all genes that both studies have, as measured; green ticks: those of the"
        f" final model, as scored.{after} The light band is what chance alone allows a gene (95 %)."
        " Outer bars also hold what lies beyond.",
    )


def batch(cohort: CohortRecord) -> str:
    """Say in numbers by how much the genes moved."""
    it = cohort["shift"]
    measured = it["measured"]
    text = (
        f"the median gene is {decimal(measured['median'])} training standard deviations off;"
        f" {percent(measured['beyond'])} of {counted(measured['genes'], 'gene')} by more than one"
    )
    if cohort["combat"]:
        batches = "" if cohort["batches"] == 1 else f" in {cohort['batches']} batches"
        text += f"; after ComBat{batches} {decimal(it['scored']['median'])}"
    return text
