"""Rivals that select genes: stability selection, Stabl, knockoffs.

Each takes standardised rows Z (n, d), the response as numbers r (n,) and a seed. r is ±1 for two
classes, and the martingale residuals without effects for times. Lists are of the lasso with the
squared error, by least angles (Efron et al. 2004).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, lars_path

Array = np.ndarray[Any, Any]

HALVES = 50
"""Half samples of stability selection and of Stabl."""
RATE = 0.1
"""Share of false genes that knockoffs aim at: that of genesig's FDR-selected genes."""
SHARES = np.geomspace(0.95, 0.05, 12)
"""Penalties of Stabl, as shares of the smallest that selects nothing."""


def lasso_lists(Z: Array, r: Array, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield penalties (K,) and weights (d, K) of the lasso on each half of the samples.

    If r has two values, the samples of each are halved separately.
    """
    rng = np.random.default_rng((seed, 1))  # another stream than for artificial genes
    parts = [np.flatnonzero(r == side) for side in np.unique(r)]
    parts = parts if len(parts) == 2 else [np.arange(len(r))]
    for _ in range(HALVES):
        half = np.concatenate([rng.permutation(part)[: (len(part) + 1) // 2] for part in parts])
        A = Z[half] - Z[half].mean(axis=0)
        b = r[half] - r[half].mean()
        least = SHARES[-1] * float(np.abs(A.T @ b).max()) / len(half)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a gene equal to another is left
            levels, _, weights = lars_path(
                A, b, method="lasso", Gram=None, alpha_min=least, max_iter=4 * len(half)
            )
        yield levels, weights


def stability_selection(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes in 75 % of the lists of half samples (Meinshausen and Buhlmann 2010).

    Each list is the last of its path with at most q genes, so that their bound on the number of
    false genes, q²/((2 · .75 - 1) d), is 1.
    """
    counts = np.zeros(Z.shape[1])
    max_genes = int(np.sqrt(0.5 * Z.shape[1]))
    for _, weights in lasso_lists(Z, r, seed):
        sizes = np.count_nonzero(weights, axis=0)
        counts += weights[:, np.flatnonzero(sizes <= max_genes)[-1]] != 0
    return np.flatnonzero(counts >= 0.75 * HALVES)


def stabl(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes of Stabl (Hédou et al. 2024, Nature Biotechnology 42:1581).

    As many artificial genes, each a gene with permuted rows, compete in every list. A gene's
    frequency f is the largest over the penalties. Genes with f > t are returned, for the t with the
    smallest

        FDP+(t) = (1 + number of artificial genes with f > t) / max(1, number of genes with f > t).

    If it is never below 1, there are none.
    """
    rng = np.random.default_rng(seed)
    d = Z.shape[1]
    counts = np.zeros((2 * d, len(SHARES)))
    for levels, weights in lasso_lists(np.hstack([Z, rng.permuted(Z, axis=0)]), r, seed):
        counts += at_levels(levels, weights, SHARES * levels[0]) != 0
    frequency = counts.max(axis=1) / HALVES
    real = frequency[:d]
    artificial = frequency[d:]
    grid = np.arange(HALVES) / HALVES
    rate = [(1 + np.sum(artificial > t)) / max(1, np.sum(real > t)) for t in grid]
    best = int(np.argmin(rate))
    return np.flatnonzero(real > (grid[best] if rate[best] < 1 else 1.0))


def at_levels(levels: Array, weights: Array, target_levels: Array) -> Array:
    """Return the weights (d, L) at L penalties: between knots a lasso path is straight.

    levels (K,), falling, weights (d, K): knots of the path.
    """
    after = np.clip(np.searchsorted(-levels, -target_levels), 1, max(len(levels) - 1, 1))
    if len(levels) == 1:
        return np.repeat(weights, len(target_levels), axis=1)
    share = (levels[after - 1] - target_levels) / (levels[after - 1] - levels[after])
    share = np.clip(share, 0, 1)
    return np.asarray(weights[:, after - 1] * (1 - share) + weights[:, after] * share)


def knockoffs(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes of model-X knockoffs+ (Candès et al. 2018) at the FDR `RATE`.

    W_j = |b_j| - |b̃_j|, with b of the lasso on genes and their knockoffs together, its penalty by
    five folds. Genes with W_j >= t are returned, for the smallest t > 0 with

        (1 + number of W_j <= -t) / max(1, number of W_j >= t) <= RATE.

    So there are at least 1/RATE genes, or none.
    """
    d = Z.shape[1]
    genes_and_knockoffs = np.hstack([Z, gaussian_copies(Z, np.random.default_rng(seed))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        size = np.abs(LassoCV(alphas=20, eps=0.05, cv=5).fit(genes_and_knockoffs, r).coef_)
    ahead = size[:d] - size[d:]
    for t in np.sort(np.abs(ahead[ahead != 0])):
        if (1 + np.sum(ahead <= -t)) / max(1, np.sum(ahead >= t)) <= RATE:
            return np.flatnonzero(ahead >= t)
    return np.zeros(0, dtype=np.int64)


def gaussian_copies(Z: Array, rng: np.random.Generator) -> Array:
    """Return equi-correlated Gaussian knockoffs of standardised rows, (n, d).

    The covariance is Ledoit and Wolf's, Σ = (1 - γ) Z'Z/n + γ m I, and with s = min(1, 2 λ_min)

        X̃ = Z - s Z Σ⁻¹ + N(0, 2 s I - s² Σ⁻¹).

    Σ, Σ⁻¹ and the covariance of the noise have Z's right singular vectors V as axes and are
    multiples of I on their complement, so that no d × d matrix is formed.
    """
    n, d = Z.shape
    U, length, Vt = np.linalg.svd(Z, full_matrices=False)
    gamma = shrinkage(Z)
    mean = float(np.mean(np.square(Z)))
    spanned_variances = (1 - gamma) * length**2 / n + gamma * mean
    residual_variance = gamma * mean
    s = min(1.0, 2 * (residual_variance if d > len(length) else float(spanned_variances.min())))

    def spread(value: Any) -> Any:
        return np.sqrt(np.maximum(2 * s - s**2 / value, 0))

    noise = rng.standard_normal((n, d))
    residual_scale = float(spread(residual_variance)) if d > len(length) else 0.0
    conditional_mean = Z - s * (U * (length / spanned_variances)) @ Vt
    return np.asarray(
        conditional_mean
        + residual_scale * noise
        + (noise @ Vt.T * (spread(spanned_variances) - residual_scale)) @ Vt
    )


def shrinkage(Z: Array) -> float:
    """Return Ledoit and Wolf's γ (2004) of centred rows, by n × n products alone."""
    n, d = Z.shape
    G = Z @ Z.T / n
    mean = np.trace(G) / d
    square = float(np.sum(G * G))
    dispersion = square / d - mean**2
    drawn = (n * float(np.sum(np.diag(G) ** 2)) - square) / (n * d)
    return float(np.clip(drawn / dispersion, 0, 1)) if dispersion > 0 else 1.0
