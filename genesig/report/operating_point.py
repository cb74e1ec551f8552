"""The operating point: the threshold for a stated purpose, and its accuracy in held-out samples."""

from __future__ import annotations

from collections.abc import Iterator

from genesig.report.page.measure import two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Paragraph, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, TableRow, filled_table, table_rows
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.words import bracketed_confidence, clean, percent, rate, significant, span
from genesig.response.decision import COST, YOUDEN, decision_rules_in

DECISION_TABLE = "decision"
OPERATING_POINT_TITLE = "Operating point"


def operating_point_paragraph(data: Study) -> list[Paragraph]:
    """Return what the operating point achieves; nothing if none was asked for, or in noise."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return []
    return [Paragraph(f"{OPERATING_POINT_TITLE}.", _achieved_text(data))]


def operating_point_section(data: Study, limits: Limits) -> Section:
    """Return the section of the operating point; empty if the config states no decision."""
    if DECISION_TABLE not in data["tables"]:
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, part="prediction")
    if grade_within_study(data) is Grade.NONE:
        text = (
            "The scores distinguish the classes no better than chance: no threshold makes them a"
            " basis for a decision."
        )
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, [text], part="prediction")
    rows = table_rows(data["tables"][DECISION_TABLE])
    table = filled_table(
        DECISION_TABLE,
        "Operating point, with 95% CI; limits of the threshold: smallest and largest of the outer"
        " splits.",
        (
            Column("Measure", "name"),
            Column("Value", "number"),
            Column(CI_FROM, "number"),
            Column(CI_TO, "number"),
        ),
        [[row[key] for key in ("measure", "value", "low", "high")] for row in rows],
        limits.table_rows,
        file=f"{DECISION_TABLE}.tsv",
    )
    words = [
        f"`genesig predict` calls a score above {operating_point_threshold(data)}"
        f" {_positive_class(data)}: the threshold for {_purpose(data)}. {_achieved_text(data)}",
        "Each held-out sample was called at the threshold of its own training set, so that the CIs"
        " allow for the choice. Accuracy elsewhere on this page is for the threshold 0.",
        *_outside_range_text(rows),
    ]
    return Section(
        DECISION_TABLE, OPERATING_POINT_TITLE, words, [table], part="prediction", folded=True
    )


def operating_point_threshold(data: Study) -> str | None:
    """Return the threshold of the final model; None if none was asked for, or in noise."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return None
    rows = table_rows(data["tables"][DECISION_TABLE])
    return significant(_row(rows, "threshold")["value"])


def operating_point_sentences(data: Study) -> Iterator[str]:
    """Yield the sentence of Methods about the operating point; none without a decision."""
    if DECISION_TABLE in data["tables"]:
        yield (
            f"Within each training set, the threshold for {_purpose(data)} was found from samples"
            " scored by models of the inner folds that left them out; held-out samples of the outer"
            " folds were called at it."
        )


def _outside_range_text(rows: list[TableRow]) -> list[str]:
    """Return a warning if the final threshold is unlike those that held-out samples measured."""
    threshold = _row(rows, "threshold")
    if threshold["low"] <= threshold["value"] <= threshold["high"]:
        return []
    return [
        "The threshold of the final model lies outside its range over the outer splits"
        f" ({span(threshold['low'], threshold['high'], significant)}): the measured values may not"
        " hold for it."
    ]


def _achieved_text(data: Study) -> str:
    """Return sensitivity, specificity and predictive values of held-out samples."""
    rows = table_rows(data["tables"][DECISION_TABLE])
    names = ("sensitivity", "specificity", "positive predictive value", "negative predictive value")
    sensitivity, specificity, positive, negative = (
        f"{name} {rate(row['value'])}{bracketed_confidence(row['low'], row['high'], percent)}"
        for name, row in ((name, _row(rows, name)) for name in names)
    )
    prevalence = rate(_row(rows, "prevalence")["value"])
    return (
        f"At the threshold for {_purpose(data)}, held-out samples have {sensitivity} and"
        f" {specificity}. If {prevalence} of patients are {_positive_class(data)}: {positive},"
        f" {negative}."
    )


def _row(rows: list[TableRow], measure: str) -> TableRow:
    """Return the row of a measure."""
    return next(row for row in rows if row["measure"] == measure)


def _positive_class(data: Study) -> str:
    """Return the name of the positive class."""
    return clean((two_classes(data["study"]) or ("", ""))[1])


def _purpose(data: Study) -> str:
    """Return for which purpose the threshold was found."""
    decision = data["config"]["decision"]
    (name,) = decision_rules_in(decision)
    if name == COST:
        false_positive, false_negative = decision[COST]
        return (
            f"costs of {false_positive:g} for a false positive and {false_negative:g} for a false"
            " negative"
        )
    if name == YOUDEN:
        return "the largest sum of sensitivity and specificity"
    return f"a {name} of {100 * decision[name]:g}%"
