"""Plain tables with tabs, commas, semicolons or spaces, and signs of thousands in their numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

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
from genesig.data.files.layouts import name_rows_by_words, refuse_values_as_ids, without_annotation
from genesig.data.files.table_shape import (
    add_header,
    counts_of_sample,
    find_count_column,
    lacks_header,
    refuse_long_table,
    split_opening,
)
from genesig.errors import input_error
from genesig.words import counted

ROWS_PER_BLOCK = 1000  # rows of a block; the first one mostly shows that points are decimal
# Points are of thousands if whole numbers have this share of all numbers; of values with three
# decimals one in a thousand is whole.
MIN_WHOLE_SHARE = 0.05
# Fewer different whole numbers may stand for missing values, as -999 does.
MIN_DIFFERENT_NUMBERS = 10
# Values lie on both sides of a thousand: the largest whole number just below it, the smallest
# "fraction", such as 1.234, just above it.
MIN_LARGEST_WHOLE = 500
MAX_SMALLEST_FRACTION = 2
# Share of the fractions with a third digit that is not 0; nine in ten if points are of thousands.
MIN_THIRD_DIGIT_SHARE = 0.8
# A number in which a comma is not decimal, unless three digits behind it are all: 1,365 or 1,365.2.
NUMBER_WITH_COMMAS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


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
            parsed = select_numbers(parse_matrix(content, ending, file_name))
            refuse_values_as_ids(parsed, file_name)
            parsed = name_rows_by_words(parsed)
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


def without_commas(matrix: Matrix) -> Matrix:
    """Return a matrix with numbers such as '1,365' read as 1365, if commas are those of thousands.

    They are if all numbers without a comma are below 1000 and many, some near it, and the others
    begin just above. Else '1,365' may be 1.365, and the matrix is returned as it is.
    """
    text_of_place = {  # place: a key of `Matrix.texts`
        place: text.strip()
        for place, text in matrix.texts.items()
        if "," in text and text.strip()[:1] in "+-0123456789"
    }
    if not text_of_place or not all(map(NUMBER_WITH_COMMAS.fullmatch, text_of_place.values())):
        return matrix
    number_of_place = {place: float(text.replace(",", "")) for place, text in text_of_place.items()}
    plain_numbers = np.unique(np.abs(matrix.cells[np.isfinite(matrix.cells)]))
    if (
        len(plain_numbers) < MIN_DIFFERENT_NUMBERS
        or not MIN_LARGEST_WHOLE <= plain_numbers[-1] < 1000
        or min(map(abs, number_of_place.values())) >= 1000 * MAX_SMALLEST_FRACTION
    ):
        return matrix
    cells = matrix.cells.copy()
    for (row, column), number in number_of_place.items():
        cells[(column, row) if matrix.transposed else (row, column)] = number
    texts = {place: text for place, text in matrix.texts.items() if place not in number_of_place}
    example = next(iter(text_of_place.values()))
    doubt = (
        f"commas are taken for those of thousands in {counted(len(text_of_place), 'cell')}: "
        f"'{example}' is read as {example.replace(',', '')}"
    )
    return replace(matrix, cells=cells, texts=texts).with_doubt(doubt)


def check_points(matrix: Matrix, file_name: str) -> None:
    """Raise InvalidInput for a table whose decimal points all look like points of thousands.

    In such a table numbers below 1000 are whole, and all others have three digits behind the point.
    In a table of measured values one of these is rare: with three decimals few numbers are whole
    (`MIN_WHOLE_SHARE`), with four digits the third decimal is often 0 (`MIN_THIRD_DIGIT_SHARE`).
    """
    cells = matrix.cells
    n_whole = 0
    n_third_digits = 0
    n_numbers = 0
    example = 0.0
    whole_numbers = set[float]()
    smallest_fraction = np.inf
    for start in range(0, len(cells), ROWS_PER_BLOCK):
        magnitudes = np.abs(cells[start : start + ROWS_PER_BLOCK])
        magnitudes = magnitudes[np.isfinite(magnitudes)]
        fractions = magnitudes[magnitudes % 1 > 0]
        thousands = np.rint(1000 * fractions)
        # Blocks end the search early, as one such number shows that points are decimal.
        if (
            (magnitudes >= 1000).any()
            or (fractions < 1).any()
            or (thousands / 1000 != fractions).any()
        ):
            return
        n_numbers += len(magnitudes)
        n_whole += len(magnitudes) - len(fractions)
        n_third_digits += int((thousands % 10 > 0).sum())
        smallest_fraction = min(smallest_fraction, fractions.min(initial=np.inf))
        whole_numbers |= {*np.unique(magnitudes[magnitudes % 1 == 0]).tolist()}
        example = example or float(fractions.max(initial=0.0))
    is_varied = (
        len(whole_numbers) >= MIN_DIFFERENT_NUMBERS
        and max(whole_numbers) >= MIN_LARGEST_WHOLE
        and smallest_fraction < MAX_SMALLEST_FRACTION
    )
    if (
        is_varied
        and n_whole >= MIN_WHOLE_SHARE * n_numbers
        and n_third_digits > MIN_THIRD_DIGIT_SHARE * (n_numbers - n_whole)
    ):
        message = (
            f"{example:.3f} and every number with a point looks like one of thousands "
            f"({1000 * example:.0f}): three digits stand behind it, and the others are below "
        )
        raise input_error(file_name, f"{message}1000; export the table without such points")
