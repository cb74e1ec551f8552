"""The logistic elastic net as its definition reads, and small problems of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.adjustment import adjustment
from genesig.optim.logistic.path import logistic_path
from genesig.optim.logistic.training import LogisticSets, logistic_sets

Array = np.ndarray[Any, Any]
BOTH = {"centre": True, "unit_variance": True}
KINDS = ["plain", "weights", "covariates", "both"]


def classes(seed: int, n: int, d: int, k: int = 2) -> tuple[Array, Array, Array]:
    """Return X (n, d), Y (n, k) of ±1 and training rows (n, k) that hold both classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    Y = np.where(X[:, :1] + rng.normal(size=(n, k)) > 0, 1.0, -1.0)
    rows = rng.random((n, k)) < 0.85
    Y[:2], Y[-2:], rows[:2], rows[-2:] = 1.0, -1.0, True, True
    return X * rng.uniform(0.5, 3, d) + rng.normal(size=d), Y, rows


def covariates(seed: int, n: int) -> Array:
    """Return two covariates (n, 2)."""
    return np.random.default_rng(seed).normal([50, 0], size=(n, 2))


def held(seed: int, rows: Array, kind: str) -> Any:
    """Return the adjustment of a kind in `KINDS`."""
    rng, (n, k) = np.random.default_rng(seed + 1), rows.shape
    v = rng.uniform(0.2, 3, (n, k)) if kind in {"weights", "both"} else None
    C = np.stack([covariates(seed, n)] * k) if kind in {"covariates", "both"} else None
    return None if kind == "plain" else adjustment(rows, C, v)


def problem(seed: int, n: int, d: int, kind: str = "plain", **keys: Any) -> LogisticSets:
    """Return two training sets."""
    X, Y, rows = classes(seed, n, d)
    return logistic_sets(X, Y, rows, fixed=held(seed, rows, kind), **{**BOTH, **keys})


def parts(sets: LogisticSets, k: int) -> tuple[Array, Array, Array, Array]:
    """Return Z (n_k, d), y and v of sum 1 (n_k,), and the free columns (n_k, c) of one set."""
    inside = np.flatnonzero(sets.sets.rows[:, k])
    Z = sets.sets.standardised(k)[inside]
    return Z, sets.y[k, inside], sets.v[k, inside], sets.columns[k][:, inside].T


def objective(
    sets: LogisticSets, k: int, b: Array, a: Array, tau: float, mu: float
) -> float:  # fmt: skip
    """Return the penalised loss of b (d,) and a (c,), with the ridge that covariates may have."""
    Z, y, v, C = parts(sets, k)
    loss = v @ np.logaddexp(0, -y * (C @ a + Z @ b))
    return float(loss + tau * sets.sets.weights @ np.abs(b) + mu * b @ b
                 + sets.ease[k] @ (a * a) / 2)  # fmt: skip


def fits(sets: LogisticSets, tau: Any, mu: Any, **keys: Any) -> tuple[Any, Array, Array]:
    """Return the path, coefficients B (k, m, d) and those of the columns A (k, m, c)."""
    path, intercept, gamma = logistic_path(sets, tau, mu, **{"tolerance": 1e-9, **keys})
    B = np.zeros((*path.shape, sets.sets.X.shape[1]))
    for k in range(path.shape[0]):
        for m in range(path.shape[1]):
            features, values = path.coef(k, m)
            B[k, m, features] = values
    return path, B, np.concatenate([intercept[..., None], gamma], axis=2)
