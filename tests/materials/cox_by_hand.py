"""Cox's partial likelihood as its definition reads, event by event, and samples with ties."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import CoxSets, cox_sets

Array = np.ndarray[Any, Any]


def log_likelihood(time: Array, event: Array, eta: Array, ties: str, v: Array | None = None) -> Any:
    """Return l(η); sample weights as in R's coxph."""
    v, total = np.ones(len(time)) if v is None else v, 0.0
    for t in sorted({t for t, e in zip(time, event, strict=True) if e}):
        dead = [i for i in range(len(time)) if event[i] and time[i] == t]
        all_risk = sum(v[j] * np.exp(eta[j]) for j in range(len(time)) if time[j] >= t)
        dead_risk = sum(v[i] * np.exp(eta[i]) for i in dead)
        total += sum(v[i] * eta[i] for i in dead)
        mean = sum(v[i] for i in dead) / len(dead)
        for k in range(len(dead)):
            out = k / len(dead) if ties == "efron" else 0.0
            total -= mean * np.log(all_risk - out * dead_risk)
    return total


def tied(seed: int, n: int, d: int, copies: bool = False) -> tuple[Array, Array, Array]:
    """Return X (n, d), times of few values and events (n,), at least one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    if copies and d > 1:
        X[:, 1] = X[:, 0]
    time = np.ceil(4 * rng.exponential(size=n) * np.exp(-X[:, 0])) / 2
    event = rng.random(n) < 0.6
    event[rng.integers(n)] = True
    return X, time, event


def one_set(seed: int, n: int, d: int, ties: str = "efron", **more: Any) -> CoxSets:
    X, time, event = tied(seed, n, d, more.pop("copies", False))
    return cox_sets(
        X, time, event, np.ones((n, 1), dtype=bool), centre=True, unit_variance=True, ties=ties,
        **more,
    )  # fmt: skip


def objective(sets: CoxSets, b: Array, tau: float, mu: float) -> float:
    """Return what `cox_path` minimises on the first training set."""
    weights, Z = sets.sets.weights, sets.columns(0, np.arange(len(b)))
    square = b[weights > 0] @ b[weights > 0]
    return float(sets.risk[0].value(Z @ b) + mu * square + tau * (weights @ np.abs(b)))


def dense(sets: CoxSets, tau: Any, mu: Any, tolerance: float = 1e-9) -> Array:
    """Return the coefficients of the path of the first training set, (m, d); all certified."""
    fits = cox_path(sets, tau, mu, tolerance=tolerance)
    assert fits.converged.all(), fits.message
    B = np.zeros((fits.shape[1], sets.sets.X.shape[1]))
    for m, b in enumerate(B):
        features, values = fits.coef(0, m)
        b[features] = values
    return B
