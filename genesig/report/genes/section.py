"""Sections and Methods: signature, its values, single genes, accuracy by number of genes.

The chosen list of a split is the gene list that its inner folds chose, and the page reports; its
nested lists grow with the weight μ of the squared norm.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from genesig.report.genes import figures
from genesig.report.genes.record import CorrelationMatrix, Genes
from genesig.report.page.measure import measure
from genesig.report.page.record import Evidence
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    GENESIG_COLOUR,
    HALF_WIDTH,
    MUTED,
    PAPER,
    new_figure,
    reference_line,
    small_label,
)
from genesig.report.page.svg import FigureColumns, Picture
from genesig.report.page.tables import (
    SINGLE_GENE_TEST,
    Table,
    TableRow,
    genesig_rows,
    packed_table,
    table_rows,
    transposed,
    without_meanings,
)
from genesig.report.page.wording import Wording
from genesig.results.splits import PAIRS_OF_ALL_SAMPLES, PAIRS_OF_TRAINING_SET
from genesig.selection.genes.frequency import (
    HALF_SAMPLE_MU,
    LIST_SHARES,
    MAX_GATE_P,
    MAX_LIST_GENES,
    MAX_LIST_SHARE,
    PREDICTIVE_FDR_FACTOR,
)
from genesig.selection.linear.training_sets import LIST_LENGTHS

# columns of signature.tsv that are not on the page
FILE_ONLY_COLUMNS = (
    "rank",
    "selection_p",
    "size",
    "first_mu",
    "mean_weight",
    "sign_consistency",
    "univariate_p",
    "univariate_q",
)
TEST_NAMES = {
    "welch": "Welch t-test",
    "differences": "paired t-test",
    "anova": "Welch analysis of variance",
    "correlation": "test of the correlation",
    "linear": "linear model (least squares)",
    "score": "score test of Cox's model",
}
WORDS = Wording(
    __file__,  # sentences: the macros of section.j2, by name
    HALF_SAMPLE_MU=HALF_SAMPLE_MU,
    LIST_LENGTHS=LIST_LENGTHS,
    LIST_SHARES=LIST_SHARES,
    MAX_GATE_P=MAX_GATE_P,
    MAX_LIST_GENES=MAX_LIST_GENES,
    MAX_LIST_SHARE=MAX_LIST_SHARE,
    PAIRS_OF_ALL_SAMPLES=PAIRS_OF_ALL_SAMPLES,
    PAIRS_OF_TRAINING_SET=PAIRS_OF_TRAINING_SET,
    PREDICTIVE_FDR_FACTOR=PREDICTIVE_FDR_FACTOR,
    TEST_NAMES=TEST_NAMES,
)
N_VISIBLE_GENES = 8  # rows above the fold of the table


def signature_section(data: Genes, limits: Limits) -> Section:
    """Return the section with the tables of the signature and of all selected genes."""
    evidence = data["answer"]["evidence"]
    items: list[Table] = []
    if data["answer"]["size"]:
        has_fdr_selected = evidence and evidence["fdr_selected"]
        caption = f"Signature genes{' and FDR-selected genes' if has_fdr_selected else ''}."
        items.append(
            packed_table(
                data,
                "signature",
                caption,
                min(limits.table_rows, N_VISIBLE_GENES),
                search=True,
                is_open=True,
                without=(
                    *FILE_ONLY_COLUMNS,
                    *[f"weight {name}" for name in data["study"]["classes"] or []],
                ),
            )
        )
    if data["tables"]["selection"]["rows"]:
        caption = "All genes selected in at least one random half."
        table = packed_table(data, "selection", caption, limits.table_rows, search=True)
        # The table above explains the columns that both have.
        explained_labels = {label for shown in items for label, _ in shown.meanings}
        items.append(without_meanings(table, explained_labels))
    paragraphs = _signature_paragraphs(data)
    return Section("signature", "Signature genes", paragraphs, items, part="genes")


def _signature_paragraphs(data: Genes) -> list[str]:
    """Return the paragraphs above the table of the signature.

    Its size counts the genes of the final model and the FDR-selected ones. The evidence is None if
    ``signature.permutations`` is 0.
    """
    if not data["answer"]["size"]:
        return ["The signature is empty: the final model selected no gene."]
    if data["answer"]["evidence"]:
        return evidence_paragraphs(data, data["answer"]["evidence"])
    return WORDS.paragraphs("signature", data)


def blocks_section(data: Genes, limits: Limits) -> Section:
    """Return the section with groups of correlated genes."""
    total = data["correlation"]["total"]
    n_shown = len(data["correlation"]["genes"])
    if not n_shown:
        paragraphs = ["No genes were selected, so there are no groups."]
        return Section("blocks", "Groups of correlated genes", paragraphs, part="genes")
    n_ungrouped = sum(row["block"] is None for row in table_rows(data["tables"]["blocks"]))
    paragraphs = WORDS.paragraphs("blocks", data, n_ungrouped)
    caption = "All selected genes by group, in the order in which they enter."
    without = ("order", "layer", "first_mu", "score")  # the order of the rows shows them
    items = [packed_table(data, "blocks", caption, limits.table_rows, search=True, without=without)]
    pictures = [_correlation_picture(data, n_shown, total)] if n_shown > 1 else []
    return Section(
        "blocks",
        "Groups of correlated genes",
        paragraphs,
        items,
        part="genes",
        folded=True,
        files=["prototypes.tsv"],
        pictures=pictures,
    )


def _correlation_picture(data: Genes, n_shown: int, total: int) -> Picture:
    """Return the figure of the correlation matrix."""
    return Picture(
        "correlation",
        partial(figures.draw_correlation, data),
        data=_correlation_columns(data["correlation"]),
        title="Correlation between selected genes",
        description=f"Image of Pearson's r between {n_shown} genes in the order of groups and"
        " layers.",
        caption=WORDS.text("correlation", n_shown, total),
    )


def _correlation_columns(correlation: CorrelationMatrix) -> FigureColumns:
    """Return the correlation matrix as columns, one for each gene."""
    column_of_gene = dict(zip(correlation["genes"], correlation["r"], strict=True))
    return {
        "gene": correlation["genes"],
        "symbol": correlation["symbols"],
        "block": correlation["blocks"],
        **column_of_gene,
    }


def expression_section(data: Genes, limits: Limits) -> Section:
    """Return the section with the heat map of the signature."""
    if not data["answer"]["size"]:
        paragraphs = ["The signature is empty, so there is nothing to show."]
        return Section("expression", "Expression of the signature", paragraphs, part="genes")
    paragraphs = WORDS.paragraphs("expression")
    return Section(
        "expression",
        "Expression of the signature",
        paragraphs,
        [_heat_map_picture(data)],
        part="genes",
    )


def _heat_map_picture(data: Genes) -> Picture:
    """Return the figure of the heat map."""
    heat = data["heat"]
    n_genes = len(heat["genes"])
    n_samples = len(heat["samples"])
    values_by_sample = [list(values) for values in zip(*heat["z"], strict=True)]
    return Picture(
        "heat_map",
        partial(figures.draw_heat_map, data),
        data={
            "gene": heat["genes"],
            "symbol": heat["symbols"],
            **dict(zip(heat["samples"], values_by_sample, strict=True)),
        },
        title="Heat map of the signature",
        description=f"Standardised expression of {n_genes} genes in {n_samples} samples, both"
        " clustered; these samples selected the genes.",
        caption=WORDS.text("heat_map", data),
    )


def _volcano_picture(data: Genes) -> Picture:
    """Return the figure of the volcano plot."""
    volcano = data["volcano"]
    return Picture(
        "volcano",
        partial(figures.draw_volcano, data),
        data={
            "gene": volcano["genes"],
            "symbol": volcano["symbols"],
            "effect": volcano["effect"],
            "p": volcano["p"],
            "passes": volcano["passes"],
            "signature": volcano["signature"],
        },
        title="Volcano plot of single-gene tests",
        description=WORDS.text("volcano_description", data, figures.effect_axis_label(data)),
        caption=WORDS.text("volcano", data),
    )


def single_genes_section(data: Genes, limits: Limits) -> Section:
    """Return the section with the tests of single genes."""
    tests = data["univariate"]
    paragraphs = WORDS.paragraphs("single_genes", data)
    items: list[Item] = [_volcano_picture(data)] if data["volcano"]["genes"] else []
    caption = "Single-gene tests, smallest p first."
    table = packed_table(data, "univariate", caption, limits.table_rows, search=True)
    items.append(_with_test_name(table, TEST_NAMES[tests["test"]]))
    return Section(
        "single-genes", "Single-gene tests", paragraphs, items, part="genes", folded=True
    )


def _with_test_name(table: Table, test: str) -> Table:
    """Return the table with "t-test" in its headings, if the test is one: p (t-test)."""
    if "t-test" not in test:
        return table
    columns = [
        replace(column, label=column.label.replace(SINGLE_GENE_TEST, "t-test"))
        for column in table.columns
    ]
    return replace(table, columns=columns)


class ListLength(NamedTuple):
    """Gene lists of one kind, averaged over the outer splits with a list; it may be empty."""

    is_chosen: bool  # whether they are the reported lists; otherwise nested ones
    genes: float  # mean number of genes
    value: float  # main measure
    limits: tuple[float | None, float | None]  # 95% CI of the measure
    stability: float | None  # agreement of lists from separate halves of the samples


def list_lengths(data: Genes) -> list[ListLength]:
    """Return the chosen lists and the nested lists of each mu with any gene, the shortest first."""
    study_measure = measure(data)
    tables = data["tables"]
    sizes: dict[float | None, list[float]] = {}
    for row in table_rows(tables["scores"]):
        if row["n_genes"] is not None:  # the list was not too long to keep
            sizes.setdefault(row["mu"], []).append(row["n_genes"])
    stability_of_mu = {
        row["mu"]: row["stability"]
        for row in table_rows(tables["stability"])
        if row["source"] == "half_subsamples"
    }
    lengths = [
        ListLength(
            is_chosen=row["mu"] is None,
            genes=float(np.mean(sizes[row["mu"]])),
            value=value,
            limits=study_measure.interval(row),
            stability=stability_of_mu.get(row["mu"]),
        )
        for row in genesig_rows(tables["controls"])
        if any(sizes.get(row["mu"], ()))
        and (value := study_measure.value(row["error"])) is not None
    ]
    return sorted(lengths, key=lambda length: length.genes)


def brevity_section(data: Genes, limits: Limits) -> Section | None:
    """Return the section with accuracy by the length of the lists; None if there is one length."""
    lengths = list_lengths(data)
    study_measure = measure(data)
    if len(lengths) < 2:
        return None
    format_value = study_measure.write
    chosen_length = next((length for length in lengths if length.is_chosen), lengths[-1])
    paragraphs = WORDS.paragraphs("brevity", lengths[0], chosen_length, study_measure)
    image = Picture(
        "brevity",
        partial(draw_brevity, data),
        data=transposed(
            ("list", "genes", study_measure.column, "low", "high", "stability"),
            [
                (
                    "chosen" if length.is_chosen else "nested",
                    length.genes,
                    length.value,
                    *length.limits,
                    length.stability,
                )
                for length in lengths
            ],
        ),
        title=f"{study_measure.title} against the number of genes",
        description=f"{study_measure.title} by mean number of genes: "
        + "; ".join(f"{length.genes:.0f} genes {format_value(length.value)}" for length in lengths),
        caption=WORDS.text("brevity_caption", study_measure.name),
    )
    files = ["lists.tsv", "nested_lists.tsv", "stability.tsv"]
    title = "Accuracy and stability by number of genes"
    return Section("brevity", title, paragraphs, [image], part="genes", files=files)


def draw_brevity(data: Genes) -> Figure:
    """Draw the measure, and stability if it was measured, over the number of genes."""
    lengths = list_lengths(data)
    study_measure = measure(data)
    has_stability = any(length.stability is not None for length in lengths)
    height, panel_ratios = (4.2, [3, 2]) if has_stability else (2.8, [3])
    figure, axes = new_figure(
        HALF_WIDTH,
        height,
        len(panel_ratios),
        1,
        sharex=True,
        squeeze=False,
        height_ratios=panel_ratios,
    )
    top_axes = axes[0, 0]
    for length in lengths:
        low, high = length.limits
        if low is not None and high is not None:
            top_axes.vlines(length.genes, low, high, color=GENESIG_COLOUR, lw=1.6)
    _draw_list_dots(top_axes, lengths, [length.value for length in lengths])
    reference_line(top_axes, y=study_measure.chance)
    small_label(top_axes, lengths[0].genes, study_measure.chance, "chance", va="bottom")
    top_axes.set_ylabel(study_measure.name)
    if study_measure.share:
        top_axes.set_ylim(top=1.02)
    if has_stability:
        _draw_list_dots(axes[1, 0], lengths, [length.stability for length in lengths])
        axes[1, 0].set_ylabel("stability")
        axes[1, 0].set_ylim(min(0, *(length.stability or 0 for length in lengths)) - 0.02, 1.02)
    bottom_axes = axes[-1, 0]
    bottom_axes.set_xscale("log")
    ticks: list[float] = []
    for length in lengths:  # a label too near the one before could not be read
        if not ticks or length.genes > 1.12 * ticks[-1]:
            ticks.append(length.genes)
    bottom_axes.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
    bottom_axes.set_xticks([], minor=True)
    bottom_axes.set_xlabel("mean number of genes")
    for letter, ax in zip("ab", axes[:, 0], strict=False):
        ax.grid(axis="y")
        ax.set_title(letter if has_stability else "", fontweight="bold")
    return figure


def _draw_list_dots(ax: Axes, lengths: list[ListLength], values: list[float | None]) -> None:
    """Draw a dot for each length; filled: the chosen lists."""
    measured = [
        (length, value) for length, value in zip(lengths, values, strict=True) if value is not None
    ]
    nested_points = [(length.genes, value) for length, value in measured if not length.is_chosen]
    if nested_points:
        ax.plot(*zip(*nested_points, strict=True), color=MUTED, lw=0.8)
    for length, value in measured:
        ax.scatter(
            [length.genes],
            [value],
            s=42,
            facecolor=GENESIG_COLOUR if length.is_chosen else PAPER,
            edgecolor=GENESIG_COLOUR,
            lw=1.5,
            zorder=3,
        )


def signature_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about the signature and its stability."""
    return WORDS.paragraphs("signature_methods", data)


def single_gene_sentences(data: Genes) -> list[str]:
    """Return the sentence of Methods about the tests of single genes."""
    return WORDS.paragraphs("single_gene_methods", data)


def evidence_paragraphs(data: Genes, evidence: Evidence) -> list[str]:
    """Return the paragraphs on how to read the two tables of genes."""
    has_unused_genes = any(
        row["fdr_selected"] and not row["weight"] for row in table_rows(data["tables"]["signature"])
    )
    return WORDS.paragraphs("evidence", data, evidence, has_unused_genes)


def selection_text(row: TableRow) -> str:
    """Return how often a gene is selected, and how often by chance."""
    return WORDS.text("selection", row)


def evidence_sentences(data: Genes) -> list[str]:
    """Return the sentences of Methods about selection by FDR; none without it."""
    if data["answer"]["evidence"] is None:
        return []
    return WORDS.paragraphs("evidence_methods", data)
