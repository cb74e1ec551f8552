"""Pictures of another study's samples, with their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.external.collect import CohortRecord, External, Roc, Score
from genesig.report.page import charts
from genesig.report.page.measure import measure
from genesig.report.page.record import Curve, HeldOut, HeldOutSample
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    INK,
    MUTED,
    OTHER,
    OWN,
    PAPER,
    RULE,
    SMALL,
    WIDE,
    note,
    sheet,
)
from genesig.report.page.svg import SAMPLE, Picture, name_points, picture
from genesig.report.page.tables import columns_of, transposed
from genesig.report.page.verdict import Grade, here
from genesig.report.page.words import (
    clean,
    counted,
    decimal,
    first_of,
    gene_label,
    percent,
    samples_in_groups,
    shorten,
    significant,
    with_limits,
)

JITTER = (0.0, 0.16, -0.16, 0.08, -0.08)


NAMED = 6  # genes of the model that are named in the histogram


def draw_roc(own: Sequence[Curve], found: Roc, auc: Score, classes: Sequence[str]) -> Figure:
    """Draw the curve of the other study's samples, in grey those of the held-out ones."""
    figure, ax = charts.roc_axes(classes)
    for curve in own:
        ax.plot(curve["x"], curve["y"], color=OTHER, lw=1.2, alpha=0.6)
    ax.plot(found["x"], found["y"], color=OWN, lw=2.2)
    text = with_limits("AUC", auc["value"], auc["low"], auc["high"])
    ax.text(0.97, 0.06, text, ha="right", fontsize=9, color=OWN, fontweight="bold")
    return figure


def draw_scores(
    held_out: Sequence[HeldOutSample], cohort: CohortRecord, classes: Sequence[str]
) -> Figure:
    """Scores by class: the study's own while held out above, the other study's below."""
    figure, ax = sheet(WIDE, 3.2)
    own = [(one["label"], one["mean"], one["sample"]) for one in held_out]
    other = [(one["label"], one["score"], one["sample"]) for one in cohort["points"]]
    names = []
    for row, (found, side) in enumerate((f, s) for f in (own, other) for s in (0, 1)):
        mine = sorted((score, sample) for label, score, sample in found if label == classes[side])
        values = [score for score, _ in mine]
        y = 3 - row - (0.35 if row > 1 else 0)
        at = _strip(ax, values, y, side, faint=row < 2)
        kind = SAMPLE if row < 2 else _kind(cohort)
        name_points(ax, values, at, [sample for _, sample in mine], kind)
        names.append((y, f"{shorten(classes[side], 22)} ({len(values)})"))
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.axhline(1.3, color=RULE, lw=1)
    ax.set_yticks([y for y, _ in names], [text for _, text in names])
    ax.set_ylim(-1.0, 3.75)
    notes = ((3.45, "this study, mean score while held out"), (1.02, shorten(cohort["name"], 40)))
    for y, text in notes:
        note(ax, 0.005, y, text, transform=ax.get_yaxis_transform())
    negative, positive = (shorten(name, 20) for name in classes)
    ax.set_xlabel(f"score   (← called {negative}, called {positive} →)")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def _kind(cohort: CohortRecord) -> str:
    """Return what its samples are, whose names may be those of others here."""
    return f"{SAMPLE} of {cohort['name']}"


def _strip(ax: Axes, values: list[float], y: float, side: int, *, faint: bool) -> Any:
    """Draw dots and their median; return where they are across."""
    jitter = np.resize(JITTER, len(values)) * (1 if len(values) < 200 else 1.6)
    ax.scatter(values, y + jitter, s=26, marker=CLASS_MARKERS[side], color=CLASS_COLOURS[side],
               edgecolor=PAPER, lw=0.5, alpha=0.55 if faint else 1)  # fmt: skip
    if values:
        ax.vlines(float(np.median(values)), y - 0.3, y + 0.3, color=INK, lw=1.6)
    return y + jitter


def draw_reliability(cohort: CohortRecord, classes: Sequence[str]) -> Figure:
    """Share of positive samples in groups of similar scores, beside what calibrated ones have."""
    figure, ax = sheet(SMALL, 3.9)
    groups = cohort["reliability"]
    f = [one["score"] for one in cohort["points"]]
    ends = np.array([min([*f, -1.0]), max([*f, 1.0])])
    corners = np.unique([ends[0], -1.0, 1.0, ends[1]])
    ax.plot(corners, np.clip((1 + corners) / 2, 0, 1), color=MUTED, lw=0.9, dashes=(4, 3))
    if line := _line(cohort["scores"]):
        slope, intercept = line
        x = np.linspace(ends[0], ends[1], 100)
        ax.plot(x, np.clip((1 + intercept + slope * x) / 2, 0, 1), color=OWN, lw=1.6)
    for one in groups:
        ax.vlines(one["score"], one["low"], one["high"], color=INK, lw=1.4)
        ax.scatter([one["score"]], [one["share"]], s=50, color=INK, zorder=3)
        note(ax, one["score"], 1.04, str(one["samples"]), ha="center")
    sides = np.array([one["label"] == classes[1] for one in cohort["points"]], bool)
    for side, y in enumerate((-0.1, -0.06)):
        mine = np.array(f)[sides == bool(side)]
        ax.scatter(mine, np.full(len(mine), y), s=9, lw=0, marker=CLASS_MARKERS[side],
                   color=CLASS_COLOURS[side])  # fmt: skip
    ax.set_ylim(-0.14, 1.1)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel("score")
    ax.set_ylabel(f"share of {shorten(classes[1], 24)}")
    return figure


def _line(scores: Mapping[str, Score]) -> tuple[float, float] | None:
    slope, intercept = (scores[f"calibration_{name}"]["value"] for name in ("slope", "intercept"))
    return None if slope is None or intercept is None else (slope, intercept)


def draw_observed(cohort: CohortRecord, label: str) -> Figure:
    """Scores against observed values of the label, with the line that would make them right."""
    f, r2 = [one["score"] for one in cohort["points"]], cohort["scores"]["r2"]
    figure, ax = charts.observed_predicted(
        f, [float(one["label"]) for one in cohort["points"]],
        [one["sample"] for one in cohort["points"]],
        (f"predicted {shorten(label, 24)}", "observed"),
        with_limits("R²", r2["value"], r2["low"], r2["high"]), _kind(cohort),
    )  # fmt: skip
    if line := _line(cohort["scores"]):
        x = np.array([min(f), max(f)])
        ax.plot(x, line[1] + line[0] * x, color=OWN, lw=1.6)
    return figure


def draw_shift(cohort: CohortRecord) -> Figure:
    """Draw the shift of every gene in training standard deviations; ticks: genes of the model."""
    figure, ax = sheet(SMALL, 3.9)
    it = cohort["shift"]
    edges = np.array(it["edges"], dtype=float)
    band = 1.96 * it["by_chance"]
    ax.axvspan(-band, band, color=OTHER, alpha=0.25, lw=0)
    counts = np.array(it["measured"]["counts"], dtype=float)
    ax.stairs(counts, edges, fill=True, color=OTHER, alpha=0.8)
    top = counts.max(initial=1.0)
    if cohort["combat"]:
        after = np.array(it["scored"]["counts"], dtype=float)
        ax.stairs(after * top / max(after.max(initial=1.0), top), edges, color=OWN, lw=1.6)
    genes = [(g["shift"], g) for g in cohort["genes"] if g["shift"] is not None]
    genes.sort(key=lambda found: -abs(found[1]["weight"]))
    for place, (moved, gene) in enumerate(genes):
        x = float(np.clip(moved, edges[0], edges[-1]))
        ax.vlines(x, 0, top * 1.04, color=OWN, lw=1.1, alpha=0.8)
        if place < NAMED:
            name = gene_label(gene["gene"], gene["symbol"], 18)
            side = {"ha": "right"} if x > 0.7 * edges[-1] + 0.3 * edges[0] else {"ha": "left"}
            note(ax, x, top * (1.07 + 0.09 * place), f" {name} ", color=OWN, **side)
    ax.set_ylim(0, top * (1.1 + 0.09 * min(len(genes), NAMED)))
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.vlines(0, 0, top, color=MUTED, lw=0.9, linestyle=(0, (4, 3)))
    ax.set_xlabel("shift of the mean, in training standard deviations")
    return figure


MOST_LINES = 30
"""Cohorts in the forest."""


def forest(data: External) -> Picture:
    """Show the measure that stands first of every cohort, beside the study's own."""
    (key, name, chance), shown = measure(data).elsewhere, data["external"][:MOST_LINES]
    value, *ends = _own(data, key)
    own = OWN if here(data) is Grade.HERE else INK  # as on the first screen
    lines = [charts.Line("cross-validation, this study", value, (ends[0], ends[1]), own)]
    for one in shown:
        row = one["scores"].get(key) or {"value": None, "low": None, "high": None}
        seen = ", seen in training" if one["seen_before"] else ""
        groups = one["groups"]["count"] if "groups" in one else None
        many = samples_in_groups(one["samples"], groups)
        label = f"{shorten(one['name'], 24)} ({many}{seen})"
        limits = (row["low"], row["high"])
        colour = MUTED if one["seen_before"] else INK
        lines.append(charts.Line(label, row["value"], limits, colour, "D"))
    rows = [(line.name, line.value, *line.limits) for line in lines]
    axis = f"{name} (larger is better; dashed: chance)"
    named = "; ".join(f"{line.name} {decimal(line.value)}" for line in lines)
    return picture(
        "external_forest",
        lambda: charts.forest(lines, axis, at=chance)[0],
        data=transposed(("name", key, "low", "high"), rows),
        title=f"{name} of the final model in each cohort",
        description=f"{name}, with 95% CI: {clean(named)}.",
        caption=f"{name} with its 95% CI. Circle: the procedure in the cross-validation"
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
        partial(draw_roc, own, found, auc, classes),
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
        partial(charts.confusion, counts, classes),
        data=charts.confusion_data(counts, classes),
        title=f"{clean(name)}: confusion matrix",
        description=f"Number of samples: {charts.confusion_words(counts, classes)}.",
        caption="Number of samples and share of the true class, at the threshold of the model"
        " (score 0), which was not adapted."
        if len(classes) == 2
        else "Number of samples and share of the true class; the largest score is the prediction.",
    )


def _scores(held_out: HeldOut, cohort: CohortRecord, classes: Sequence[str], stem: str) -> Picture:
    return picture(
        f"{stem}_scores",
        partial(draw_scores, held_out["samples"], cohort, classes),
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
        partial(draw_reliability, cohort, classes),
        data=columns_of(cohort["reliability"], "score", "samples", "share", "low", "high"),
        title=f"{clean(cohort['name'])}: calibration",
        description=f"Share of {positive} in groups of similar scores: {'; '.join(parts)}.",
        caption=f"Dots: share of {positive} in groups of similar scores, with 95% CI"
        " and the number of samples above; green: line fitted to all samples; dashed:"
        " (1 + score)/2, where the scores of a calibrated model would lie in the class mix it was"
        " trained on. Scores are ridge predictions of a ±1 label, not probabilities, and can lie"
        " outside −1 to 1.",
    )


def fit(cohort: CohortRecord, label: str, stem: str) -> Picture:
    """Set predicted numbers against observed ones."""
    return picture(
        f"{stem}_fit",
        partial(draw_observed, cohort, label),
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
        partial(charts.kaplan_meier, cohort["curves"], label, cohort["horizon"]),
        data=charts.kaplan_meier_data(cohort["curves"]),
        title=f"{clean(cohort['name'])}: survival of the groups of high and of low risk",
        description=f"Kaplan-Meier curves of the other study's samples by {clean(label)}.{said}",
        caption="Kaplan-Meier curves, with 95% CI, of the groups that the model makes. The"
        " cut is the median score of this study's training samples and was not adapted. Dashed"
        f" line: the horizon.{said}",
    )


def shift(cohort: CohortRecord, stem: str) -> Picture:
    """Show by how much the genes moved."""
    after = " Green line: after ComBat, other height." if cohort["combat"] else ""
    return picture(
        f"{stem}_shift",
        partial(draw_shift, cohort),
        data=columns_of(cohort["genes"], "gene", "symbol", "shift", "weight"),
        title=f"{clean(cohort['name'])}: shift of the genes",
        description=f"Histogram of the shift of every gene; {batch(cohort)}.",
        caption="Grey: all genes that both studies have, as measured; green ticks: those of the"
        f" final model, as scored.{after} The light band is what chance alone allows a gene (95%)."
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
