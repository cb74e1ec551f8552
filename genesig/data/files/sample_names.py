"""Find the column of a sample table that has the names of the matrix's samples; check these names.

The rows that an SDRF file has for one sample, its raw files or runs, become one row. An axis is the
rows or the columns of a matrix; either may be the samples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from genesig.data.files.delimited import TextTable
from genesig.data.files.layouts import axes_of, changed_name_advice, is_id_header, r_name
from genesig.data.files.table_shape import name_of_sample
from genesig.errors import InvalidInput, Problem, did_you_mean
from genesig.words import counted, further_text, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

    from genesig.data.files.delimited import Matrix

SAMPLE_NAMES_SETTING = "data.sample_names"
# Headers that usually hold names of samples; they decide between columns with equally many names.
USUAL_HEADER = re.compile(
    r".*(sample|assay|hybridi[sz]ation|array|library|run|barcode|aliquot|accession|title).*",
    re.IGNORECASE,
)
# Separators of the words of a cell such as "S01: tumour" or "RNA-seq of S01 [rep 2]".
BETWEEN_WORDS = re.compile(r"[\s,;:=|/()\[\]{}\"']+")
# Separators within words such as "tumour_S01_rep2".
WITHIN_WORDS = re.compile(r"[\W_]+")
# Endings of files that are named after their sample, such as S01.CEL or S01.fastq.gz.
FILE_ENDING = re.compile(
    r"\.(cel|idat|txt|tsv|csv|bam|fastq|fq|counts?)(\.gz)?$|\.gz$", re.IGNORECASE
)
# Between a patient's name and the rest of the sample's name, such as TCGA-AB-1234-01.
SEPARATORS = "-._: "
TCGA_TISSUE = re.compile(r"TCGA[-.]\w{2}[-.]\w{4}[-.](\d)\d", re.IGNORECASE)
"""The start of a TCGA barcode; the digit is 0 for tumours, 1 for normal tissue."""
MAX_ABSENT_SHARE = 1 / 3  # share of the samples of a table that may be absent from the matrix
ON_ITS_SIDE = "samples_in_columns"  # code of the error that a sample table has samples in columns
TWO_HEADERS = "two_headers"
"""Code of the problems of a second row of headers; as an error no column has its right name."""
MIN_SAMPLES_IN_HEADER = 3  # names of samples from which on a header may have them all
MAX_SAMPLES = 20_000  # names of an axis that may be samples; a longer axis has genes


@dataclass(frozen=True)
class NameColumn:
    """A column of the sample table, and the names of the matrix that its cells stand for."""

    name: str  # header of the column
    position: int  # 0 is the first column of the file, the index of the table
    names: Mapping[int, str]  # row of the table -> name in the matrix
    manner: str = ""  # key of `READING_BY_MANNER`; '' if the cells are the names themselves

    @property
    def n_names(self) -> int:
        """Number of different names of the matrix."""
        return len(set(self.names.values()))


Axes = tuple[Sequence[str], Sequence[str]]  # names of the columns and of the rows of a matrix
# takes the cells of a column and the names of an axis; returns row -> name that the cell stands for
Reading = Callable[[Sequence[str], frozenset[str]], dict[int, str]]


def with_matrix_names(
    table: TextTable, axes: Axes, sample_file: str, column: str | None, problems: list[Problem]
) -> TextTable:
    """Return the sample table indexed by the names that the matrix has for its samples.

    The first column is taken if the matrix has at least half of its names; else the one column of
    which it has most. Its cells may be the names themselves, hold them among other words, begin
    with them, or be the beginnings of names. Nothing is changed where no column names half of the
    samples. The rows of a sample in an SDRF file become one row, see `merge_sdrf_rows`.

    table: index = first column of the file.
    axes (column names, row names) of the matrix.
    sample_file: file of the sample table.
    column: ``data.sample_names``: the column of the names, whatever its cells; None looks for it.
    problems: a note or a warning names the column that was chosen; an error says why none could be,
        `ON_ITS_SIDE` if the header has the samples, `TWO_HEADERS` if the second row is the header.
    """
    cells = _index_by_names(table.cells, axes, sample_file, column, problems)
    table = _without_second_header(table.with_cells(cells), axes, sample_file, problems)
    return merge_sdrf_rows(table, sample_file, problems)


def has_other_header(problems: Sequence[Problem]) -> bool:
    """Tell whether an error says that the first line of a sample table is not its header."""
    codes = {problem.code for problem in problems if problem.level == "error"}
    return not codes.isdisjoint([ON_ITS_SIDE, TWO_HEADERS])


def _without_second_header(
    table: TextTable, axes: Axes, sample_file: str, problems: list[Problem]
) -> TextTable:
    """Return the table without a first row of units or descriptions, which a warning names.

    It is an error if that row is the header, below a line of headings with blanks or repeats.
    """
    cells = table.cells
    names = list(map(str, cells.index))
    n_measured = max(len(set(names[1:]).intersection(axis)) for axis in axes)
    # The first row is no sample, and half of the others are.
    if len(names) < 3 or 2 * n_measured < len(names) or any(names[0] in axis for axis in axes):
        return table
    first_row = [str(cell).strip() for cell in cells.iloc[0]]
    words = [word for word in first_row if word]
    if not words or any(is_number(word) or is_missing(word) for word in words):
        return table
    other_cells = [[str(cell).strip() for cell in column[1:]] for _, column in cells.items()]
    is_repeated = any(word in column for word, column in zip(first_row, other_cells, strict=True))
    # Columns of numbers or of few words, of which a word of the first row is none.
    has_values = any(
        word and (all(map(is_number, filter(None, column))) or 2 * len(set(column)) < len(column))
        for word, column in zip(first_row, other_cells, strict=True)
    )
    if is_repeated or not has_values:
        return table
    line_location = f"{sample_file}, line {(table.lines or [2])[0]}"  # line 1 is the header
    headings = list(map(str, cells.columns))
    header_words = listing(filter(None, [names[0], *words]))
    if "" in headings or len(set(headings)) < len(headings):
        message = f"is the header ({header_words}) below a line of headings; take the headings out"
        problems.append(Problem(line_location, message, code=TWO_HEADERS))
    else:
        message = f"a second line of headers, so left out: {header_words}"
        problems.append(Problem(line_location, message, "warning", code=TWO_HEADERS))
    return table.select([row > 0 for row in range(len(names))])


def _index_by_names(
    table: pd.DataFrame, axes: Axes, sample_file: str, column: str | None, problems: list[Problem]
) -> pd.DataFrame:
    """Return the table, all rows, indexed by the column that `with_matrix_names` describes."""
    headers = [str(table.index.name), *map(str, table.columns)]
    if column is not None and headers.count(column) != 1:
        message = _missing_column_message(column, headers, sample_file)
        problems.append(Problem(sample_file, message, code="no_column"))
        return table
    if column is None:
        if _first_column_suffices(table, axes):
            return table
        candidates = list(range(len(headers)))
    else:
        candidates = [headers.index(column)]
    for manner, reading in READING_BY_MANNER.items():
        matches = [
            match
            for position in candidates
            for match in _matching_columns(
                table, headers[position], position, axes, manner, reading
            )
        ]
        if not matches:
            continue
        name_column = _choose_column(matches, sample_file, problems)
        if name_column is None:
            return table
        return _index_by_match(table, name_column, axes, sample_file, problems, column)
    if column is not None:
        return _index_by_column(table, headers.index(column))
    axis = max(axes, key=lambda side: len(set(headers).intersection(side)))
    n_samples = len(set(headers).intersection(axis))
    if n_samples >= max(MIN_SAMPLES_IN_HEADER, len(axis) / 2):
        message = (
            f"has the samples in columns ({n_samples} names of the matrix); transpose it, so that "
            "each sample is one row"
        )
        problems.append(Problem(sample_file, message, code=ON_ITS_SIDE))
    return table


def table_of_matrix(
    table: TextTable, matrix: Matrix, sample_file: str
) -> tuple[TextTable, list[Problem]]:
    """Return a sample table indexed by the names of its matrix, and the problems (notes, warnings).

    Raises InvalidInput: two columns name the samples in different ways, the samples are in columns
        (`ON_ITS_SIDE`), or the second row is the header (`TWO_HEADERS`).
    """
    problems: list[Problem] = []
    table = with_matrix_names(table, axes_of(matrix), sample_file, None, problems)
    if any(problem.level == "error" for problem in problems):
        raise InvalidInput(problems)
    return table, problems


def without_absent(
    table: TextTable, matrix: Matrix, sample_file: str, matrix_file: str, problems: list[Problem]
) -> tuple[TextTable, list[dict[str, str]]]:
    """Return the sample table without the samples that the matrix lacks, and notes on these.

    Clinical tables list patients who were not measured. Nothing is left out if these are more than
    a third, unless the table has every sample of the matrix, by names that are no mere numbers; if
    one is the header of the first column; or if their names are in the matrix with another letter
    or as a program changes names.

    table: index = names that the matrix has for its samples.
    sample_file, matrix_file: files of the sample table and of the matrix.
    problems: a warning names the samples that are left out.

    Returns table; notes: {kind, name, reason} of each sample that is left out.
    """
    names = list(map(str, table.cells.index))
    axes = (matrix.columns, matrix.rows)
    axis = max(axes, key=lambda side: len(set(names).intersection(side)))
    measured = set(axis)
    absent = list(dict.fromkeys(name for name in names if name not in measured))
    listed = set(names)
    unlisted = [name for name in axis if name not in listed]
    on_both = any(listed.intersection(side) for side in axes if side is not axis)
    # Numbers may be ids of genes by chance.
    has_all_samples = all(map(is_id_header, unlisted)) and not all(map(str.isdigit, axis))
    max_absent = len(names) if has_all_samples else MAX_ABSENT_SHARE * len(names)
    if on_both or not 0 < len(absent) <= max_absent or "" in absent:
        return table, []
    any_misspelt = any(
        _differs_in_a_letter(name, unlisted_name) for name in absent for unlisted_name in unlisted
    )
    if (
        any_misspelt
        or matrix.corner in absent
        or (unlisted and changed_name_advice(absent, unlisted))
    ):
        return table, []
    message = (
        f"{len(absent)} of the {counted(len(names), 'sample')} not in {matrix_file}, so left out: "
        f"{listing(absent)}"
    )
    if not _names_by_beginning(absent[:1], unlisted):  # of several specimens none is meant
        message += did_you_mean(absent[0], unlisted)
    problems.append(Problem(sample_file, message, "warning", code="samples_not_measured"))
    return table.select([name in measured for name in names]), [
        {"kind": "sample", "name": name, "reason": f"not in {matrix_file}"}
        for name in sorted(absent)
    ]


def _differs_in_a_letter(name: str, other_name: str) -> bool:
    """Tell whether two names differ in one letter, by a slip; other digits are other samples."""
    differing_letters = [pair for pair in zip(name, other_name, strict=False) if pair[0] != pair[1]]
    return (
        len(name) == len(other_name)
        and len(differing_letters) == 1
        and all(map(str.isalpha, differing_letters[0]))
    )


def _missing_column_message(column: str, headers: Sequence[str], sample_file: str) -> str:
    """Return the message that the column of `data.sample_names` does not exist, or exists twice."""
    if column in headers:
        repeated = f"{SAMPLE_NAMES_SETTING}: column '{column}' occurs more than once"
        return f"{repeated}; give each its own name"
    columns = listing(filter(None, headers), max_names=12)
    advice = did_you_mean(column, headers) or f" (columns: {columns})"
    return f"{SAMPLE_NAMES_SETTING} '{column}' is not a column of {sample_file}{advice}"


def _first_column_suffices(table: pd.DataFrame, axes: Axes) -> bool:
    """Tell whether the matrix has half of the names of the first column.

    Numbers that count the rows, as pandas and R write them, may be ids of genes by chance: then no
    other column may have more names of the matrix, or as many where the first has no header.
    """
    cells = {str(cell) for cell in table.index}
    n_present, are_half = _count_present_names(cells, axes)
    if are_half and all(map(str.isdigit, cells)):
        columns = ({str(cell) for cell in table.iloc[:, k]} for k in range(table.shape[1]))
        n_elsewhere = max((_count_present_names(column, axes)[0] for column in columns), default=0)
        return n_elsewhere < n_present or (n_elsewhere == n_present and bool(table.index.name))
    return are_half


def _count_present_names(cells: set[str], axes: Axes) -> tuple[int, bool]:
    """Return the larger number of names that the cells share with an axis, and whether half do.

    It is half of the cells or of the names of an axis, the smaller of both numbers.
    """
    n_shared = [len(cells & set(axis)) for axis in axes]
    are_half = (2 * n >= min(len(cells), len(axis)) for n, axis in zip(n_shared, axes, strict=True))
    return max(n_shared), any(are_half)


def _exact_names(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> cell of the cells that are names of the matrix."""
    return {row: cell for row, cell in enumerate(cells) if cell in axis}


def _names_of_files(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the name of the matrix that the file in the cell is named after: S01.CEL.gz."""
    file_names = (cell.rpartition("/")[2] for cell in cells)
    names = enumerate(FILE_ENDING.sub("", file_name) for file_name in file_names)
    return {row: name for row, name in names if name in axis}


def _names_among_words(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the name of the matrix among the words of the cell, if there is just one.

    A word may be the path of the sample's file. Words are split at _, - and . only if no whole word
    is a name.
    """
    names: dict[int, str] = {}
    for row, cell in enumerate(cells):
        words = BETWEEN_WORDS.split(cell)
        # A path, which blanks alone end, of a counter's file: S01/quant.sf or S01.htseq.counts.txt.
        words += [name_of_sample(word) for word in cell.split() if "." in word]
        # A path of any other file: runs/S01.fastq.gz.
        words += [FILE_ENDING.sub("", word.rpartition("/")[2]) for word in cell.split()]
        names_in_cell = axis.intersection(words) or axis.intersection(WITHIN_WORDS.split(cell))
        if len(names_in_cell) == 1:
            names[row] = next(iter(names_in_cell))
    return names


def _names_with_beginnings(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the one name of the matrix that begins with the cell and a separator."""
    continued = _names_by_beginning(cells, axis)
    return {
        row: next(iter(continued[cell]))
        for row, cell in enumerate(cells)
        if len(continued.get(cell, ())) == 1
    }


def _names_that_cells_continue(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the name of the matrix with which the cell begins, if no other cell does."""
    continued = _names_by_beginning(list(axis), set(cells))
    name_of_cell = {min(longer): name for name, longer in continued.items() if len(longer) == 1}
    return {row: name_of_cell[cell] for row, cell in enumerate(cells) if cell in name_of_cell}


def _names_by_beginning(cells: Sequence[str], axis: Iterable[str]) -> dict[str, set[str]]:
    """Return cell -> names of the matrix that begin with the cell and a separator."""
    beginnings = frozenset(filter(None, cells))
    continued: dict[str, set[str]] = {}
    for name in axis:
        for place, letter in enumerate(name):
            if letter in SEPARATORS and name[:place] in beginnings:
                continued.setdefault(name[:place], set()).add(name)
    return continued


def _names_around_cells(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the one name of the matrix that has the cell among its words.

    Programs write more around the name of a sample: "[1] S01.raw.PG.Quantity" of Spectronaut,
    "Abundance: F1: Sample, S01" of Proteome Discoverer, "LFQ intensity S01" of MaxQuant.
    """
    searched = {cell for cell in cells if not cell.isdigit()}
    names_of_word: dict[str, set[str]] = {}
    for name in axis:
        for word in searched.intersection(_words_of_name(name)):
            names_of_word.setdefault(word, set()).add(name)
    return {
        row: next(iter(names_of_word[cell]))
        for row, cell in enumerate(cells)
        if len(names_of_word.get(cell, ())) == 1
    }


def _words_of_name(name: str) -> set[str]:
    """Return the words of a name, and the beginnings of its words up to a separator."""
    words = set(BETWEEN_WORDS.split(name))
    beginnings = {
        word[:position]
        for word in words
        for position, letter in enumerate(word)
        if letter in SEPARATORS
    }
    return words | beginnings | set(WITHIN_WORDS.split(name))


def _names_as_r_writes(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the name of the matrix that R's make.names makes of the cell."""
    names = enumerate(map(r_name, cells))
    return {row: name for row, name in names if name in axis and not cells[row].isdigit()}


def _beginnings_as_r_writes(cells: Sequence[str], axis: frozenset[str]) -> dict[int, str]:
    """Return row -> the one name of the matrix that begins with make.names of the cell."""
    names = _names_with_beginnings([r_name(cell) if cell else "" for cell in cells], axis)
    return {row: name for row, name in names.items() if not cells[row].isdigit()}


FILE_OF_SAMPLE = "is the file of '{}' in the matrix"
# Manner in which a cell may have a name of the matrix, as messages write it -> function that reads
# it so; tried in this order. '' is the name itself.
READING_BY_MANNER: dict[str, Reading] = {
    "": _exact_names,
    FILE_OF_SAMPLE: _names_of_files,
    "holds the name '{}' of the matrix among other words": _names_among_words,
    "is '{}' in the matrix, as R writes names": _names_as_r_writes,
    "is the beginning of the name '{}' in the matrix": _names_with_beginnings,
    "is, as R writes names, the beginning of '{}' in the matrix": _beginnings_as_r_writes,
    "is a word of the name '{}' in the matrix": _names_around_cells,
    "begins with the name '{}' of the matrix": _names_that_cells_continue,
}


def _matching_columns(
    table: pd.DataFrame, name: str, position: int, axes: Axes, manner: str, reading: Reading
) -> Iterator[NameColumn]:
    """Yield a column, once for each axis of which it names half, or that has half of its cells.

    name, position: header of the column; 0 is the index, 1 the first other one. manner, reading:
    item of `READING_BY_MANNER`.

    Numbers may be ids of genes by chance: they must be half of the names of the matrix.
    """
    cells = [str(cell).strip() for cell in _cells_of_column(table, position)]
    for axis in axes:
        if manner and len(axis) > MAX_SAMPLES:
            continue
        names = reading(cells, frozenset(axis))
        match = NameColumn(name, position, names, manner)
        if manner and match.n_names < len(names):
            continue  # one sample of the matrix for two rows
        are_digits = all(map(str.isdigit, names.values()))
        needed = len(axis) if are_digits else min(len(cells), len(axis))
        if names and 2 * match.n_names >= needed:
            yield match


def _choose_column(
    matches: list[NameColumn], sample_file: str, problems: list[Problem]
) -> NameColumn | None:
    """Return the column with most names; None, with an error, if two as good name other rows."""

    def rank(match: NameColumn) -> tuple[int, bool, bool]:
        """Return a sort key: number of names, whether each occurs once, whether usual."""
        is_unique = match.n_names == len(match.names)
        return match.n_names, is_unique, USUAL_HEADER.fullmatch(match.name) is not None

    highest = max(map(rank, matches))
    leading = [match for match in matches if rank(match) == highest]
    different_columns = [match for match in leading if match.names != leading[0].names]
    if different_columns:
        pair = listing([leading[0].name, different_columns[0].name])
        message = (
            f"columns {pair} name the same samples of the matrix in different rows; say which is "
            f"meant: {SAMPLE_NAMES_SETTING}"
        )
        code = "sample_names_unclear"
        problems.append(Problem(sample_file, message, code=code, key=SAMPLE_NAMES_SETTING))
        return None
    return leading[0]


def _index_by_match(
    table: pd.DataFrame,
    name_column: NameColumn,
    axes: Axes,
    sample_file: str,
    problems: list[Problem],
    column: str | None,
) -> pd.DataFrame:
    """Return the table indexed by the names of a matching column; append a note on the column.

    column: ``data.sample_names``; None if the column was looked for.
    """
    cells = [str(cell).strip() for cell in _cells_of_column(table, name_column.position)]
    names = [name_column.names.get(row, cell) for row, cell in enumerate(cells)]
    header = f"column '{name_column.name}'" if name_column.name else "first column"
    place = f"{sample_file}, {header}"
    n_rows = f"{len(name_column.names)} of {counted(len(table), 'row')}"
    if name_column.manner:
        row = next(iter(name_column.names))
        reading = name_column.manner.format(name_column.names[row])
        message = (
            f"read as sample names ({n_rows}), though no column has those of the matrix: the cell "
            f"'{cells[row]}' {reading}; if that is wrong, write the names alike in both"
        )
        message += _describe_ambiguous_cell(
            [cell for row, cell in enumerate(cells) if row not in name_column.names], axes
        )
        is_certain = name_column.manner == FILE_OF_SAMPLE and len(name_column.names) == len(cells)
        level: Literal["note", "warning"] = "note" if is_certain else "warning"
        problems.append(
            Problem(place, message, level, "sample_names_similar", SAMPLE_NAMES_SETTING)
        )
    elif column is None:
        first_column = f"column '{table.index.name}'" if table.index.name else "the first column"
        message = (
            f"read as sample names ({n_rows} are in the matrix), and not {first_column}; name "
            f"another by {SAMPLE_NAMES_SETTING}"
        )
        problems.append(
            Problem(place, message, "note", "sample_names_column", SAMPLE_NAMES_SETTING)
        )
    return _index_by_column(table, name_column.position, names if name_column.manner else None)


def _describe_ambiguous_cell(cells: Sequence[str], axes: Axes) -> str:
    """Return which names of the matrix begin with one of the cells, if several do; '' if none."""
    for axis in axes:
        for cell, names in _names_by_beginning(cells, axis).items():
            if len(names) > 1:
                tissues = {match[1] for match in map(TCGA_TISSUE.match, names) if match}
                codes = " (of TCGA 01 is the tumour, 11 normal tissue)" if len(tissues) > 1 else ""
                names_text = listing(sorted(names))
                return (
                    f"; '{cell}' is the beginning of {names_text}{codes}: write the sample's name"
                )
    return ""


def _cells_of_column(table: pd.DataFrame, position: int) -> Sequence[str]:
    """Return the cells of a column; position 0 is the index."""
    return list(table.index if position == 0 else table.iloc[:, position - 1])


def _index_by_column(
    table: pd.DataFrame, position: int, names: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return the table indexed by a column, or by `names` for its cells, which then stay a column.

    position: as for `_cells_of_column`. The previous index becomes an ordinary column if it has a
    name.
    """
    import pandas as pd

    if position == 0 and names is None:
        return table
    if names is None:
        header = str(table.columns[position - 1])
    else:
        header = "" if "sample" in [table.index.name, *table.columns] else "sample"
    cells = list(_cells_of_column(table, position) if names is None else names)
    index = pd.Index(np.array(cells, dtype=object), name=header)
    first_header = str(table.index.name or "")
    columns = table.set_axis(index)
    if names is None:
        columns = columns.iloc[:, [k for k in range(table.shape[1]) if k != position - 1]]
    if first_header and first_header not in columns.columns:
        columns.insert(0, first_header, list(table.index))
    return columns


# Headers of an SDRF file (MAGE-TAB), which describes samples and the runs of each.
SDRF_HEADER = re.compile(r"source name|(characteristics|factor ?value) ?\[.*\]", re.IGNORECASE)
ROWS_MARK = "(lines"  # behind the name of a column whose cells differ between rows of a sample


def merge_sdrf_rows(table: TextTable, file: str, problems: list[Problem]) -> TextTable:
    """Return an SDRF table with one row for each sample; other tables are unchanged.

    A column whose cells differ between the rows of a sample gets both cells, "1.fastq; 2.fastq",
    and the lines behind its name, ``Scan Name (lines 2 and 3 differ)``. A setting must name it so:
    of two colours, "case; reference" may be the class of a sample.

    table: index = names of samples.
    file: file of the table.
    problems: a note says how many samples have several rows.
    """
    cells_of_table = table.cells
    headers = [str(cells_of_table.index.name), *map(str, cells_of_table.columns)]
    names = list(map(str, cells_of_table.index))
    if len(set(names)) == len(names) or not any(map(SDRF_HEADER.fullmatch, headers)):
        return table
    lines = table.lines or range(2, len(names) + 2)
    rows_of_sample: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        # A blank name stands for itself: `check_ids` reports it.
        rows_of_sample.setdefault(name or f"\0{row}", []).append(row)
    first_rows = [rows[0] for rows in rows_of_sample.values()]
    merged = cells_of_table.iloc[first_rows].copy()
    merged_headers = headers[1:]
    differing_headers = []
    for position, header in enumerate(merged_headers):
        cells = list(map(str, cells_of_table.iloc[:, position]))
        differing_rows = [
            (rows[0], row)
            for rows in rows_of_sample.values()
            for row in rows
            if cells[row] != cells[rows[0]]
        ]
        if not differing_rows:
            continue
        first_row, other_row = differing_rows[0]
        differing_headers.append(header)
        mark = f"{ROWS_MARK} {lines[first_row]} and {lines[other_row]} differ)"
        merged_headers[position] = f"{header} {mark}"
        joined_cells = [
            "; ".join(sorted({cells[row] for row in rows})) for rows in rows_of_sample.values()
        ]
        merged.isetitem(position, joined_cells)
    merged.columns = merged_headers
    n_merged = sum(len(rows) > 1 for rows in rows_of_sample.values())
    message = f"{counted(n_merged, 'sample')} with several rows, read as one row each"
    if differing_headers:
        message += f"; columns that differ between them: {listing(differing_headers)}"
    problems.append(Problem(file, message, "note", "rows_merged"))
    return replace(table, cells=merged, lines=[lines[row] for row in first_rows])


FAULTY_IDS = "sample_ids"  # code of the problems of blank and repeated sample names


def values_as_names_fault(names: Sequence[str], column: str) -> str:
    """Return the message that sample names are measured values: most have decimals, one a minus.

    '' if they are not. column: header of the first column, of the names.
    """
    decimals = [name for name in names if "." in name and is_number(name)]
    if 2 * len(decimals) <= len(names) or not any(float(name) < 0 for name in decimals):
        return ""
    return (
        f"the first column ('{column}') has values such as {decimals[0]}, and no sample names; put "
        "a column of names before it"
    )


def check_ids(table: TextTable, file: str, problems: list[Problem]) -> None:
    """Append a problem for values as sample names, for blank and for repeated sample names."""
    names = list(map(str, table.cells.index))
    if message := values_as_names_fault(names, str(table.cells.index.name)):
        problems.append(Problem(file, message, code=FAULTY_IDS))
        return
    first_row: dict[str, int] = {}
    blank_rows = list[int]()
    repeated_rows = list[int]()
    for row, name in enumerate(names):
        if not name:
            blank_rows.append(row)
        elif name in first_row:
            repeated_rows.append(row)
        else:
            first_row[name] = row
    if blank_rows:
        message = f"the sample name (column '{table.cells.index.name}') is blank"
        line_location = f"{file}, line {table.lines[blank_rows[0]]}"
        message += further_text(len(blank_rows) - 1, "line")
        problems.append(Problem(line_location, message, code=FAULTY_IDS))
    if repeated_rows:
        name = str(table.cells.index[repeated_rows[0]])
        message = (
            f"sample '{name}' is already on line "
            f"{table.lines[first_row[name]]}{further_text(len(repeated_rows) - 1, 'line')}; "
            "each sample needs one row and a name of its own"
        )
        line_location = f"{file}, line {table.lines[repeated_rows[0]]}"
        problems.append(Problem(line_location, message, code=FAULTY_IDS))
