"""Plain tables with tabs, commas or semicolons, which a program may have put comments above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.delimited import DELIMITERS, Matrix, parse_matrix, parse_table
from genesig.data.files.formats.interface import Format

if TYPE_CHECKING:
    import pandas as pd


def table_format(suffix: str) -> Format:
    """Make the format of a table whose ending promises its delimiter."""

    def matrix(text: str, where: str, part: str | None) -> Matrix:
        return parse_matrix(text, suffix, where)

    def table(text: str, where: str, part: str | None) -> pd.DataFrame:
        return parse_table(text, suffix, where)

    return Format(f"a table ({suffix})", matrix, table, table, (suffix,), either_way=True)


TABLES = {suffix: table_format(suffix) for suffix in DELIMITERS}
