"""Find columns of fewer decimals than the genes have: ages, times and codes of samples.

Samples are rows here, genes are columns. A number is short if it has few decimals or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import is_clinical
from genesig.data.files.delimited import Matrix
from genesig.data.files.non_gene_kinds import MIN_DIFFERENT_VALUES, MIN_EQUAL_SHARE

MIN_NONZERO_SHARE = 0.2  # share of samples with a value other than 0; unexpressed genes have fewer
MAX_SHORT_COLUMNS = 20  # columns of fewer decimals than others; if there are more, they are genes
MAX_SHORT_SHARE = 0.2  # largest share of such columns in a small matrix
MAX_CELLS_FOR_DIGITS = 1000  # cells of which the number of digits is counted
MAX_FIRST_SAMPLES = 10  # samples by which columns of few decimals are looked for
MAX_DECIMALS = 2  # of ages and times that are not whole
MAX_WITH_DECIMALS = 1e9  # numbers from here on are taken for whole: their decimals are rounded
MAX_CHANCE = 0.05
"""Expected number of genes whose numbers are all short by chance, up to which a column is none."""
DECIMAL_TOLERANCE = 1e-6  # of a number that is multiplied by 10 or 100, by rounding


def find_clinical_columns(matrix: Matrix, samples: Sequence[int]) -> Iterator[int]:
    """Yield columns of fewer decimals than the genes have, with the name of an age or a time.

    samples: rows of the matrix that are samples.
    """
    if not any(map(is_clinical, matrix.columns)):
        return
    X = matrix.cells[samples]
    short_columns = set(columns_of_few_decimals(matrix, samples))
    genes_have_decimals = _genes_have_decimals(matrix, X, _are_small_and_short(X))
    for column, name in enumerate(matrix.columns):
        x = _numbers(X[:, column])
        is_whole = genes_have_decimals and x.size and (x % 1 == 0).all()
        if is_clinical(name) and (is_whole or column in short_columns):
            yield column


def columns_of_whole_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns of different whole numbers that would have decimals if they were genes."""
    X = matrix.cells[samples]
    candidates = _are_small_and_short(X)
    if not candidates.any() or not _genes_have_decimals(matrix, X, candidates):
        return []
    return [int(k) for k in np.flatnonzero(candidates) if len(np.unique(_numbers(X[:, k]))) > 1]


def columns_of_few_decimals(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns with one or two decimals that would have more if they were genes."""
    X = matrix.cells[samples]
    columns: set[int] = set()
    for n_decimals in range(1, MAX_DECIMALS + 1):
        # The first samples show fast that all genes have more decimals, or many as few.
        possible = ~_have_decimals(X[:MAX_FIRST_SAMPLES], n_decimals).any(axis=0)
        if not 0 < possible.sum() <= _max_candidates(X.shape[1]):
            continue
        candidates = _are_small_and_short(X, n_decimals)
        if candidates.any() and _genes_have_decimals(matrix, X, candidates, n_decimals):
            columns |= set(np.flatnonzero(candidates & _have_decimals(X).any(axis=0)).tolist())
    return sorted(k for k in columns if len(np.unique(_numbers(X[:, k]))) >= MIN_DIFFERENT_VALUES)


def without_short_numbers(matrix: Matrix) -> Matrix:
    """Return a matrix of samples without the columns that have fewer decimals than its genes."""
    rows = range(len(matrix.rows))
    short = {*columns_of_whole_numbers(matrix, rows), *columns_of_few_decimals(matrix, rows)}
    if not short:
        return matrix
    return matrix.subset(rows, [k for k in range(len(matrix.columns)) if k not in short])


def _genes_have_decimals(matrix: Matrix, X: Array, candidates: Array, n_decimals: int = 0) -> bool:
    """Tell whether nearly all genes have a number with more than `n_decimals` decimals.

    X (n_samples, n_columns). Genes are the columns that are neither `candidates` (n_columns,) nor
    called as ages and times.
    """
    genes = ~candidates & np.isfinite(X).any(axis=0)
    genes &= [not is_clinical(name) for name in matrix.columns]
    has_decimals = np.asarray(_have_decimals(X, n_decimals).any(axis=0))
    return bool(genes.any() and np.mean(has_decimals[genes]) >= MIN_EQUAL_SHARE)


def _are_small_and_short(X: Array, n_decimals: int = 0) -> Array:
    """Return for each column of X (n_samples, n_genes) whether its numbers are small and short.

    Short numbers have at most `n_decimals` decimals; they are whole by default.

    A program that writes four digits leaves the decimals of 1234 out, not those of 53.12: the
    numbers of such a column have fewer digits than those of the genes. If such columns are many,
    as among estimated counts, they are genes, and none is returned.
    """
    has_decimals = _have_decimals(X, n_decimals)
    n_columns = X.shape[1]
    if not has_decimals.any():
        return np.zeros(n_columns, dtype=bool)
    digits = [_significant_digits(value) for value in X[has_decimals][:MAX_CELLS_FOR_DIGITS]]
    n_digits = np.median(digits)
    is_known = np.isfinite(X)
    largest = np.max(np.where(is_known, np.abs(X), 0), axis=0, initial=0)
    n_nonzero = (is_known & (X != 0)).sum(axis=0)
    candidates = ~has_decimals.any(axis=0) & (largest < 10 ** (n_digits - 1 - n_decimals))
    candidates &= n_nonzero >= MIN_NONZERO_SHARE * len(X)
    # Among estimated counts, few cells of a gene have decimals, and of some genes none.
    is_measured = n_nonzero > 0
    share = float(np.median(has_decimals.sum(axis=0)[is_measured] / n_nonzero[is_measured]))
    n_expected = n_columns * (1 - share) ** n_nonzero  # genes that are short by chance
    candidates &= n_expected <= MAX_CHANCE
    return np.asarray(candidates & (candidates.sum() <= _max_candidates(n_columns)))


def _max_candidates(n_columns: int) -> float:
    """Return the number of columns of short numbers above which they are genes."""
    return max(
        (1 - MIN_EQUAL_SHARE) * n_columns, min(MAX_SHORT_COLUMNS, MAX_SHORT_SHARE * n_columns)
    )


def _have_decimals(X: Array, n_decimals: int = 0) -> Array:
    """Return for each cell whether it is a number with more than `n_decimals` decimals."""
    if not n_decimals:
        return np.asarray(np.isfinite(X) & (np.floor(X) != X))
    scaled = np.where(np.abs(X) < MAX_WITH_DECIMALS, X, 0) * 10**n_decimals
    rounded = np.rint(scaled)
    is_tiny = (rounded == 0) & (scaled != 0)  # as 1e-9, whose difference is below the tolerance
    return np.asarray((np.abs(scaled - rounded) > DECIMAL_TOLERANCE) | is_tiny)


def _numbers(x: Array) -> Array:
    """Return the numbers of a column that are not missing."""
    return np.asarray(x[np.isfinite(x)])


def _significant_digits(value: float) -> int:
    """Return the number of significant digits, ten at most; zeros at the end do not count."""
    digits = f"{abs(value):.9e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits)
