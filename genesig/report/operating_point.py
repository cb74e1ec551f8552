"""The operating point: the threshold by the config's ``decision``, and its held-out accuracy."""

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
# sentences: the macros of operating_point.j2, by name
WORDS = Wording(__file__, COST=COST, YOUDEN=YOUDEN, decision_rules_in=decision_rules_in)


def operating_point_paragraph(data: Study) -> list[Paragraph]:
    """Return the paragraph of the first screen; [] without an operating point to report."""
    if operating_point_threshold(data) is None:
        return []
    text = WORDS.text(
        "achieved", _rows_by_measure(data), _positive_class(data), data["config"]["decision"]
    )
    return [Paragraph(f"{OPERATING_POINT_TITLE}.", text)]


def operating_point_section(data: Study, limits: Limits) -> Section | None:
    """Return the section about the operating point; None without ``decision`` in the config."""
    if DECISION_TABLE not in data["tables"]:
        return None
    if grade_within_study(data) is Grade.NONE:
        words = WORDS.paragraphs("no_basis")
        return Section(DECISION_TABLE, OPERATING_POINT_TITLE, words, part="prediction")
    rows = _rows_by_measure(data)
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
    """Return the final model's threshold as text; None without ``decision`` or without evidence."""
    if DECISION_TABLE not in data["tables"] or grade_within_study(data) is Grade.NONE:
        return None
    return significant(_rows_by_measure(data)["threshold"]["value"])


def operating_point_sentences(data: Study) -> list[str]:
    """Return the sentence of Methods about the operating point; [] without ``decision``."""
    if DECISION_TABLE not in data["tables"]:
        return []
    return WORDS.paragraphs("methods", data["config"]["decision"])


def _rows_by_measure(data: Study) -> dict[str, TableRow]:
    """Return the rows of decision.tsv by their measure."""
    return {row["measure"]: row for row in table_rows(data["tables"][DECISION_TABLE])}


def _positive_class(data: Study) -> str:
    """Return the name of the positive class."""
    return clean((two_classes(data["study"]) or ("", ""))[1])
