"""What the columns of a table mean."""

from __future__ import annotations

from genesig.report.page.tables import LOWER, UPPER, Column, Table


def test_what_several_columns_of_one_name_mean_is_said_once():
    bounds = (Column("from", "number", LOWER), Column("to", "number", UPPER))
    error = Column("Error", "number", "Mean of both classes")
    other = Column("from", "number", "Of the difference")
    table = Table("t", "c", [Column("AUC", "number"), *bounds, error, *bounds, other], [], 0)
    assert table.meanings == [
        ("from", LOWER), ("to", UPPER), ("Error", error.help), ("from", other.help),
    ]  # fmt: skip
