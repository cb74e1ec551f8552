"""Rivals that select genes: stability selection, Stabl, knockoffs.

Each is a function of standardised rows Z (n, d), the response as numbers r (n,) and a seed, and
returns columns of Z. r is ±1 for two classes, and martingale residuals without effects for times.
Lists are by the lasso with squared error, from its least-angle path (Efron et al. 2004).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, lars_path

Array = np.ndarray[Any, Any]

N_HALVES = 50  # half samples of stability selection and of Stabl
FDR = 0.1  # of knockoffs; the default of genesig's FDR-selected genes
PENALTY_SHARES = np.geomspace(0.95, 0.05, 12)
"""Penalties of Stabl, as shares of the smallest penalty that selects nothing."""


def lasso_lists(Z: Array, r: Array, seed: int) -> Iterator[tuple[Array, Array]]:
    """Yield penalties (K,), falling, and weights (d, K) of the knots of a lasso path on each half.

    If r has two values, the samples of each value are halved separately.
    """
    rng = np.random.default_rng((seed, 1))  # another stream than for artificial genes
    parts = [np.flatnonzero(r == side) for side in np.unique(r)]
    parts = parts if len(parts) == 2 else [np.arange(len(r))]
    for _ in range(N_HALVES):
        half = np.concatenate([rng.permutation(part)[: (len(part) + 1) // 2] for part in parts])
        A = Z[half] - Z[half].mean(axis=0)
        b = r[half] - r[half].mean()
        min_penalty = PENALTY_SHARES[-1] * float(np.abs(A.T @ b).max()) / len(half)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of equal genes one is left out
            penalties, _, weights = lars_path(
                A, b, method="lasso", Gram=None, alpha_min=min_penalty, max_iter=4 * len(half)
            )
        yield penalties, weights


def stability_selection(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes in 75 % of the lists of half samples (Meinshausen and Buhlmann 2010).

    Each list is the last of its path with at most q = √(d/2) genes, so that their bound on the
    number of false genes, q²/((2 · .75 - 1) d), is 1.
    """
    counts = np.zeros(Z.shape[1])
    max_genes = int(np.sqrt(0.5 * Z.shape[1]))
    for _, weights in lasso_lists(Z, r, seed):
        sizes = np.count_nonzero(weights, axis=0)
        counts += weights[:, np.flatnonzero(sizes <= max_genes)[-1]] != 0
    return np.flatnonzero(counts >= 0.75 * N_HALVES)


def stabl(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes of Stabl (Hédou et al. 2024, Nature Biotechnology 42:1581).

    Every list is chosen among the genes and as many artificial genes, each a gene with permuted
    rows. The frequency f of a gene is the largest over the penalties. Genes with f > t are
    selected, for the t with the smallest

        FDP+(t) = (1 + number of artificial genes with f > t) / max(1, number of genes with f > t),

    and none if FDP+ is never below 1.
    """
    rng = np.random.default_rng(seed)
    d = Z.shape[1]
    counts = np.zeros((2 * d, len(PENALTY_SHARES)))
    for penalties, weights in lasso_lists(np.hstack([Z, rng.permuted(Z, axis=0)]), r, seed):
        counts += interpolate_weights(penalties, weights, PENALTY_SHARES * penalties[0]) != 0
    frequency = counts.max(axis=1) / N_HALVES
    real = frequency[:d]
    artificial = frequency[d:]
    thresholds = np.arange(N_HALVES) / N_HALVES
    fdp = [(1 + np.sum(artificial > t)) / max(1, np.sum(real > t)) for t in thresholds]
    best = int(np.argmin(fdp))
    return np.flatnonzero(real > (thresholds[best] if fdp[best] < 1 else 1.0))


def interpolate_weights(penalties: Array, weights: Array, target_penalties: Array) -> Array:
    """Return the weights (d, L) at L penalties: between its knots a lasso path is linear.

    penalties (K,), falling, weights (d, K): knots of the path.
    """
    if len(penalties) == 1:
        return np.repeat(weights, len(target_penalties), axis=1)
    after = np.clip(np.searchsorted(-penalties, -target_penalties), 1, len(penalties) - 1)
    before = after - 1
    share = (penalties[before] - target_penalties) / (penalties[before] - penalties[after])
    share = np.clip(share, 0, 1)  # beyond the last knot its weights hold
    return np.asarray(weights[:, before] * (1 - share) + weights[:, after] * share)


def knockoffs(Z: Array, r: Array, seed: int) -> Array:
    """Return the genes of model-X knockoffs+ (Candès et al. 2018) at the FDR `FDR`.

    W_j = |b_j| - |b̃_j|, with b of the lasso on genes and their knockoffs together, its penalty by
    five folds. Genes with W_j >= t are selected, for the smallest t > 0 with

        (1 + number of W_j <= -t) / max(1, number of W_j >= t) <= FDR.

    So there are at least 1/FDR genes, or none.
    """
    d = Z.shape[1]
    genes_and_knockoffs = np.hstack([Z, gaussian_copies(Z, np.random.default_rng(seed))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        b = np.abs(LassoCV(alphas=20, eps=0.05, cv=5).fit(genes_and_knockoffs, r).coef_)
    W = b[:d] - b[d:]
    for t in np.sort(np.abs(W[W != 0])):
        if (1 + np.sum(-t >= W)) / max(1, np.sum(t <= W)) <= FDR:
            return np.flatnonzero(t <= W)
    return np.zeros(0, dtype=np.int64)


def gaussian_copies(Z: Array, rng: np.random.Generator) -> Array:
    """Return equi-correlated Gaussian knockoffs X̃ (n, d) of standardised rows Z.

    The covariance is Ledoit and Wolf's, Σ = (1 - γ) Z'Z/n + γ m I, with m the mean of Z². With s =
    min(1, 2 λ_min),

        X̃ = Z - s Z Σ⁻¹ + N(0, 2 s I - s² Σ⁻¹).

    Σ, Σ⁻¹ and the covariance of the noise have Z's right singular vectors V as axes and are
    multiples of I on their complement, so that no d × d matrix is formed.
    """
    n, d = Z.shape
    U, length, Vt = np.linalg.svd(Z, full_matrices=False)
    gamma = shrinkage(Z)
    mean_variance = float(np.mean(np.square(Z)))
    spanned_variances = (1 - gamma) * length**2 / n + gamma * mean_variance
    residual_variance = gamma * mean_variance
    s = min(1.0, 2 * (residual_variance if d > len(length) else float(spanned_variances.min())))

    def noise_scale(variance: Any) -> Any:
        return np.sqrt(np.maximum(2 * s - s**2 / variance, 0))

    noise = rng.standard_normal((n, d))
    residual_scale = float(noise_scale(residual_variance)) if d > len(length) else 0.0
    conditional_mean = Z - s * (U * (length / spanned_variances)) @ Vt
    return np.asarray(
        conditional_mean
        + residual_scale * noise
        + (noise @ Vt.T * (noise_scale(spanned_variances) - residual_scale)) @ Vt
    )


def shrinkage(Z: Array) -> float:
    """Return Ledoit and Wolf's γ (2004) of centred rows, from n × n products alone."""
    n, d = Z.shape
    G = Z @ Z.T / n
    mean_variance = np.trace(G) / d
    sum_of_squares = float(np.sum(G * G))
    dispersion = sum_of_squares / d - mean_variance**2
    sampling_error = (n * float(np.sum(np.diag(G) ** 2)) - sum_of_squares) / (n * d)
    return float(np.clip(sampling_error / dispersion, 0, 1)) if dispersion > 0 else 1.0
