"""Formulas as their definitions read: objectives, likelihoods, ridge fits, the stable list."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import CoxSets, FollowUp, cox_sets
from genesig.optim.logistic import LogisticSets, logistic_coef, logistic_path, logistic_sets
from genesig.optim.solution import Path

# What the solvers minimise.

Array = np.ndarray[Any, Any]


def l1l2_objective(Z: Array, y: Array, b: Array, tau: float, mu: float) -> float:
    """Return ``(1/n) ||y - Zb||² + mu ||b||² + tau ||b||_1`` (Mosci 2009, eq. 4.4)."""
    r = y - Z @ b
    return float(r @ r / len(y) + mu * (b @ b) + tau * np.abs(b).sum())


# Lists of features as a path has them, and their ridge fit by NumPy's singular values.


def supports(*columns, sets=1):
    """Return a path with these lists, the same of every training set."""
    coefs = [(np.sort(np.array(a, dtype=np.int64)), np.ones(len(a))) for a in columns] * sets
    shape = (sets, len(columns))
    return Path.from_coefs(shape, coefs, np.zeros(shape), np.zeros(shape, np.int64), 1e-9)


def minimum_norm_ridge(Z, y, ridge):
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    is_positive = s > 1e-12 * s.max(initial=0)
    return Vt[is_positive].T @ (
        s[is_positive] / (s[is_positive] ** 2 + ridge) * (U[:, is_positive].T @ y)
    )


# The stable list straight from its definition, in loops over dense lists.


def nogueira(lists, d):
    """Return the index of Nogueira, Sechidis and Brown (2018) from the 0/1 matrix of the lists."""
    Z = np.zeros((len(lists), d))
    for row, genes in zip(Z, lists, strict=True):
        row[genes] = 1
    share = Z.mean()
    if len(Z) < 2 or share in (0, 1):
        return np.nan
    return 1 - Z.var(axis=0, ddof=1).mean() / (share * (1 - share))


def choose_by_hand(error, standard_error, lists, max_genes, d):
    """Return (tau, lam, mu) and the agreement of the lists that were candidates.

    `error` and `standard_error` are (n_mu, n_tau, n_lam), NaN where lists are too long;
    ``lists[mu][tau]`` holds the list of each inner fold. Numbers that differ by less than rounding
    are equal.
    """
    n_mu, n_tau, n_lam = error.shape
    computed = [at for at in np.ndindex(error.shape) if not np.isnan(error[at])]
    agreed = np.full((n_mu, n_tau), np.nan)
    if not computed:
        return (0, n_lam - 1, 0), agreed
    best = min(computed, key=lambda at: (round(error[at], 12), at))
    bound = round(round(error[best], 12) + standard_error[best], 12)
    places = []
    candidates = []
    for mu, tau in np.ndindex(n_mu, n_tau):
        errors = [round(value, 12) for value in error[mu, tau]]
        if np.isnan(errors).any() or min(errors) > bound:
            continue
        lam = max(at for at in range(n_lam) if errors[at] == min(errors))
        size = np.mean([len(genes) for genes in lists[mu][tau]])
        places.append((0.0, size, -lam, mu, tau))
        if 1 <= size <= max_genes:
            agreed[mu, tau] = value = nogueira(lists[mu][tau], d)
            candidates.append((-round(-1 if np.isnan(value) else value, 12), *places[-1][1:]))
    *_, minus_lam, mu, tau = min(candidates or places)
    return (tau, -minus_lam, mu), agreed


# Cox's partial likelihood as its definition reads, event by event, and samples with ties.


def log_likelihood(time: Array, event: Array, eta: Array, ties: str, v: Array | None = None) -> Any:
    """Return l(η); sample weights as in R's coxph."""
    v = np.ones(len(time)) if v is None else v
    total = 0.0
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


def one_set(seed: int, n: int, d: int, ties: str = "efron", **options: Any) -> CoxSets:
    X, time, event = tied(seed, n, d, options.pop("copies", False))
    return cox_sets(
        X,
        FollowUp(time, event),
        np.ones((n, 1), dtype=bool),
        centre=True,
        unit_variance=True,
        ties=ties,
        **options,
    )


def cox_objective(sets: CoxSets, b: Array, tau: float, mu: float) -> float:
    """Return what `cox_path` minimises on the first training set."""
    weights = sets.training_sets.weights
    Z = sets.columns(0, np.arange(len(b)))
    return float(sets.risk[0].value(Z @ b) + mu * b @ b + tau * (weights @ np.abs(b)))


def dense(sets: CoxSets, tau: Any, mu: Any, tolerance: float = 1e-9) -> Array:
    """Return the coefficients of the path of the first training set, (m, d); all certified."""
    fits = cox_path(sets, tau, mu, tolerance=tolerance)
    assert fits.converged.all(), fits.message
    B = np.zeros((fits.shape[1], sets.training_sets.X.shape[1]))
    for m, b in enumerate(B):
        features, values = fits.coef(0, m)
        b[features] = values
    return B


# The logistic elastic net as its definition reads, and small problems of every kind.

STUDY_VARIANTS = ["plain", "weights"]


def classes(seed: int, n: int, d: int, k: int = 2) -> tuple[Array, Array, Array]:
    """Return X (n, d), Y (n, k) of ±1 and training rows (n, k) that hold both classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    Y = np.where(X[:, :1] + rng.normal(size=(n, k)) > 0, 1.0, -1.0)
    rows = rng.random((n, k)) < 0.85
    Y[:2] = 1.0
    Y[-2:] = -1.0
    rows[:2] = True
    rows[-2:] = True
    return X * rng.uniform(0.5, 3, d) + rng.normal(size=d), Y, rows


def random_weights(seed: int, rows: Array) -> Array:
    """Return weights of the samples of each training set, (n, k)."""
    return np.random.default_rng(seed + 1).uniform(0.2, 3, rows.shape)


def problem(seed: int, n: int, d: int, kind: str = "plain", **keys: Any) -> LogisticSets:
    """Return two training sets."""
    X, Y, rows = classes(seed, n, d)
    sample_weights = random_weights(seed, rows) if kind == "weights" else None
    keys.setdefault("unit_variance", True)
    return logistic_sets(X, Y, rows, sample_weights=sample_weights, **keys)


def parts(sets: LogisticSets, k: int) -> tuple[Array, Array, Array]:
    """Return Z (n_k, d), y and v of sum 1 (n_k,) of one set."""
    training_rows = np.flatnonzero(sets.training_sets.rows[:, k])
    Z = sets.training_sets.standardised(k)[training_rows]
    return Z, sets.y[k, training_rows], sets.v[k, training_rows]


def logistic_objective(
    sets: LogisticSets, k: int, b: Array, a: float, tau: float, mu: float
) -> float:
    """Return the penalised loss of coefficients b (d,) and intercept a."""
    Z, y, v = parts(sets, k)
    loss = v @ np.logaddexp(0, -y * (a + Z @ b))
    return float(loss + tau * np.abs(b).sum() + mu * b @ b)


def fits(sets: LogisticSets, tau: Any, mu: Any, **keys: Any) -> tuple[Any, Array, Array]:
    """Return the path, coefficients B (k, m, d) and intercepts (k, m)."""
    path, intercept = logistic_path(sets, tau, mu, **{"tolerance": 1e-9, **keys})
    B = np.zeros((*path.shape, sets.training_sets.X.shape[1]))
    for k in range(path.shape[0]):
        for m in range(path.shape[1]):
            features, values = path.coef(k, m)
            B[k, m, features] = values
    return path, B, intercept


def logistic_scores(sets: LogisticSets, path: Path, intercept: Array) -> Array:
    """Return the logarithmic odds ``a + z'b`` of all rows, (k, m, n)."""
    (k, m) = path.shape
    n = len(sets.training_sets.X)
    values, constant = logistic_coef(sets, path, intercept)
    scores = np.repeat(constant[..., None], n, axis=2)
    X = sets.training_sets.matrix.F
    for i in range(k):
        for j in range(m):
            part = slice(*path.indptr[i * m + j :][:2])
            features = path.indices[part]
            scores[i, j] += values[part] @ X[features, :n]
            scores[i, j] += values[part] @ sets.training_sets.matrix.shift[features]
    return np.asarray(scores)
