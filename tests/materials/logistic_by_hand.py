"""The logistic elastic net as its definition reads, and small problems of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.adjustment import adjustment
from genesig.optim.logistic import LogisticSets, logistic_coef, logistic_path, logistic_sets
from genesig.optim.solution import Path

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


def logistic_scores(sets: LogisticSets, path: Path, intercept: Array, gamma: Array) -> Array:
    """Return the logarithmic odds ``a + c'g + z'b`` of all rows, (k, m, n)."""
    (k, m), n = path.shape, len(sets.sets.X)
    values, constant = logistic_coef(sets, path, intercept)
    scores = constant[..., None] + np.einsum("kmq,kqn->kmn", gamma, sets.columns[:, 1:, :n])
    X = sets.sets.matrix.F
    for i in range(k):
        for j in range(m):
            part = slice(*path.indptr[i * m + j :][:2])
            features = path.indices[part]
            scores[i, j] += values[part] @ X[features, :n]
            scores[i, j] += values[part] @ sets.sets.matrix.shift[features]
    return np.asarray(scores)


def covariate_coef(sets: LogisticSets, gamma: Array) -> Array:
    """Return weights (k, m, q): what is added to a score is ``(c - mean) @ weights[k, m]``."""
    if sets.fixed is None:
        return gamma
    root = np.sqrt(np.count_nonzero(sets.sets.rows, axis=0))
    return np.asarray(np.einsum("kpq,kmq->kmp", sets.fixed.turn, gamma * root[:, None, None]))
