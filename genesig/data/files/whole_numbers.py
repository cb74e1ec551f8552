"""Find columns of whole numbers among decimals: ages, times and codes of samples, and no genes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_clinical
from genesig.data.files.delimited import Matrix
from genesig.data.files.non_gene_kinds import MIN_EQUAL_SHARE

MIN_NONZERO_SHARE = 0.2
"""Share of samples with a value other than 0; a gene that is not expressed has fewer."""
MAX_WHOLE_NUMBER_COLUMNS = 20
"""Columns of whole numbers about samples; if there are more, they are genes."""
MAX_WHOLE_NUMBER_SHARE = 0.2
"""Largest share of such columns in a small matrix."""
MAX_CELLS_FOR_DIGITS = 1000  # cells of which the number of digits is counted


def clinical_numbers(matrix: Matrix, samples: Sequence[int]) -> Iterator[int]:
    """Yield columns of whole numbers among decimals, with the name of an age or a time."""
    if not any(map(is_clinical, matrix.columns)):
        return
    X = matrix.cells[samples]
    if not _genes_have_decimals(matrix, X, _are_small_and_whole(X)):
        return
    for column, name in enumerate(matrix.columns):
        x = _numbers(X[:, column])
        if is_clinical(name) and x.size and (x % 1 == 0).all():
            yield column


def columns_of_whole_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns of whole numbers that would have decimals if they were genes."""
    X = matrix.cells[samples]
    candidates = _are_small_and_whole(X)
    if not candidates.any() or not _genes_have_decimals(matrix, X, candidates):
        return []
    return [int(k) for k in np.flatnonzero(candidates) if len(np.unique(_numbers(X[:, k]))) > 1]


def _genes_have_decimals(matrix: Matrix, X: Array, candidates: Array) -> bool:
    """Tell whether nearly all columns have decimals, without candidates and clinical names."""
    genes = ~candidates & np.isfinite(X).any(axis=0)
    genes &= [not is_clinical(name) for name in matrix.columns]
    has_decimals = np.asarray(_have_decimals(X).any(axis=0))
    return bool(genes.any() and np.mean(has_decimals[genes]) >= MIN_EQUAL_SHARE)


def _are_small_and_whole(X: Array) -> Array:
    """Return for each column of X (n_samples, n_genes) whether it has small whole numbers only.

    A program that writes four digits leaves the decimals of 1234 out, not those of 53.12: the
    numbers of such a column have fewer digits than those of the genes. If such columns are many,
    as among estimated counts, they are genes, and none is returned.
    """
    has_decimals = _have_decimals(X)
    n_columns = X.shape[1]
    if not has_decimals.any():
        return np.zeros(n_columns, dtype=bool)
    n_digits = np.median(
        [_significant_digits(value) for value in X[has_decimals][:MAX_CELLS_FOR_DIGITS]]
    )
    is_known = np.isfinite(X)
    largest = np.max(np.where(is_known, np.abs(X), 0), axis=0, initial=0)
    n_nonzero = (is_known & (X != 0)).sum(axis=0)
    candidates = ~has_decimals.any(axis=0) & (largest < 10 ** (n_digits - 1))
    candidates &= n_nonzero >= MIN_NONZERO_SHARE * len(X)
    max_candidates = max(
        (1 - MIN_EQUAL_SHARE) * n_columns,
        min(MAX_WHOLE_NUMBER_COLUMNS, MAX_WHOLE_NUMBER_SHARE * n_columns),
    )
    return np.asarray(candidates & (candidates.sum() <= max_candidates))


def _have_decimals(X: Array) -> Array:
    """Return for each cell whether it is a number with decimals."""
    return np.asarray(np.isfinite(X) & (np.floor(X) != X))


def _numbers(x: Array) -> Array:
    """Return the numbers of a column that are not missing."""
    return np.asarray(x[np.isfinite(x)])


def _significant_digits(value: float) -> int:
    """Return the number of significant digits, ten at most."""
    digits = f"{abs(value):.9e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits)
