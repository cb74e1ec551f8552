"""Rows and tables of the page, words about differences, and the size of a validation study.

Result tables have rows of the nested gene lists, which grow with mu, and rows without a mu: those
are about the chosen lists, which the inner folds of each split chose and the page reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np

from genesig.arrays import Array
from genesig.report.page.measure import measure, model_name
from genesig.report.page.record import Estimate, FdrSelectedError, PackedTable, Study
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

_GENE_COLUMNS = {"symbol": "gene", "prototype_symbol": "prototype"}  # ids, by column of symbols
_TEXT_KINDS = ("text", "name", "model", "symbol", "genes")

CI_FROM = "95% CI from"
CI_TO = "to"
SINGLE_GENE_TEST = "single-gene test"  # in headings of p and q, if the test is no t-test

NO_INTERVAL_WORDS = "a difference without an interval, so chance is not ruled out"

MIN_CALIBRATION_PATIENTS = 100  # of each class, or with the event


def transposed(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns with these names."""
    row_list = [list(row) for row in rows]
    return {name: [row[position] for row in row_list] for position, name in enumerate(names)}


def columns_of(rows: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    """Return the values of the rows under these keys as columns."""
    row_list = list(rows)
    return {name: [row[name] for row in row_list] for name in names}


def component_columns(points: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Return the coordinates of points on components as columns ``component_1``, .."""
    columns = enumerate(zip(*points, strict=True), start=1)
    return {f"component_{number}": list(column) for number, column in columns}


def table_rows(table: PackedTable) -> list[TableRow]:
    """Return the rows of a packed table as dicts."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def chosen_list_rows(rows: Iterable[TableRow]) -> list[TableRow]:
    """Return the rows without a mu, which are about the chosen lists."""
    return [row for row in rows if row["mu"] is None]


def at_mu(table: pd.DataFrame, mu: float | None) -> Array:
    """Return a mask of the rows of one mu, rounded or not; None stands for the chosen lists."""
    values = table["mu"].to_numpy(dtype=float)
    if mu is None:
        return np.asarray(np.isnan(values))
    is_mu: Array = np.isclose(values, mu, rtol=1e-6, atol=0)
    return is_mu


def accuracy_difference(row: TableRow) -> list[float | None]:
    """Return difference of accuracies, lower and upper limit, from a row with those of errors."""
    value, low, high = (row[key] for key in ("difference", "difference_low", "difference_high"))
    return [None if number is None else -number for number in (value, high, low)]


def value_and_limits(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """Return value, lower and upper limit of an estimate; three times None without one."""
    if estimate is None:
        return None, None, None
    return estimate["value"], estimate["low"], estimate["high"]


def genesig_rows(controls: PackedTable) -> list[TableRow]:
    """Return the rows of genesig in controls.tsv: chosen lists and lists at each mu."""
    return [row for row in table_rows(controls) if row["model"] == "genesig"]


def control_rows(data: Study) -> list[TableRow]:
    """Return the rows of genesig with its chosen lists and of other methods, best first."""
    rows = chosen_list_rows(
        r for r in table_rows(data["tables"]["controls"]) if r["error"] is not None
    )
    return sorted(rows, key=lambda row: (row["error"], row["model"] != "genesig"))


def class_margins(predictions: pd.DataFrame, classes: Sequence[str] | None) -> Any:
    """Return the score of each row; of several classes, the true one less the largest other."""
    if "score" in predictions or not classes:
        return predictions["score"]
    scores = predictions[[f"score of {name}" for name in classes]].to_numpy(dtype=float)
    is_true_class = predictions["label"].astype(str).to_numpy()[:, None] == np.array(
        classes, dtype=object
    )
    return scores[is_true_class] - np.where(is_true_class, -np.inf, scores).max(axis=1)


def is_repeated(columns: Sequence[str], rows: Sequence[Sequence[Any]], position: int) -> bool:
    """Return whether the column at a position has symbols that are all equal to the gene ids."""
    gene_column = _GENE_COLUMNS.get(columns[position])
    if gene_column is None or gene_column not in columns:
        return False
    gene_position = columns.index(gene_column)
    return all(row[position] in (row[gene_position], None) for row in rows)


@dataclass(frozen=True)
class Column:
    """Heading of a column, and how its values are written."""

    label: str
    kind: str  # key of `WRITERS`
    help: str = ""  # explanation for readers
    key: str = ""  # its name in the file

    @property
    def numeric(self) -> bool:
        """Return whether values are numbers, which are aligned on the right."""
        return self.kind not in _TEXT_KINDS

    @property
    def look(self) -> str:
        """Return the class of its cells in page.css: n number, t name in one line, w other text."""
        return "n" if self.numeric else "w" if self.kind in ("text", "symbol", "genes") else "t"


def study_column(name: str, rows: Sequence[Sequence[Any]], position: int) -> Column:
    """Return the heading of a column whose name depends on the study: class weights, or words."""
    if all(isinstance(row[position], float | int | None) for row in rows):
        return Column(f"Weight, {clean(name)}", "signed")
    return Column(clean(name), "text")


class Cell(NamedTuple):
    """A cell: the text on the page, and its value."""

    text: str
    value: Any = None


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    name: str  # stem of its ids
    caption: str
    columns: Sequence[Column]
    rows: list[list[Cell]]  # all of them; the page shows `visible_rows` at once
    visible_rows: int
    total: int  # rows of the file, more than those here if there are very many
    file: str | None = None  # TSV beside the page with all rows
    search: bool = False  # whether readers may filter it
    is_open: bool = False  # whether it is open when the page loads
    # of each row: labels and numbers of the bar chart that its first cell opens; empty without
    bars: Sequence[Sequence[tuple[str, float]]] = ()

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """Return each heading with its explanation once: a table may have several intervals."""
        return list(
            dict.fromkeys((column.label, column.help) for column in self.columns if column.help)
        )


# headings of columns of result tables
KNOWN_COLUMNS: dict[str, Column] = {
    "added": Column("Gain", "number", "Above the covariates alone"),
    "added_high": Column(CI_TO, "number"),
    "added_low": Column(CI_FROM, "number"),
    "balanced_accuracy": Column(
        "Balanced accuracy", "number", "Mean share of correct calls per class"
    ),
    "auc": Column("AUC", "number", "Area under the ROC curve; 0.5 is chance"),
    "auc_high": Column(CI_TO, "number"),
    "auc_low": Column(CI_FROM, "number"),
    "block": Column("Group", "integer", "Correlated genes, ordered by score"),
    "class": Column("Class", "text", "Class with the largest weight"),
    "weight": Column("Weight", "signed", "Weight in the final model"),
    "core": Column("Core", "flag", "Whether enough of the outer splits selected it"),
    "end": Column("End", "integer", "Position of its last gene"),
    "null_frequency": Column("By chance", "share", "Selection frequency with permuted labels"),
    "chromosome": Column("Chromosome", "name"),
    "contribution": Column("Contribution", "signed", "Weights times the genes' deviations, summed"),
    "family_p": Column(
        "p over all sets", "p", "Share of permuted labels under which any set is as extreme"
    ),
    "final_norm": Column("Derivative, final model", "signed", "0 if not in the model"),
    "cv_frequency": Column(
        "CV frequency", "share", "Share of the outer splits that selected the gene"
    ),
    "final_share": Column("Share, final model", "share", "Of the score; 0 if not in the model"),
    "fdr_selected": Column(
        "FDR-selected",
        "flag",
        "q (selection) is at most signature.fdr, and more genes reach this than with permuted"
        " labels",
    ),
    "first": Column("First gene", "name"),
    "gene": Column("Gene id", "name"),
    "genes": Column("Genes", "integer", "Measured genes of the set"),
    "selection_frequency": Column(
        "Selection frequency",
        "share",
        "Share of gene lists from random halves that contain the gene",
    ),
    "high": Column(CI_TO, "number"),
    "in_list": Column("In list", "flag", "Frequency reaches the threshold"),
    "in_signature": Column("In the signature", "flag"),
    "mean_share": Column("Mean share", "share", "Of the score, over the splits that selected it"),
    "named": Column("In the file", "integer"),
    "label": Column("Label", "text"),
    "last": Column("Last gene", "name"),
    "layer": Column("Layer", "integer", "Order of first appearance as μ grows"),
    "least_cv_frequency": Column("Smallest frequency", "share", "Of its genes"),
    "leading": Column("Leading genes", "genes", "On the side of the set, largest |t| first"),
    "linear_cv_frequency": Column("Linear frequency", "share", "In the chosen lists"),
    "low": Column(CI_FROM, "number"),
    "mean": Column("Mean score", "signed"),
    "mean_norm": Column("Mean derivative", "signed", "Over the splits that selected the gene"),
    "difference": Column(
        "Difference", "number", "Compared with genesig on the same samples; positive: better"
    ),
    "difference_high": Column(CI_TO, "number"),
    "difference_low": Column(CI_FROM, "number"),
    "model": Column("Method", "model"),
    "mu": Column("μ", "mu"),
    "order": Column("Order", "integer"),
    "selection_p": Column(
        "p (selection)", "p", "How often permuted labels give this selection frequency"
    ),
    "p_value": Column("p", "p"),
    "prototype": Column("Representative", "name", "Gene of the shortest list"),
    "prototype_symbol": Column("Its symbol", "symbol"),
    "selection_q": Column("q (selection)", "p", "Estimated FDR at this selection frequency"),
    "r": Column("r with it", "signed", "Pearson's correlation"),
    "measure": Column("Measure", "text"),
    "value": Column("Value", "number"),
    "concordance": Column("C", "number", "Share of pairs in the right order; 0.5 is chance"),
    "r2": Column("R²", "number", "1: all explained; 0: as good as the mean"),
    "sample": Column("Sample", "name"),
    "scores": Column("Scores while held out", "text", "One per repeat"),
    "set": Column("Set", "name"),
    "start": Column("Start", "integer", "Position of its first gene"),
    "statistic": Column("Statistic", "signed"),
    "symbol": Column("Symbol", "symbol"),
    "tested": Column("Times held out", "integer"),
    "wrong": Column("Times wrong", "integer"),
}


def _flag(value: Any) -> str:
    """Write a Boolean, which a TSV may have as 1, 1.0 or true."""
    return "yes" if str(value).lower() in ("1", "1.0", "true") else "no"


def _integer(value: Any) -> str:
    """Write a whole number, which is a float if its column has gaps."""
    return significant(value, 12) if isinstance(value, float) else clean(value)


# headings of tables in which a column of this name has another meaning
_COLUMNS_OF_TABLE = {
    "controls": {"p_value": Column("p (permutation)", "p")},
    "univariate": {
        "p_value": Column(f"p ({SINGLE_GENE_TEST})", "p"),
        "q_value": Column(f"q ({SINGLE_GENE_TEST})", "p", "Benjamini–Hochberg"),
    },
    "enrichment_ranking": {
        "score": Column("Among all genes", "signed", "Mean rise of its genes, or minus their fall"),
        "normalised": Column("Above chance", "number", "In standard deviations of permuted labels"),
    },
    "signature": {"symbol": Column("Symbol", "text")},
    "stretches": {
        "cv_frequency": Column("Frequency", "share", "Mean of its genes"),
        "genes": Column("Genes", "integer"),
    },
    "sets": {"cv_frequency": Column("Frequency", "share", "Share of the splits that selected it")},
    "sets_genes": {
        "weight": Column("Weight in the set", "signed", "For one standard deviation of the gene"),
    },
}
WRITERS: dict[str, Callable[[Any], str]] = {
    "count": lambda value: significant(value, 3),
    "flag": _flag,
    "genes": lambda value: shorten(value, 40),
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
"""How a value is written, by `Column.kind`."""


def cell(value: Any, kind: str) -> Cell:
    """Return the cell of a value; None is written as a dash."""
    if value is None:
        return Cell(ABSENT)
    return Cell(WRITERS[kind](value), value)


class TableOptions(TypedDict, total=False):
    """Fields of `Table` that are False unless a caller sets them."""

    search: bool
    is_open: bool


def filled_table(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Any]],
    visible_rows: int,
    *,
    total: int | None = None,
    file: str | None = None,
    **options: Unpack[TableOptions],
) -> Table:
    """Return a table of values, written as the kinds of their columns say; total None is all rows.

    Every table of the page is made here.
    """
    cells = [
        [cell(value, column.kind) for value, column in zip(row, columns, strict=True)]
        for row in rows
    ]
    count = len(rows) if total is None else total
    return Table(name, caption, columns, cells, visible_rows, count, file, **options)


def shown_table(
    name: str,
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    visible_rows: int,
    *,
    total: int | None = None,
    file: str | None = None,
    **options: Unpack[TableOptions],
) -> Table:
    """Return a table of values under columns of a result table, with their known headings.

    Columns without any value are left out, and symbols that are all equal to the gene ids.
    """
    positions = [
        position
        for position in range(len(columns))
        if any(row[position] is not None for row in rows)
        and not is_repeated(columns, rows, position)
    ]
    known_columns = {**KNOWN_COLUMNS, **_COLUMNS_OF_TABLE.get(name, {})}
    headings = [
        replace(
            known_columns.get(columns[position]) or study_column(columns[position], rows, position),
            key=columns[position],
        )
        for position in positions
    ]
    values = [[row[position] for position in positions] for row in rows]
    stem = name.replace("_", "-")
    return filled_table(
        stem, caption, headings, values, visible_rows, total=total, file=file, **options
    )


def packed_table(
    data: Study,
    name: str,
    caption: str,
    visible_rows: int,
    *,
    without: Collection[str] = (),
    **options: Unpack[TableOptions],
) -> Table:
    """Return a table of report_data.json as the page shows it, without some of its columns."""
    table = data["tables"][name]
    columns = [column for column in table["columns"] if column not in without]
    rows = [[row[column] for column in columns] for row in table_rows(table)]
    total = table["total"]
    file = table["file"]
    return shown_table(
        name, caption, columns, rows, visible_rows, total=total, file=file, **options
    )


def without_meanings(table: Table, labels: Collection[str]) -> Table:
    """Return a table that does not explain the columns of these labels."""
    columns = [
        replace(column, help="") if column.label in labels else column for column in table.columns
    ]
    return replace(table, columns=columns)


class Difference(TypedDict):
    """Errors of two models on the same samples, and their difference with its interval."""

    error: float | None  # of the model, such as nonlinear selection or the covariates alone
    linear: float | None  # of the models of selected genes that it is compared with
    difference: float | None  # error − linear
    low: float | None
    high: float | None


def comparison_words(data: Study, comparison: Difference, reference_name: str) -> str:
    """Return ``"balanced accuracy is 90% against 88% of {reference_name} (95% CI ...)"``.

    The parentheses are left out if there is no interval.
    """
    metric = measure(data)
    values = f"{metric.text(comparison['error'])} against {metric.text(comparison['linear'])}"
    words = f"{metric.name} is {values} of {reference_name}"
    limits = difference_words(data, comparison["low"], comparison["high"])
    return f"{words} ({limits})" if limits else words


def difference_words(data: Study, low: float | None, high: float | None) -> str:
    """Return ``"95% CI of the difference −1.0 to 5.2 points"``, from limits of one of errors.

    The text is about the measure, so positive is better. It is empty without limits.
    """
    if low is None or high is None:
        return ""
    limits = f"{difference(data, -high)} to {difference(data, -low)}"
    return f"95% CI of the difference {limits}{' points' if measure(data).share else ''}"


def difference(data: Study, value: float) -> str:
    """Write a difference of two values of the measure, of accuracies in percentage points."""
    return decimal(100 * value, 1) if measure(data).share else decimal(value)


def selected_in_model(data: Study) -> int:
    """Return the number of FDR-selected genes that the final model uses."""
    rows = table_rows(data["tables"]["signature"])
    return sum(bool(row["fdr_selected"]) and row["weight"] != 0 for row in rows)


def fdr_selected_only_words(data: Study, only: FdrSelectedError) -> str:
    """Return the text on the accuracy with FDR-selected genes only, and its difference."""
    metric = measure(data)
    low = only["difference_low"]
    high = only["difference_high"]
    size = f"{difference(data, abs(only['difference']))}{' points' if metric.share else ''}"
    limits = difference_words(data, low, high)
    details = [f"{size} {'lower' if only['difference'] > 0 else 'higher'}", limits]
    value = f"{metric.name} was {metric.text(only['error'])}"
    sentence = f"With FDR-selected genes only, {value} ({'; '.join(filter(None, details))})"
    if low is not None and high is not None and low <= 0 <= high:
        return f"{sentence}: no detectable difference"
    return sentence


def neither_beats_chance(data: Study, model: str) -> bool:
    """Return whether genesig and another model may both be no better than chance.

    The upper limits of their errors reach chance; without an interval the error itself counts.
    """
    chance = data["answer"]["error"]["chance"]
    rows = {row["model"]: row for row in control_rows(data)}
    compared_rows = [rows.get(name) for name in ("genesig", model)]
    return all(row is not None and (row["high"] or row["error"]) >= chance for row in compared_rows)


class ValidationSize(NamedTuple):
    """Patients of a validation study."""

    precise: TableRow  # the largest row of next_study.tsv
    calibration: int  # patients among whom calibration can be checked; 0 for a number

    @property
    def samples(self) -> int:
        """Return the number of patients that is enough for both."""
        return max(int(self.precise["samples"]), self.calibration)


def validation_size(data: Study) -> ValidationSize | None:
    """Return the size if classes, or events, are as frequent as in this study; None if unknown."""
    rows = [row for row in table_rows(data["tables"]["next_study"]) if row["samples"]]
    if not rows:
        return None
    precise = max(rows, key=lambda row: row["samples"])
    counts = data["study"]["counts"]
    total = sum(counts) if counts else precise["samples"]
    rarest = min(counts) if counts else precise["events"]
    # Rounded up, without the errors of a division.
    return ValidationSize(precise, -(-MIN_CALIBRATION_PATIENTS * total // rarest) if rarest else 0)
