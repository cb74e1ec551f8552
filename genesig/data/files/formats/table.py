"""Plain tables with tabs, commas or semicolons, which a program may have put comments above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.delimited import DELIMITERS, Matrix, check_points, parse_matrix, parse_table
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import checked
from genesig.data.files.layouts import without_annotation

if TYPE_CHECKING:
    import pandas as pd


def table_format(suffix: str) -> Format:
    """Make the format of a table whose ending promises its delimiter."""

    def matrix(content: bytes, where: str, part: str | None) -> Matrix:
        found = without_annotation(parse_matrix(checked(content, where), suffix, where), where)
        check_points(found, where)
        return found

    def table(content: bytes, where: str, part: str | None) -> pd.DataFrame:
        return parse_table(checked(content, where), suffix, where)

    # Bytes, since a matrix may be larger than all else: it is decoded piece by piece.
    return Format(f"a table ({suffix})", matrix, table, table, (suffix,), binary=True,
                  either_way=True)  # fmt: skip


TABLES = {suffix: table_format(suffix) for suffix in DELIMITERS}
