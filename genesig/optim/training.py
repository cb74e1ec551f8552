"""Many training sets of one matrix: rows, responses, centring and scaling of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.errors import GenesigError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TrainingSets:
    """``z_ij = inverse_scale_j (x_ij - mean_j)`` on the rows of each of k training sets.

    Attributes
    ----------
    X : (n, d) float64 array
        Shared by all training sets, as given.
    Y : (n, k) float64 array
        Responses minus their training mean; 0 on the other rows.
    rows : (n, k) bool array
    mean, inverse_scale : (k, d) float64 arrays
        Per training set, in the units of X. A feature that is constant on the training rows has
        inverse scale 0: it is 0 everywhere and never selected.
    y_mean : (k,) float64 array
    norm : (k,) float64 array
        ``||Z'Z|| / n_k`` (largest eigenvalue) of the standardised training rows.
    tau_max : (k,) float64 array
        ``(2/n_k) max_j |z_j'y|``: the smallest tau at which nothing is selected.
    """

    X: Array
    Y: Array
    rows: Array
    mean: Array
    inverse_scale: Array
    y_mean: Array
    norm: Array
    tau_max: Array

    @property
    def counts(self) -> Array:
        """Return n_k, the number of training rows of each set."""
        return self.rows.sum(axis=0)

    def standardised(self, k: int) -> Array:
        """Return Z (n, d) of training set k, for all rows."""
        return np.asarray((self.X - self.mean[k]) * self.inverse_scale[k])


def training_sets(
    X: Array, Y: Array, rows: Array, *, centre: bool, unit_variance: bool
) -> TrainingSets:
    """Describe k training sets of one matrix.

    Parameters
    ----------
    X : (n, d) array
    Y : (n, k) array
        Raw responses; values outside the training rows are ignored. Always centred on them.
    rows : (n, k) bool array
        Training rows of each set.
    centre, unit_variance : bool
        Subtract each feature's training mean; divide by its training standard deviation (ddof 0).

    Raises
    ------
    GenesigError
        Where shapes disagree, a value is not finite, or a training set has no rows.
    """
    X, Y, rows = _checked(X, Y, rows)
    counts = rows.sum(axis=0)
    y_mean = np.where(rows, Y, 0.0).sum(axis=0) / counts
    Y = np.where(rows, Y - y_mean, 0.0)
    mean = np.zeros((Y.shape[1], X.shape[1]))
    inverse = np.ones_like(mean)
    norm, tau_max = np.zeros(len(counts)), np.zeros(len(counts))
    for k, n in enumerate(counts):
        part = X[rows[:, k]]
        if centre:
            mean[k] = part.mean(axis=0)
        spread = part.std(axis=0)
        constant = spread <= 8 * np.finfo(float).eps * np.abs(part).max(axis=0)
        if unit_variance:
            inverse[k] = 1 / np.where(constant, 1.0, spread)
        if centre or unit_variance:
            inverse[k][constant] = 0.0
        Z = (part - mean[k]) * inverse[k]
        norm[k] = np.linalg.eigvalsh(Z @ Z.T)[-1] / n
        tau_max[k] = 2 / n * np.abs(Z.T @ Y[rows[:, k], k]).max()
    return TrainingSets(X, Y, rows, mean, inverse, y_mean, norm, tau_max)


def _checked(X: Array, Y: Array, rows: Array) -> tuple[Array, Array, Array]:
    X, Y, rows = np.asarray(X, dtype=float), np.asarray(Y, dtype=float), np.asarray(rows, bool)
    if X.ndim != 2 or Y.ndim != 2 or rows.shape != Y.shape or len(X) != len(Y) or X.size == 0:
        raise GenesigError(
            f"training sets need X (n, d) and Y, rows (n, k); found {X.shape}, {Y.shape},"
            f" {rows.shape}"
        )
    if not rows.any(axis=0).all():
        raise GenesigError("a training set has no rows")
    if not (np.isfinite(X).all() and np.isfinite(Y[rows]).all()):
        raise GenesigError("X and the training responses must be finite; found NaN or infinity")
    return X, Y, rows
