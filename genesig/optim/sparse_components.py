"""Sparse principal components: a few genes for each direction in which samples differ.

    min_{A, B} sum_k (1/n)||Z a_k - Z b_k||² + mu ||b_k||² + tau_k ||b_k||_1,    A'A = I

which is ||Z - Z B A'||²/n but for what A leaves out. Source: Zou, Hastie, Tibshirani 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import adjustment
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

SWEEPS = 200
"""Most turns of both steps."""
SHARES = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)
"""Fractions of tau that are tried where none is given."""
LOOSE = 1e-4
"""Tolerance while tau is chosen: what comes later moves genes about, and hardly the scores."""


@dataclass(frozen=True)
class SparseComponents:
    """A stationary point.

    Attributes
    ----------
    B, A : (d, k) arrays
        Sparse loadings, and the orthonormal directions that they stand for: Z is about Z B A'.
    objective : tuple of float
        After each sweep, ``||Z - Z B A'||²/n`` and penalties; it never grows.
    gap : float
        Largest duality gap of the last step for B, relative to ||Z a_k||²/n.
    """

    B: Array
    A: Array
    objective: tuple[float, ...]
    gap: float

    def loadings(self) -> Array:
        """Return B with columns of length 1, the largest loading above 0; 0 without a gene."""
        length = np.linalg.norm(self.B, axis=0)
        largest = self.B[np.argmax(np.abs(self.B), axis=0), np.arange(self.B.shape[1])]
        return np.asarray(self.B / np.where(length > 0, np.copysign(length, largest), 1.0))

    def explained(self, Z: Array) -> Array:
        """Return the share of the variance of Z that each component adds to those before it, (k,).

        From the QR decomposition of Z B: components of sparse loadings are correlated.
        """
        R = np.linalg.qr(Z @ self.loadings(), mode="r")
        return np.asarray(np.diag(R) ** 2 / (float(np.sum(Z**2)) or 1.0))

    def unexplained(self, Z: Array) -> float:
        """Return ``||Z - Z B A'||² / ||Z||²`` of rows Z (m, d), in the training rows' units."""
        scores = Z @ self.B
        cross = float(np.sum((Z @ self.A) * scores))
        total = float(np.sum(Z**2)) or 1.0
        return (total - 2 * cross + float(np.sum(scores**2))) / total


def directions(Z: Array, k: int) -> Array:
    """Return the first k principal directions of centred rows Z (n, d), (d, k)."""
    return np.asarray(np.linalg.svd(Z, full_matrices=False)[2][:k].T)


def sparse_components(
    Z: Array,
    start: Array,
    *,
    tau: float,
    mu: float,
    tolerance: float = 1e-6,
    weights: Array | None = None,
) -> SparseComponents:
    """Go down from orthonormal directions by turns: an elastic net for B, Procrustes for A.

    Not convex: what is found is stationary, and depends on the start.

    Parameters
    ----------
    Z : (n, d) array
        Centred columns.
    start : (d, k) array
    tau : float
        Fraction of the smallest tau_k at which component k of the start has no gene.
    mu : float
        In units of ||Z'Z||/n.
    tolerance : float
        Fall of the objective, relative to itself, at which it ends.
    weights : (n,) array, optional
        Of the rows, with which columns are centred.
    """
    A = start
    rows = np.ones((len(Z), start.shape[1]), dtype=bool)
    own = weighed(Z, weights)
    weighted = None
    if weights is not None:
        weighted = adjustment(rows, weights=np.repeat(weights[:, None], start.shape[1], axis=1))
    sets: TrainingSets | None = None
    objective: list[float] = []
    levels = np.zeros(0)
    ridge = 0.0
    while True:
        sets = training_sets(
            Z, Z @ A, rows, centre=True, unit_variance=False, like=sets, adjustment=weighted
        )
        if not objective:
            levels = tau * sets.tau_max
            ridge = mu * float(sets.norm[0])
        fits = path(sets, levels[:, None], ridge, solver="landweber-newton", tolerance=1e-9)
        B = np.zeros(A.shape)
        for k in range(A.shape[1]):
            B[fits.coef(k, 0)[0], k] = fits.coef(k, 0)[1]
        A = _nearest(own, B, A)
        rest = own - (own @ B) @ A.T
        value = np.sum(rest**2) / len(Z) + ridge * np.sum(B**2) + levels @ np.abs(B).sum(axis=0)
        objective.append(float(value))
        done = len(objective) > 1 and objective[-2] - value <= tolerance * objective[-2]
        if done or len(objective) == SWEEPS:
            return SparseComponents(B, A, tuple(objective), float(fits.gap.max()))


def _nearest(Z: Array, B: Array, A: Array) -> Array:
    """Return the orthonormal A that reconstructs best from Z B: U V' of Z'Z B = U S V'.

    Directions of components without a gene are arbitrary: they keep near what they were.
    """
    M = Z.T @ (Z @ B)
    empty = ~M.any(axis=0)
    if empty.any():
        M = M / (np.abs(M).max() or 1.0)
        M[:, empty] = np.finfo(float).eps * A[:, empty]
    U, _, V = np.linalg.svd(M, full_matrices=False)
    return np.asarray(U @ V)


@dataclass(frozen=True)
class HeldOut:
    """How well components of other rows reconstruct those left out.

    Attributes
    ----------
    tau : (m,) array
        Tried fractions, falling.
    unexplained, standard_error : (m,) arrays
        Mean over the folds of ``||Z - Z B A'||² / ||Z||²`` of the rows left out.
    chosen : int
        The largest tau within one standard error of the smallest.
    """

    tau: Array
    unexplained: Array
    standard_error: Array
    chosen: int


def held_out(
    X: Array,
    k: int,
    tau: Array,
    folds: Sequence[Array],
    *,
    mu: float,
    unit_variance: bool,
    weights: Array | None = None,
) -> HeldOut:
    """Try tau on folds; centring, scaling and the start are learned on the rows that train."""
    left = np.empty((len(folds), len(tau)))
    for at, fold in enumerate(folds):
        rest = np.delete(X, fold, axis=0)
        own = _without(weights, fold)
        centre, spread = moments(rest, unit_variance, own)
        Z = (rest - centre) / spread
        new = (X[fold] - centre) / spread
        new = weighed(new, None if weights is None else weights[fold])
        start = directions(weighed(Z, own), k)
        for m, share in enumerate(tau):
            found = sparse_components(
                Z, start, tau=float(share), mu=mu, tolerance=LOOSE, weights=own
            )
            left[at, m] = found.unexplained(new)
    mean = left.mean(axis=0)
    error = left.std(axis=0, ddof=1) / len(folds) ** 0.5
    best = int(np.argmin(mean))
    return HeldOut(tau, mean, error, int(np.argmax(mean <= mean[best] + error[best])))


def moments(X: Array, unit_variance: bool, weights: Array | None = None) -> tuple[Array, Array]:
    """Return mean and scale of each column, 1 where it is constant or not to be scaled."""
    mean = np.average(X, axis=0, weights=weights)
    seen = X
    spread = X.std(axis=0)
    if weights is not None:
        spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
        seen = X[weights > 0]
    there = (spread > 0) & (np.ptp(seen, axis=0) > 0)  # a mean of equal numbers may be off by one
    return mean, np.where(there & unit_variance, spread, 1.0)


def weighed(Z: Array, weights: Array | None) -> Array:
    """Return rows times √v, weights of mean 1, so that of n rows ||Z||² stays a sum of n."""
    return Z if weights is None else np.sqrt(weights / weights.mean())[:, None] * Z


def _without(weights: Array | None, rows: Array) -> Array | None:
    return None if weights is None else np.delete(weights, rows)
