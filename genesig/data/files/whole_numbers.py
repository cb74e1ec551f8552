"""Find columns of whole numbers among decimals: ages, times and codes of samples, and no genes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from genesig.data.files.columns import is_clinical
from genesig.data.files.delimited import Matrix
from genesig.data.files.non_gene_kinds import MIN_EQUAL_SHARE, MIN_SAMPLES_FOR_VALUES

MIN_NONZERO_SHARE = 0.2
"""Share of samples with a value other than 0; a gene that is not expressed has fewer."""
MAX_CELLS_FOR_DIGITS = 1000  # cells of which the number of digits is counted


def clinical_numbers(matrix: Matrix, samples: Sequence[int]) -> Iterator[int]:
    """Yield columns of whole numbers among decimals, with the name of an age or a time."""
    clinical_columns = [k for k, name in enumerate(matrix.columns) if is_clinical(name)]
    if not clinical_columns:
        return
    X = matrix.cells[samples[: 5 * MIN_SAMPLES_FOR_VALUES]]
    decimal_share = float(np.mean((np.isfinite(X) & (X % 1 != 0)).any(axis=0)))
    if decimal_share < MIN_EQUAL_SHARE:
        return
    for k in clinical_columns:
        x = matrix.cells[samples, k]
        x = x[np.isfinite(x)]
        if x.size and (x % 1 == 0).all():
            yield k


def columns_of_whole_numbers(matrix: Matrix, samples: Sequence[int]) -> list[int]:
    """Return the columns of whole numbers that would have decimals if they were genes.

    A program that writes four digits leaves the decimals of 1234 out, not those of 53.12: the
    numbers of such a column have fewer digits than those of the genes.
    """
    X = matrix.cells[samples]
    is_known = np.isfinite(X)
    has_decimals = is_known & (np.floor(X) != X)
    if not len(samples) or np.mean(has_decimals.any(axis=0)) < MIN_EQUAL_SHARE:
        return []
    n_digits = np.median(
        [_significant_digits(value) for value in X[has_decimals][:MAX_CELLS_FOR_DIGITS]]
    )
    largest = np.max(np.where(is_known, np.abs(X), 0), axis=0, initial=0)
    n_nonzero = (is_known & (X != 0)).sum(axis=0)
    candidates = ~has_decimals.any(axis=0) & (largest < 10 ** (n_digits - 1))
    candidates &= n_nonzero >= MIN_NONZERO_SHARE * len(samples)
    return [int(k) for k in np.flatnonzero(candidates) if len(np.unique(X[is_known[:, k], k])) > 1]


def _significant_digits(value: float) -> int:
    """Return the number of significant digits, ten at most."""
    digits = f"{abs(value):.9e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits)
