"""The added value of each of several omics."""

from __future__ import annotations

from genesig.report.page.measure import Measure, measure
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, TableRow, filled_table, table_rows
from genesig.report.page.verdict import no_evidence
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, decimal

OMICS_TABLE = "omics"
ALL_OMICS = "all omics"


def omics_section(data: Study, limits: Limits) -> Section | None:
    """Return the section about the added value of each omic; None with one matrix."""
    if OMICS_TABLE not in data["tables"]:
        return None
    # The first row is genesig with all omics, each other row genesig without one of them.
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
    measured = [row for row in rows[1:] if None not in _added_value(row)]
    words = WORDS.paragraphs("section", measured, is_noise=no_evidence(data), measure=metric)
    return Section(OMICS_TABLE, "Omics", words, [table], part="prediction")


def _added_value(row: TableRow) -> list[float | None]:
    """Return the added value of an omic and its limits; None in the row of all omics."""
    return [row["added"], row["added_low"], row["added_high"]]


def _omic_with_gain(row: TableRow, metric: Measure) -> str:
    """Return an omic with its added value: points of accuracy, or a difference of R² or C."""
    value, low, high = (
        decimal(None if number is None else 100 * number, 1) if metric.share else decimal(number)
        for number in _added_value(row)
    )
    unit = " points" if metric.share else ""
    return f"{clean(row['name'])} ({value}{unit}, 95% CI {low} to {high})"


WORDS = Wording(__file__, gain=_omic_with_gain)  # sentences: the macros of omics.j2, by name


def omics_sentences(data: Study) -> list[str]:
    """Return the sentences of Methods about omics; [] with one matrix."""
    if OMICS_TABLE not in data["tables"]:
        return []
    rows = [row for row in table_rows(data["tables"][OMICS_TABLE]) if row["row"] != "genesig"]
    is_learned = data["config"]["data"]["omics"] == "learned"
    return WORDS.paragraphs("methods", rows, is_learned=is_learned)
