"""Each column of a table has one explanation."""

from __future__ import annotations

from genesig.report.page.tables import CI_FROM, CI_TO, KNOWN_COLUMNS, Column, Table


def test_meaning_of_repeated_columns_is_given_once():
    share = Column("Share", "share", "Of the samples")
    error = Column("Error", "number", "Mean of both classes")
    other_column = Column("Share", "share", "Of the genes")
    table = Table("t", "c", [Column("AUC", "number"), share, error, share, other_column], [], 0, 0)
    assert table.meanings == [
        ("Share", share.help),
        ("Error", error.help),
        ("Share", other_column.help),
    ]


def test_the_limits_of_every_interval_have_one_name():
    labels = {column.label for key, column in KNOWN_COLUMNS.items() if key.endswith("low")}
    assert labels == {CI_FROM}
    assert {column.label for key, column in KNOWN_COLUMNS.items() if key.endswith("high")} == {
        CI_TO
    }
