"""Tables as the page shows them, their rows, headings in words, numbers rounded for reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from genesig.arrays import Array
from genesig.report.page.measure import measure, model_name
from genesig.report.page.record import FdrSelectedError, PackedTable, Study
from genesig.report.page.words import (
    ABSENT,
    clean,
    decimal,
    percent,
    power,
    short_symbol,
    shorten,
    significant,
)

if TYPE_CHECKING:
    import pandas as pd


TableRow = dict[str, Any]


def transposed(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns of these names."""
    row_list = [list(row) for row in rows]
    return {name: [row[place] for row in row_list] for place, name in enumerate(names)}


def columns_of(rows: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    """Return these keys of the rows as columns."""
    row_list = list(rows)
    return {name: [row[name] for row in row_list] for name in names}


def on_components(points: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Return places on components as columns."""
    pairs = enumerate(zip(*points, strict=True), start=1)
    return {f"component_{k}": list(column) for k, column in pairs}


def table_rows(table: PackedTable) -> list[TableRow]:
    """Return the rows of a packed table as dicts."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def chosen_list_rows(rows: Iterable[TableRow]) -> list[TableRow]:
    """Return the rows of the chosen lists, which have no mu of their own."""
    return [row for row in rows if row["mu"] is None]


def at_mu(table: pd.DataFrame, mu: float | None) -> Array:
    """Mark the rows of one mu, however the TSV rounded it; None marks those of the chosen lists."""
    values = table["mu"].to_numpy(dtype=float)
    if mu is None:
        return np.asarray(np.isnan(values))
    is_mu: Array = np.isclose(values, mu, rtol=1e-6, atol=0)
    return is_mu


def accuracy_difference(row: TableRow) -> list[float | None]:
    """Return a difference of errors and its limits as one of accuracies: positive is better."""
    value, low, high = (row[key] for key in ("difference", "difference_low", "difference_high"))
    return [None if number is None else -number for number in (value, high, low)]


def genesig_rows(controls: PackedTable) -> list[TableRow]:
    """Return the rows of this procedure, of its chosen lists and along mu."""
    return [row for row in table_rows(controls) if row["model"] == "genesig"]


def control_rows(data: Study) -> list[TableRow]:
    """Return genesig with its chosen lists and the baselines, best first."""
    rows = chosen_list_rows(
        r for r in table_rows(data["tables"]["controls"]) if r["error"] is not None
    )
    return sorted(rows, key=lambda row: (row["error"], row["model"] != "genesig"))


def class_margins(predictions: pd.DataFrame, classes: Sequence[str] | None) -> Any:
    """Return each score; of several classes that of its own less the largest of the others."""
    if "score" in predictions or not classes:
        return predictions["score"]
    scores = predictions[[f"score of {name}" for name in classes]].to_numpy(dtype=float)
    is_true_class = predictions["label"].astype(str).to_numpy()[:, None] == np.array(
        classes, dtype=object
    )
    return scores[is_true_class] - np.where(is_true_class, -np.inf, scores).max(axis=1)


_SYMBOL_OF = {"symbol": "gene", "prototype_symbol": "prototype"}


def is_repeated(columns: Sequence[str], rows: Sequence[Sequence[Any]], place: int) -> bool:
    """Return whether a column of symbols is nothing but the ids once more."""
    gene_column = _SYMBOL_OF.get(columns[place])
    if gene_column is None or gene_column not in columns:
        return False
    gene_index = columns.index(gene_column)
    return all(row[place] in (row[gene_index], None) for row in rows)


_WORDS = ("text", "name", "model", "symbol")


@dataclass(frozen=True)
class Column:
    """Heading of a column, what it means, how its values are written, its name in the file."""

    label: str
    kind: str
    help: str = ""
    key: str = ""

    @property
    def numeric(self) -> bool:
        """Return whether the values line up on the right."""
        return self.kind not in _WORDS

    @property
    def look(self) -> str:
        """Return the style class of its cells: number, name, or running words."""
        return "n" if self.numeric else "w" if self.kind in ("text", "symbol") else "t"


def study_column(name: str, rows: Sequence[Sequence[Any]], place: int) -> Column:
    """Return the heading of a column that a study names: the weights of a class, or words."""
    if all(isinstance(row[place], float | int | None) for row in rows):
        return Column(f"Weight, {clean(name.removeprefix('coef '))}", "signed")
    return Column(clean(name), "text")


class Cell(NamedTuple):
    """What a cell shows, and the value that it is written from."""

    text: str
    value: Any = None


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    name: str  # stem of its ids
    caption: str
    columns: Sequence[Column]
    rows: list[list[Cell]]  # all of them; the page shows `visible_rows` at once
    total: int  # rows of the file, more than those here if there are very many
    file: str | None = None  # TSV beside the page with all rows
    search: bool = False  # whether readers may filter it
    is_open: bool = False  # whether it is open before anybody asks for it
    visible_rows: int = 15  # rows on the page at once
    # of each row: labels and numbers of the bar chart that its first cell opens; empty without
    bars: Sequence[Sequence[tuple[str, float]]] = ()

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """Return headings and what they mean, each once: a table may have several intervals."""
        return list(
            dict.fromkeys((column.label, column.help) for column in self.columns if column.help)
        )


CI_FROM = "95% CI from"
CI_TO = "to"
FREQUENCY_HELP = "Share of the outer splits that selected the gene"
HALVES_HELP = "Share of gene lists from random halves that contain the gene"
FDR_SELECTED = Column(
    "FDR-selected",
    "flag",
    "q (selection) is at most signature.fdr, and more genes reach this than with permuted labels",
)
SINGLE_GENE_TEST = "single-gene test"
"""The test of genes in the headings of its p and q, if it is no t-test."""
KNOWN_COLUMNS: dict[str, Column] = {
    "added": Column("Gain", "number", "Above the covariates alone"),
    "added_high": Column(CI_TO, "number"),
    "added_low": Column(CI_FROM, "number"),
    "balanced_accuracy": Column("Balanced accuracy", "number", "Mean share of right calls"),
    "auc": Column("AUC", "number", "Area under the ROC curve; 0.5 is chance"),
    "auc_high": Column(CI_TO, "number"),
    "auc_low": Column(CI_FROM, "number"),
    "about": Column("Description", "text"),
    "block": Column("Group", "integer", "Correlated genes, ordered by score"),
    "class": Column("Class", "text", "For which its weight is largest"),
    "weight": Column("Weight", "signed", "Weight in the final model"),
    "core": Column("Core", "flag", "Whether enough of the outer splits selected it"),
    "end": Column("End", "integer", "Position of its last gene"),
    "expected": Column("Expected", "number", "Shared genes by chance"),
    "error": Column("Error", "number", "On held-out samples"),
    "null_frequency": Column("By chance", "share", "Selection frequency with permuted labels"),
    "chromosome": Column("Chromosome", "name"),
    "contribution": Column("Contribution", "signed", "Weights times the genes' deviations, summed"),
    "family_p": Column("p over all sets", "p", "Permuted labels that take any set as far"),
    "final_norm": Column("Derivative, final model", "signed", "0 if it is not in it"),
    "first_mu": Column("First μ", "mu", "Smallest μ whose list holds the gene"),
    "cv_frequency": Column("CV frequency", "share", FREQUENCY_HELP),
    "final_share": Column("Share, final model", "share", "Of the score; 0 if it is not in it"),
    "first": Column("First gene", "name"),
    "gene": Column("Gene id", "name"),
    "genes": Column("Genes", "integer", "Those of the set that were measured"),
    "selection_frequency": Column("Selection frequency", "share", HALVES_HELP),
    "high": Column(CI_TO, "number"),
    "in_list": Column("In list", "flag", "Whether the frequency reaches the threshold"),
    "in_signature": Column("In the signature", "flag"),
    "mean_share": Column("Mean share", "share", "Of the score, over the splits that selected it"),
    "named": Column("In the file", "integer"),
    "names": Column("Shared genes", "text"),
    "label": Column("Label", "text"),
    "last": Column("Last gene", "name"),
    "layer": Column("Layer", "integer", "Order of first appearance as μ grows"),
    "least_cv_frequency": Column("Smallest frequency", "share", "Of its genes"),
    "leading": Column("Leading genes", "text", "On the side of the set, largest |t| first"),
    "linear_cv_frequency": Column("Linear frequency", "share", "In the chosen lists"),
    "list": Column("List", "name"),
    "low": Column(CI_FROM, "number"),
    "mean": Column("Mean score", "signed"),
    "mean_weight": Column("Mean weight", "signed", "Over the splits that selected the gene"),
    "mean_norm": Column("Mean derivative", "signed", "Over the splits that selected the gene"),
    "difference": Column("Difference", "number", "From genesig, same samples; positive is better"),
    "difference_high": Column(CI_TO, "number"),
    "difference_low": Column(CI_FROM, "number"),
    "model": Column("Method", "model"),
    "mu": Column("μ", "mu"),
    "order": Column("Order", "integer"),
    "selection_p": Column("p (selection)", "p", "Of this selection frequency with permuted labels"),
    "p_value": Column("p", "p"),
    "prototype": Column("Representative", "name", "Gene of the shortest list, of the group"),
    "prototype_symbol": Column("Its symbol", "symbol"),
    "selection_q": Column("q (selection)", "p", "Estimated FDR at this selection frequency"),
    "r": Column("r with it", "signed", "Pearson's correlation"),
    "measure": Column("Measure", "text"),
    "value": Column("Value", "number"),
    "concordance": Column("C", "number", "Share of the pairs in their order; 0.5 is chance"),
    "r2": Column("R²", "number", "1: all explained; 0: no better than the mean of the samples"),
    "rank": Column("Rank", "integer"),
    "reference": Column("Against", "name"),
    "sample": Column("Sample", "name"),
    "score": Column("Group score", "number", "Size of the representative's part of the score"),
    "scores": Column("Scores while held out", "text", "One per repeat"),
    "size": Column("Contribution", "number", "|weight| times the gene's standard deviation"),
    "set": Column("Set", "name"),
    "shared": Column("Shared", "integer"),
    "sign_consistency": Column("Same sign", "share", "Selecting splits with the majority sign"),
    "start": Column("Start", "integer", "Position of its first gene"),
    "statistic": Column("Statistic", "signed"),
    "symbol": Column("Symbol", "symbol"),
    "tested": Column("Times held out", "integer"),
    "wrong": Column("Times wrong", "integer"),
}


def _flag(value: Any) -> str:
    return "yes" if str(value).lower() in ("1", "1.0", "true") else "no"


def _integer(value: Any) -> str:
    """Repeats and blocks are whole numbers, though a TSV with gaps makes them floats."""
    if isinstance(value, float):
        return significant(value, 12)
    return clean(value)


# The same word for another thing.
_OF_TABLE = {
    "controls": {"p_value": Column("p (permutation)", "p")},
    "selection": {"fdr_selected": FDR_SELECTED},
    "univariate": {
        "p_value": Column(f"p ({SINGLE_GENE_TEST})", "p"),
        "q_value": Column(f"q ({SINGLE_GENE_TEST})", "p", "Benjamini–Hochberg"),
    },
    "enrichment_ranking": {
        "score": Column("Among all genes", "signed", "Mean rise of its genes, or less their fall"),
        "normalised": Column("Above chance", "number", "In standard deviations over labels"),
    },
    "signature": {
        "fdr_selected": FDR_SELECTED,
        "symbol": Column("Symbol", "text"),
        "univariate_p": Column("p (t-test)", "p", "Test of the gene by itself"),
        "univariate_q": Column("q (t-test)", "p", "Benjamini–Hochberg"),
    },
    "stretches": {
        "cv_frequency": Column("Frequency", "share", "Mean of its genes"),
        "genes": Column("Genes", "integer"),
    },
    "sets": {"cv_frequency": Column("Frequency", "share", "Share of the splits that selected it")},
    "set_genes": {
        "weight": Column("Weight in the set", "signed", "For one standard deviation of the gene"),
    },
}
WRITERS: dict[str, Callable[[Any], str]] = {
    "count": lambda value: significant(value, 3),
    "flag": _flag,
    "integer": _integer,
    "model": lambda value: model_name(clean(value)),
    "mu": power,
    "name": lambda value: shorten(value, 80),
    "number": decimal,
    "p": lambda value: significant(value, 2),
    "share": percent,
    "signed": lambda value: significant(value, 3),
    "symbol": lambda value: short_symbol(clean(value)) or shorten(value, 40),
    "text": lambda value: shorten(value, 120),
}


def cell(value: Any, kind: str) -> Cell:
    """Write one value."""
    if value is None:
        return Cell(ABSENT)
    return Cell(WRITERS[kind](value), value)


def filled_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Any]],
    visible_rows: int,
    *,
    total: int | None = None,
    file: str | None = None,
    search: bool = False,
    is_open: bool = False,
) -> Table:
    """Write rows of values under their columns; `total` is their number if more.

    Every table of the page is made here.
    """
    cells = [
        [cell(value, column.kind) for value, column in zip(row, columns, strict=True)]
        for row in rows
    ]
    count = len(rows) if total is None else total
    return Table(name, caption, columns, cells, count, file, search, is_open, visible_rows)


def packed_table(
    data: Study,
    name: str,
    caption: str,
    visible_rows: int,
    *,
    search: bool = False,
    is_open: bool = False,
    without: tuple[str, ...] = (),
) -> Table:
    """Return a table of report_data.json, `without` some of its columns."""
    table = data["tables"][name]
    columns_kept = [place for place, column in enumerate(table["columns"]) if column not in without]
    rows = [[row[place] for place in columns_kept] for row in table["rows"]]
    return shown_table(
        name,
        caption,
        [table["columns"][place] for place in columns_kept],
        rows,
        visible_rows,
        total=table["total"],
        file=table["file"],
        search=search,
        is_open=is_open,
    )


def shown_table(
    name: str,
    caption: str,
    columns: list[str],
    rows: list[list[Any]],
    visible_rows: int,
    *,
    total: int | None = None,
    file: str | None = None,
    search: bool = False,
    is_open: bool = False,
) -> Table:
    """Show rows of values under the columns of these names.

    Columns without any value go, and symbols that are nothing but the ids once more.
    """
    columns_kept = [
        place
        for place in range(len(columns))
        if any(row[place] is not None for row in rows) and not is_repeated(columns, rows, place)
    ]
    words = {**KNOWN_COLUMNS, **_OF_TABLE.get(name, {})}
    heads = [
        replace(words.get(columns[p]) or study_column(columns[p], rows, p), key=columns[p])
        for p in columns_kept
    ]
    return filled_table(
        name.replace("_", "-"),
        caption,
        heads,
        [[row[p] for p in columns_kept] for row in rows],
        visible_rows,
        total=len(rows) if total is None else total,
        file=file,
        search=search,
        is_open=is_open,
    )


def without_meanings(table: Table, labels: Collection[str]) -> Table:
    """Return a table that does not explain the columns of these labels."""
    columns = [
        replace(column, help="") if column.label in labels else column for column in table.columns
    ]
    return replace(table, columns=columns)


NO_INTERVAL = "a difference without an interval, so chance is not ruled out"


class Difference(TypedDict):
    """The error, that of the linear lists, and the difference with its interval."""

    error: float | None
    linear: float | None
    difference: float | None
    low: float | None
    high: float | None


def comparison_words(data: Study, d: Difference, reference_name: str) -> str:
    """Return ``"balanced accuracy is 90% against 88% of {other} (95% CI ...)"``.

    Without limits, nothing is said of an interval.
    """
    metric = measure(data)
    write = measure(data).write
    ours = metric.value(d["error"])
    theirs = metric.value(d["linear"])
    words = f"{metric.name} is {write(ours)} against {write(theirs)} of {reference_name}"
    if d["low"] is None or d["high"] is None:
        return words
    return f"{words} ({difference_words(data, d)})"


def difference_words(data: Study, d: Any) -> str:
    """Return ``"95% CI of the difference −1.0 to 5.2 points"`` of an error less another one.

    Positive is better: a smaller error is a larger accuracy. Empty without limits.
    """
    low = d["low"]
    high = d["high"]
    if low is None or high is None:
        return ""
    limits = f"{difference(data, -high)} to {difference(data, -low)}"
    return f"95% CI of the difference {limits}{' points' if measure(data).share else ''}"


def difference(data: Study, value: float) -> str:
    """Write a difference of two measures, of accuracies in percentage points."""
    return decimal(100 * value, 1) if measure(data).share else decimal(value)


def fdr_selected_only(data: Study, price: FdrSelectedError) -> str:
    """Return the text on the accuracy with FDR-selected genes only, beside the signature."""
    metric = measure(data)
    direction = "lower" if price["difference"] > 0 else "higher"
    points = " points" if metric.share else ""
    difference_text = f"{difference(data, abs(price['difference']))}{points} {direction}"
    limits = difference_words(
        data, {"low": price["difference_low"], "high": price["difference_high"]}
    )
    value = f"{metric.name} was {metric.write(metric.value(price['error']))}"
    limits = f"; {limits}" if limits else ""
    sentence = f"With FDR-selected genes only, {value} ({difference_text}{limits})"
    low = price["difference_low"]
    high = price["difference_high"]
    if low is not None and high is not None and low <= 0 <= high:
        return f"{sentence}: no detectable difference"
    return sentence


def neither_beats_chance(data: Study, model: str) -> bool:
    """Return whether the intervals of both errors, of this model and of genesig, hold chance."""
    chance = data["answer"]["error"]["chance"]
    rows = {row["model"]: row for row in control_rows(data)}
    compared_rows = [rows.get(name) for name in ("genesig", model)]
    return all(row is not None and (row["high"] or row["error"]) >= chance for row in compared_rows)
