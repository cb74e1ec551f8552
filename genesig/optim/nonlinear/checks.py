"""Is this a problem that can be solved? One sentence for each reason why not, before any work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.errors import GenesigError

Array = np.ndarray[Any, Any]

COPIES = {"compressed": 2, "fista": 40, "projection": 45, "auto": 2}
"""Arrays of n × d that a solver holds at once; `admm` holds four matrices of n d × n d."""


class InvalidProblem(GenesigError, ValueError):
    """Data or settings that no model can be fitted to."""


def check_data(X: Array, y: Array) -> None:
    """Refuse fewer than three samples, values that are not finite, constant columns."""
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise InvalidProblem(f"X must be (n, d) and y (n,); found {X.shape} and {y.shape}")
    if len(y) < 3:
        raise InvalidProblem(f"at least 3 samples are needed; found {len(y)}")
    if X.shape[1] < 1:
        raise InvalidProblem("at least one feature is needed; found none")
    # a sum is finite only if all terms are, and needs no mask of the size of X
    if not (np.isfinite(X.sum(axis=0)).all() and np.isfinite(y).all()):
        raise InvalidProblem("X and y must be finite: NaN or infinity was found")
    constant = np.flatnonzero(X.max(axis=0) == X.min(axis=0))
    if len(constant):
        raise InvalidProblem(
            f"{len(constant)} of {X.shape[1]} features are constant on these samples, the first"
            f" is number {constant[0]}; remove them: their derivative means nothing"
        )
    if y.max() == y.min():
        raise InvalidProblem(f"the response is constant ({y[0]:g}): there is nothing to explain")


def check_settings(*, nu: float, width: float, mu: float, degree: int) -> None:
    """Refuse ν ≤ 0, a width that is not positive, μ outside (0, 1], a degree below 1."""
    if not (np.isfinite(nu) and nu > 0):
        raise InvalidProblem(
            f"nu must be positive, found {nu:g}: with nu = 0 a function of zero gradient at every"
            " sample fits any response exactly, and nothing is selected"
        )
    if not (np.isfinite(width) and width > 0):
        raise InvalidProblem(f"the kernel's width must be a positive number, found {width:g}")
    if not 0 < mu <= 1:
        raise InvalidProblem(f"mu must lie in (0, 1], found {mu:g}")
    if degree < 1 or degree != int(degree):
        raise InvalidProblem(f"the kernel's degree must be 1, 2, 3, ..., found {degree:g}")


def check_tau(tau: Sequence[float]) -> None:
    """Refuse fractions of tau_max that are not positive or not falling."""
    values = np.asarray(tau, dtype=float)
    if not (values.size and np.isfinite(values).all() and (values > 0).all()):
        raise InvalidProblem(f"tau must be positive fractions of tau_max, found {list(tau)}")
    if (np.diff(values) > 0).any():
        raise InvalidProblem("tau must fall along the path, so that each fit starts the next")


def number_groups(groups: Sequence[Sequence[int]] | None, d: int, penalty: str) -> Array:
    """Return the number of each feature's group (d,); each feature is in exactly one.

    Parameters
    ----------
    groups : list of lists of feature numbers, or None
        None makes every feature a group of its own.
    d : int
        Number of features.
    """
    if groups is None:
        if penalty == "group":
            raise InvalidProblem(
                "the group penalty needs groups: a list of lists of feature numbers"
            )
        return np.arange(d)
    block = np.full(d, -1)
    for number, members in enumerate(groups):
        features = np.asarray(members, dtype=np.int64)
        if len(features) == 0:
            raise InvalidProblem(f"group {number} is empty")
        if features.min() < 0 or features.max() >= d:
            raise InvalidProblem(f"group {number} names a feature outside 0..{d - 1}")
        if (block[features] >= 0).any() or len(np.unique(features)) < len(features):
            raise InvalidProblem(f"group {number} holds a feature that is in a group already")
        block[features] = number
    if (block < 0).any():
        raise InvalidProblem(
            f"groups must cover all {d} features; {np.sum(block < 0)} are in none, the first is"
            f" number {np.flatnonzero(block < 0)[0]}"
        )
    return block


def check_weights(weights: Array | None, count: int) -> Array:
    """Return the groups' weights, 1 each unless given; they must be positive."""
    found = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if found.shape != (count,) or not (np.isfinite(found).all() and (found > 0).all()):
        raise InvalidProblem(f"weights must be {count} positive numbers, one for each group")
    return found


def check_memory(n: int, d: int, solver: str) -> None:
    """Refuse a problem that would not fit in the machine's memory."""
    needed = 8 * COPIES.get(solver, 2) * n * d
    if solver == "admm":
        needed = 4 * 8 * (n * d) ** 2
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there:
        raise InvalidProblem(
            f"{n} samples and {d} features need about {needed / 1e9:.3g} GB with the solver"
            f" '{solver}', more than the {there / 1e9:.3g} GB of this machine; use the solver"
            " 'compressed', or keep fewer features"
        )
