"""Plain tables with tabs, commas, semicolons or spaces, perhaps below comments and titles."""

from __future__ import annotations

from genesig.data.files.delimited import (
    DELIMITERS,
    Matrix,
    TextTable,
    choose_ending,
    parse_matrix,
    parse_table,
)
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import check_text
from genesig.data.files.headers import select_numbers
from genesig.data.files.layouts import name_rows_by_words, without_annotation
from genesig.data.files.table_shape import (
    add_header,
    counts_of_sample,
    find_count_column,
    lacks_header,
    refuse_long_table,
    split_opening,
)
from genesig.data.files.thousands import check_points, without_commas


def table_format(suffix: str) -> Format:
    """Return the format of tables with this ending, a key of `DELIMITERS`; they have no parts."""

    def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
        check_text(content, file_name)
        ending = choose_ending(content, suffix, file_name)
        opening = split_opening(content, ending, file_name)
        refuse_long_table(opening, file_name)
        if lacks_header(opening, file_name):
            # The added header counts as line 0, so that the first gene is on line 1 of the file.
            parsed = parse_matrix(
                add_header(content, opening, file_name), ending, file_name, first_line=0
            )
        else:
            parsed = name_rows_by_words(select_numbers(parse_matrix(content, ending, file_name)))
        parsed = without_annotation(parsed, file_name)
        if (column := find_count_column(parsed.columns)) is not None:
            parsed = counts_of_sample(parsed, column, file_name)
        parsed = without_commas(parsed)
        check_points(parsed, file_name)
        return parsed

    def table(content: bytes, file_name: str, part: str | None) -> TextTable:
        check_text(content, file_name)
        return parse_table(content, choose_ending(content, suffix, file_name), file_name)

    # Bytes, since a matrix may be larger than all else: it is decoded piece by piece.
    return Format(
        f"a table ({suffix})",
        matrix,
        samples=table,
        genes=table,
        suffixes=(suffix,),
        binary=True,
        either_way=True,
    )


TABLES = {suffix: table_format(suffix) for suffix in DELIMITERS}
