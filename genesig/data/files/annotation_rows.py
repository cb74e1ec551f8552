"""Find the rows of a matrix, whose other rows are samples, that describe its genes.

These are ids, positions, words and totals. A row is given by its index in the matrix.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.non_gene_kinds import (
    MIN_DIFFERENT_VALUES,
    MIN_SAMPLES_FOR_VALUES,
    SUM_TOLERANCE,
    TOTALS,
    any_of,
)
from genesig.words import is_missing, is_number, without_thousands

if TYPE_CHECKING:
    import pandas as pd


# Names of columns beside the ids of the genes, letters and digits alone, in lower case.
GENE_COLUMN_NAME = any_of(
    r"(ncbi|locuslink|entrez)(gene)?(id|symbol)?s?",
    r"gene(id|symbol|name|title|type|biotype|length|start|end|description)s?",
    r"(hgnc|hugo|external)(id|symbol|genename)?|symbols?|accessions?|descriptions?|definition",
    r"biotype|transcripttype|featuretype|ens(g|embl)(gene|transcript|protein)?(id)?s?",
    r"(refseq|unigene|uniprot(kb)?|genbank)(id|accession)?s?|gb(acc|list)",
    r"(probe(set)?|spot|target|olink|seq|soma|ilmn|transcript|(majority)?protein)(id|name)s?",
    r"probe(set)?|idref|aptname|targetfullname|proteindescriptions|fastaheaders",
    r"chr(om(osome)?)?(name)?|seqnames?|cytoband|band|mapinfo|location",
    r"(gene|tx|chrom)?(start|end|stop)(position)?|strand|width",
    r"(gene|exon|effective|effectivegene|transcript)?length|(percentagegene)?gccontent|gc",
    r"numberofproteins|(razor|unique|razorunique)?peptides|molweightkda|sequence(length|coverage)",
)
AMBIGUOUS_COLUMN_NAMES = {"start", "end", "stop", "location", "band", "probe", "hugo", "gc"}
"""Names that samples may have, too: they count if `MIN_ANNOTATION_COLUMNS` such columns exist."""
MIN_ANNOTATION_COLUMNS = 3
MIN_IDS = 50  # genes from which on ids differ from counts by their values
MAX_ID_CORRELATION = 0.5
"""Rank correlation of a row of ids with the samples; samples of one tissue have about 0.8."""


def find_annotation_rows(matrix: Matrix, table: pd.DataFrame | None) -> set[int]:
    """Return the rows that describe genes; {} if these are all rows.

    A row that the sample table lists is a sample; without a table no row is listed. The others are
    recognised by their names, by words, by `_rows_of_ids` or by `_rows_of_totals`.
    """
    listed = set() if table is None else set(map(str, table.index))
    candidates = [row for row, name in enumerate(matrix.rows) if name not in listed]
    if not candidates:
        return set()
    plain_names = {row: re.sub(r"[\W_]+", "", matrix.rows[row]).lower() for row in candidates}
    gene_column_names = {
        row: name for row, name in plain_names.items() if GENE_COLUMN_NAME.fullmatch(name)
    }
    has_several = len(gene_column_names) + len(matrix.annotation) >= MIN_ANNOTATION_COLUMNS
    rows = {
        row
        for row, name in gene_column_names.items()
        if has_several or name not in AMBIGUOUS_COLUMN_NAMES
    }
    rows |= {row for row in candidates if row not in rows and _has_only_words(matrix, row)}
    rows |= _rows_of_ids(matrix, [row for row in candidates if row not in rows])
    rows |= _rows_of_totals(matrix, [row for row in candidates if row not in rows])
    return rows if len(rows) < len(matrix.rows) else set()


def _has_only_words(matrix: Matrix, row: int) -> bool:
    """Tell whether a row has words and no number, not even one with commas."""
    if np.isfinite(matrix.cells[row]).any():
        return False
    words = [matrix.text(row, column) for column in range(len(matrix.columns))]
    words = [word for word in words if not is_missing(word)]
    return bool(words) and not any(
        is_number(word.replace(",", "")) or without_thousands(word) for word in words
    )


def _rows_of_ids(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return the one row of ids: different whole numbers, unlike the samples; {} if none or more.

    rows: those that may be ids. Two rows unlike the others may be two odd samples.
    """
    if len(matrix.columns) < MIN_IDS or len(matrix.rows) < MIN_DIFFERENT_VALUES:
        return set()
    candidates = [row for row in rows if _are_ids(matrix.cells[row])]
    if not candidates:
        return set()
    complete = np.isfinite(matrix.cells).all(axis=0)
    if complete.sum() < MIN_IDS:
        return set()
    ranks = np.array([_ranks(values) for values in matrix.cells[:, complete]])
    median_ranks = _ranks(np.median(ranks, axis=0))  # the ranks of the genes in a typical sample
    correlations = np.array([np.corrcoef(values, median_ranks)[0, 1] for values in ranks])
    unlike_rows = [row for row in candidates if abs(correlations[row]) < MAX_ID_CORRELATION]
    sample_correlations = np.delete(correlations, unlike_rows)
    # Where samples are not alike, either, only their decimals tell them from ids.
    samples = np.delete(matrix.cells, unlike_rows, axis=0)
    have_decimals = not any(_are_whole(values) for values in samples)
    are_told_apart = have_decimals or np.median(sample_correlations) > MAX_ID_CORRELATION
    return set(unlike_rows) if len(unlike_rows) == 1 and are_told_apart else set()


def _rows_of_totals(matrix: Matrix, rows: Sequence[int]) -> set[int]:
    """Return those of the rows that are called as a total, or are the sum or the mean of others.

    rows: those that may be totals; the others of these are summed.
    """
    pattern = TOTALS.pattern
    totals = {row for row in rows if pattern and pattern.fullmatch(matrix.rows[row].strip())}
    measured_rows = [row for row in rows if row not in totals]
    X = matrix.cells[measured_rows]
    if len(measured_rows) <= MIN_SAMPLES_FOR_VALUES or len(matrix.columns) < MIN_DIFFERENT_VALUES:
        return totals
    total = np.nansum(X, axis=0)
    # Scale 1 finds a sum of the others; their number finds a mean.
    for scale in (1.0, len(measured_rows) - 1.0):
        is_close = np.abs(scale * X - (total - X)) <= SUM_TOLERANCE * np.abs(scale * X)
        sums = np.flatnonzero(is_close.all(axis=1) & X.any(axis=1))
        if len(sums) == 1:  # two rows that both are sums are as likely samples
            totals.add(measured_rows[int(sums[0])])
    return totals


def _are_whole(values: Array) -> bool:
    """Tell whether all finite values are whole numbers."""
    finite = values[np.isfinite(values)]
    return bool((finite % 1 == 0).all())


def _ranks(values: Array) -> Array:
    """Return the ranks 0, 1, ... of the values; ties keep their order."""
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)


def _are_ids(values: Array) -> bool:
    """Tell whether at least half of the values are finite, and these positive, whole, different."""
    finite = values[np.isfinite(values)]
    if 2 * len(finite) < len(values) or not _are_whole(values) or (finite <= 0).any():
        return False
    return len(np.unique(finite)) == len(finite)
