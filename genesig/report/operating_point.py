"""The operating point: the threshold for a stated purpose, and its accuracy in held-out samples."""

from __future__ import annotations

from genesig.report.page.measure import two_classes
from genesig.report.page.record import Study
from genesig.report.page.section import Limits, Paragraph, Section
from genesig.report.page.tables import CI_FROM, CI_TO, Column, TableRow, filled_table, table_rows
from genesig.report.page.verdict import Grade, grade_within_study
from genesig.report.page.wording import Wording
from genesig.report.page.words import clean, significant
from genesig.response.decision import COST, YOUDEN, decision_rules_in

DECISION_TABLE = "decision"
OPERATING_POINT_TITLE = "Operating point"
WORDS = Wording(__file__, COST=COST, YOUDEN=YOUDEN, decision_rules_in=decision_rules_in)


def operating_point_paragraph(data: Study) -> list[Paragraph]:
    """Return what the operating point achieves; nothing if none was asked for, or in noise."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return []
    text = WORDS.text(
        "achieved", _row_of_measure(data), _positive_class(data), data["config"]["decision"]
    )
    return [Paragraph(f"{OPERATING_POINT_TITLE}.", text)]


def operating_point_section(data: Study, limits: Limits) -> Section:
    """Return the section of the operating point; empty if the config states no decision."""
    if DECISION_TABLE not in data["tables"]:
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, part="prediction")
    if grade_within_study(data) is Grade.NONE:
        words = WORDS.paragraphs("no_basis")
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, words, part="prediction")
    rows = _row_of_measure(data)
    table = filled_table(
        DECISION_TABLE,
        WORDS.text("table_caption"),
        (
            Column("Measure", "name"),
            Column("Value", "number"),
            Column(CI_FROM, "number"),
            Column(CI_TO, "number"),
        ),
        [[row[key] for key in ("measure", "value", "low", "high")] for row in rows.values()],
        limits.table_rows,
        file=f"{DECISION_TABLE}.tsv",
    )
    words = WORDS.paragraphs(
        "section",
        rows,
        operating_point_threshold(data),
        _positive_class(data),
        data["config"]["decision"],
    )
    return Section(
        DECISION_TABLE, OPERATING_POINT_TITLE, words, [table], part="prediction", folded=True
    )


def operating_point_threshold(data: Study) -> str | None:
    """Return the threshold of the final model; None if none was asked for, or in noise."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return None
    return significant(_row_of_measure(data)["threshold"]["value"])


def operating_point_sentences(data: Study) -> list[str]:
    """Return the sentence of Methods about the operating point; none without a decision."""
    if DECISION_TABLE not in data["tables"]:
        return []
    return WORDS.paragraphs("methods", data["config"]["decision"])


def _row_of_measure(data: Study) -> dict[str, TableRow]:
    """Return the rows of decision.tsv by their measure, in their order."""
    return {row["measure"]: row for row in table_rows(data["tables"][DECISION_TABLE])}


def _positive_class(data: Study) -> str:
    """Return the name of the positive class."""
    return clean((two_classes(data["study"]) or ("", ""))[1])
