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

MIN_SINGULAR_SHARE = 1e-8
"""Singular value, as a share of the largest, below which a covariate depends on the others."""


@dataclass(frozen=True)
class Adjustment:
    """Weights and covariates of k training sets."""

    # (n, k) √v of the weights, 0 outside the training rows, to whose number the squares sum
    root_weights: Array
    # (k, q, n) ``basis_i = (c_i - mean) @ to_basis`` on all rows. Times `root_weights`, rows of
    # length 1, orthogonal to each other and to `root_weights`; 0 for dependent covariates.
    basis: Array
    to_basis: Array  # (k, q, q)
    mean: Array  # (k, q) of the covariates over the training rows; 0 for one without a value there

    @property
    def weights(self) -> Array | None:
        """Weights v (n, k), 0 outside the training rows; None if all weights are equal."""
        v = np.square(self.root_weights)
        return None if np.isin(v, (0.0, 1.0)).all() else v

    def columns(self, k: int) -> Array:
        """Return orthonormal columns (n, q), or 0, that span the covariates of training set k."""
        return np.asarray((self.basis[k] * self.root_weights[:, k]).T)

    def centred(self, Y: Array) -> tuple[Array, Array, Array]:
        """Return responses without mean and covariates (n, k), means (k,), coefficients (k, q).

        The responses are times √v; the coefficients are those on `basis`.
        """
        adjusted = np.zeros(Y.shape)
        mean = np.empty(Y.shape[1])
        y_on_basis = np.empty(self.mean.shape)
        for set_number, root in enumerate(self.root_weights.T):
            in_training = root > 0
            y = Y[in_training, set_number]
            roots = root[in_training]
            orthonormal_columns = self.columns(set_number)[in_training]
            mean[set_number] = roots**2 @ y / (roots @ roots)
            centred_y = roots * (y - mean[set_number])
            y_on_basis[set_number] = orthonormal_columns.T @ centred_y
            adjusted[in_training, set_number] = (
                centred_y - orthonormal_columns @ y_on_basis[set_number]
            )
        return adjusted, mean, y_on_basis

    def covariate_scores(self, Y: Array) -> Array:
        """Return the scores of all rows by least squares on the covariates, (k, n)."""
        _, mean, y_on_basis = self.centred(Y)
        return np.asarray(mean[:, None] + self.scores(y_on_basis))

    def without(self, k: int, Z: Array) -> Array:
        """Return √v Z (n, d) less the covariates of training set k; 0 outside its rows."""
        Q = self.columns(k)
        weighted = self.root_weights[:, [k]] * Z
        return np.asarray(weighted - Q @ (Q.T @ weighted))

    def scores(self, y_on_basis: Array) -> Array:
        """Return the covariates' part of all scores, (k, n), from `y_on_basis` (k, q)."""
        return np.asarray(np.einsum("kq,kqn->kn", y_on_basis, self.basis))


def adjustment(
    rows: Array, covariates: Array | None = None, weights: Array | None = None
) -> Adjustment:
    """Return the weights and the orthonormal covariates of k training sets.

    rows (n, k) bool. covariates (k, n, q), optional: NaN is the mean of the training rows that have
    a value. weights (n, k), optional: of each sample, >= 0, 1 unless given; scaled to a mean of 1
    on the training rows.

    Raises GenesigError: for weights that are negative, not finite or all 0 in a set; and where its
    covariates leave no degree of freedom.
    """
    n, k = rows.shape
    C = np.zeros((k, n, 0)) if covariates is None else covariates
    root = np.empty((n, k))
    q = C.shape[2]
    basis = np.empty((k, q, n))
    to_basis = np.empty((k, q, q))
    mean = np.empty((k, q))
    for set_number in range(k):
        set_weights = None if weights is None else weights[:, set_number]
        root[:, set_number] = _root_weights(rows[:, set_number], set_weights)
        centred_covariates, mean[set_number] = _centre_covariates(
            C[set_number], root[:, set_number]
        )
        to_basis[set_number] = _basis_matrix(centred_covariates, root[:, set_number])
        basis[set_number] = (centred_covariates @ to_basis[set_number]).T
        # Needed beside independent covariates: the mean, a gene, and a sample to judge them by.
        if q and np.sum(root[:, set_number] > 0) <= 2 + np.any(to_basis[set_number], axis=0).sum():
            raise GenesigError(
                f"{q} covariates for {rows[:, set_number].sum()} training samples leave nothing to"
                " tell; take some out"
            )
    return Adjustment(root, basis, to_basis, mean)


def _root_weights(in_training: Array, weights: Array | None) -> Array:
    """Return √v (n,) of one training set; raise for weights that are negative or all 0."""
    weights_in_set = (
        in_training.astype(float) if weights is None else np.where(in_training, weights, 0.0)
    )
    if not (
        np.isfinite(weights_in_set).all()
        and (weights_in_set >= 0).all()
        and weights_in_set.sum() > 0
    ):
        raise GenesigError("weights must be finite numbers >= 0, not all 0 in a training set")
    if weights is None:
        return weights_in_set  # 0 and 1 are their own roots
    return np.asarray(np.sqrt(weights_in_set * (in_training.sum() / weights_in_set.sum())))


def _centre_covariates(C: Array, root: Array) -> tuple[Array, Array]:
    """Return C (n, q) less its weighted means over the known values, and the means (q,).

    An unknown value (NaN) counts as the mean; columns then have weighted sums of 0.
    """
    is_known = np.isfinite(C)
    known_weight = is_known * np.square(root)[:, None]
    total_weight = known_weight.sum(axis=0)
    filled = np.where(is_known, C, 0.0)
    mean = (known_weight * filled).sum(axis=0) / np.where(total_weight > 0, total_weight, 1.0)
    centred = np.where(is_known, C - mean, 0.0)
    correction = (root**2 @ centred) / (root @ root)  # rounding, and the mean of filled-in zeros
    return np.where(is_known, centred - correction, -correction), mean + correction


def _basis_matrix(centred: Array, root: Array) -> Array:
    """Return T (q, q) such that the columns of ``root * centred @ T`` are orthonormal, or 0.

    Those of constant covariates and of covariates that depend on others are 0.
    """
    weighted_columns = root[:, None] * centred
    lengths = np.sqrt(np.square(weighted_columns).sum(axis=0))
    rounding = (
        len(centred) * np.finfo(float).eps * np.abs(weighted_columns).max(axis=0, initial=0.0)
    )
    rotation = np.diag(np.where(lengths > rounding, 1 / np.where(lengths > 0, lengths, 1.0), 0.0))
    for _ in range(2):  # the second time removes the rounding errors of the first
        _, singular_values, Vt = np.linalg.svd(weighted_columns @ rotation, full_matrices=False)
        is_independent = singular_values > MIN_SINGULAR_SHARE * singular_values.max(initial=0.0)
        rotation[:, : len(singular_values)] = (
            rotation
            @ Vt.T
            * np.where(is_independent, 1 / np.where(is_independent, singular_values, 1.0), 0.0)
        )
        rotation[:, len(singular_values) :] = 0.0
    return rotation
