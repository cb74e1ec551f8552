"""Weights of samples in `fit`: whole numbers are rows that occur so often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from genesig.optim.nonlinear.checks import InvalidProblem

Array = np.ndarray[Any, Any]


def counts(sample_weight: Any, X: Array) -> Array | None:
    """Return how often each row of X counts, (n,), or None where each counts once.

    Raises
    ------
    InvalidProblem, ValueError
        Weights that are negative, not finite, not one for a row, or 0 for all.
    """
    if sample_weight is None:
        return None
    given = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not given.any():
        raise InvalidProblem("sample_weight is 0 for all samples")
    return np.asarray(given)


def shares(sample_weight: Any, X: Array) -> Array | None:
    """Return `counts` of mean 1, so that of n rows the sum of squares stays one of n."""
    given = counts(sample_weight, X)
    return None if given is None else np.asarray(given * len(given) / given.sum())


def roots(v: Array | None, n: int) -> Array:
    """Return √v as a column (n, 1): what rows are multiplied by in a sum of squares."""
    return np.ones((n, 1)) if v is None else np.sqrt(v)[:, None]


def check_classes(y: Array, weights: Array | None) -> None:
    """Refuse weights that leave a class without a sample."""
    if weights is not None and not np.bincount(np.unique(y, return_inverse=True)[1], weights).all():
        raise InvalidProblem("sample_weight is 0 for all samples of a class; leave it out")


def check_folds(left_out: Iterable[Array], weights: Array | None) -> None:
    """Refuse weights that leave no sample to train when some rows (n_held,) are left out."""
    if weights is not None and not all(np.delete(weights, rows).any() for rows in left_out):
        raise InvalidProblem(
            "sample_weight is 0 for all training samples of a fold; give other folds (cv)"
        )


def passed_on(sample_weight: Any) -> dict[str, Any]:
    """Return what further fits of the same rows are to be given."""
    return {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
