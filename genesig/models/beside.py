"""Ridge on all genes beside covariates without a penalty: what expression as a whole adds to them.

Baselines in the manner of `genesig.models.baselines`, of rows whose first q columns are covariates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genesig.models.baselines import (
    Baseline,
    best_setting,
    midpoint,
    one_against_rest,
    row_space,
    squared,
)
from genesig.optim.adjustment import adjustment
from genesig.optim.cox.ridge import ridge
from genesig.optim.cox.risk_sets import USUAL, RiskSets, left_out_deviance
from genesig.optim.cox.separation import ease
from genesig.response.design import SEVERAL

Array = np.ndarray[Any, Any]
Folds = Sequence[Array]

GRID = np.geomspace(100, 1e-4, 7)
"""Penalties, in multiples of the largest eigenvalue of Z'Z, Z the genes of the training rows."""


def ridge_beside(q: int) -> Mapping[str, Baseline]:
    """Return ``min ||y - a - Cg - Zb||² + α ||b||²`` of each kind of response.

    C (n, q) are the first columns of the rows, Z the genes. α by the squared error of the inner
    folds; of times Cox's regression, its penalty by the left-out partial likelihood.
    """

    def numbers(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        return _least_squares(q, X, y, X_test, inner)[0]

    def classes(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        f, left_out = _least_squares(q, X, y, X_test, inner)
        return f - midpoint(y, left_out)

    def times(X: Array, y: Array, X_test: Array, inner: Folds, random_state: int) -> Array:
        return _cox_beside(q, X, y, X_test, inner)

    return {"classification": classes, SEVERAL: one_against_rest(classes), "regression": numbers,
            "survival": times}  # fmt: skip


def _least_squares(
    q: int, X: Array, y: Array, X_test: Array, inner: Folds
) -> tuple[Array, Array]:  # fmt: skip
    from sklearn.linear_model import Ridge

    def fit(alpha: float, A: Array, b: Array, A_test: Array) -> Array:
        held, seen = (np.column_stack([np.ones(len(each)), each[:, :q]]) for each in (A, A_test))
        known = np.linalg.lstsq(held, np.column_stack([b, A[:, q:]]), rcond=None)[0]
        rest = np.column_stack([b, A[:, q:]]) - held @ known
        of_genes = Ridge(alpha=alpha, fit_intercept=False).fit(rest[:, 1:], rest[:, 0]).coef_
        return np.asarray(A_test[:, q:] @ of_genes + seen @ (known[:, 0] - known[:, 1:] @ of_genes))

    X, X_test, scale = _turned(q, X, X_test)
    alpha, left_out = best_setting(fit, scale * GRID, X, y, inner, squared)
    return fit(alpha, X, y, X_test), left_out


def _cox_beside(q: int, X: Array, y: Array, X_test: Array, inner: Folds) -> Array:
    X, X_test, scale = _turned(q, X, X_test)
    lam = scale / len(y) * GRID
    rest = [np.setdiff1d(np.arange(len(y)), fold) for fold in inner]
    fits = np.stack([_cox(q, X[rows], y[rows], lam, X) for rows in rest])
    error, _ = left_out_deviance(y["time"], y["event"], inner, fits, USUAL)
    return np.asarray(_cox(q, X, y, lam[[int(np.argmin(error))]], X_test)[0])


def _cox(q: int, X: Array, y: Array, lam: Array, X_test: Array) -> Array:
    """Return the scores of X_test at each lam, (L, n_test)."""
    risk, mean = RiskSets.of(y["time"], y["event"], USUAL), X.mean(axis=0)[q:]
    fixed = adjustment(np.ones((len(X), 1), dtype=bool), X[None, :, :q])
    Z, C = (X[:, q:] - mean)[risk.order], fixed.basis[0].T[risk.order]
    b = ridge(risk, Z, C, lam, ease=ease(risk, C)).b
    held = (X_test[:, :q] - fixed.mean[0]) @ fixed.turn[0]
    return np.asarray(((X_test[:, q:] - mean) @ b[: Z.shape[1]] + held @ b[Z.shape[1] :]).T)


def _turned(q: int, X: Array, X_test: Array) -> tuple[Array, Array, float]:
    """Return both with the genes in the coordinates of the row space of those that train."""
    Z, Z_test, scale = row_space(X[:, q:], X_test[:, q:])
    return np.hstack([X[:, :q], Z]), np.hstack([X_test[:, :q], Z_test]), scale
