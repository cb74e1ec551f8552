"""Several omics: what each adds to the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, TableRow, filled_table, table_rows
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import clean, counted, decimal, enumerated, significant

OMICS_TITLE = "Omics"
OMICS_TABLE = "omics"
ALL_OMICS = "all omics"


def omics(data: Study, limits: Limits) -> Section:
    """Return the section of the added value of each omic; empty with one matrix."""
    if OMICS_TABLE not in data["tables"]:
        return Section(OMICS_TABLE, OMICS_TITLE)
    rows = table_rows(data["tables"][OMICS_TABLE])
    metric = measure(data)
    columns = (
        Column("Omic", "name"),
        Column("Genes", "count", "In the study"),
        Column("Selected", "count", "Of the list that predicts, mean over the splits"),
        Column("Factor", "count", "Of its l1 penalty, in the final model"),
        Column("over splits from", "count"),
        Column(CI_TO, "count"),
        Column(f"{metric.title} without it", "number", "In the first row with all omics"),
        Column(CI_FROM, "number"),
        Column(CI_TO, "number"),
        Column("Adds", "signed", "By all omics above those without it, on the same samples"),
        Column(CI_FROM, "signed"),
        Column(CI_TO, "signed"),
    )
    keys = ("genes", "listed", "factor", "factor_low", "factor_high")
    cells = [
        [
            ALL_OMICS if row is rows[0] else row["name"],
            *(row[key] for key in keys),
            metric.value(row["error"]),
            *metric.interval(row),
            *_added_value(row),
        ]
        for row in rows
    ]
    caption = "All omics, and the whole procedure again without each on the same splits."
    table = filled_table(
        OMICS_TABLE, caption, columns, cells, limits.table_rows, file=f"{OMICS_TABLE}.tsv"
    )
    return Section(
        OMICS_TABLE, OMICS_TITLE, [_added_words(data, rows[1:])], [table], part="prediction"
    )


def _added_value(row: TableRow) -> list[float | None]:
    return [row["added"], row["added_low"], row["added_high"]]


def _added_words(data: Study, rows: Sequence[TableRow]) -> str:
    """Return the text on which omics improve the error, which worsen it, and which do neither."""
    measured_rows = [row for row in rows if None not in _added_value(row)]
    if not measured_rows:
        return "The contribution of each omic could not be measured."
    if grade(data) is Grade.NONE:
        names = enumerated([_omic_with_gain(data, row) for row in measured_rows])
        return (
            "All omics together do not predict better than chance, so these differences are no"
            f" evidence that an omic adds anything: {names}."
        )
    adds = [row for row in measured_rows if row["added_low"] > 0]
    harms = [row for row in measured_rows if row["added_high"] < 0]
    undecided = [row for row in measured_rows if row not in adds and row not in harms]
    words = []
    if adds:
        names = enumerated([_omic_with_gain(data, row) for row in adds])
        # No name begins the sentence: in capitals it would be another one.
        words.append(f"of the omics, {names} {'adds' if len(adds) == 1 else 'add'} to the others")
    if undecided:
        words.append(
            f"no benefit of {enumerated([_omic_with_gain(data, row) for row in undecided])} was"
            " shown"
        )
    if harms:
        words.append(
            f"prediction was better without {enumerated([_omic_with_gain(data, r) for r in harms])}"
        )
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}."


def _omic_with_gain(data: Study, row: TableRow) -> str:
    """Write an omic with what it adds: points of an error, or a difference of R² or C."""
    points = measure(data).share
    value, low, high = (
        decimal(None if v is None else 100 * v, 1) if points else decimal(v)
        for v in _added_value(row)
    )
    unit = " points" if points else ""
    return f"{clean(row['name'])} ({value}{unit}, 95% CI {low} to {high})"


def omics_sentences(data: Study) -> Iterator[str]:
    """Yield the sentences of Methods about omics; none with one matrix."""
    if OMICS_TABLE not in data["tables"]:
        return
    rows = [row for row in table_rows(data["tables"][OMICS_TABLE]) if row["row"] != "genesig"]
    names = [f"{clean(row['name'])} ({counted(row['genes'], 'gene')})" for row in rows]
    factors = enumerated([f"{significant(row['factor'])} for {clean(row['name'])}" for row in rows])
    is_learned = data["config"]["data"]["omics"] == "learned"
    penalty_words = (
        " The ratio of their penalties was chosen by the inner folds of each training set, among"
        " 1, 2 and 4 (IPF-LASSO, Boulesteix et al. 2017): equal ones, unless another's error lay"
        f" more than one standard error below theirs; in the final model factors are {factors}."
        " FDR-selected genes were found by equal penalties."
        if is_learned
        else f" The l1 penalty of each gene was multiplied by the factor of its omic: {factors}."
    )
    yield (
        f"The matrix held {enumerated(names)}.{penalty_words} To measure what an omic adds, the"
        " whole procedure was repeated without it on the same splits; the interval of the paired"
        " difference has the variance over samples and over repeats."
    )
