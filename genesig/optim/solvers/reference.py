"""Solvers of the literature, for reference: two of the thesis, and coordinate descent.

``landweber`` and ``landweber-nested`` are Algorithms 1 and 2 of the thesis. Algorithm 2 is a
heuristic: a feature that one rung leaves out never comes back, and its rule stops while
coefficients are still on their way to 0. On the leukemia data at .02 tau_max it differs from the
minimiser's 37 features by 6 on raw standardised intensities, and from 33 by 15 on their logarithms
(4 left out, 11 too many). With every rung solved exactly 11 of the 15 remain, with 40 rungs instead
of 10 there are 12. So the restriction is the cause, and no setting of the algorithm cures it.

``coordinate-descent`` updates one coefficient after the other. Source: de Freitas 2012, lecture on
sparse regularization, whose delta² is n tau; mu, weights and the gap (for "until converged") are
added, and constant features are skipped.

Every fit starts by itself. So these solvers ignore `longest`; `path` leaves out what is too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from genesig.arrays import Array
from genesig.compiled.column import sweep_lasso
from genesig.optim.solution import Path, duality_gap
from genesig.optim.training import TrainingSets

MAX_ITERATIONS = 100_000  # number of iterations after which the stopping rule is given up
STEP_SHARE = 0.5 * (1 + 1e-4)  # C / ||Z'Z||: convergence needs more than a half
MAX_SWEEPS = 10_000  # number of sweeps over all features after which a fit is given up
SWEEPS_PER_CHECK = 10  # number of sweeps from one check of the gap to the next

FitFunction = Callable[[int, Array, Array, float, float], tuple[Array, float, int]]
"""(number of the training set, Z, y, tau, mu) to coefficients, gap and number of iterations."""


def _fit_each(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, fit: FitFunction
) -> Path:
    """Return the path of all training sets at tau and mu (k, m), each fit by itself."""
    coefs = []
    gap = np.empty(tau.shape)
    iterations = np.empty(tau.shape, dtype=np.int64)
    for k in range(len(tau)):
        Z, y = sets.problem(k)
        for m in range(tau.shape[1]):
            b, gap[k, m], iterations[k, m] = fit(k, Z, y, float(tau[k, m]), float(mu[k, m]))
            support = np.flatnonzero(b).astype(np.int64)
            coefs.append((support, b[support]))
    return Path.from_coefs(tau.shape, coefs, gap, iterations, tolerance)


def _with_message(path: Path, message: str) -> Path:
    """Return the path with a further message before its own."""
    return replace(path, message="; ".join(filter(None, [message, path.message])))


def landweber(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every fit from b = 0, as published, by Algorithm 1 with its own stopping rule.

    The rule is no certificate: the gap is measured afterwards, and is often above the tolerance.
    The message says where the rule was given up (at .02 tau_max on leukemia data it takes more
    than 440 000 iterations).
    """

    def fit(k: int, Z: Array, y: Array, tau: float, mu: float) -> tuple[Array, float, int]:
        b, n_iterations = algorithm_1(Z, y, tau * sets.weights, mu, np.zeros(Z.shape[1]))
        return b, duality_gap(Z, y, b, tau, mu, sets.weights), n_iterations

    path = _fit_each(sets, tau, mu, tolerance, fit)
    n_given_up = int((path.iterations >= MAX_ITERATIONS).sum())
    if not n_given_up:
        return path
    return _with_message(
        path, f"Algorithm 1 was stopped after {MAX_ITERATIONS} iterations in {n_given_up} fits"
    )


def algorithm_1(Z: Array, y: Array, tau: Array, mu: float, b: Array) -> tuple[Array, int]:
    """Return b after Algorithm 1 from a start b (d,), and the number p of its iterations.

    tau (d,): threshold of each feature, weights included. It ends once no coefficient changes by
    more than the share 0.1/p at iteration p. A coefficient that stays 0 counts as converged, one
    that leaves 0 does not.

    Source: Mosci 2009, Algorithm 1, with the threshold n tau/(2C) of eq. 4.6.
    """
    p = 0
    for p, updated in enumerate(iterates(Z, y, tau, mu, b), start=1):
        has_converged = bool((np.abs(updated - b) <= 0.1 / p * np.abs(b)).all())
        b = updated
        if has_converged or p >= MAX_ITERATIONS:
            break
    return b, p


def iterates(Z: Array, y: Array, tau: Array, mu: float, b: Array) -> Iterator[Array]:
    """Yield ``b <- S(b + Z'(y - Zb)/C, n tau/(2C)) / (1 + n mu/C)`` without end; 0 once if Z is 0.

    Z (n, d). y (n,). tau (d,): threshold of each feature, weights included. b (d,).
    """
    n = len(y)
    step_constant = STEP_SHARE * largest_eigenvalue(Z)
    if step_constant == 0:
        yield np.zeros(len(b))
        return
    threshold = n * tau / (2 * step_constant)
    damping = 1 + n * mu / step_constant
    while True:
        v = b + Z.T @ (y - Z @ b) / step_constant
        b = np.sign(v) * np.maximum(np.abs(v) - threshold, 0) / damping
        yield b


def largest_eigenvalue(Z: Array) -> float:
    """Return ||Z'Z||, from the smaller of the two Gram matrices."""
    gram = Z @ Z.T if Z.shape[0] <= Z.shape[1] else Z.T @ Z
    return float(np.linalg.eigvalsh(gram)[-1]) if gram.size else 0.0


N_RUNGS = 10  # number of values of mu on the ladder
FIRST_RUNG = 1e3  # first mu of the ladder, in units of the last
LAST_RUNG = 1e-6  # last mu of the thesis' ladder, in units of ||Z'Z||/n
VIOLATION_SLACK = 1e-3  # share of tau by which a gradient must exceed it to count as a violation


def landweber_nested(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every fit by Algorithm 2, then check all features.

    The message says how many features the heuristic lost.
    """
    n_lost: list[int] = []  # of each fit

    def fit(k: int, Z: Array, y: Array, tau: float, mu: float) -> tuple[Array, float, int]:
        thresholds = tau * sets.weights
        b, n_iterations = algorithm_2(Z, y, thresholds, mu_ladder(mu, float(sets.norm[k])))
        n_lost.append(len(violators(Z, y, thresholds, b)))
        return b, duality_gap(Z, y, b, tau, mu, sets.weights), n_iterations

    path = _fit_each(sets, tau, mu, tolerance, fit)
    if not any(n_lost):
        return path
    return _with_message(
        path,
        f"landweber-nested left out {sum(n_lost)} features that violate the optimality conditions,"
        f" in {np.count_nonzero(n_lost)} of {len(n_lost)} fits",
    )


def mu_ladder(mu: float, norm: float) -> Array:
    """Return ten values of mu, geometric, from 1000 times the last one down to `mu`.

    At mu = 1e-6 ||Z'Z||/n these are the 1e-3 ... 1e-6 of the thesis; for a smaller mu the ladder
    stays the same, and only its last rung is `mu`.
    """
    rungs = max(mu, LAST_RUNG * norm) * np.geomspace(FIRST_RUNG, 1, N_RUNGS)
    rungs[-1] = mu
    return rungs


def algorithm_2(Z: Array, y: Array, tau: Array, rungs: Array) -> tuple[Array, int]:
    """Return b (d,) after Algorithm 1 down the ladder of mu, and the number of its iterations.

    Each rung is restricted to the support of the one before. It starts at the ridge solution; C is
    computed again for the current columns. Source: Mosci 2009, Algorithm 2, with the parenthesis
    of S(b + ...) closed where it belongs.
    """
    n, d = Z.shape
    columns = np.arange(d)
    n_iterations = 0
    start_mu = rungs[0] or 1.0  # without a ridge the system could be singular
    b = Z.T @ np.linalg.solve(Z @ Z.T + n * start_mu * np.eye(n), y)
    for mu in rungs:
        b, n_rung_iterations = algorithm_1(Z[:, columns], y, tau[columns], mu, b)
        n_iterations += n_rung_iterations
        columns = columns[b != 0]
        b = b[b != 0]
    full = np.zeros(d)
    full[columns] = b
    return full, n_iterations


def violators(Z: Array, y: Array, tau: Array, b: Array) -> Array:
    """Return the features at 0 whose gradient exceeds tau (d,), which the restriction has lost."""
    g = 2 / len(y) * np.abs(Z.T @ (y - Z @ b))
    return np.flatnonzero((b == 0) & (g > tau * (1 + VIOLATION_SLACK)))


def coordinate_descent(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every fit from its ridge solution, until the duality gap is within the tolerance."""

    def fit(k: int, Z: Array, y: Array, tau: float, mu: float) -> tuple[Array, float, int]:
        return _descend_one(Z, y, tau, mu, sets.weights, tolerance)

    path = _fit_each(sets, tau, mu, tolerance, fit)
    n_given_up = int(((path.iterations >= MAX_SWEEPS) & ~path.converged).sum())
    if not n_given_up:
        return path
    return _with_message(
        path, f"coordinate descent was stopped after {MAX_SWEEPS} sweeps in {n_given_up} fits"
    )


def _descend_one(
    Z: Array, y: Array, tau: float, mu: float, weights: Array, tolerance: float
) -> tuple[Array, float, int]:
    """Return b, gap and number of sweeps of one fit, for Z (n, d) standardised and y (n,)."""
    n = len(y)
    start_ridge = n * (tau + mu) or 1.0
    b = Z.T @ np.linalg.solve(Z @ Z.T + start_ridge * np.eye(n), y)
    r = y - Z @ b
    features = np.ascontiguousarray(Z.T)
    for sweeps in range(0, MAX_SWEEPS, SWEEPS_PER_CHECK):
        gap = duality_gap(Z, y, b, tau, mu, weights)
        if gap <= tolerance:
            return b, gap, sweeps
        sweep_lasso(features, n * tau * weights / 2, n * mu, r, b, SWEEPS_PER_CHECK)
    return b, duality_gap(Z, y, b, tau, mu, weights), MAX_SWEEPS
