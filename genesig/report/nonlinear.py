"""Nonlinear selection: genes, agreement with the linear lists, partial dependence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page import charts
from genesig.report.page.record import Study, TopicResults, float_fields
from genesig.report.page.section import Item, Limits, Section
from genesig.report.page.style import (
    GENESIG_COLOUR,
    INK,
    MUTED,
    NEGATIVE,
    PAGE_WIDTH,
    PAPER,
    RULE,
    new_figure,
)
from genesig.report.page.svg import Picture, gene_names, name_rows
from genesig.report.page.tables import Difference, at_mu, columns_of, packed_table, transposed
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, counted, decimal, gene_label, percent, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class SelectedGene(TypedDict):
    """A gene that nonlinear or linear selection found."""

    gene: str
    symbol: str
    cv_frequency: float  # share of the outer splits whose nonlinear selection has the gene
    linear_cv_frequency: float  # the same of the linear lists
    mean_norm: float | None  # size of the derivative, over the splits that select the gene
    in_signature: bool


class ListAgreement(TypedDict):
    """Core genes of nonlinear selection shared with those of the chosen linear lists."""

    n_linear: int
    n_nonlinear: int
    shared: int


class FitProblems(TypedDict):
    """Numbers of fits that ended early, did not converge or selected no gene."""

    splits: int  # outer splits
    early_ends: int  # splits whose path ended before the chosen tau
    early_inner_ends: int  # inner paths that ended before the smallest tau
    inner_paths: int  # all inner paths
    unfinished: int  # fits above the requested gap
    without_gene: int  # splits without a gene
    messages: list[str]  # first messages about single splits
    further_messages: int  # number of further messages


class DependenceCurve(TypedDict):
    """Partial dependence of the final model on one gene."""

    gene: str
    symbol: str
    r2_with_line: float | None  # r² of the curve with a line
    value: list[float]  # expression of the gene
    effect: list[float]  # mean score at this expression
    samples: list[int]  # samples near this expression


class DependenceCurves(TypedDict):
    """Curves of the first genes of the final model."""

    curves: list[DependenceCurve]
    n_final_genes: int  # genes of the final model
    r2_with_line: float | None  # median r² with a line, over all of them


class NonlinearRecord(DependenceCurves):
    """Summary of nonlinear selection."""

    screened: int  # genes that each training set kept
    genes: list[SelectedGene]  # at most twice `MAX_NONLINEAR_GENES`
    n_selected: int  # genes that any split selected
    agreement: ListAgreement
    difference: Difference | None  # of the error to that of linear selection
    # smallest, median and largest share of the variance that is fitted without any gene
    explained_by_none: list[float | None]
    fit_problems: FitProblems


class Nonlinear(Study):
    """The keys of report_data.json that this topic reads."""

    nonlinear: NonlinearRecord | None  # None if nonlinear selection was not run


MAX_NONLINEAR_GENES = 25
MAX_CURVES = 12
MAX_MESSAGES = 5


def collect_nonlinear(results: TopicResults) -> NonlinearRecord:
    """Return the summary of nonlinear selection."""
    tables = results.tables
    splits = tables["nonlinear_scores"]
    return {
        "screened": int(tables["nonlinear_model"]["screened"].iloc[0]),
        "genes": _gene_rows(tables["nonlinear"], tables["signature"]),
        "n_selected": len(tables["nonlinear"]),
        "agreement": _list_agreement(tables["nonlinear_agreement"]),
        "difference": _difference_to_linear(tables["nonlinear_difference"]),
        "explained_by_none": [*splits["explained_by_none"].quantile([0, 0.5, 1])],
        "fit_problems": _fit_problems(splits, float(results.config["nonlinear"]["tolerance"])),
        **_dependence_curves(tables["nonlinear_curves"]),
    }


def _difference_to_linear(differences: pd.DataFrame) -> Difference | None:
    """Return the difference of the errors of nonlinear and linear selection."""
    nonlinear_rows = differences[differences["model"] == "nonlinear"].to_dict("records")
    return float_fields(nonlinear_rows[0], *Difference.__annotations__) if nonlinear_rows else None


def _gene_rows(table: pd.DataFrame, signature: pd.DataFrame) -> list[SelectedGene]:
    """Return the most often selected genes, and the signature genes that are not among them."""
    # The fields of the record are columns of nonlinear.tsv.
    rows: list[Any] = table[list(SelectedGene.__annotations__)].to_dict("records")
    first_rows = rows[:MAX_NONLINEAR_GENES]
    listed_genes = {row["gene"] for row in first_rows}
    signature_rows = [row for row in rows[MAX_NONLINEAR_GENES:] if row["in_signature"]]
    listed_genes |= {row["gene"] for row in signature_rows}
    # Signature genes that nonlinear selection never selected.
    signature_genes = signature[["gene", "symbol", "cv_frequency"]].itertuples(index=False)
    unselected_rows = [
        {
            "gene": gene,
            "symbol": symbol,
            "cv_frequency": 0.0,
            "linear_cv_frequency": linear_frequency,
            "mean_norm": None,
            "in_signature": True,
        }
        for gene, symbol, linear_frequency in signature_genes
        if gene not in listed_genes
    ]
    return [
        _selected_gene(row)
        for row in [*first_rows, *signature_rows, *unselected_rows][: 2 * MAX_NONLINEAR_GENES]
    ]


def _selected_gene(row: Mapping[str, Any]) -> SelectedGene:
    """Return the record of a row of nonlinear.tsv; a gene without a symbol has its id."""
    name = row["symbol"] if row["symbol"] == row["symbol"] else row["gene"]  # NaN differs from NaN
    numbers: SelectedGene = float_fields(row, "cv_frequency", "linear_cv_frequency", "mean_norm")
    return {
        **numbers,
        "gene": str(row["gene"]),
        "symbol": str(name),
        "in_signature": bool(row["in_signature"]),
    }


def _list_agreement(table: pd.DataFrame) -> ListAgreement:
    """Return the agreement of the chosen linear lists, which inner folds chose, from its table."""
    row = table[at_mu(table, None)].iloc[0]
    return {
        "n_linear": int(row["n_linear"]),
        "n_nonlinear": int(row["n_nonlinear"]),
        "shared": int(row["shared"]),
    }


def _fit_problems(splits: pd.DataFrame, tolerance: float) -> FitProblems:
    """Count paths that ended early, fits that did not converge, and splits without a gene.

    Messages are those of other splits than of early ends, which have a sentence of their own.
    splits: nonlinear_scores.tsv; tolerance: nonlinear.tolerance, the largest duality gap.
    """
    gap = splits["gap"]
    ended_early = splits["ended_early"].astype(bool)
    reported = splits[~ended_early & splits["message"].notna() & (splits["message"] != "")]
    messages = [
        f"{split}: {message}"
        for split, message in zip(reported["split"], reported["message"], strict=True)
    ]
    return {
        "splits": len(splits),
        "early_ends": int(ended_early.sum()),
        "early_inner_ends": int(splits["cut"].sum()),
        "inner_paths": int(splits["paths"].sum()),
        "unfinished": int((gap > tolerance).sum()),
        "without_gene": int((splits["n_genes"] == 0).sum()),
        "messages": messages[:MAX_MESSAGES],
        "further_messages": max(0, len(messages) - MAX_MESSAGES),
    }


def _dependence_curves(table: pd.DataFrame) -> DependenceCurves:
    """Return the curves of the first genes, and the median r² with a line of all curves."""
    gene_tables: Sequence[tuple[Any, pd.DataFrame]] = list(table.groupby("gene", sort=False))
    r2_with_line = [float(gene_table["straight"].iloc[0]) for _, gene_table in gene_tables]
    defined = [value for value in r2_with_line if not np.isnan(value)]
    curves: list[DependenceCurve] = [
        {
            "gene": str(gene),
            "symbol": str(gene_table["symbol"].fillna(gene).iloc[0]),
            "r2_with_line": float(gene_table["straight"].iloc[0]),
            "value": gene_table["value"].astype(float).tolist(),
            "effect": gene_table["effect"].astype(float).tolist(),
            "samples": [int(count) for count in gene_table["samples"]],
        }
        for gene, gene_table in gene_tables[:MAX_CURVES]
    ]
    return {
        "curves": curves,
        "n_final_genes": len(gene_tables),
        "r2_with_line": float(np.median(defined)) if defined else None,
    }


NONLINEAR_COLOUR = NEGATIVE  # blue; linear lists are green on the whole page
CURVES_PER_ROW = 3


def draw_gene_frequencies(rows: Sequence[SelectedGene], threshold: float) -> Figure:
    """Draw the frequency of each gene in both selections, and the size of the derivative."""
    names = [gene_label(row["gene"], row["symbol"], 30) for row in rows]
    bold = [row["in_signature"] for row in rows]
    figure, frequency_axes, norm_axes = charts.frequencies(
        names, bold, threshold, "size of the derivative"
    )
    y = np.arange(len(rows))
    frequency = np.array([row["cv_frequency"] for row in rows])
    linear_frequency = np.array([row["linear_cv_frequency"] for row in rows])
    low = np.minimum(frequency, linear_frequency)
    high = np.maximum(frequency, linear_frequency)
    frequency_axes.hlines(y, low, high, color=RULE, lw=2.4)
    frequency_axes.scatter(
        linear_frequency, y, s=30, facecolor=PAPER, edgecolor=GENESIG_COLOUR, lw=1.4, zorder=3
    )
    frequency_axes.scatter(frequency, y, s=24, marker="D", color=NONLINEAR_COLOUR, zorder=4)
    norm = np.array([row["mean_norm"] for row in rows], dtype=float)  # None becomes NaN
    is_known = ~np.isnan(norm)
    norm_axes.hlines(y[is_known], 0, norm[is_known], color=NONLINEAR_COLOUR, lw=3.2)
    for ax in (frequency_axes, norm_axes):
        name_rows(ax, gene_names([row["gene"] for row in rows], [row["symbol"] for row in rows]))
    norm_axes.set_xlim(left=0)
    return figure


def draw_dependence(curves: Sequence[DependenceCurve], score_name: str) -> Figure:
    """Draw the mean score along each of the first genes; ticks are samples."""
    columns = min(CURVES_PER_ROW, len(curves))
    n_rows = -(-len(curves) // columns)
    figure, axes = new_figure(
        PAGE_WIDTH, 0.5 + 1.75 * n_rows, n_rows, columns, gap=0.05, sharey=True, squeeze=False
    )
    for number, ax in enumerate(axes.flat):
        if number >= len(curves):
            ax.set_visible(False)
            continue
        _draw_curve(ax, curves[number])
    for row in axes:
        row[0].set_ylabel(score_name)
    axes[-1][0].set_xlabel("normalised expression")
    return figure


def _draw_curve(ax: Axes, curve: DependenceCurve) -> None:
    """Draw the curve of one gene."""
    ax.plot(curve["value"], curve["effect"], color=NONLINEAR_COLOUR, lw=2)
    ticks = [value for value, count in zip(curve["value"], curve["samples"], strict=True) if count]
    ax.vlines(ticks, 0, 0.045, color=INK, lw=0.8, transform=ax.get_xaxis_transform())
    ax.set_title(shorten(curve["symbol"], 20), fontsize=8)
    ax.set_title(f"r² {decimal(curve['r2_with_line'])}", fontsize=7, loc="right", color=MUTED)
    ax.locator_params(axis="both", nbins=4)
    ax.grid(axis="y", color=RULE, lw=0.5)


WORDS = Wording(
    __file__,  # sentences: the macros of nonlinear.j2, by name
    MAX_R2_OF_BENT=0.8,  # median r² with a line below which curves are called bent
    MIN_R2_OF_STRAIGHT=0.95,  # median r² with a line from which they are called almost linear
    MIN_EXPLAINED_BY_NONE=0.005,  # share of the variance fitted without a gene worth a sentence
)


def nonlinear_section(data: Nonlinear, limits: Limits) -> Section | None:
    """Return the section about nonlinear selection; None if it was not run.

    Unless nonlinear models are better, it has a few sentences, and its figures are files only.
    """
    record = data["nonlinear"]
    if record is None:
        return None
    paragraphs = [nonlinear_finding(data, record)]
    items = list[Item]()
    pictures = list[Picture]()
    if record["genes"]:
        min_cv_frequency = data["config"]["signature"]["cv_frequency"]
        pictures.append(_genes_picture(record, min_cv_frequency))
    if record["curves"]:
        pictures.append(_curves_picture(record, has_classes=data["study"]["classes"] is not None))
    files = ["nonlinear.tsv", "nonlinear_scores.tsv", "nonlinear_agreement.tsv"]
    if _is_better(record["difference"]):
        items = [*pictures]
        pictures = []
        paragraphs += WORDS.paragraphs("details", data, record, data["config"]["nonlinear"])
        if record["genes"]:
            caption = "Every gene that any split selected."
            items.append(packed_table(data, "nonlinear", caption, limits.table_rows, search=True))
            files.remove("nonlinear.tsv")  # the table has a link to it
    return Section(
        "nonlinear",
        "Nonlinear selection",
        paragraphs,
        items,
        folded=True,
        pictures=pictures,
        files=files,
    )


def _is_better(difference: Difference | None) -> bool:
    """Return whether nonlinear models have a smaller error than linear ones, beyond chance."""
    return difference is not None and difference["high"] is not None and difference["high"] < 0


def nonlinear_finding(data: Study, record: NonlinearRecord) -> str:
    """Return the sentences on the benefit of nonlinear selection."""
    return WORDS.text("finding", data, record, data["config"]["nonlinear"])


def _genes_picture(record: NonlinearRecord, min_cv_frequency: float) -> Picture:
    """Return the figure of gene frequencies, with the smallest frequency of a listed gene."""
    genes = record["genes"]
    gene_texts = "; ".join(
        f"{gene_label(gene['gene'], gene['symbol'])} {percent(gene['cv_frequency'])} against"
        f" {percent(gene['linear_cv_frequency'])}"
        for gene in genes[:10]
    )
    return Picture(
        "nonlinear_genes",
        partial(draw_gene_frequencies, genes, min_cv_frequency),
        data=columns_of(
            genes, "gene", "symbol", "cv_frequency", "linear_cv_frequency", "mean_norm"
        ),
        title="How often genes are selected, nonlinear and linear",
        description=f"Selection frequency of {len(genes)} genes in nonlinear and in linear"
        f" selection, and the size of the derivative. {clean(gene_texts)}.",
        caption=WORDS.text("genes_caption", record, min(MAX_NONLINEAR_GENES, record["n_selected"])),
    )


def _curves_picture(record: NonlinearRecord, *, has_classes: bool) -> Picture:
    """Return the figure of the partial dependence on the first genes."""
    n_curves = len(record["curves"])
    curve_texts = "; ".join(
        f"{gene_label(curve['gene'], curve['symbol'])}, r² with a line"
        f" {decimal(curve['r2_with_line'])}"
        for curve in record["curves"]
    )
    score_name = "mean score" if has_classes else "mean prediction"
    return Picture(
        "nonlinear_curves",
        partial(draw_dependence, record["curves"], score_name),
        data=transposed(
            ("gene", "symbol", "value", "effect", "samples"),
            [
                (curve["gene"], curve["symbol"], *point)
                for curve in record["curves"]
                for point in zip(curve["value"], curve["effect"], curve["samples"], strict=True)
            ],
        ),
        title="Partial dependence on the top genes",
        description=f"{score_name.capitalize()} of the final model along"
        f" {counted(n_curves, 'gene')}: {clean(curve_texts)}.",
        caption=WORDS.text("curves_caption", record),
    )


def nonlinear_sentences(data: Nonlinear) -> list[str]:
    """Return the sentences of Methods; [] if nonlinear selection was not run."""
    if data["nonlinear"] is None:
        return []
    return WORDS.paragraphs("methods", data["config"]["nonlinear"])
