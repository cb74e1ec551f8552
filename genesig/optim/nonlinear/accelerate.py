"""Accelerated proximal gradient steps on the dual, with adaptive restart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import slices

Array = np.ndarray[Any, Any]

CHECK_EVERY = 10
"""Steps between two looks at the gap, which costs as much as a step."""


def _forward(z: Array, phi: Array, step: float, squared: Array) -> None:
    """Overwrite φ by v = z + t φ, and return the squared norms of its rows."""
    for part in slices(len(z)):
        v = phi[part]
        v *= step
        v += z[part]
        np.einsum("ai,ai->a", v, v, out=squared[part])


def _backward(v: Array, factor: Array, q: Array, z: Array, momentum: float) -> float:
    """Step to q⁺ = factor v and extrapolate; return <z - q⁺, q⁺ - q>. Overwrites v, q and z."""
    turn = 0.0
    for part in slices(len(v)):
        new, old, ahead = v[part], q[part], z[part]
        new *= factor[part, None]
        ahead -= new
        np.subtract(new, old, out=old)
        turn += np.vdot(ahead, old)
        np.multiply(old, momentum, out=ahead)
        ahead += new
        old[:] = new
    return float(turn)


def accelerate(
    gradient: Callable[[Array], Array], penalty: Penalty, q: Array, step: float,
    done: Callable[[Array], bool], max_iterations: int,
) -> int:  # fmt: skip
    """Minimise H(q) + Ω*(q) in place; return the number of steps.

    q⁺ = prox_{tΩ*}(z + t φ(z)), z = q⁺ + m (q⁺ - q), restarted where the step turns back.

    Parameters
    ----------
    gradient : callable
        q -> φ(q) = -∇H(q), a fresh array.
    penalty : Penalty
    q : (d, n)
        Start; overwritten by the result.
    step : float
        At most 1 over the Lipschitz constant of ∇H.
    done : callable
        Whether q is good enough; asked every few steps.
    max_iterations : int

    References
    ----------
    O'Donoghue and Candès (2015), equation 13.
    """
    z, t, squared = q.copy(), 1.0, np.empty(len(q))
    for iteration in range(1, max_iterations + 1):
        v = gradient(z)
        _forward(z, v, step, squared)
        factor = penalty.conjugate_factor(squared, step)[penalty.block]
        following = (1 + np.sqrt(1 + 4 * t * t)) / 2
        turn = _backward(v, factor, q, z, (t - 1) / following)
        t = following
        if turn > 0:
            t = 1.0
            z[:] = q
        if iteration % CHECK_EVERY == 0 and done(q):
            return iteration
    return max_iterations
