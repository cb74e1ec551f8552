"""Weights and covariates of training sets; the covariates are adjusted for without a penalty.

Covariates enter ``(1/n) sum_i v_i (y_i - a - c_i'g - z_i'b)²`` with coefficients g without a
penalty. The minimum over g is the problem of b with the residuals of √v y and √v Z after regression
on the covariates (Frisch and Waugh 1933, Lovell 1963). So solvers, gap and refit are the same as
without covariates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError

MIN_SINGULAR_SHARE = (
    1e-8  # singular value, as a share of the largest, below which a covariate is another
)


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
        """Weights v (n, k), 0 outside the training rows; None if all weights are equal."""
        v = np.square(self.root)
        return None if np.isin(v, (0.0, 1.0)).all() else v

    def columns(self, k: int) -> Array:
        """Return the orthonormal columns (n, q) that span the covariates of training set k."""
        return np.asarray((self.basis[k] * self.root[:, k]).T)

    def centred(self, Y: Array) -> tuple[Array, Array, Array]:
        """Return √v y less mean and covariates (n, k), means (k,), weights of `basis` (k, q)."""
        adjusted = np.zeros(Y.shape)
        mean = np.empty(Y.shape[1])
        of_y = np.empty(self.mean.shape)
        for set_number, root in enumerate(self.root.T):
            in_training = root > 0
            y = Y[in_training, set_number]
            roots = root[in_training]
            orthonormal_columns = self.columns(set_number)[in_training]
            mean[set_number] = roots**2 @ y / (roots @ roots)
            centred_y = roots * (y - mean[set_number])
            of_y[set_number] = orthonormal_columns.T @ centred_y
            adjusted[in_training, set_number] = centred_y - orthonormal_columns @ of_y[set_number]
        return adjusted, mean, of_y

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
        """Return the covariates' part of the score of each row, (k, n), from `of_y` (k, q)."""
        return np.asarray(np.einsum("kq,kqn->kn", of_y, self.basis))


def adjustment(
    rows: Array, covariates: Array | None = None, weights: Array | None = None
) -> Adjustment:
    """Return the weights and the orthonormal covariates of k training sets.

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
    for set_number in range(k):
        set_weights = None if weights is None else weights[:, set_number]
        root[:, set_number] = _root(rows[:, set_number], set_weights)
        centred_covariates, mean[set_number] = _centred(C[set_number], root[:, set_number])
        turn[set_number] = _turn(centred_covariates, root[:, set_number])
        basis[set_number] = (centred_covariates @ turn[set_number]).T
        if q and np.sum(root[:, set_number] > 0) <= 2 + np.any(turn[set_number], axis=0).sum():
            raise GenesigError(
                f"{q} covariates for {rows[:, set_number].sum()} training samples leave nothing to "
                "tell;"
                " take some out"
            )
    return Adjustment(root, basis, turn, mean)


def _root(in_training: Array, weights: Array | None) -> Array:
    weights_in_set = (
        in_training.astype(float) if weights is None else np.where(in_training, weights, 0.0)
    )
    if not (
        np.isfinite(weights_in_set).all()
        and (weights_in_set >= 0).all()
        and weights_in_set.sum() > 0
    ):
        raise GenesigError("weights must be finite numbers >= 0, not all 0 in a training set")
    return (
        weights_in_set
        if weights is None
        else np.sqrt(weights_in_set * (in_training.sum() / weights_in_set.sum()))
    )


def _centred(C: Array, root: Array) -> tuple[Array, Array]:
    """Return C less its weighted means over the known values, 0 where unknown; and the means."""
    is_known = np.isfinite(C)
    known_weight = is_known * np.square(root)[:, None]
    total_weight = known_weight.sum(axis=0)
    filled = np.where(is_known, C, 0.0)
    mean = (known_weight * filled).sum(axis=0) / np.where(total_weight > 0, total_weight, 1.0)
    centred = np.where(is_known, C - mean, 0.0)
    correction = (root**2 @ centred) / (root @ root)  # of rounding, and of what was filled in
    return np.where(is_known, centred - correction, -correction), mean + correction


def _turn(D: Array, root: Array) -> Array:
    """Return T (q, q) such that the columns of ``root * covariates @ T`` are orthonormal, or 0."""
    weighted_columns = root[:, None] * D
    lengths = np.sqrt(np.square(weighted_columns).sum(axis=0))
    rounding = len(D) * np.finfo(float).eps * np.abs(weighted_columns).max(axis=0, initial=0.0)
    rotation = np.diag(np.where(lengths > rounding, 1 / np.where(lengths > 0, lengths, 1.0), 0.0))
    for _ in range(2):  # the second time removes what rounding has left
        _, singular_values, Vt = np.linalg.svd(weighted_columns @ rotation, full_matrices=False)
        is_independent = singular_values > MIN_SINGULAR_SHARE * singular_values.max(initial=0.0)
        rotation[:, : len(singular_values)] = (
            rotation
            @ Vt.T
            * np.where(is_independent, 1 / np.where(is_independent, singular_values, 1.0), 0.0)
        )
        rotation[:, len(singular_values) :] = 0.0
    return rotation
