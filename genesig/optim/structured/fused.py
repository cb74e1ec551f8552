"""The fused lasso over features along chromosomes: coefficients that change seldom.

    min_b (1/n)||y - Zb||² + mu ||t||² + tau sum_j w_j |t_j|,    b = cumsum of t in each chromosome

t_j is the step from the feature before to feature j, and the first one of a chromosome its level,
of weight 0 (free) or 1 (a chromosome without signal has b = 0). Source: Tibshirani et al. 2005, by
the change of variables to a lasso.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.genome import Genome
from genesig.optim.adjustment import adjustment
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.training import TrainingSets, training_sets


def step_design(Z: Array, genome: Genome) -> Array:
    """Return ``D_j = sum of Z from j to its chromosome's end``, (n, d) along the genome."""
    step_columns = [
        np.cumsum(Z[:, columns][:, ::-1], axis=1)[:, ::-1]
        for columns in genome.columns_by_chromosome()
    ]
    return np.hstack(step_columns)


def coefs_from_steps(t: Array, genome: Genome) -> Array:
    """Return the coefficients b (d,) of the features from the steps t (d,) along the genome."""
    b = np.empty(len(t))
    for columns, steps in zip(
        genome.columns_by_chromosome(), np.split(t, genome.starts[1:]), strict=True
    ):
        b[columns] = np.cumsum(steps)
    return b


@dataclass(frozen=True)
class FusedFits:
    """Fits along a path of tau."""

    coef: Array  # (m, d) on the scale of Z
    steps: Array  # (m, d) t, along the genome
    tau_max: float  # smallest tau at which no penalised step is left
    gap: Array  # (m,) of the lasso of the steps, relative to ||y||²/n
    path: Path  # the lasso of the steps


def fused_path(
    Z: Array,
    y: Array,
    genome: Genome,
    shares: Array,
    *,
    mu: float,
    first_weight: float,
    tolerance: float,
    weights: Array | None = None,
) -> FusedFits:
    """Solve for falling shares of tau_max.

    Z (n, d): centred features.
    y (n,).
    shares (m,).
    mu: in units of ||D'D||/n.
    first_weight: weight of a chromosome's first step, 0 or more.
    weights (n,), optional: of the samples.
    """
    penalties = np.ones(Z.shape[1])
    penalties[genome.starts] = first_weight
    rows = np.ones((len(y), 1), dtype=bool)
    weighted = None if weights is None else adjustment(rows, weights=weights[:, None])
    sets = training_sets(
        step_design(Z, genome),
        y[:, None],
        rows,
        centre=True,
        unit_variance=False,
        weights=penalties,
        adjustment=weighted,
    )
    largest_tau = _tau_max(sets, mu)
    ridge = mu * float(sets.norm[0])
    fit = path(
        sets, largest_tau * shares[None], ridge, solver="landweber-newton", tolerance=tolerance
    )
    steps = np.zeros((len(shares), Z.shape[1]))
    for m in range(len(shares)):
        positions, values = fit.coef(0, m)
        steps[m, positions] = values
    coef = np.array([coefs_from_steps(t, genome) for t in steps])
    return FusedFits(coef, steps, largest_tau, fit.gap[0], fit)


def _tau_max(sets: TrainingSets, mu: float) -> float:
    """Return the largest ``(2/n)|d_j'r| / w_j``, r the residual of the unpenalised steps."""
    is_free = sets.weights == 0
    if not is_free.any():
        return float(sets.tau_max[0])
    (D, y) = sets.problem(0)
    n = len(sets.Y)
    A = D[:, is_free]
    w = sets.weights[~is_free]
    ridge = np.sqrt(n * mu * sets.norm[0]) * np.eye(A.shape[1])
    level = np.linalg.lstsq(np.vstack([A, ridge]), np.r_[y, np.zeros(len(ridge))], rcond=None)[0]
    return float((2 / n * np.abs(D[:, ~is_free].T @ (y - A @ level)) / w).max(initial=0.0))
