"""Figures of external cohorts, with their captions; `stem` begins the names of a cohort's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.external.collect import CohortRecord, CohortScore, External, RocCurve
from genesig.report.page import charts
from genesig.report.page.measure import measure
from genesig.report.page.record import HeldOut, HeldOutSample, RepeatRocCurve
from genesig.report.page.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    GENESIG_COLOUR,
    GREY,
    HALF_WIDTH,
    INK,
    MUTED,
    PAGE_WIDTH,
    PAPER,
    RULE,
    new_figure,
    small_label,
)
from genesig.report.page.svg import SAMPLE, Picture, name_points
from genesig.report.page.tables import columns_of, transposed
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.wording import Wording
from genesig.report.page.words import (
    clean,
    decimal,
    gene_label,
    samples_in_groups,
    shorten,
    with_limits,
)

JITTER_PATTERN = (0.0, 0.16, -0.16, 0.08, -0.08)  # vertical offsets of neighbouring dots, in rows
N_LABELLED_GENES = 6  # genes of the model whose names are in the histogram


def draw_roc(
    held_out_curves: Sequence[RepeatRocCurve],
    cohort_curve: RocCurve,
    auc: CohortScore,
    classes: Sequence[str],
) -> Figure:
    """Draw the ROC curve of the cohort over the grey curves of the held-out samples."""
    figure, ax = charts.roc_axes(classes)
    for curve in held_out_curves:
        ax.plot(curve["x"], curve["y"], color=GREY, lw=1.2, alpha=0.6)
    ax.plot(cohort_curve["x"], cohort_curve["y"], color=GENESIG_COLOUR, lw=2.2)
    text = with_limits("AUC", auc["value"], auc["low"], auc["high"])
    ax.text(0.97, 0.06, text, ha="right", fontsize=9, color=GENESIG_COLOUR, fontweight="bold")
    return figure


def draw_scores(
    held_out: Sequence[HeldOutSample], cohort: CohortRecord, classes: Sequence[str]
) -> Figure:
    """Draw scores by class: held-out samples of this study above, samples of the cohort below."""
    figure, ax = new_figure(PAGE_WIDTH, 3.2)
    study_samples = [(sample["label"], sample["mean"], sample["sample"]) for sample in held_out]
    cohort_samples = [
        (sample["label"], sample["score"], sample["sample"]) for sample in cohort["points"]
    ]
    tick_labels = []
    # y of the first class, samples (label, score, name), their kind
    for first_y, samples, kind in (
        (3.0, study_samples, SAMPLE),
        (0.65, cohort_samples, _sample_kind(cohort)),
    ):
        for class_index, class_name in enumerate(classes):
            class_samples = sorted(
                (score, name) for label, score, name in samples if label == class_name
            )
            values = [score for score, _ in class_samples]
            y = first_y - class_index
            y_of_dots = _draw_strip(ax, values, y, class_index, is_faint=kind == SAMPLE)
            name_points(ax, values, y_of_dots, [name for _, name in class_samples], kind)
            tick_labels.append((y, f"{shorten(class_name, 22)} ({len(values)})"))
    ax.axvline(0, color=MUTED, lw=0.9)
    ax.axhline(1.3, color=RULE, lw=1)
    ax.set_yticks([y for y, _ in tick_labels], [text for _, text in tick_labels])
    ax.set_ylim(-1.0, 3.75)
    notes = ((3.45, "this study, mean score while held out"), (1.02, shorten(cohort["name"], 40)))
    for y, text in notes:
        small_label(ax, 0.005, y, text, transform=ax.get_yaxis_transform())
    negative, positive = (shorten(name, 20) for name in classes)
    ax.set_xlabel(f"score   (← called {negative}, called {positive} →)")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def _sample_kind(cohort: CohortRecord) -> str:
    """Return the kind of the samples for `name_points`: cohorts may share sample names."""
    return f"{SAMPLE} of {cohort['name']}"


def _draw_strip(
    ax: Axes, values: list[float], y: float, class_index: int, *, is_faint: bool
) -> Any:
    """Draw the dots of a class and their median; return the y of each dot."""
    spread = 1.0 if len(values) < 200 else 1.6  # more room for many dots
    jitter = spread * np.resize(JITTER_PATTERN, len(values))
    ax.scatter(
        values,
        y + jitter,
        s=26,
        marker=CLASS_MARKERS[class_index],
        color=CLASS_COLOURS[class_index],
        edgecolor=PAPER,
        lw=0.5,
        alpha=0.55 if is_faint else 1,
    )
    if values:
        ax.vlines(float(np.median(values)), y - 0.3, y + 0.3, color=INK, lw=1.6)
    return y + jitter


def draw_reliability(cohort: CohortRecord, classes: Sequence[str]) -> Figure:
    """Draw the share of positive samples against the score, with the line of a calibrated model.

    A calibrated score s is 2p − 1 of the share p, so the line is (1 + s)/2, cut to 0 to 1.
    """
    figure, ax = new_figure(HALF_WIDTH, 3.9)
    scores = [sample["score"] for sample in cohort["points"]]
    score_range = np.array([min([*scores, -1.0]), max([*scores, 1.0])])
    corners = np.unique([score_range[0], -1.0, 1.0, score_range[1]])
    ax.plot(corners, np.clip((1 + corners) / 2, 0, 1), color=MUTED, lw=0.9, dashes=(4, 3))
    if line := _calibration_line(cohort["scores"]):
        slope, intercept = line
        line_x = np.linspace(score_range[0], score_range[1], 100)
        line_y = np.clip((1 + intercept + slope * line_x) / 2, 0, 1)
        ax.plot(line_x, line_y, color=GENESIG_COLOUR, lw=1.6)
    for group in cohort["reliability"]:
        ax.vlines(group["score"], group["low"], group["high"], color=INK, lw=1.4)
        ax.scatter([group["score"]], [group["share"]], s=50, color=INK, zorder=3)
        small_label(ax, group["score"], 1.04, str(group["samples"]), ha="center")
    is_positive = np.array([sample["label"] == classes[1] for sample in cohort["points"]], bool)
    for class_index, y in enumerate((-0.1, -0.06)):  # rows of dots below the shares
        class_scores = np.array(scores)[is_positive == bool(class_index)]
        marker = CLASS_MARKERS[class_index]
        colour = CLASS_COLOURS[class_index]
        ax.scatter(class_scores, [y] * len(class_scores), s=9, lw=0, marker=marker, color=colour)
    ax.set_ylim(-0.14, 1.1)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel("score")
    ax.set_ylabel(f"share of {shorten(classes[1], 24)}")
    return figure


def _calibration_line(scores: Mapping[str, CohortScore]) -> tuple[float, float] | None:
    """Return slope and intercept of the calibration; None if either is missing."""
    slope, intercept = (scores[f"calibration_{name}"]["value"] for name in ("slope", "intercept"))
    return None if slope is None or intercept is None else (slope, intercept)


def draw_observed(cohort: CohortRecord, label: str) -> Figure:
    """Draw observed against predicted values, with the fitted calibration line."""
    predicted = [sample["score"] for sample in cohort["points"]]
    r2 = cohort["scores"]["r2"]
    figure, ax = charts.observed_predicted(
        predicted,
        [float(sample["label"]) for sample in cohort["points"]],
        [sample["sample"] for sample in cohort["points"]],
        (f"predicted {shorten(label, 24)}", "observed"),
        with_limits("R²", r2["value"], r2["low"], r2["high"]),
        _sample_kind(cohort),
    )
    if line := _calibration_line(cohort["scores"]):
        slope, intercept = line
        line_x = np.array([min(predicted), max(predicted)])
        ax.plot(line_x, intercept + slope * line_x, color=GENESIG_COLOUR, lw=1.6)
    return figure


def draw_shift(cohort: CohortRecord) -> Figure:
    """Draw a histogram of the shifts of all genes, with a line for each gene of the model.

    Bars are the shifts as measured; with ComBat a line shows them as the model scored them.
    """
    figure, ax = new_figure(HALF_WIDTH, 3.9)
    shifts = cohort["shift"]
    edges = np.array(shifts["edges"], dtype=float)
    # `by_chance` is the standard error of a shift without a difference: 95% are in the band.
    band = 1.96 * shifts["by_chance"]
    ax.axvspan(-band, band, color=GREY, alpha=0.25, lw=0)
    counts = np.array(shifts["measured"]["counts"], dtype=float)
    ax.stairs(counts, edges, fill=True, color=GREY, alpha=0.8)
    top = counts.max(initial=1.0)
    if cohort["combat"]:
        scored_counts = np.array(shifts["scored"]["counts"], dtype=float)
        # Lowered to the height of the bars if it exceeds them: names stand above.
        scored_top = max(scored_counts.max(initial=1.0), top)
        ax.stairs(scored_counts * top / scored_top, edges, color=GENESIG_COLOUR, lw=1.6)
    shifted_genes = sorted(
        (gene for gene in cohort["genes"] if gene["shift"] is not None),
        key=lambda gene: -abs(gene["weight"]),
    )
    for rank, gene in enumerate(shifted_genes):
        x = float(np.clip(gene["shift"] or 0.0, edges[0], edges[-1]))
        ax.vlines(x, 0, top * 1.04, color=GENESIG_COLOUR, lw=1.1, alpha=0.8)
        if rank < N_LABELLED_GENES:
            name = gene_label(gene["gene"], gene["symbol"], 18)
            is_right = x > 0.7 * edges[-1] + 0.3 * edges[0]  # the name stands left of its line
            small_label(
                ax,
                x,
                top * (1.07 + 0.09 * rank),
                f" {name} ",
                color=GENESIG_COLOUR,
                ha="right" if is_right else "left",
            )
    ax.set_ylim(0, top * (1.1 + 0.09 * min(len(shifted_genes), N_LABELLED_GENES)))
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.vlines(0, 0, top, color=MUTED, lw=0.9, linestyle=(0, (4, 3)))
    ax.set_xlabel("shift of the mean, in training standard deviations")
    return figure


MAX_FOREST_COHORTS = 30  # cohorts in the forest plot


def cohort_forest(data: External) -> Picture:
    """Return the forest plot of the main measure in every cohort and in cross-validation."""
    key, name, chance = measure(data).external_measure
    listed = data["external"][:MAX_FOREST_COHORTS]
    value, low, high = _measure_of_this_study(data, key)
    # green if this study is better than chance, as on the first screen
    study_colour = GENESIG_COLOUR if grade_within_study(data) is Grade.HERE else INK
    lines = [charts.ForestRow("cross-validation, this study", value, (low, high), study_colour)]
    for cohort in listed:
        score = cohort["scores"].get(key) or {"value": None, "low": None, "high": None}
        training_note = ", seen in training" if cohort["seen_before"] else ""
        groups = cohort["groups"]["count"] if "groups" in cohort else None
        sample_count = samples_in_groups(cohort["samples"], groups)
        label = f"{shorten(cohort['name'], 24)} ({sample_count}{training_note})"
        limits = (score["low"], score["high"])
        colour = MUTED if cohort["seen_before"] else INK
        lines.append(charts.ForestRow(label, score["value"], limits, colour, marker="D"))
    rows = [(line.name, line.value, *line.limits) for line in lines]
    axis = f"{name} (larger is better; dashed: chance)"
    measure_texts = "; ".join(f"{line.name} {decimal(line.value)}" for line in lines)
    return Picture(
        "external_forest",
        partial(charts.forest, lines, axis, reference_value=chance),
        data=transposed(("name", key, "low", "high"), rows),
        title=f"{name} of the final model in each cohort",
        description=f"{name}, with 95% CI: {clean(measure_texts)}.",
        caption=WORDS.text("forest", name, len(listed), len(data["external"])),
    )


def _measure_of_this_study(
    data: External, key: str
) -> tuple[float | None, float | None, float | None]:
    """Return value and limits of a measure in cross-validation; three times None without it."""
    for row in data["answer"]["measures"]:
        if row["name"] == key:
            return row["value"], row["low"], row["high"]
    if data["study"]["classes"]:
        return None, None, None
    error = data["answer"]["error"]
    low, high = measure(data).interval(error)
    return measure(data).value(error["value"]), low, high


def classification_figures(
    held_out: HeldOut, cohort: CohortRecord, classes: Sequence[str], stem: str
) -> Iterator[Picture]:
    """Yield ROC curve, confusion matrix, scores and calibration of a cohort with classes."""
    if len(classes) > 2:
        yield _confusion_figure(cohort["confusion"] or [], cohort["name"], classes, stem)
        return
    if cohort["roc"] is not None:
        yield _roc_figure(held_out["roc"] or [], cohort["roc"], cohort, classes, stem)
    if cohort["confusion"] is not None:
        yield _confusion_figure(cohort["confusion"], cohort["name"], classes, stem)
    yield Picture(
        f"{stem}_scores",
        partial(draw_scores, held_out["samples"], cohort, classes),
        data=columns_of(cohort["points"], "sample", "label", "score"),
        title=f"{clean(cohort['name'])}: scores by class",
        description=WORDS.text("scores_description", cohort),
        caption=WORDS.text("scores"),
    )
    if cohort["scores"]["calibration_slope"]["value"] is not None:
        yield Picture(
            f"{stem}_calibration",
            partial(draw_reliability, cohort, classes),
            data=columns_of(cohort["reliability"], "score", "samples", "share", "low", "high"),
            title=f"{clean(cohort['name'])}: calibration",
            description=WORDS.text("calibration_description", cohort, classes[1]),
            caption=WORDS.text("calibration", classes[1]),
        )


def _roc_figure(
    held_out_curves: Sequence[RepeatRocCurve],
    cohort_curve: RocCurve,
    cohort: CohortRecord,
    classes: Sequence[str],
    stem: str,
) -> Picture:
    """Return the ROC curve of a cohort."""
    auc = cohort["scores"]["auc"]
    return Picture(
        f"{stem}_roc",
        partial(draw_roc, held_out_curves, cohort_curve, auc, classes),
        data={"false_positive_rate": cohort_curve["x"], "true_positive_rate": cohort_curve["y"]},
        title=f"{clean(cohort['name'])}: ROC curve",
        description=WORDS.text("roc_description", auc),
        caption=WORDS.text("roc"),
    )


def _confusion_figure(
    counts: Sequence[Sequence[int]], name: str, classes: Sequence[str], stem: str
) -> Picture:
    """Return the confusion matrix of a cohort."""
    return Picture(
        f"{stem}_confusion",
        partial(charts.confusion, counts, classes),
        data=charts.confusion_data(counts, classes),
        title=f"{clean(name)}: confusion matrix",
        description=f"Number of samples: {charts.confusion_words(counts, classes)}.",
        caption=WORDS.text("confusion", len(classes)),
    )


def observed_figure(cohort: CohortRecord, label: str, stem: str) -> Picture:
    """Return observed against predicted numbers of a cohort."""
    return Picture(
        f"{stem}_fit",
        partial(draw_observed, cohort, label),
        data=columns_of(cohort["points"], "sample", "label", "score"),
        title=f"{clean(cohort['name'])}: observed and predicted values",
        description="Scatter of observed values against predictions.",
        caption=WORDS.text("observed"),
    )


def survival_figure(cohort: CohortRecord, label: str, stem: str) -> Picture:
    """Return the Kaplan-Meier curves of the risk groups of a cohort."""
    return Picture(
        f"{stem}_curves",
        partial(charts.kaplan_meier, cohort["curves"], label, cohort["horizon"]),
        data=charts.kaplan_meier_data(cohort["curves"]),
        title=f"{clean(cohort['name'])}: survival of the groups of high and of low risk",
        description=WORDS.text("curves_description", cohort, label),
        caption=WORDS.text("curves", cohort),
    )


def shift_figure(cohort: CohortRecord, stem: str) -> Picture:
    """Return the histogram of the shifts of the genes."""
    return Picture(
        f"{stem}_shift",
        partial(draw_shift, cohort),
        data=columns_of(cohort["genes"], "gene", "symbol", "shift", "weight"),
        title=f"{clean(cohort['name'])}: shift of the genes",
        description=f"Histogram of the shift of every gene; {shift_sentence(cohort)}.",
        caption=WORDS.text("shift", cohort),
    )


def shift_sentence(cohort: CohortRecord) -> str:
    """Return a clause with the median shift, and the share of genes with a large one."""
    return WORDS.text("median_shift", cohort)


WORDS = Wording(__file__)  # sentences: the macros of figures.j2, by name
