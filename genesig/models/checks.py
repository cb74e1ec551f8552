"""What the nonlinear estimators ask of their data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from genesig.optim.nonlinear.checks import InvalidProblem

Array = np.ndarray[Any, Any]


def checked(
    estimator: BaseEstimator, X: Any, y: Any, why: str, *, y_numeric: bool = False
) -> tuple[Array, Array]:
    """Return X (n, d) and y (n,) as an estimator can be fitted to them.

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
        Fewer than 3 samples, missing values, constant features.
    """
    try:
        X, y = validate_data(
            estimator, X, y, dtype=np.float64, ensure_min_samples=3, y_numeric=y_numeric
        )
    except ValueError as error:
        raise InvalidProblem(str(error)) from error
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    if len(constant):
        raise InvalidProblem(
            f"{len(constant)} of {X.shape[1]} features are constant, the first is number"
            f" {constant[0]}; remove them: {why}"
        )
    return X, y
