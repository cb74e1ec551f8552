"""``landweber``: the damped thresholded Landweber iteration, Algorithm 1 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.optim.certificate import duality_gap
from genesig.optim.solution import Path
from genesig.optim.training import TrainingSets

Array = np.ndarray[Any, Any]

LONGEST = 100_000  # iterations after which the stopping rule is given up
ABOVE_HALF = 0.5 * (1 + 1e-4)  # C / ||Z'Z||: convergence needs more than a half


def landweber(
    sets: TrainingSets, tau: Array, mu: Array, tolerance: float, longest: int | None = None
) -> Path:
    """Solve every fit from b = 0, as published, by Algorithm 1 with its own stopping rule.

    The rule is no certificate: the gap is measured afterwards, and is often above the tolerance.
    The message says where the rule was given up (at .02 tau_max on leukemia data it takes more
    than 440 000 iterations). `longest` is not looked at: every fit starts by itself, and `path`
    leaves out what is too long.
    """
    coefs, shape = [], tau.shape
    gap, iterations = np.empty(shape), np.empty(shape, dtype=np.int64)
    for at, Z, y in problems(sets, shape):
        b, iterations[at] = algorithm_1(Z, y, tau[at] * sets.weights, mu[at], np.zeros(Z.shape[1]))
        gap[at] = duality_gap(Z, y, b, tau[at], mu[at], sets.weights)
        coefs.append(sparse(b))
    path = Path.of(shape, coefs, gap, iterations, tolerance)
    given_up = int((iterations >= LONGEST).sum())
    if not given_up:
        return path
    sentence = f"Algorithm 1 was stopped after {LONGEST} iterations in {given_up} fits"
    return replace(path, message="; ".join(filter(None, [sentence, path.message])))


def problems(
    sets: TrainingSets, shape: tuple[int, ...]
) -> Iterator[tuple[tuple[int, int], Array, Array]]:
    """Yield the place (k, m) of each fit, with Z and y of the training rows of its set."""
    for k in range(shape[0]):
        Z, y = sets.problem(k)
        for m in range(shape[1]):
            yield (k, m), Z, y


def algorithm_1(Z: Array, y: Array, tau: Array, mu: float, b: Array) -> tuple[Array, int]:
    """Iterate until no coefficient changes by more than the share 0.1/p at iteration p.

    A coefficient that stays 0 counts as converged, one that leaves 0 does not. Source: Mosci 2009,
    Algorithm 1, with the threshold n tau/(2C) of eq. 4.6.
    """
    p = 0
    for p, after in enumerate(iterates(Z, y, tau, mu, b), start=1):
        settled = bool((np.abs(after - b) <= 0.1 / p * np.abs(b)).all())
        b = after
        if settled or p >= LONGEST:
            break
    return b, p


def iterates(Z: Array, y: Array, tau: Array, mu: float, b: Array) -> Iterator[Array]:
    """Yield ``b <- S(b + Z'(y - Zb)/C, n tau/(2C)) / (1 + n mu/C)`` without end.

    Parameters
    ----------
    Z : (n, d) array
    y : (n,) array
    tau : (d,) array
        Threshold of each feature, weights included.
    mu : float
    b : (d,) array
    """
    n = len(y)
    C = ABOVE_HALF * largest_eigenvalue(Z)
    if C == 0:
        yield np.zeros(len(b))
        return
    cut, damping = n * tau / (2 * C), 1 + n * mu / C
    while True:
        v = b + Z.T @ (y - Z @ b) / C
        b = np.sign(v) * np.maximum(np.abs(v) - cut, 0) / damping
        yield b


def largest_eigenvalue(Z: Array) -> float:
    """Return ||Z'Z||, from the smaller of the two Gram matrices."""
    gram = Z @ Z.T if Z.shape[0] <= Z.shape[1] else Z.T @ Z
    return float(np.linalg.eigvalsh(gram)[-1]) if gram.size else 0.0


def sparse(b: Array) -> tuple[Array, Array]:
    """Return (indices, values) of the non-zero coefficients."""
    A = np.flatnonzero(b).astype(np.int64)
    return A, b[A]
