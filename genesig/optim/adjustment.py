"""What training sets hold fixed: weights of their samples, covariates without a penalty.

Covariates enter ``(1/n) sum_i v_i (y_i - a - c_i'g - z_i'b)²`` with coefficients g that no penalty
holds. The minimum over g is the problem of b in what the covariates leave of √v y and √v Z (Frisch
and Waugh 1933, Lovell 1963), so that solvers, gap and refit are those without covariates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError

DEPENDENT = 1e-8  # singular value, as a share of the largest, below which a covariate is another


@dataclass(frozen=True)
class Adjustment:
    """Weights and covariates of k training sets.

    Attributes
    ----------
    root : (n, k) float
        √v on the training rows of each set, of squares that sum to their number; 0 elsewhere.
    basis : (k, q, n) float
        ``basis_i = (c_i - mean) @ turn`` on all rows; times `root`, rows of length 1, orthogonal to
        each other and to `root`, or 0 where covariates say the same.
    turn : (k, q, q) float
    mean : (k, q) float
        Of the covariates over the training rows; for one that no row knows, 0.
    """

    root: Array
    basis: Array
    turn: Array
    mean: Array

    @property
    def weights(self) -> Array | None:
        """Weights v (n, k), 0 outside the training rows; None where all samples weigh alike."""
        v = np.square(self.root)
        return None if np.isin(v, (0.0, 1.0)).all() else v

    def columns(self, k: int) -> Array:
        """Return the orthonormal columns (n, q) that span the covariates of training set k."""
        return np.asarray((self.basis[k] * self.root[:, k]).T)

    def centred(self, Y: Array) -> tuple[Array, Array, Array]:
        """Return √v y less mean and covariates (n, k), means (k,), what was taken out (k, q)."""
        out = np.zeros(Y.shape)
        mean = np.empty(Y.shape[1])
        of_y = np.empty(self.mean.shape)
        for k, root in enumerate(self.root.T):
            inside = root > 0
            y = Y[inside, k]
            s = root[inside]
            Q = self.columns(k)[inside]
            mean[k] = s**2 @ y / (s @ s)
            rest = s * (y - mean[k])
            of_y[k] = Q.T @ rest
            out[inside, k] = rest - Q @ of_y[k]
        return out, mean, of_y

    def alone(self, Y: Array) -> Array:
        """Return the scores of all rows by least squares on the covariates, (k, n)."""
        _, mean, of_y = self.centred(Y)
        return np.asarray(mean[:, None] + self.scores(of_y))

    def without(self, k: int, Z: Array) -> Array:
        """Return √v Z (n, d) less the covariates of training set k; 0 outside its rows."""
        Q = self.columns(k)
        weighted = self.root[:, [k]] * Z
        return np.asarray(weighted - Q @ (Q.T @ weighted))

    def scores(self, of_y: Array) -> Array:
        """Return what the covariates add to the score of each row, (k, n), by `of_y` (k, q)."""
        return np.asarray(np.einsum("kq,kqn->kn", of_y, self.basis))


def adjustment(
    rows: Array, covariates: Array | None = None, weights: Array | None = None
) -> Adjustment:
    """Describe the weights and covariates of k training sets.

    Parameters
    ----------
    rows : (n, k) bool array
    covariates : (k, n, q) array, optional
        NaN is the mean of the training rows that have a value.
    weights : (n, k) array, optional
        Of each sample, >= 0, 1 unless given; scaled to a mean of 1 on the training rows.

    Raises
    ------
    GenesigError
        For weights that are negative, not finite or all 0 in a set; and where its covariates leave
        no degree of freedom.
    """
    n, k = rows.shape
    C = np.zeros((k, n, 0)) if covariates is None else covariates
    root = np.empty((n, k))
    q = C.shape[2]
    basis = np.empty((k, q, n))
    turn = np.empty((k, q, q))
    mean = np.empty((k, q))
    for at in range(k):
        v = None if weights is None else weights[:, at]
        root[:, at] = _root(rows[:, at], v)
        D, mean[at] = _centred(C[at], root[:, at])
        turn[at] = _turn(D, root[:, at])
        basis[at] = (D @ turn[at]).T
        if q and np.sum(root[:, at] > 0) <= 2 + np.any(turn[at], axis=0).sum():
            raise GenesigError(
                f"{q} covariates for {rows[:, at].sum()} training samples leave nothing to tell;"
                " take some out"
            )
    return Adjustment(root, basis, turn, mean)


def _root(inside: Array, weights: Array | None) -> Array:
    v = inside.astype(float) if weights is None else np.where(inside, weights, 0.0)
    if not (np.isfinite(v).all() and (v >= 0).all() and v.sum() > 0):
        raise GenesigError("weights must be finite numbers >= 0, not all 0 in a training set")
    return v if weights is None else np.sqrt(v * (inside.sum() / v.sum()))


def _centred(C: Array, root: Array) -> tuple[Array, Array]:
    """Return C less its weighted means over the rows that know it, 0 where unknown; the means."""
    known = np.isfinite(C)
    weight = known * np.square(root)[:, None]
    total = weight.sum(axis=0)
    filled = np.where(known, C, 0.0)
    mean = (weight * filled).sum(axis=0) / np.where(total > 0, total, 1.0)
    centred = np.where(known, C - mean, 0.0)
    again = (root**2 @ centred) / (root @ root)  # of rounding, and of what was filled in
    return np.where(known, centred - again, -again), mean + again


def _turn(D: Array, root: Array) -> Array:
    """Return T (q, q) such that the columns of ``root * D T`` are orthonormal, or 0."""
    A = root[:, None] * D
    size = np.sqrt(np.square(A).sum(axis=0))
    tiny = len(D) * np.finfo(float).eps * np.abs(A).max(axis=0, initial=0.0)
    T = np.diag(np.where(size > tiny, 1 / np.where(size > 0, size, 1.0), 0.0))
    for _ in range(2):  # the second time removes what rounding has left
        _, s, Vt = np.linalg.svd(A @ T, full_matrices=False)
        kept = s > DEPENDENT * s.max(initial=0.0)
        T[:, : len(s)] = T @ Vt.T * np.where(kept, 1 / np.where(kept, s, 1.0), 0.0)
        T[:, len(s) :] = 0.0
    return T
