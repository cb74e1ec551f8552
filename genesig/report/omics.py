"""Several omics: what each adds to the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from genesig.report.page.measure import measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import FROM, TO, Column, Row, filled_table, records
from genesig.report.page.verdict import Grade, grade
from genesig.report.page.words import clean, counted, decimal, enumerated, significant

TITLE = "Omics"
NAME = "omics"
TABLES = SHOWN = (NAME,)
TEXT = ("name",)
ALL = "all omics"


def omics(data: Study, limits: Limits) -> Section:
    """Show the error without each omic beside that with all; nothing where there is one matrix."""
    if NAME not in data["tables"]:
        return Section(NAME, TITLE)
    rows, shown = records(data["tables"][NAME]), measure(data)
    columns = (
        Column("Omic", "name"), Column("Genes", "count", "In the study"),
        Column("Selected", "count", "Of the list that predicts, mean over the splits"),
        Column("Factor", "count", "Of its l1 penalty, in the final model"),
        Column("over splits from", "count"), Column(TO, "count"),
        Column(f"{shown.title} without it", "number", "In the first row with all omics"),
        Column(FROM, "number"), Column(TO, "number"),
        Column("Adds", "signed", "By all omics above those without it, on the same samples"),
        Column(FROM, "signed"), Column(TO, "signed"),
    )  # fmt: skip
    keys = ("genes", "listed", "factor", "factor_low", "factor_high")
    cells = [[ALL if row is rows[0] else row["name"], *(row[key] for key in keys),
              shown.value(row["error"]), *shown.interval(row), *_added(row)]
             for row in rows]  # fmt: skip
    caption = "All omics, and the whole procedure again without each on the same splits."
    table = filled_table(NAME, caption, columns, cells, limits.table_rows, file=f"{NAME}.tsv")
    return Section(NAME, TITLE, [_sentence(data, rows[1:])], [table], part="prediction")


def _added(row: Row) -> list[float | None]:
    return [row["added"], row["added_low"], row["added_high"]]


def _sentence(data: Study, rows: Sequence[Row]) -> str:
    """Say which omics add something to the others, which take away, and which neither."""
    known = [row for row in rows if None not in _added(row)]
    if not known:
        return "The contribution of each omic could not be measured."
    found = grade(data) is not Grade.NONE  # else all of them together are not told from chance
    adds = [row for row in known if found and row["added_low"] > 0]
    harms = [row for row in known if found and row["added_high"] < 0]
    rest = [row for row in known if row not in adds and row not in harms]
    words = []
    if adds:
        names = enumerated([_told(data, row) for row in adds])
        # No name begins the sentence: in capitals it would be another one.
        words.append(f"of the omics, {names} {'adds' if len(adds) == 1 else 'add'} to the others")
    if rest:
        words.append(f"no benefit of {enumerated([_told(data, row) for row in rest])} was shown")
    if harms:
        words.append(f"prediction was better without {enumerated([_told(data, r) for r in harms])}")
    said = "; ".join(words)
    return f"{said[0].upper()}{said[1:]}."


def _told(data: Study, row: Row) -> str:
    """Write an omic with what it adds: points of an error, or a difference of R² or C."""
    points = measure(data).share
    value, low, high = (
        decimal(None if v is None else 100 * v, 1) if points else decimal(v) for v in _added(row)
    )
    unit = " points" if points else ""
    return f"{clean(row['name'])} ({value}{unit}, 95% CI {low} to {high})"


def sentences(data: Study) -> Iterator[str]:
    """Say how omics were weighed and left out; nothing where there is one matrix."""
    if NAME not in data["tables"]:
        return
    rows = [row for row in records(data["tables"][NAME]) if row["row"] != "genesig"]
    names = [f"{clean(row['name'])} ({counted(row['genes'], 'gene')})" for row in rows]
    factors = enumerated([f"{significant(row['factor'])} for {clean(row['name'])}" for row in rows])
    learned = data["config"]["data"]["omics"] == "learned"
    how = (
        " The ratio of their penalties was chosen by the inner folds of each training set, among"
        " 1, 2 and 4 (IPF-LASSO, Boulesteix et al. 2017): equal ones, unless another's error lay"
        f" more than one standard error below theirs; in the final model factors are {factors}."
        " FDR-selected genes were found by equal penalties."
        if learned
        else f" The l1 penalty of each gene was multiplied by the factor of its omic: {factors}."
    )
    yield (
        f"The matrix held {enumerated(names)}.{how} To measure what an omic adds, the whole"
        " procedure was repeated without it on the same splits; the interval of the paired"
        " difference has the variance over samples and over repeats."
    )
