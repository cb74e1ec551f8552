"""The tiles of the first screen, then its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.page import charts
from genesig.report.page.measure import (
    covariate_names,
    frequency_threshold,
    measure,
    subject_noun,
    two_classes,
)
from genesig.report.page.record import ClassMeasure, Study
from genesig.report.page.section import Tile
from genesig.report.page.style import (
    BEHIND_LABEL,
    CLASS_COLOURS,
    COLOUR_NAMES,
    GENESIG_COLOUR,
    HALF_WIDTH,
    INK,
    MUTED,
    NEGATIVE,
    POSITIVE,
    RULE,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import Picture, gene_names, name_points, name_rows
from genesig.report.page.tables import (
    TableRow,
    chosen_list_rows,
    difference,
    genesig_rows,
    selected_in_model,
    table_rows,
    transposed,
)
from genesig.report.page.verdict import Grade, grade, no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import (
    clean,
    confidence,
    counted,
    decimal,
    percent,
    short_symbol,
    shorten,
    significant,
    span,
    two_digits,
)
from genesig.selection.assess.covariates import COVARIATES

MAX_NAMED_SAMPLES = 6  # misclassified samples of a row up to which each has its name
LOW_ROW_INCHES = 0.52  # height of a row beside that of an external cohort
MAX_LARGE_DOTS = 60  # samples of a row up to which its dots are large
MAX_STACK_HEIGHT = 0.76  # of stacked dots; a row has height 1
MAX_DOT_DISTANCE = 0.13  # between stacked dots, in the same unit

MAX_COHORT_TILES = 2  # external cohorts up to which each has a tile
MAX_GENES = 14  # genes in the figure of the first screen
WORDS = Wording(__file__)  # sentences: the macros of section.j2, by name


def first_screen_tiles(data: Study, horizon_tiles: Sequence[Tile] = ()) -> list[Tile]:
    """Return the tiles of the first screen: accuracy in cohorts and in the study, signature.

    horizon_tiles: of a study of survival, if there is evidence.
    """
    accuracy_tiles = [*_external_tiles(data), *_accuracy_tiles(data)]
    if no_evidence(data):
        return [*accuracy_tiles, *_measure_tiles(data, "auc")]
    class_tiles = _measure_tiles(data, "auc", "sensitivity", "specificity")
    tiles_of_study = [*accuracy_tiles, *class_tiles, *horizon_tiles]
    return [*tiles_of_study, *_event_tile(data), _signature_tile(data)]


def _external_tiles(data: Study) -> list[Tile]:
    """Return a tile for each cohort, or one with the median if they are many."""
    metric = measure(data)
    rows = [row for row in data["answer"]["cohorts"]["rows"] if not row["seen_in_training"]]
    accuracies = [(row, value) for row in rows if (value := metric.value(row["error"])) is not None]
    if len(accuracies) > MAX_COHORT_TILES:
        values = [value for _, value in accuracies]
        name = f"{metric.title}, median of {len(accuracies)} external cohorts"
        value_range = span(min(values), max(values), metric.write_limits)
        return [Tile(name, metric.write(median(values)), value_range)]
    return [
        Tile(
            f"{metric.title} in {clean(row['name'])}",
            metric.write(value),
            "; ".join(filter(None, (metric.confidence(row), counted(row["samples"], "sample")))),
        )
        for row, value in accuracies
    ]


def _accuracy_tiles(data: Study) -> list[Tile]:
    """Return accuracy, R² or C; with covariates, without and with expression, and the gain."""
    metric = measure(data)
    error = data["answer"]["error"]
    covariates = covariate_names(data)
    alone = covariates_row(data)
    if alone is None or error["value"] is None:
        chance = percent(metric.chance) if metric.share else decimal(metric.chance)
        return [_error_tile(data, metric.title, error, chance_words=f"chance {chance}")]
    gain = _gain_tile(data)
    return [
        Tile(
            f"{metric.title}, {covariates} only",
            metric.precise_text(alone["error"]),
            metric.confidence(alone),
        ),
        _error_tile(data, f"{metric.title}, with gene expression", error),
        *([gain] if gain else ()),
    ]


def _error_tile(data: Study, name: str, row: Any, chance_words: str = "") -> Tile:
    """Return the tile of an `ErrorEstimate` or of a row of controls.tsv, in the study's measure."""
    metric = measure(data)
    error = row["value"] if "value" in row else row["error"]
    limits = metric.confidence(row)
    return Tile(name, metric.text(error), "; ".join(filter(None, (limits, chance_words))))


def covariates_row(data: Study) -> TableRow | None:
    """Return the row of controls.tsv of the covariates alone; None without covariates."""
    rows = chosen_list_rows(table_rows(data["tables"]["controls"]))
    return next((row for row in rows if row["model"] == COVARIATES), None)


def _gain_tile(data: Study) -> Tile | None:
    """Return the tile of the gain of gene expression over the covariates; None if undefined."""
    row = next(iter(chosen_list_rows(genesig_rows(data["tables"]["controls"]))), {})
    if row.get("added") is None:
        return None
    value, low, high = (row[key] for key in ("added", "added_low", "added_high"))
    points = " points" if measure(data).share else ""
    limits = ""
    if low is not None and high is not None:
        limits = f"95% CI {difference(data, low)} to {difference(data, high)}"
    return Tile("Difference", f"{difference(data, value)}{points}", limits)


def _measure_tiles(data: Study, *names: str) -> list[Tile]:
    """Return tiles of AUC, sensitivity and specificity, as far as the study has them."""
    measures = {row["name"]: row for row in data["answer"]["measures"]}
    return [_measure_tile(data, measures[name]) for name in names if name in measures]


def _measure_tile(data: Study, class_measure: ClassMeasure) -> Tile:
    """Return the tile of the AUC, or of sensitivity or specificity with its class."""
    if class_measure["name"] == "auc":
        limits = confidence(class_measure["low"], class_measure["high"], decimal)
        several_studies = data["design"]["scheme"] == "leave_one_study_out"
        pooled = "pairs of all studies together" if several_studies else ""
        value = decimal(class_measure["value"])
        # Only the threshold makes errors if the ranking is perfect.
        ranking = "ranking only" if value == "1.00" and data["answer"]["error"]["value"] else ""
        words = "; ".join(filter(None, (limits, "chance 0.50", pooled, ranking)))
        return Tile("AUC", value, words)
    negative, positive = data["study"]["classes"] or ("", "")
    of_class = positive if class_measure["name"] == "sensitivity" else negative
    name = f"{class_measure['name'].capitalize()} ({clean(of_class)})"
    limits = confidence(class_measure["low"], class_measure["high"], percent)
    return Tile(name, percent(class_measure["value"]), limits)


def _event_tile(data: Study) -> list[Tile]:
    """Return the tile with the number of events of a survival study; [] for others."""
    if not measure(data).timed:
        return []
    rows = table_rows(data["tables"]["patients"])
    # Rows of patients.tsv with a group: samples with the event, then samples without.
    counts = [row["samples"] for row in rows if row["kind"] == "samples" and row["group"]]
    if not counts:
        return []
    return [Tile("Events", f"{counts[0]}", f"of {counted(sum(counts), subject_noun(data))}")]


def _signature_tile(data: Study) -> Tile:
    """Return the tile with the number of genes, and how many are FDR-selected or core."""
    answer = data["answer"]
    evidence = answer["evidence"]
    if evidence is None:
        words = f"{answer['core']} core: selected in at least {frequency_threshold(data)}"
        return Tile("Signature", counted(answer["size"], "gene"), f"{words} of training sets")
    n_inside = selected_in_model(data)
    n_outside = evidence["fdr_selected"] - n_inside
    words = f"{n_inside} at FDR ≤ {percent(data['config']['signature']['fdr'])}"
    outside = f"; {n_outside} more not in the model" if n_outside else ""
    return Tile("Signature", counted(evidence["model_size"], "gene"), f"{words}{outside}")


def models_note(data: Study) -> str:
    """Return the sentence on what the numbers describe; empty without evidence."""
    if no_evidence(data):
        return ""
    calls = ""
    if two_classes(data["study"]):
        calls = "; CIs of sensitivity and specificity take models as fixed"
    return f"Cross-validated numbers do not describe the final model itself{calls}."


class Strip(NamedTuple):
    """One row of dots: a class of the study, or an external cohort."""

    label: str
    size: str  # number of samples as text
    colour: str
    scores: Sequence[float]  # of each sample
    names: Sequence[str]  # of each sample
    wrong: Sequence[bool]  # whether each sample is misclassified


def draw_strips(rows: Sequence[Strip], classes: Sequence[str], axis_label: str) -> Figure:
    """Draw a dot for each sample at its score, dots of similar scores stacked.

    A score above 0 calls the second of the two classes.
    """
    figure, ax = new_figure(
        HALF_WIDTH, 0.8 + (0.78 if len(rows) < 3 else LOW_ROW_INCHES) * len(rows)
    )
    scores = [score for row in rows for score in row.scores]
    margin = 0.0648 * (max(map(abs, scores), default=1.0) or 1.0)  # also if all scores are 0
    low = min([*scores, 0.0]) - margin
    high = max([*scores, 0.0]) + margin
    ax.set_xlim(low, high)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.axvspan(0, high, color=MUTED, alpha=0.07, lw=0)
    reference_line(ax, x=0)
    for row_number, row in enumerate(rows):
        _draw_dots(ax, row_number, row, column_width=(high - low) / 46)  # about that of a dot
        # A label of two lines has no anchor in SVG: their right ends would not meet.
        for line, text, alignment in (
            (row_number - 0.03, shorten(row.label, 18), "bottom"),
            (row_number + 0.03, row.size, "top"),
        ):
            ax.text(
                -0.02,
                line,
                text,
                transform=ax.get_yaxis_transform(),
                ha="right",
                va=alignment,
                fontsize=rcParams["ytick.labelsize"],
                color=row.colour,
            )
    ax.set_yticks([])
    negative, positive = (shorten(name, 16) for name in classes)
    above_axes = ax.get_xaxis_transform()
    for x, text, alignment in (
        (low, f"← called {negative}", "left"),
        (high, f"called {positive} →", "right"),
    ):
        small_label(ax, x, 1.01, text, transform=above_axes, ha=alignment, va="bottom")
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis_label)
    return figure


def _draw_dots(ax: Axes, row_number: int, row: Strip, column_width: float) -> None:
    """Draw the dots of one row, with rings around misclassified samples.

    Dots whose scores lie in the same column of this width are stacked.
    """
    x = np.asarray(row.scores, dtype=float)
    if not len(x):
        return
    y = row_number + stack_heights(x, column_width)
    size = 34 if len(x) <= MAX_LARGE_DOTS else 14
    ax.scatter(x, y, s=size, color=row.colour, alpha=0.85, lw=0, zorder=3)
    name_points(ax, x, y, row.names)
    wrong = np.flatnonzero(row.wrong)
    ax.scatter(x[wrong], y[wrong], s=2 * size, facecolor="none", edgecolor=INK, lw=1.1, zorder=4)
    if len(wrong) <= MAX_NAMED_SAMPLES:
        for sample in wrong:
            # Beyond the dot, because the dashed line of the threshold must not cross the name.
            is_right = x[sample] > 0
            small_label(
                ax,
                x[sample] + (0.6 if is_right else -0.6) * column_width,
                y[sample] + 0.2,
                shorten(row.names[int(sample)], 12),
                va="top",
                ha="left" if is_right else "right",
                color=INK,
                bbox=BEHIND_LABEL,
            )


def stack_heights(x: np.ndarray, column_width: float) -> np.ndarray:
    """Return heights around 0 (n,) that stack points (n ≥ 1) whose x lie in the same column."""
    columns = np.floor(x / column_width).astype(int)
    tallest = max(Counter(columns.tolist()).values())
    distance = min(MAX_DOT_DISTANCE, MAX_STACK_HEIGHT / tallest)
    heights = np.empty(len(x))
    for column in np.unique(columns):
        members = np.flatnonzero(columns == column)
        heights[members] = distance * (np.arange(len(members)) - (len(members) - 1) / 2)
    return heights


class Lollipop(NamedTuple):
    """A gene of the figure."""

    name: str  # symbol
    gene: str  # id
    colour: str
    frequency: float  # selection frequency, or CV frequency if genes were not tested
    null_frequency: float | None  # with permuted labels; None if genes were not tested, like q
    q: float | None


def gene_name(row: TableRow) -> str:
    """Return the symbol of a gene, short enough for an axis."""
    symbol = str(row["symbol"] or row["gene"])
    return short_symbol(symbol) or shorten(symbol, 17)


def draw_lollipops(genes: Sequence[Lollipop], axis_label: str) -> Figure:
    """Draw a line and a dot for each gene, a tick at its frequency with permuted labels."""
    n_rows = max(len(genes), 5)  # fewer genes leave rows empty
    figure, ax = new_figure(HALF_WIDTH, 0.62 + 0.152 * n_rows)
    for y, gene in enumerate(genes):
        ax.hlines(y, 0, gene.frequency, color=gene.colour, lw=1.6)
        ax.scatter([gene.frequency], [y], s=30, color=gene.colour, zorder=3, clip_on=False)
        if gene.null_frequency is not None:
            ax.vlines(gene.null_frequency, y - 0.32, y + 0.32, color=INK, lw=1.3)
        if gene.q is not None:
            small_label(ax, 1.06, y, f"q {two_digits(gene.q)}", va="center", clip_on=False)
    ax.set_yticks(range(len(genes)), [gene.name for gene in genes], style="italic")
    name_rows(ax, gene_names([gene.gene for gene in genes], [gene.name for gene in genes]))
    ax.set_ylim(n_rows - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    shares = (0, 0.25, 0.5, 0.75, 1)
    ax.set_xticks(shares, [percent(share) for share in shares])
    ax.grid(axis="x", color=RULE)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(axis_label)
    return figure


def held_out_scores(
    data: Study, cohort: Strip | None = None, operating_point: str | None = None
) -> Picture | None:
    """Return Figure 1 of two classes: a dot for each sample, at its held-out score.

    `cohort` is the row of an external cohort; `operating_point` is the threshold for the purpose
    of the config, beside the threshold 0.
    """
    classes = two_classes(data["study"])
    samples = data["held_out"]["samples"]
    if classes is None or not any(sample["tested"] for sample in samples):
        return None
    noun = subject_noun(data)
    class_strips = [_strip(data, class_index) for class_index in range(len(classes))]
    strips = [*class_strips, *([] if cohort is None else [cohort])]
    repeats = data["design"]["repeats"]
    score_name = "held-out score" if cohort is None else "score; of this study held-out"
    axis_label = f"{score_name} (mean of {repeats} repeats)" if repeats > 1 else score_name
    in_repeats = " in most repeats" if repeats > 1 else ""
    has_wrong = any(any(strip.wrong) for strip in strips)
    n_wrong = sum(sum(strip.wrong) for strip in class_strips)
    return Picture(
        "held_out_scores",
        partial(draw_strips, strips, classes, axis_label),
        data=transposed(
            ("sample", "group", "score"),
            [
                (name, strip.label, score)
                for strip in strips
                for name, score in zip(strip.names, strip.scores, strict=True)
            ],
        ),
        title=f"Held-out score of each {noun}",
        description=f"Held-out scores of {counted(len(samples), noun)} by true class;"
        f" {n_wrong} misclassified{in_repeats}.",
        caption=WORDS.text("held_out_scores", data, operating_point, has_wrong),
    )


def _strip(data: Study, class_index: int) -> Strip:
    """Return the row of dots of one class."""
    name = (data["study"]["classes"] or [])[class_index]
    samples = [
        sample
        for sample in data["held_out"]["samples"]
        if sample["label"] == name and sample["tested"]
    ]
    return Strip(
        label=clean(name),
        size=counted(len(samples), subject_noun(data)),
        colour=CLASS_COLOURS[class_index],
        scores=[sample["mean"] for sample in samples],
        names=[clean(sample["sample"]) for sample in samples],
        wrong=[2 * (sample["wrong"] or 0) > sample["tested"] for sample in samples],
    )


def gene_frequencies(data: Study) -> Picture | None:
    """Return Figure 2: the FDR-selected genes, or core genes, by how often they are selected."""
    lollipops = _lollipops(data)
    if no_evidence(data) or not lollipops:
        return None
    is_tested = data["answer"]["evidence"] is not None
    lists = "gene lists from random halves" if is_tested else "cross-validated models"
    return Picture(
        "gene_frequencies",
        partial(draw_lollipops, lollipops, f"selection frequency (share of {lists})"),
        data=transposed(
            ("gene", "selection_frequency", "null_frequency", "selection_q"),
            [(gene.gene, gene.frequency, gene.null_frequency, gene.q) for gene in lollipops],
        ),
        title="Genes selected most often in random halves" if is_tested else "Core genes",
        description="Selection frequency: "
        + "; ".join(f"{gene.name} {percent(gene.frequency)}" for gene in lollipops)
        + ".",
        caption=WORDS.text(
            "gene_frequencies",
            data,
            _colour_words(data, {gene.colour for gene in lollipops}),
            len(lollipops),
            len(_shown_genes(data)),
        ),
    )


def _shown_genes(data: Study) -> list[TableRow]:
    """Return the rows of FDR-selected genes, of core genes if genes were not tested."""
    rows = table_rows(data["tables"]["signature"])
    if data["answer"]["evidence"] is not None:
        return [row for row in rows if row["fdr_selected"]]
    return sorted((row for row in rows if row["core"]), key=lambda row: -row["cv_frequency"])


def _lollipops(data: Study) -> list[Lollipop]:
    """Return the first of `_shown_genes`, by class or direction coloured; grey without either."""
    is_up = {gene["gene"]: gene["up"] for gene in data["answer"]["signature_genes"]}
    is_tested = data["answer"]["evidence"] is not None
    classes = data["study"]["classes"] or []
    genes = []
    for row in _shown_genes(data)[:MAX_GENES]:
        colour = MUTED
        if row.get("class") in classes:
            colour = CLASS_COLOURS[classes.index(row["class"])]
        elif is_up.get(row["gene"]) is not None:
            colour = POSITIVE if is_up[row["gene"]] else NEGATIVE
        genes.append(
            Lollipop(
                name=gene_name(row),
                gene=clean(row["gene"]),
                colour=colour,
                frequency=row["selection_frequency"] if is_tested else row["cv_frequency"],
                null_frequency=row["null_frequency"] if is_tested else None,
                q=row["selection_q"] if is_tested else None,
            )
        )
    return genes


def _colour_words(data: Study, colours: Collection[str]) -> str:
    """Return the sentence that explains the colours of `_lollipops`: a class, or a direction.

    colours: those in the figure, of which alone the sentence speaks; '' if all genes are grey.
    """
    classes = data["study"]["classes"]
    if classes is not None and len(classes) > len(COLOUR_NAMES):
        return "Colour: the class for which the weight of the gene is largest."
    if classes is not None and len(classes) > 2:
        named_colours = zip(classes, COLOUR_NAMES, CLASS_COLOURS, strict=False)
        entries = [
            f"{clean(class_name)} ({colour_name})"
            for class_name, colour_name, colour in named_colours
            if colour in colours
        ]
        return f"Class of the largest weight: {', '.join(entries)}."
    if classes is not None:
        rising, falling = (f"higher in {clean(name)}" for name in (classes[1], classes[0]))
    else:
        label = clean(data["study"]["label"])
        rising, falling = (text.format(label) for text in measure(data).words.directions)
    meanings = {POSITIVE: f"orange: {rising}", NEGATIVE: f"blue: {falling}"}
    text = "; ".join(meaning for colour, meaning in meanings.items() if colour in colours)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def permuted_accuracies(data: Study) -> Picture | None:
    """Return the histogram of the measure with permuted labels; None without permutations."""
    errors = data["null"]["errors"]
    observed = data["null"]["observed"]
    p = data["answer"]["p"]
    if not errors or observed is None:
        return None
    metric = measure(data)
    *permuted, value = metric.values([*errors, observed])
    return Picture(
        "null",
        partial(
            charts.permuted_values,
            permuted,
            value,
            metric.name,
            metric.write,
            in_percent=metric.share,
        ),
        # Permutation 0 are the observed labels.
        data={"permutation": [*range(1, len(permuted) + 1), 0], metric.column: [*permuted, value]},
        title=f"{metric.title} with permuted labels",
        description=f"Histogram of the {metric.name} of {counted(len(errors), 'permutation')};"
        f" observed {metric.write(value)}, p {significant(p['value'], 2)}.",
        caption="Grey: the same analysis with permuted labels. Line: observed.",
    )


def beyond_covariates(data: Study) -> Picture | None:
    """Return accuracy, R² or C of the covariates alone and with expression; None without them."""
    alone = covariates_row(data)
    error = data["answer"]["error"]
    metric = measure(data)
    if alone is None or alone["error"] is None or error["value"] is None:
        return None
    lines = [
        charts.ForestRow(
            f"{shorten(covariate_names(data), 24)} only",
            metric.value(alone["error"]),
            metric.interval(alone),
            colour=INK,
            marker="s",
        ),
        charts.ForestRow(
            "with gene expression",
            metric.value(error["value"]),
            metric.interval(error),
            colour=GENESIG_COLOUR if grade(data) is Grade.HERE else INK,
            bold=True,
        ),
    ]
    return Picture(
        "beyond_covariates",
        partial(charts.forest, lines, metric.name, small=True, in_percent=metric.share),
        data=transposed(
            ("name", metric.column, "low", "high"),
            [(line.name, line.value, *line.limits) for line in lines],
        ),
        title=f"{metric.title} without and with gene expression",
        description="; ".join(f"{line.name} {metric.write(line.value)}" for line in lines) + ".",
        caption="With 95% CI.",
    )
