"""What the columns of a table mean."""

from __future__ import annotations

from genesig.report.page.tables import CI_FROM, CI_TO, KNOWN_COLUMNS, Column, Table


def test_what_several_columns_of_one_name_mean_is_said_once():
    share = Column("Share", "share", "Of the samples")
    error = Column("Error", "number", "Mean of both classes")
    other = Column("Share", "share", "Of the genes")
    table = Table("t", "c", [Column("AUC", "number"), share, error, share, other], [], 0)
    assert table.meanings == [
        ("Share", share.help),
        ("Error", error.help),
        ("Share", other.help),
    ]


def test_the_limits_of_every_interval_have_one_name():
    found = {one.label for key, one in KNOWN_COLUMNS.items() if key.endswith("low")}
    assert found == {CI_FROM}
    assert {one.label for key, one in KNOWN_COLUMNS.items() if key.endswith("high")} == {CI_TO}
