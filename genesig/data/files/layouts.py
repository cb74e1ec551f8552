"""How a table lies: which way round, and its columns that say something of the genes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.gmt import NamedSet
from genesig.data.files.headers import with_names_of
from genesig.data.files.spreadsheets import eaten
from genesig.errors import Problem, did_you_mean, refuse
from genesig.words import is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

SYMBOLS = ("genename", "genesymbol", "symbol", "hgncsymbol", "hugosymbol", "externalgenename")
WORDS = {*SYMBOLS, "genebiotype", "biotype", "genetype", "description", "genedescription"}
"""Names of columns beside the ids, letters alone: words, no samples (nf-core, DESeq2, biomaRt)."""
PLACES = {"chr", "chromosome", "start", "end", "strand", "length"}
"""Those of featureCounts, three or more of them together: of numbers, too."""
MIN_COUNTED = 5
"""Rows from which on a column of 0, 1, 2, ... counts them."""
TESTED = {
    "DESeq2": {"basemean", "log2foldchange"},
    "edgeR": {"logfc", "logcpm"},
    "limma": {"logfc", "aveexpr"},
}
"""Columns of tables that are a result of these, and no expression."""


def named_by_words(matrix: Matrix) -> Matrix:
    """Name the rows by the words of the next column, where the first one only counts the rows."""
    n = len(matrix.rows)
    if n < MIN_COUNTED or not matrix.columns or np.isfinite(matrix.cells[:, 0]).any():
        return matrix
    if matrix.rows not in (tuple(map(str, range(n))), tuple(map(str, range(1, n + 1)))):
        return matrix
    names = [matrix.text(row, 0).strip() for row in range(n)]
    if len(set(names)) < n / 2:
        return matrix
    doubt = f"the first column counts the rows; they are named by column '{matrix.columns[0]}'"
    doubt = "; ".join(filter(None, [matrix.doubt, doubt]))
    named = matrix.subset(range(n), range(1, len(matrix.columns)))
    return replace(named, rows=tuple(names), doubt=doubt)


def without_annotation(matrix: Matrix, where: str) -> Matrix:
    """Take away the columns that say something of the genes, and keep their symbols.

    Raises
    ------
    InvalidInput
        A table of tests, which has no expression.
    """
    names = [name.lower() for name in matrix.columns]
    plain = [re.sub(r"[\W_]+", "", name) for name in names]
    for program, tested in TESTED.items():
        if tested <= set(names):
            what = f"is a table of tests as {program} writes it (columns {listing(matrix.columns)})"
            raise refuse(where, f"{what}; name the counts or the normalised values instead")
    several = len(PLACES & set(names)) > 2
    beside = [name in WORDS or (several and name in PLACES) for name in plain]
    if not any(beside) or all(beside):
        return matrix
    kept = [k for k, out in enumerate(beside) if not out]
    symbols = next((k for word in SYMBOLS for k, name in enumerate(plain) if name == word), None)
    found = {} if symbols is None else _symbols(matrix, symbols)
    place = {old: new for new, old in enumerate(kept)}
    texts = {(row, place[k]): text for (row, k), text in matrix.texts.items() if k in place}
    columns = _without_path([matrix.columns[k] for k in kept])
    return replace(
        matrix,
        columns=columns,
        cells=np.ascontiguousarray(matrix.cells[:, kept]),
        texts=texts,
        symbols=found,
        annotation=tuple(matrix.columns[k] for k, out in enumerate(beside) if out),
    )


def _symbols(matrix: Matrix, column: int) -> dict[str, str]:
    pairs = ((gene, matrix.text(row, column)) for row, gene in enumerate(matrix.rows))
    return {gene: text.strip() for gene, text in pairs if not is_missing(text)}


def _without_path(names: Sequence[str]) -> tuple[str, ...]:
    """Call samples by their files, not by their folders, where all are files of alignments."""
    if not all(name.endswith(".bam") for name in names):
        return tuple(names)
    short = tuple(PurePosixPath(name).name.removesuffix(".bam") for name in names)
    return short if len(set(short)) == len(names) else tuple(names)


MOST = 10_000
"""Of different values; a column of more is one of names."""


def blocks_of(table: pd.DataFrame, column: str, where: str) -> list[NamedSet]:
    """Return the genes of each value of a column, in the order of the table.

    Parameters
    ----------
    table : DataFrame of strings
        Gene table, index = gene ids. Genes without a value are in no block.
    column, where : str
        One of its columns; its file, for messages.

    Raises
    ------
    InvalidInput
        No such column, or one without a value, or of names that differ from gene to gene.
    """
    columns = [str(name) for name in table.columns]
    if columns.count(column) != 1:
        found = "has no column" if column not in columns else "has twice the column"
        near = did_you_mean(column, columns) or f" (columns: {listing(columns, 6)})"
        raise refuse(where, f"{found} '{column}', which structured.column names{near}")
    genes: dict[str, dict[str, None]] = {}
    for gene, cell in zip(map(str, table.index), map(str, table[column]), strict=True):
        if not is_missing(cell):
            genes.setdefault(cell.strip(), {})[gene] = None
    if not genes:
        raise refuse(where, f"column '{column}' is blank; structured.column needs one with values")
    if len(genes) > MOST or len(genes) > 0.5 * sum(map(len, genes.values())):
        what = (
            f"column '{column}' has {len(genes)} values ({listing(genes)}), hardly two genes for "
        )
        raise refuse(where, what + "each; structured.column needs one that groups the genes")
    return [NamedSet(name, "", tuple(of), f"column '{column}'") for name, of in genes.items()]


MIN_LETTERS = 3
"""Letters of a name that another one holds by no accident."""
TRIED = 20
"""Names that hold another one are many where that is one letter."""


def orient(
    matrix: Matrix, where: str, names: Sequence[str], sheet: str, problems: list[Problem]
) -> Matrix | None:
    """Return the matrix with samples in rows, found by the names of the sample table."""
    known = set(names)
    matrix = with_names_of(matrix, names)
    if blocks := _named_blocks(matrix, names) or _repeated_names(matrix, known):
        problems.append(Problem(where, blocks, code="several_blocks"))
        return None
    in_rows = len(known & set(matrix.rows))
    in_columns = len(known & set(matrix.columns))
    if in_columns and in_columns > in_rows and (in_rows == 0 or in_columns == len(known)):
        return matrix.turn()
    if in_rows and in_rows > in_columns and (in_columns == 0 or in_rows == len(known)):
        return matrix
    if in_rows or in_columns:
        what = (
            f"cannot tell samples from genes: of {len(known)} sample names in {sheet}, "
            f"{in_columns} are column names and {in_rows} are row names; make the names of "
            "samples and genes different"
        )
    else:
        what = (
            f"no sample of {sheet} is here: that table has {listing(names)}, the matrix has "
            f"columns {listing(matrix.columns)} and rows {listing(matrix.rows)}"
            + (
                nearest(names, [*matrix.columns, *matrix.rows])
                or "; name the samples alike in both"
            )
        )
    problems.append(Problem(where, what))
    return None


def _named_blocks(matrix: Matrix, names: Sequence[str]) -> str:
    """Say that a table has columns of each sample with several affixes: P00_count, P00_fpkm."""
    columns = set(matrix.columns)
    present = columns.union(matrix.rows)
    if len(names) < 2 or not present.isdisjoint(names):
        return ""
    short = next(filter(None, names), "")
    affixes = [tuple(name.split(short, 1)) for name in matrix.columns if short and short in name]
    blocks = [
        (before, after)
        for before, after in dict.fromkeys(affixes[:TRIED])
        if 2 * sum(f"{before}{name}{after}" in columns for name in names) > len(names)
    ]
    measures = [block for block in blocks if any(map(str.isalpha, "".join(block)))]
    if len(blocks) < 2 or not measures:  # numbers alone, -01 and -11, tell specimens of a patient
        return ""
    named = listing(f"{before}{short}{after}" for before, after in blocks)
    added = listing(before + after for before, after in blocks)
    what = f"has {len(blocks)} columns of each sample: {named}; keep those of one measure (of "
    what += "RNA-seq the counts, of MaxQuant the LFQ intensities), and take what is added to the "
    return f"{what}samples ({added}) off their names"


def _repeated_names(matrix: Matrix, names: Collection[str]) -> str:
    """Say that most samples have several columns, and how the first row tells these apart."""
    times = Counter(name for name in matrix.columns if name in names)
    repeated = [name for name, number in times.items() if number > 1]
    if len(repeated) < 2 or 2 * len(repeated) <= len(names):
        return ""
    places = [k for k, name in enumerate(matrix.columns) if name == repeated[0]]
    words = [matrix.texts.get((0, k), "").strip() for k in places]
    what = f"has {len(places)} columns of each sample, such as '{repeated[0]}'"
    if matrix.turned or not all(words) or len(set(words)) < len(words):
        return f"{what}; keep one of them"
    line = f"{matrix.line_word} {matrix.lines[0]}"
    what += (
        f": {listing(words)} of {line}; keep the columns of one measure (the signal, no p-value)"
    )
    return f"{what}, and take {line} out"


def nearest(names: Sequence[str], others: Collection[str]) -> str:
    """Recognise names that a program has changed, or guess which name is meant."""
    name = next(filter(_letters, names), "")
    if changed := changed_names(names, others):
        return changed
    longer = [other for other in others if name in other] if len(name) >= MIN_LETTERS else []
    if longer:
        return f"; is '{longer[0]}' the sample '{name}'? Write the names alike in both"
    return did_you_mean(name, filter(_letters, others))


def changed_names(names: Sequence[str], others: Collection[str]) -> str:
    """Recognise names that a program has changed: leading zeros, R's make.names, case, an end."""
    if dates := eaten(list(names)) or eaten(list(others)):
        what = f"; turned into dates or numbers by a spreadsheet: {listing(dates)}"
        return f"{what}; write the names of the samples again, as text"
    name = next(filter(_letters, names), "")
    candidates = list(filter(_letters, others))
    if not name:
        return ""
    usual: dict[str, Callable[[str], str]] = {
        "R has changed it; read and write with check.names=FALSE": _r_name,
        "leading zeros differ": _without_zeros,
        "upper and lower case differ": str.casefold,
        "blanks or punctuation differ": _letters,
    }
    for reason, plain in usual.items():
        for candidate in candidates:
            if plain(name) == plain(candidate):
                return f"; is '{candidate}' the sample '{name}'? ({reason})"
    return _longer(names, candidates, "here") or _longer(candidates, names, "in that table")


def _longer(names: Collection[str], candidates: Collection[str], place: str) -> str:
    """Tell that most of the names are among the candidates with the same letters added."""
    present = set(candidates)
    short = next(filter(None, names), "")
    if not short:
        return ""
    longer = (name for name in candidates if short in name and name != short)
    for long in islice(longer, TRIED):
        before, _, after = long.partition(short)
        if 2 * sum(f"{before}{name}{after}" in present for name in names) > len(names) > 1:
            added = " and ".join(f"'{part}'" for part in (before, after) if part)
            candidate, name = (long, short) if place == "here" else (short, long)
            question = f"; is '{candidate}' the sample '{name}'? "
            return f"{question}({added} is added to all {place}; write them alike)"
    return ""


def _r_name(text: str) -> str:
    text = re.sub(r"[^A-Za-z0-9._]", ".", text)
    return text if re.match(r"[A-Za-z.]", text) else f"X{text}"


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
