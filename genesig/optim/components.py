"""Principal components: sparse ones of genes, and regression on those of a kernel.

Sparse components of the standardised features Z (n, d) minimise

    sum_k (1/n)||Z a_k - Z b_k||² + mu ||b_k||² + tau_k ||b_k||_1  over A, B with A'A = I,

which is ||Z - Z B A'||²/n plus penalties, up to a constant (Zou, Hastie, Tibshirani 2006).
Regression on the first components of a kernel is the same as cutting off the spectrum of its
centred matrix (Mosci 2009, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.adjustment import adjustment
from genesig.optim.kernels import Gaussian, median_distance
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets

MAX_SWEEPS = 200  # largest number of alternations of the two steps
TAU_FRACTIONS = (0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05)
"""Grid of tau, as fractions of its maximum, if tau is not set."""
SEARCH_TOLERANCE = 1e-4  # to choose tau: later steps change genes, but hardly the scores


@dataclass(frozen=True)
class SparseComponents:
    """A stationary point of the objective."""

    B: Array  # (d, k) sparse loadings
    A: Array  # (d, k) orthonormal directions that the loadings approximate: Z is about Z B A'
    # after each sweep, ``||Z - Z B A'||²/n`` and penalties; it never grows
    objective: tuple[float, ...]
    gap: float  # largest duality gap of the last step for B, relative to ||Z a_k||²/n

    def loadings(self) -> Array:
        """Return B with columns of length 1, the largest loading above 0; 0 without a gene."""
        length = np.linalg.norm(self.B, axis=0)
        largest = self.B[np.argmax(np.abs(self.B), axis=0), np.arange(self.B.shape[1])]
        return np.asarray(self.B / np.where(length > 0, np.copysign(length, largest), 1.0))

    def explained(self, Z: Array) -> Array:
        """Return the share of the variance of Z that each component adds to earlier ones, (k,).

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


def principal_directions(Z: Array, k: int) -> Array:
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
    """Return sparse components by alternating an elastic net for B and Procrustes for A.

    The problem is not convex: the result is stationary, and depends on the start.

    Z (n, d): centred columns.
    start (d, k).
    tau: fraction of the smallest tau_k at which component k of the start has no gene.
    mu: in units of ||Z'Z||/n.
    tolerance: fall of the objective, relative to itself, at which it ends.
    weights (n,), optional: of the rows, with which columns are centred.
    """
    A = start
    rows = np.ones((len(Z), start.shape[1]), dtype=bool)
    weighted_rows = times_root_weights(Z, weights)
    weight_adjustment = None
    if weights is not None:
        weight_adjustment = adjustment(
            rows, weights=np.repeat(weights[:, None], start.shape[1], axis=1)
        )
    sets: TrainingSets | None = None
    objective: list[float] = []
    levels = np.zeros(0)
    ridge = 0.0
    while True:
        sets = training_sets(
            Z,
            Z @ A,
            rows,
            centre=True,
            unit_variance=False,
            share_copy_with=sets,
            adjustment=weight_adjustment,
        )
        if not objective:
            levels = tau * sets.tau_max
            ridge = mu * float(sets.norm[0])
        fits = path(sets, levels[:, None], ridge, solver="landweber-newton", tolerance=1e-9)
        B = np.zeros(A.shape)
        for component in range(A.shape[1]):
            genes, values = fits.coef(component, m=0)
            B[genes, component] = values
        A = _nearest_directions(weighted_rows, B, A)
        residual = weighted_rows - (weighted_rows @ B) @ A.T
        current_objective = (
            np.sum(residual**2) / len(Z) + ridge * np.sum(B**2) + levels @ np.abs(B).sum(axis=0)
        )
        objective.append(float(current_objective))
        has_converged = (
            len(objective) > 1 and objective[-2] - current_objective <= tolerance * objective[-2]
        )
        if has_converged or len(objective) == MAX_SWEEPS:
            return SparseComponents(B, A, tuple(objective), float(fits.gap.max()))


def _nearest_directions(Z: Array, B: Array, A: Array) -> Array:
    """Return the orthonormal A that reconstructs Z best from Z B: U V' of Z'Z B = U S V'.

    Directions of components without a gene are arbitrary: they stay close to the previous A.
    """
    product = Z.T @ (Z @ B)
    has_no_gene = ~product.any(axis=0)
    if has_no_gene.any():
        product = product / (np.abs(product).max() or 1.0)
        product[:, has_no_gene] = np.finfo(float).eps * A[:, has_no_gene]
    U, _, V = np.linalg.svd(product, full_matrices=False)
    return np.asarray(U @ V)


@dataclass(frozen=True)
class HeldOutReconstruction:
    """Reconstruction of held-out rows by the components of the training rows."""

    tau: Array  # (m,) tried fractions, falling
    # (m,) mean over the folds of ``||Z - Z B A'||² / ||Z||²`` of the rows left out
    unexplained: Array
    standard_error: Array  # (m,) of that mean; 0 of a single fold
    chosen: int  # index of the largest tau whose mean is within one standard error of the smallest


def search_tau(
    X: Array,
    k: int,
    tau: Array,
    folds: Sequence[Array],
    *,
    mu: float,
    unit_variance: bool,
    weights: Array | None = None,
) -> HeldOutReconstruction:
    """Return the error of reconstructed held-out rows for each tau, with the tau to choose.

    X (n, d): raw rows; mean, scale and components are learned on the rows outside each fold. k:
    number of components. tau (m,): falling fractions. folds: rows that are left out together. mu,
    weights: as in `sparse_components`.
    """
    unexplained = np.empty((len(folds), len(tau)))
    for fold_number, fold in enumerate(folds):
        train_rows = np.delete(X, fold, axis=0)
        train_weights = None if weights is None else np.delete(weights, fold)
        centre, scale = mean_and_scale(train_rows, unit_variance, train_weights)
        Z = (train_rows - centre) / scale
        test_rows = (X[fold] - centre) / scale
        test_rows = times_root_weights(test_rows, None if weights is None else weights[fold])
        start = principal_directions(times_root_weights(Z, train_weights), k)
        for tau_index, fraction in enumerate(tau):
            components = sparse_components(
                Z,
                start,
                tau=float(fraction),
                mu=mu,
                tolerance=SEARCH_TOLERANCE,
                weights=train_weights,
            )
            unexplained[fold_number, tau_index] = components.unexplained(test_rows)
    mean_unexplained = unexplained.mean(axis=0)
    spread = unexplained.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(len(tau))
    error = spread / len(folds) ** 0.5
    best_index = int(np.argmin(mean_unexplained))
    return HeldOutReconstruction(
        tau,
        mean_unexplained,
        error,
        int(np.argmax(mean_unexplained <= mean_unexplained[best_index] + error[best_index])),
    )


def mean_and_scale(
    X: Array, unit_variance: bool, weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the mean and the standard deviation of each column of X (n, d), both (d,).

    The deviation is 1 for a constant column, and for all if not `unit_variance`.
    """
    mean = np.average(X, axis=0, weights=weights)
    weighted_rows = X
    deviation = X.std(axis=0)
    if weights is not None:
        deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
        weighted_rows = X[weights > 0]
    # The mean of equal numbers may be rounded, so that a deviation above 0 is not enough.
    varies = (deviation > 0) & (np.ptp(weighted_rows, axis=0) > 0)
    return mean, np.where(varies & unit_variance, deviation, 1.0)


def times_root_weights(Z: Array, weights: Array | None) -> Array:
    """Return rows times √v, v the weights scaled to mean 1, so that ||Z||² sums over n rows."""
    return Z if weights is None else np.sqrt(weights / weights.mean())[:, None] * Z


def component_regressions(K: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return ``alpha_m = sum_{j <= m} u_j u_j'y / s_j`` of the centred kernel matrix U S U'.

    ``f_m(x) = intercept_m + k(x)'alpha_m`` is least squares on the first m components. As U is
    orthogonal to 1, k(x) need not be centred: ``intercept_m`` holds the means of K. With weights v
    all means have them, and U S U' is that of diag(√v) K diag(√v), and √v is in the place of 1.

    K (n, n). y (n,). weights (n,), optional: of the samples.

    alpha, intercept (n, r + 1), (r + 1,): for m = 0 (the mean of y) to the numerical rank r.
    """
    mean = np.average(K, axis=0, weights=weights)
    y_mean = np.average(y, weights=weights)
    root_weights = np.ones(len(y)) if weights is None else np.sqrt(weights)
    centred = K - mean - mean[:, None] + np.average(mean, weights=weights)
    eigenvalues, U = np.linalg.eigh(root_weights[:, None] * centred * root_weights)
    nonzero = np.flatnonzero(
        eigenvalues > len(y) * np.finfo(float).eps * np.abs(eigenvalues).max(initial=0)
    )[::-1]
    U = U[:, nonzero]
    alpha = np.cumsum(U * (U.T @ (root_weights * (y - y_mean)) / eigenvalues[nonzero]), axis=1)
    alpha = root_weights[:, None] * np.hstack([np.zeros((len(y), 1)), alpha])
    return alpha, y_mean - mean @ alpha


@dataclass(frozen=True)
class Points:
    """Inner products of all points, from which kernel matrices are computed."""

    inner: Array  # (N, N) float

    @classmethod
    def from_rows(cls, X: Array, origin: Array) -> Points:
        """Return the inner products of X (n, d) less an origin (d,) among them, to keep digits."""
        X = X - origin
        return cls(X @ X.T)

    def kernel(
        self, rows: Array, train: Array, width: float | None, counts: Array | None = None
    ) -> Array:
        """Return k(x, z) of rows x and training points z, (len(rows), len(train)).

        Gaussian of `width` times the median distance of the training points, which occur
        `counts[train]` times each (None: once); linear if `width` is None.
        """
        inner: Array = self.inner[np.ix_(rows, train)]
        if width is None:
            return inner
        train_counts = None if counts is None else counts[train]
        typical_distance = median_distance(self.inner[np.ix_(train, train)], train_counts) or 1.0
        norms = np.diag(self.inner)
        return np.asarray(
            Gaussian(width * typical_distance).tables(inner, norms[rows], norms[train]).value
        )


@dataclass(frozen=True)
class ComponentChoice:
    """Chosen width (None is linear), number of components, and held-out scores."""

    width: float | None
    components: int
    left_out: Array  # (n,) float: score of each training row by the fit without its fold


def choose_components(
    points: Points,
    y: Array,
    folds: Sequence[Array],
    widths: Sequence[float | None],
    counts: Array | None = None,
) -> ComponentChoice:
    """Return width and m >= 1 with the smallest squared error of held-out rows.

    Ties go to the first width, then to the smallest m. If no m >= 1 has scores of all held-out
    rows, m is 0 and the scores are NaN.

    points: the first n of them are the training rows. y (n,). folds: rows that are left out
    together. widths: as in `Points.kernel`. counts (n,), optional: weights of the samples, in fits
    as in errors.
    """
    all_rows = np.arange(len(y))
    row_counts = np.ones(len(y)) if counts is None else counts
    smallest_error = np.inf
    choice = ComponentChoice(widths[0], 0, np.full(len(y), np.nan))
    for width in widths:
        held_out_scores = np.full((len(y), len(y)), np.nan)
        for fold in folds:
            train = np.setdiff1d(all_rows, fold)
            train_counts = None if counts is None else counts[train]
            K = points.kernel(train, train, width, counts)
            alpha, intercept = component_regressions(K, y[train], train_counts)
            fold_rows = points.kernel(fold, train, width, counts)
            held_out_scores[fold, : len(intercept)] = intercept + fold_rows @ alpha
        scored_rows = np.flatnonzero(~np.isnan(held_out_scores[:, 0]) & (row_counts > 0))
        residual = y[scored_rows, None] - held_out_scores[scored_rows]  # NaN beyond the least rank
        error = (row_counts[scored_rows, None] * np.square(residual)).sum(axis=0)
        # m = 0, the mean of y, cannot distinguish two classes.
        n_components = int(np.argmin(np.where(np.isnan(error), np.inf, error)[1:])) + 1
        if error[n_components] < smallest_error:
            smallest_error = error[n_components]
            choice = ComponentChoice(width, n_components, held_out_scores[:, n_components])
    return choice
