"""What estimators ask of their settings, and the nonlinear ones of their data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from genesig.models.weights import counts
from genesig.optim.nonlinear.checks import InvalidProblem

Array = np.ndarray[Any, Any]


def check_numbers(
    estimator: BaseEstimator, *, positive: Sequence[str] = (), not_negative: Sequence[str] = ()
) -> None:
    """Refuse settings that are infinite, no number, or negative (`positive`: or 0).

    Raises
    ------
    InvalidProblem
        With the name and what was found.
    """
    for name in (*positive, *not_negative):
        value = getattr(estimator, name)
        if not (np.isfinite(value) and (value > 0 or (value == 0 and name in not_negative))):
            bound = "> 0" if name in positive else ">= 0"
            raise InvalidProblem(f"{name} must be a finite number {bound}, found {value!r}")


def checked(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, why: str, *,
    y_numeric: bool = False,
) -> tuple[Array, Array, Array | None]:  # fmt: skip
    """Return X (n, d), y (n,) and weights (n,) or None as an estimator can be fitted to them.

    Parameters
    ----------
    estimator : BaseEstimator
        Told the number of features and their names.
    why : str
        What is lost in a constant feature, for the message.
    y_numeric : bool

    Raises
    ------
    InvalidProblem
        Fewer than 3 samples that count, missing values, features constant on these, weights that
        mean nothing.
    """
    try:
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, ensure_min_samples=3, y_numeric=y_numeric
        )
        often = counts(sample_weight, X)
    except ValueError as error:
        raise InvalidProblem(str(error)) from error
    seen = X if often is None else X[often > 0]
    if len(seen) < 3:
        raise InvalidProblem(f"sample_weight is above 0 for {len(seen)} samples; 3 are needed")
    constant = np.flatnonzero(np.ptp(seen, axis=0) == 0)
    if len(constant):
        raise InvalidProblem(
            f"{len(constant)} of {X.shape[1]} features are constant, the first is number"
            f" {constant[0]}; remove them: {why}"
        )
    return X, y, often
