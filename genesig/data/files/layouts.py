"""Find the samples of a matrix: its orientation, annotation columns, changed names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.columns import MAX_CLASSES, MIN_CLASS_SAMPLES, is_clinical
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import GENE_ID, MAX_REPEATED_SHARE, converted_names
from genesig.data.files.gmt import NamedSet
from genesig.data.files.headers import choose_header
from genesig.data.files.non_gene_kinds import GENE_COLUMN_NAME
from genesig.data.files.table_shape import GENE_HEADER, SAMPLE_HEADER
from genesig.errors import Problem, did_you_mean, input_error
from genesig.words import is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

SYMBOL_HEADERS = (
    "genename",
    "genesymbol",
    "symbol",
    "hgncsymbol",
    "hugosymbol",
    "externalgenename",
)
ANNOTATION_HEADERS = {
    *SYMBOL_HEADERS,
    "genebiotype",
    "biotype",
    "genetype",
    "description",
    "genedescription",
}
"""Headers of columns of words beside the ids, letters alone (nf-core, DESeq2, biomaRt)."""
POSITION_HEADERS = {"chr", "chromosome", "start", "end", "strand", "length"}
"""Headers of featureCounts; they count as annotation if three or more of them are present."""
# Headers of columns of marks, letters alone: of MaxQuant, Perseus, Spectronaut and others.
MARK_HEADER = re.compile(r"(pg)?(is)?(reverse|decoy|(potential)?contaminant|onlyidentifiedbysite)")
MARKS = {"+", "true", "yes", "1"}
NO_MARKS = {"", "-", "false", "no", "0", "nan"}
MIN_NUMBERED_ROWS = 5  # rows from which on names 0, 1, 2, ... are row numbers and no ids.
MIN_SAMPLES_BESIDE_TESTS = 4  # columns of values from which on a table of tests has samples, too
# Program -> columns that its tables of test results have, and their further columns, lower case.
TEST_RESULT_HEADERS = {
    "DESeq2": ({"basemean", "log2foldchange"}, {"lfcse", "stat", "pvalue", "padj", "svalue"}),
    "edgeR": ({"logfc", "logcpm"}, {"f", "lr", "pvalue", "fdr", "unshrunk.logfc"}),
    "limma": ({"logfc", "aveexpr"}, {"t", "p.value", "adj.p.val", "b", "ci.l", "ci.r"}),
}


def refuse_values_as_ids(matrix: Matrix, file_name: str) -> None:
    """Raise InvalidInput if samples stand before the gene ids, as Perseus writes them."""
    n = len(matrix.rows)
    for k, name in enumerate(matrix.columns if _has_values_first(matrix) else ()):
        if is_id_header(name) and 2 * sum(matrix.text(r, k)[:1].isalpha() for r in range(n)) > n:
            raise input_error(file_name, _message_without_ids(matrix.corner, [name]))


def axes_of(matrix: Matrix) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of the columns and of the rows; values first have a sample's header, too."""
    headers = [matrix.corner] if _has_values_first(matrix) else []
    return [*headers, *matrix.columns], matrix.rows


def _has_values_first(matrix: Matrix) -> bool:
    """Tell whether the first column has decimals, and a header as of samples behind it.

    Such headers differ in their numbers or last words alone. The decimals may still be ids, such as
    masses under V1 beside the samples V2 and V3.
    """
    form, *forms = (re.sub(r"(?<=\w )\S+$|\d+", "0", s) for s in (matrix.corner, *matrix.columns))
    if form == matrix.corner or forms.count(form) < MIN_CLASS_SAMPLES:
        return False
    names = [name for name in matrix.rows if not is_missing(name)]
    return 2 * sum("." in name and is_number(name) for name in names) > len(names)


def is_id_header(name: str) -> bool:
    """Tell whether a column is called as gene ids are; Perseus puts "T: " before texts."""
    return GENE_COLUMN_NAME.fullmatch(re.sub(r"^T: |[\W_]+", "", name)) is not None


def name_rows_by_words(matrix: Matrix) -> Matrix:
    """Return a matrix named by its first column of words, if its names count the rows or repeat.

    Columns that count the rows again, as pandas writes after a second reading, are left out. The
    matrix lies as in its file, and is unchanged if it has no such column.
    """
    n = len(matrix.rows)
    if n >= MIN_NUMBERED_ROWS and len(set(matrix.rows)) < (1 - MAX_REPEATED_SHARE) * n:
        return _name_rows_by_distinct_words(matrix)
    if n < MIN_NUMBERED_ROWS or matrix.rows not in (
        tuple(map(str, range(n))),
        tuple(map(str, range(1, n + 1))),
    ):
        return matrix
    column = 0
    while column < len(matrix.columns) and (np.diff(matrix.cells[:, column]) == 1).all():
        column += 1
    if column == len(matrix.columns) or np.isfinite(matrix.cells[:, column]).any():
        return matrix
    names = [matrix.text(row, column).strip() for row in range(n)]
    if len(set(names)) < n / 2:
        return matrix
    doubt = f"the first column counts the rows; they are named by column '{matrix.columns[column]}'"
    values = matrix.subset(range(n), range(column + 1, len(matrix.columns)))
    return replace(values, rows=tuple(names)).with_doubt(doubt)


def _name_rows_by_distinct_words(matrix: Matrix) -> Matrix:
    """Return a matrix named by its first column of distinct words; the same if there is none."""
    n = len(matrix.rows)
    for column in np.flatnonzero(~np.isfinite(matrix.cells).any(axis=0)).tolist():
        names = [matrix.text(row, column).strip() for row in range(n)]
        are_words = not any(is_number(name.replace(",", ".")) for name in names)
        if len(set(names)) == n and all(names) and are_words:
            doubt = "the first column repeats itself; the rows are named by "
            values = matrix.subset(range(n), [k for k in range(len(matrix.columns)) if k != column])
            values = values.with_doubt(f"{doubt}'{matrix.columns[column]}'")
            return replace(values, rows=tuple(names))
    return matrix


def without_annotation(matrix: Matrix, file_name: str) -> Matrix:
    """Return a matrix, genes in rows, without the columns that describe genes.

    Their symbols are kept as `Matrix.symbols`. Results of a test beside the values of samples
    describe genes, too. The matrix is unchanged if no column describes genes, or each does.

    Raises InvalidInput: it is a table of test results, which has no expression.
    """
    names = [name.lower() for name in matrix.columns]
    plain_names = [re.sub(r"[\W_]+", "", name) for name in names]
    programs = (name for name, (required, _) in TEST_RESULT_HEADERS.items() if required <= {*names})
    program = next(programs, None)  # the program that wrote results of a test
    test_headers = set[str]().union(*TEST_RESULT_HEADERS[program]) if program else set[str]()
    has_positions = len(POSITION_HEADERS & set(names)) > 2
    is_annotation = [
        plain_name in ANNOTATION_HEADERS
        or (has_positions and plain_name in POSITION_HEADERS)
        or name in test_headers
        for name, plain_name in zip(names, plain_names, strict=True)
    ]
    ids_by_mark_column = _columns_of_marks(matrix, plain_names)
    for column in ids_by_mark_column:
        is_annotation[column] = True
    is_numeric = np.isfinite(matrix.cells).mean(axis=0) > 1 / 2
    if program and (is_numeric & ~np.array(is_annotation)).sum() < MIN_SAMPLES_BESIDE_TESTS:
        message = f"is a table of tests as {program} writes it (columns {listing(matrix.columns)})"
        raise input_error(file_name, f"{message}; name the counts or the normalised values instead")
    if not any(is_annotation) or all(is_annotation):
        return matrix
    value_columns = [k for k, is_left_out in enumerate(is_annotation) if not is_left_out]
    symbol_column = next(
        (k for word in SYMBOL_HEADERS for k, name in enumerate(plain_names) if name == word), None
    )
    symbol_of_gene = {} if symbol_column is None else _symbols_of_genes(matrix, symbol_column)
    values = matrix.subset(range(len(matrix.rows)), value_columns)
    return replace(
        values,
        columns=_without_folders(values.columns),
        symbols=symbol_of_gene,
        marked=frozenset().union(*ids_by_mark_column.values()),
        annotation=tuple(
            matrix.columns[k] for k, is_left_out in enumerate(is_annotation) if is_left_out
        ),
    )


def _columns_of_marks(matrix: Matrix, plain_names: Sequence[str]) -> dict[int, set[str]]:
    """Return column of marks -> ids of the rows that it marks as decoys or contaminants.

    plain_names: headers in lower case, letters and digits alone.
    """
    ids_by_column: dict[int, set[str]] = {}
    for column, plain_name in enumerate(plain_names):
        if MARK_HEADER.fullmatch(plain_name):
            cells = [matrix.text(row, column).strip().lower() for row in range(len(matrix.rows))]
            if set(cells) <= MARKS | NO_MARKS:
                pairs = zip(matrix.rows, cells, strict=True)
                ids_by_column[column] = {name for name, cell in pairs if cell in MARKS}
    return ids_by_column


def _symbols_of_genes(matrix: Matrix, column: int) -> dict[str, str]:
    """Return gene -> symbol from a column of symbols."""
    pairs = ((gene, matrix.text(row, column)) for row, gene in enumerate(matrix.rows))
    return {gene: text.strip() for gene, text in pairs if not is_missing(text)}


def _without_folders(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of samples without folders and ``.bam`` if all are files of alignments."""
    if not all(name.endswith(".bam") for name in names):
        return tuple(names)
    short = tuple(PurePosixPath(name).name.removesuffix(".bam") for name in names)
    return short if len(set(short)) == len(names) else tuple(names)


MIN_GENES_PER_SET = 2  # genes for each value of a column, on average
MAX_SETS_OF_COLUMN = 10_000  # different values of a column; one with more has names, not groups


def sets_of_column(table: pd.DataFrame, column: str, file_name: str) -> list[NamedSet]:
    """Return one gene set for each value of a column of the gene table.

    table: gene table, index = gene ids. Genes without a value are in no set.
    file_name: file of the table, for messages.

    Raises InvalidInput: no such column, or one without a value, or of names that differ from gene
        to gene.
    """
    columns = [str(name) for name in table.columns]
    if columns.count(column) != 1:
        fault = "has no column" if column not in columns else "has twice the column"
        advice = did_you_mean(column, columns) or f" (columns: {listing(columns, 6)})"
        raise input_error(file_name, f"{fault} '{column}', which structured.column names{advice}")
    genes_of_set: dict[str, dict[str, None]] = {}
    for gene, cell in zip(map(str, table.index), map(str, table[column]), strict=True):
        if not is_missing(cell):
            genes_of_set.setdefault(cell.strip(), {})[gene] = None
    if not genes_of_set:
        raise input_error(
            file_name, f"column '{column}' is blank; structured.column needs one with values"
        )
    n_genes = sum(map(len, genes_of_set.values()))
    if len(genes_of_set) > min(MAX_SETS_OF_COLUMN, n_genes / MIN_GENES_PER_SET):
        raise input_error(
            file_name,
            f"column '{column}' has {len(genes_of_set)} values ({listing(genes_of_set)}), hardly "
            "two genes for each; structured.column needs one that groups the genes",
        )
    return [
        NamedSet(name, "", tuple(set_genes), f"column '{column}'")
        for name, set_genes in genes_of_set.items()
    ]


MIN_NAMES_OF_ONE_FORM = 1 / 3
"""Share of names that differ in their numbers alone, from which on they are names of samples."""


def has_samples_in_rows(matrix: Matrix) -> bool:
    """Tell whether the rows of a matrix, as it lies in its file, are probably the samples.

    Ids of genes, the header of the first column, classes, ages and times beside the values, and
    names that differ in their numbers alone tell samples from genes. If these say nothing, the
    shorter side has the samples. Ids of genes count twice, as they leave least doubt.
    """
    columns = matrix.columns
    rows = matrix.rows
    hints_of_rows = (  # above 0 if rows are samples, below 0 if columns are
        2 * (_are_gene_ids(columns) - _are_gene_ids(rows)),
        bool(SAMPLE_HEADER.fullmatch(matrix.corner)) - bool(GENE_HEADER.fullmatch(matrix.corner)),
        _has_columns_about_samples(matrix) - _has_columns_about_samples(matrix.transpose()),
        _differ_in_numbers(rows, columns) - _differ_in_numbers(columns, rows),
    )
    return sum(hints_of_rows) > 0 or (sum(hints_of_rows) == 0 and len(columns) > len(rows))


def _are_gene_ids(names: Sequence[str]) -> bool:
    """Tell whether more than half of the names are ids of genes or probes by their form."""
    return 2 * sum(GENE_ID.fullmatch(name) is not None for name in names) > len(names)


def _has_columns_about_samples(matrix: Matrix) -> bool:
    """Tell whether a column has classes or is called as an age or a time, if rows are samples."""
    is_named = [is_clinical(name) for name in matrix.columns]
    if 0 < sum(is_named) <= len(is_named) / 2:  # if most are, they are no ages beside values
        return True
    words_of_column: dict[int, Counter[str]] = {}
    for place, text in matrix.texts.items():
        column = place[0] if matrix.transposed else place[1]
        if not is_missing(text):
            words_of_column.setdefault(column, Counter())[text.strip()] += 1
    return any(
        2 * counts.total() > len(matrix.rows)
        and 2 <= len(counts) <= MAX_CLASSES
        and counts.most_common(2)[1][1] >= MIN_CLASS_SAMPLES
        and not is_id_header(matrix.columns[column])
        for column, counts in words_of_column.items()
    )


def _differ_in_numbers(names: Sequence[str], other_names: Sequence[str]) -> bool:
    """Tell whether names such as P01 and P02 are frequent, and twice as frequent as elsewhere."""
    share, other_share = map(_share_of_one_form, (names, other_names))
    return share >= max(MIN_NAMES_OF_ONE_FORM, 2 * other_share)


def _share_of_one_form(names: Sequence[str]) -> float:
    """Return the largest share of names that are equal but for their numbers."""
    forms = Counter(re.sub(r"\d+", "0", name) for name in names)
    return forms.most_common(1)[0][1] / len(names) if names else 0.0


MIN_LETTERS = 3  # letters from which on a name is not part of another name by chance
MAX_TRIED_NAMES = 20  # longer names that are compared; a short name may be part of very many


def orient(
    matrix: Matrix, file_name: str, names: Sequence[str], sample_file: str, problems: list[Problem]
) -> Matrix | None:
    """Return the matrix with samples in rows, found by the names of the sample table.

    If that is impossible, an error is appended and None returned. `names` are those of the sample
    table, whose file is `sample_file`. The matrix lies as in its file.
    """
    sample_names = set(names)
    matrix = choose_header(matrix, names)
    message = _affix_message(matrix, names) or _repeated_name_message(matrix, sample_names)
    if message:
        problems.append(Problem(file_name, message, code="several_blocks"))
        return None
    if matrix.corner in sample_names and 2 * sum(map(is_number, matrix.rows)) > len(matrix.rows):
        message = _message_without_ids(matrix.corner, [*matrix.annotation, *matrix.columns])
        problems.append(Problem(file_name, message, code="no_ids"))
        return None
    # The side with more sample names has the samples, if it has all or the other side none.
    n_in_rows = len(sample_names & set(matrix.rows))
    n_in_columns = len(sample_names & set(matrix.columns))
    if n_in_columns > n_in_rows and (n_in_rows == 0 or n_in_columns == len(sample_names)):
        return matrix.transpose()
    if n_in_rows > n_in_columns and (n_in_columns == 0 or n_in_rows == len(sample_names)):
        return matrix
    if n_in_rows or n_in_columns:
        message = (
            f"cannot tell samples from genes: of {len(sample_names)} sample names in "
            f"{sample_file}, {n_in_columns} are column names and {n_in_rows} are row names; make "
            "the names of samples and genes different"
        )
    else:
        message = (
            f"no sample of {sample_file} is here: that table has {listing(names)}, the matrix has "
            f"columns {listing(matrix.columns)} and rows {listing(matrix.rows)}"
            + (
                _names_column_advice(matrix, sample_names)
                or name_advice(names, [*matrix.columns, *matrix.rows])
                or "; name the samples alike in both"
            )
        )
    problems.append(Problem(file_name, message))
    return None


def _message_without_ids(sample: str, columns: Sequence[str]) -> str:
    """Return the message that the first column has a sample's values where gene ids belong."""
    id_columns = list(filter(is_id_header, columns))
    advice = f"make '{id_columns[0]}' the first column" if id_columns else "add one of gene ids"
    return f"the first column is sample '{sample}', and not the gene ids; {advice}"


def _names_column_advice(matrix: Matrix, names: Collection[str]) -> str:
    """Return the end of a message: which column of the matrix has the sample names as words; or ''.

    The matrix lies as in its file.
    """
    n_names_of_column = Counter(
        column for (_, column), text in matrix.texts.items() if text.strip() in names
    )
    for column, n_names in n_names_of_column.most_common(1):
        if 2 * n_names > len(names):
            return f"; they are in its column '{matrix.columns[column]}': make it the first column"
    return ""


def _affix_message(matrix: Matrix, names: Sequence[str]) -> str:
    """Return the message about several columns of each sample (P00_count, P00_fpkm), or ''.

    names: of the sample table, of which none may be in the matrix as it is.
    """
    columns = set(matrix.columns)
    all_names = columns.union(matrix.rows)
    if len(names) < 2 or not all_names.isdisjoint(names):
        return ""
    first_name = next(filter(None, names), "")
    affixes = [
        tuple(name.split(first_name, 1))
        for name in matrix.columns
        if first_name and first_name in name
    ]
    blocks = [
        (prefix, suffix)
        for prefix, suffix in dict.fromkeys(affixes[:MAX_TRIED_NAMES])
        if 2 * sum(f"{prefix}{name}{suffix}" in columns for name in names) > len(names)
    ]
    blocks_with_letters = [block for block in blocks if any(map(str.isalpha, "".join(block)))]
    # Affixes without letters, such as -01 and -11, number the specimens of a patient.
    if len(blocks) < 2 or not blocks_with_letters:
        return ""
    examples = listing(f"{prefix}{first_name}{suffix}" for prefix, suffix in blocks)
    affixes_text = listing(prefix + suffix for prefix, suffix in blocks)
    return (
        f"has {len(blocks)} columns of each sample: {examples}; keep those of one measure (of "
        "RNA-seq the counts, of MaxQuant the LFQ intensities), and take what is added to the "
        f"samples ({affixes_text}) off their names"
    )


def _repeated_name_message(matrix: Matrix, names: Collection[str]) -> str:
    """Return the message that most samples have several columns of one name, or ''."""
    n_columns_of_name = Counter(name for name in matrix.columns if name in names)
    repeated = [name for name, number in n_columns_of_name.items() if number > 1]
    if len(repeated) < 2 or 2 * len(repeated) <= len(names):
        return ""
    columns = [k for k, name in enumerate(matrix.columns) if name == repeated[0]]
    first_row = [matrix.texts.get((0, k), "").strip() for k in columns]
    message = f"has {len(columns)} columns of each sample, such as '{repeated[0]}'"
    if matrix.transposed or not all(first_row) or len(set(first_row)) < len(first_row):
        return f"{message}; keep one of them"
    line = f"{matrix.line_word} {matrix.lines[0]}"
    advice = "keep the columns of one measure (the signal, no p-value)"
    return f"{message}: {listing(first_row)} of {line}; {advice}, and take {line} out"


def name_advice(names: Sequence[str], table_names: Collection[str]) -> str:
    """Return the end of a message about samples that a table lacks, or ''.

    It says how a program changed the names, or which of `table_names` may be meant.
    """
    name = next(filter(_letters_and_digits, names), "")
    if advice := changed_name_advice(names, table_names):
        return advice
    longer_names = (
        [longer for longer in table_names if name in longer] if len(name) >= MIN_LETTERS else []
    )
    if longer_names:
        return f"; is '{longer_names[0]}' the sample '{name}'? Write the names alike in both"
    return did_you_mean(name, filter(_letters_and_digits, table_names))


def changed_name_advice(names: Sequence[str], table_names: Collection[str]) -> str:
    """Return how a program changed the names (leading zeros, make.names, case, an affix), or ''."""
    if dates := converted_names(list(names)) or converted_names(list(table_names)):
        message = f"; turned into dates or numbers by a spreadsheet: {listing(dates)}"
        return f"{message}; write the names of the samples again, as text"
    name = next(filter(_letters_and_digits, names), "")
    candidates = list(filter(_letters_and_digits, table_names))
    if not name:
        return ""
    reasons: dict[str, Callable[[str], str]] = {
        "R has changed it; read and write with check.names=FALSE": r_name,
        "leading zeros differ": _without_zeros,
        "upper and lower case differ": str.casefold,
        "blanks or punctuation differ": _letters_and_digits,
    }
    for reason, simplify in reasons.items():
        for candidate in candidates:
            if simplify(name) == simplify(candidate):
                return f"; is '{candidate}' the sample '{name}'? ({reason})"
    return _affix_advice(names, candidates, "here") or _affix_advice(
        candidates, names, "in that table"
    )


def _affix_advice(names: Collection[str], candidates: Collection[str], table_words: str) -> str:
    """Return the message that most names are among the candidates with one affix added, or ''.

    table_words: "here" if the candidates are the names of the table that the message is about.
    """
    all_candidates = set(candidates)
    first_name = next(filter(None, names), "")
    if not first_name:
        return ""
    longer_names = (name for name in candidates if first_name in name and name != first_name)
    for longer_name in islice(longer_names, MAX_TRIED_NAMES):
        prefix, _, suffix = longer_name.partition(first_name)
        if 2 * sum(f"{prefix}{name}{suffix}" in all_candidates for name in names) > len(names) > 1:
            affixes_text = " and ".join(f"'{part}'" for part in (prefix, suffix) if part)
            candidate, name = (
                (longer_name, first_name) if table_words == "here" else (first_name, longer_name)
            )
            question = f"; is '{candidate}' the sample '{name}'? "
            return f"{question}({affixes_text} is added to all {table_words}; write them alike)"
    return ""


def r_name(text: str) -> str:
    """Return a name as R's make.names writes it: dots for other signs, X before a digit."""
    text = re.sub(r"[^A-Za-z0-9._]", ".", text)
    return text if re.match(r"[A-Za-z.]", text) else f"X{text}"


def _without_zeros(text: str) -> str:
    """Return a text without the leading zeros of its numbers."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def _letters_and_digits(text: str) -> str:
    """Return a text without punctuation and blanks."""
    return re.sub(r"[\W_]+", "", text)
