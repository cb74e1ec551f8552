"""The Feature Vector Machine: a lasso by grafting with mutual information for inner products.

    min_b ½ b'(K + δ I) b - k_y'b + (λ/2) ||b||_1

Optimal where |k_y - K b|_q ≤ λ/2, with equality and the sign of b_q where b_q is not zero; the
largest useful λ is 2 max|k_y|. Features are added one at a time, the one that breaks its bound
most, and only the columns of K of the active features are ever computed.

A kernel between features need not be positive semidefinite (mutual information is not). Then the
objective is unbounded below. Shifting the diagonal by δ = max(0, -λ_min(K_AA)) of the active block
makes it convex there and keeps the diagonal constant; with b ≥ 0 and K ≥ 0 it is bounded as it is.

Source: Li, Yang and Xing (2006), section 4 and problem 4 (their problem 5 has the same optimality
conditions, but leaves b free where K is singular); Perkins, Lacker and Theiler (2003).

The kernel is the mutual information of features by their ranks,

    MI(p, q) = Σ_bc P(b, c) log(P(b, c) / (P(b) P(c)))   in nats,

with the values of each feature cut by rank into bins of m = ceil(N/B), the last one smaller, ties
in the order of the rows. Every feature then has the same bins, so that MI(p, p) = log B where B
divides N. Weighted rows fill bins of the same size by their weights, of mean 1: each is in the bin
where its middle falls.

The plug-in estimate is biased: independent features have about (B - 1)²/2N (0.081 nats at N = 500
and B = 10), an offset of the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import descend_quadratic

LAM_RATIO = 0.99  # ratio of two subsequent λ in the search for a number of features
MIN_LAM_SHARE = 1e-3  # smallest λ in this search, as a share of the largest useful λ
N_BISECTIONS = 20  # halvings of the last step of this search
SHIFT_MARGIN = 1e-8  # least eigenvalue of a shifted kernel, as a share of its diagonal


@dataclass(frozen=True)
class GraftedFit:
    """Features in the order in which they entered, and their weights."""

    order: Array  # (k,) int: features in the order in which they entered
    coef: Array  # (k,) float: their weights
    shift: float  # δ, added to the diagonal of the kernel
    lam: float  # λ of these weights
    violation: float  # largest violation of the optimality conditions over all features


@dataclass
class _State:
    """The problem, and its k active features."""

    column: Callable[[int], Array]  # feature to its column of K (d,)
    k_y: Array  # (d,) kernel of each feature with the response
    nonnegative: bool  # whether b must be >= 0
    slack: float  # absolute tolerance of the optimality conditions
    order: list[int]  # active features, in the order in which they entered
    columns: Array  # (k, d) their columns of K, as rows
    coef: Array  # (k,) their weights
    shift: float = 0.0  # δ


def graft(
    column: Callable[[int], Array],
    k_y: Array,
    *,
    lam: float,
    n_features: int | None,
    nonnegative: bool,
    tolerance: float,
) -> GraftedFit:
    """Return the fit for one λ, or for the lowest λ with at most `n_features`.

    column: feature -> its column of K (d,), computed when the feature comes in.
    k_y (d,): kernel of each feature with the response.
    lam: λ; with `n_features` the smallest λ that may be reached.
    n_features, optional: largest number of features. λ falls by one percent at a time until there
        are more, and is then bisected to the last value without more.
    nonnegative: b ≥ 0.
    tolerance: relative to max|k_y|.
    """
    slack = tolerance * float(np.abs(k_y).max())
    no_columns = np.zeros((0, len(k_y)))
    state = _State(column, k_y, nonnegative, slack, [], no_columns, np.zeros(0))
    if n_features is None:
        return _solve(state, lam)
    current_lam = 2 * max(float(_bounded_gradients(state, k_y).max()), 0.0)
    best = _result(state, current_lam, violation=0.0)  # no feature
    lam = max(lam, MIN_LAM_SHARE * current_lam)
    while current_lam > lam:
        current_lam = max(lam, LAM_RATIO * current_lam)
        fit = _solve(state, current_lam)
        if len(fit.order) > n_features:
            return _bisect(state, current_lam, best, n_features)
        best = fit
    return best


def _bisect(state: _State, low_lam: float, best: GraftedFit, n_features: int) -> GraftedFit:
    """Return the fit of at most `n_features` at the smallest λ found between both, by bisection."""
    for _ in range(N_BISECTIONS):
        middle_lam = (low_lam + best.lam) / 2
        fit = _solve(state, middle_lam)
        if len(fit.order) > n_features:
            low_lam = middle_lam
        else:
            best = fit
    return best


def _solve(state: _State, lam: float) -> GraftedFit:
    """Return the fit at one λ: the worst violator of its bound is added until there is none."""
    _descend(state, lam)
    while True:
        gradients = _bounded_gradients(state, state.k_y - state.coef @ state.columns)
        gradients[state.order] = -np.inf
        strongest = int(np.argmax(gradients))
        if gradients[strongest] <= lam / 2 + state.slack:
            return _result(state, lam, max(float(gradients[strongest]) - lam / 2, 0.0))
        state.order.append(strongest)
        state.columns = np.vstack([state.columns, state.column(strongest)])
        state.shift = _diagonal_shift(state.columns[:, state.order], state.nonnegative)
        state.coef = np.append(state.coef, 0.0)
        _descend(state, lam)


def _result(state: _State, lam: float, violation: float) -> GraftedFit:
    """Return the fit of a state, its features in the order in which they entered."""
    is_nonzero = np.flatnonzero(state.coef)
    order = np.array(state.order, dtype=np.int64)[is_nonzero]
    return GraftedFit(order, state.coef[is_nonzero], state.shift, lam, violation)


def _bounded_gradients(state: _State, residual: Array) -> Array:
    """Return the value of each feature that λ/2 bounds (d,), from the residual ``k_y - K b``."""
    return residual.copy() if state.nonnegative else np.abs(residual)


def _diagonal_shift(K: Array, nonnegative: bool) -> float:
    """Return the addition to the diagonal that makes K positive definite."""
    if nonnegative:
        return 0.0
    smallest = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    return 0.0 if smallest > 0 else SHIFT_MARGIN * float(K[0, 0]) - smallest


def _descend(state: _State, lam: float) -> None:
    """Update the weights of the active features to their minimum, from the current weights."""
    K = np.ascontiguousarray(state.columns[:, state.order])
    coef = state.coef.copy()
    diagonal = np.diag(K) + state.shift
    half_lam = lam / 2
    descend_quadratic(
        K, state.k_y[state.order], diagonal, coef, half_lam, state.nonnegative, 0.1 * state.slack
    )
    state.coef = coef


FEATURES_PER_BLOCK = 512
"""Features at a time: their table of counts has FEATURES_PER_BLOCK · B · k · B entries."""


def rank_bins(X: Array, bins: int, weights: Array | None = None) -> Array:
    """Return the bin 0..B-1 of each value of X (N, d) by its rank in its column, (N, d).

    weights (N,), optional: of the rows, of mean 1.
    """
    bin_size = -(-len(X) // bins)
    order = np.argsort(X, axis=0, kind="stable")
    codes = np.empty(X.shape, dtype=np.int64)
    if weights is None:
        bin_of_rank = np.arange(len(X))[:, None] // bin_size
    else:
        sorted_weights = weights[order]
        bin_of_rank = np.minimum(
            (np.cumsum(sorted_weights, axis=0) - sorted_weights / 2) // bin_size, bins - 1
        ).astype(np.int64)
    np.put_along_axis(codes, order, bin_of_rank, axis=0)
    return codes


def indicators(codes: Array, bins: int) -> Array:
    """Return the 0/1 matrix (N, d B) that indicates the bin of each value."""
    return np.asarray((codes[:, :, None] == np.arange(bins)).reshape(len(codes), -1).astype(float))


def mutual_information(
    codes: Array, columns: Array, bins: int, weights: Array | None = None
) -> Array:
    """Return MI of all features against some, (d, k), in 2 N d B² k flops.

    codes, columns (N, d), (N, k): bins of the features. bins: B. weights (N,), optional: of the
    samples.
    """
    column_indicators = indicators(columns, bins)
    information = np.empty((codes.shape[1], columns.shape[1]))
    for start in range(0, codes.shape[1], FEATURES_PER_BLOCK):
        block_indicators = indicators(codes[:, start : start + FEATURES_PER_BLOCK], bins)
        information[start : start + FEATURES_PER_BLOCK] = _information_of_indicators(
            block_indicators, column_indicators, bins, weights
        )
    return information


def _information_of_indicators(
    row_indicators: Array, column_indicators: Array, bins: int, weights: Array | None
) -> Array:
    """Return the mutual information of binned features from their indicators."""
    total = len(row_indicators) if weights is None else weights.sum()
    weighted_right = column_indicators if weights is None else weights[:, None] * column_indicators
    joint = (row_indicators.T @ weighted_right / total).reshape(
        -1, bins, column_indicators.shape[1] // bins, bins
    )
    marginal = np.average(row_indicators, axis=0, weights=weights).reshape(-1, bins)
    right_marginal = np.average(column_indicators, axis=0, weights=weights).reshape(-1, bins)

    def entropy(probabilities: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(
            -np.sum(
                probabilities * np.log(np.where(probabilities > 0, probabilities, 1)), axis=axes
            )
        )

    information = (
        entropy(marginal, (1,))[:, None] + entropy(right_marginal, (1,)) - entropy(joint, (1, 3))
    )
    return np.asarray(np.maximum(information, 0))


def pointwise_information(codes: Array, y: Array, bins: int, weights: Array | None = None) -> Array:
    """Return log(P(b, c) / (P(b) P(c))) of response bin b and feature bin c, (d, B, B).

    One count is added to every cell, as one new sample would.
    """
    response = indicators(y[:, None], bins) * (1.0 if weights is None else weights[:, None])
    joint = (indicators(codes, bins).T @ response).reshape(-1, bins, bins).transpose(0, 2, 1) + 1.0
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    product = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    return np.asarray(np.log(joint / product))


@dataclass(frozen=True)
class FeatureVectors:
    """The selected features, and the bins of all features and of the response."""

    codes: Array  # (n, d) int: bin of each sample in each feature
    response: Array  # (n,) int: bin of each response
    information: Array  # (d,) float: mutual information of each feature with the response, in nats
    fit: GraftedFit


def select_feature_vectors(
    X: Array,
    y: Array,
    *,
    n_features: int | None,
    bins: int,
    lam: float = 0.5,
    nonnegative: bool = False,
    tolerance: float = 1e-6,
    weights: Array | None = None,
) -> FeatureVectors:
    """Return the features selected by grafting on binned ranks, as `FeatureVectorMachine` does.

    X, y (n, d), (n,). bins: B. lam: as a share of the largest useful λ. n_features, nonnegative,
    tolerance: as in `graft`. weights (n,), optional: of the samples, above 0 and of mean 1.
    """
    codes = rank_bins(X, bins, weights)
    response = response_bins(y, bins, weights)
    information = mutual_information(codes, response[:, None], bins, weights)[:, 0]

    def column(feature: int) -> Array:
        return mutual_information(codes, codes[:, [feature]], bins, weights)[:, 0]

    fit = graft(
        column,
        information,
        lam=lam * 2 * float(information.max()),
        n_features=n_features,
        nonnegative=nonnegative,
        tolerance=tolerance,
    )
    return FeatureVectors(codes, response, information, fit)


def response_bins(y: Array, bins: int, weights: Array | None = None) -> Array:
    """Return the bins of the response: its distinct values if they are few, otherwise ranks."""
    values, codes = np.unique(y, return_inverse=True)
    return codes if len(values) <= bins else rank_bins(y[:, None], bins, weights)[:, 0]
