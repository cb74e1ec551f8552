"""``landweber-newton``: Newton steps on the fixed-point equation of the damped Landweber map."""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]
SLACK = 1e-10  # a feature enters when its gradient exceeds tau by more than this share


def solve_columns(
    sets: TrainingSets, tau: Array, mu: Array, weights: Array
) -> list[list[tuple[Array, int]]]:
    """Solve every column along its path; returns (coefficients, iterations) of each fit."""
    fits = []
    for k in range(len(tau)):
        rows = sets.rows[:, k]
        Z, y = sets.standardised(k)[rows], sets.Y[rows, k]
        b, column = np.zeros(Z.shape[1]), []
        for t, m in zip(tau[k], mu[k], strict=True):
            if m > 1e-4 * sets.norm[k]:
                b, steps = _dual_newton(Z, y, b, t * weights, m)
            else:
                b, steps = _active_set(Z, y, b, t * weights, m)
            column.append((b, steps))
        fits.append(column)
    return fits


def _active_set(Z: Array, y: Array, b: Array, tau: Array, mu: float) -> tuple[Array, int]:
    n, b = len(y), b.copy()
    sign = np.sign(b)
    c = Z.T @ y
    for step in range(1, 10_000):
        A = np.flatnonzero((sign != 0) | ((tau == 0) & (c != 0)))
        target = _solve(Z[:, A], mu * n, c[A] - n * tau[A] / 2 * sign[A])
        wrong = (target * sign[A] < 0) | ((target == 0) & (sign[A] != 0))
        if wrong.any():
            ratio = np.full(len(A), np.inf)
            ratio[wrong] = b[A][wrong] / (b[A][wrong] - target[wrong])
            first = int(np.argmin(ratio))
            b[A] += ratio[first] * (target - b[A])
            b[A[first]] = sign[A[first]] = 0.0
            continue
        b[A] = target
        g = 2 / n * (c - Z.T @ (Z[:, A] @ target))
        excess = np.where(sign == 0, np.abs(g) - tau * (1 + SLACK), -np.inf)
        excess[tau == 0] = -np.inf
        worst = int(np.argmax(excess))
        if excess[worst] <= 1e-14 * np.abs(c).max() * 2 / n:
            return b, step
        sign[worst] = np.sign(g[worst])
    return b, step


def _solve(Z: Array, ridge: float, rhs: Array) -> Array:
    """Solve (Z'Z + ridge I) b = rhs."""
    if ridge == 0:
        return np.asarray(np.linalg.lstsq(Z.T @ Z, rhs, rcond=1e-12)[0])
    return np.asarray(np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), rhs))


def _dual_newton(Z: Array, y: Array, b: Array, tau: Array, mu: float) -> tuple[Array, int]:
    """Minimise ``||u||²/2 - y'u + ||S(Z'u, n tau/2)||²/(2 n mu)``; then b = S(Z'u, .)/(n mu)."""
    n = len(y)
    u, ridge, cut = y - Z @ b, n * mu, n * tau / 2

    def shrink(v: Array) -> Array:
        return np.sign(v) * np.maximum(np.abs(v) - cut, 0)

    def value(u: Array, v: Array) -> float:
        return float(u @ u / 2 - y @ u + (shrink(v) ** 2).sum() / (2 * ridge))

    v = Z.T @ u
    step = 0
    while step < 200:
        step += 1
        a = shrink(v)
        A = a != 0
        F = u - y + Z[:, A] @ a[A] / ridge
        if np.linalg.norm(F) <= 1e-14 * np.linalg.norm(y):
            break
        d = -np.linalg.solve(np.eye(n) + Z[:, A] @ Z[:, A].T / ridge, F)
        w, alpha, now = Z.T @ d, 1.0, value(u, v)
        while value(u + alpha * d, v + alpha * w) > now + 1e-4 * alpha * (F @ d) and alpha > 1e-10:
            alpha /= 2
        u, v = u + alpha * d, v + alpha * w
        if alpha == 1 and (np.sign(shrink(v)) == np.sign(a)).all():
            break
    return shrink(Z.T @ u) / ridge, step
