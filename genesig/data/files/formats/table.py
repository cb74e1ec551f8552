"""Plain tables with tabs, commas or semicolons, which a program may have put comments above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genesig.data.files.delimited import (
    DELIMITERS,
    Matrix,
    check_points,
    ending_by_content,
    parse_matrix,
    parse_table,
)
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import checked
from genesig.data.files.headers import numbers_alone
from genesig.data.files.layouts import named_by_words, without_annotation
from genesig.data.files.table_shape import (
    counts_of_sample,
    lacks_header,
    opening_of,
    refuse_long,
    with_header,
)

if TYPE_CHECKING:
    import pandas as pd


def table_format(suffix: str) -> Format:
    """Make the format of a table whose ending promises its delimiter."""

    def matrix(content: bytes, where: str, part: str | None) -> Matrix:
        text = checked(content, where)
        ending = ending_by_content(text, suffix, where)
        opening = opening_of(text, ending, where)
        refuse_long(opening, where)
        if lacks_header(opening, where):
            found = parse_matrix(with_header(text, opening, where), ending, where, first=0)
        else:
            found = named_by_words(numbers_alone(parse_matrix(text, ending, where)))
        found = counts_of_sample(without_annotation(found, where), where)
        check_points(found, where)
        return found

    def table(content: bytes, where: str, part: str | None) -> pd.DataFrame:
        text = checked(content, where)
        return parse_table(text, ending_by_content(text, suffix, where), where)

    # Bytes, since a matrix may be larger than all else: it is decoded piece by piece.
    return Format(
        f"a table ({suffix})", matrix, table, table, (suffix,), binary=True, either_way=True
    )


TABLES = {suffix: table_format(suffix) for suffix in DELIMITERS}
