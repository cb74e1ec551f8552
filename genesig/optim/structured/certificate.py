"""The duality gap of a penalty on blocks, from one number a block."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Norms(NamedTuple):
    """Of each block: ``v = ||v_k||`` of its coefficients and ``g = ||g_k||`` of its gradient.

    v_k must be a non-negative multiple of g_k = (2/n) A_k'r - 2 mu v_k, so that <v_k, g_k> = v g.
    """

    v: Array
    g: Array


class Residual(NamedTuple):
    """n, <Y, r>, ||r||² and ||Y||²."""

    n: int
    along: float
    square: float
    response: float


def residual(Y: Array, alpha: Array) -> Residual:
    """Take the residual r = n alpha of a response Y (n, T)."""
    n = len(Y)
    square = float(np.vdot(alpha, alpha))
    return Residual(n, n * float(np.vdot(Y, alpha)), n * n * square, float(np.vdot(Y, Y)))


def block_gap(norms: Norms, weights: Array, tau: float, mu: float, left: Residual) -> float:
    """Bound the objective minus its minimum, relative to ``||Y||²/n``.

    Parameters
    ----------
    norms : Norms
    weights : (B,) array
    tau, mu : float
        Absolute.
    left : Residual
    """
    found = Certified(
        value=tau * float(weights @ norms.v),
        along=float(norms.v @ norms.g),
        dual=float((norms.g / weights).max(initial=0.0)),
        square=float(norms.v @ norms.v),
    )
    return duality_gap(found, tau, mu, left)


class Certified(NamedTuple):
    """Of coefficients b with the gradient g = (2/n) X'r - 2 mu b.

    Attributes
    ----------
    value : float
        tau times the penalty of b.
    along : float
        <b, g>.
    dual : float
        The dual norm of g, or a bound on it from above.
    square : float
        ||b||².
    """

    value: float
    along: float
    dual: float
    square: float


def duality_gap(found: Certified, tau: float, mu: float, left: Residual) -> float:
    r"""Bound the objective minus its minimum for any norm, relative to ``||Y||²/n``.

    With Q = ||r||² + n mu ||b||² and s = min(1, tau / Omega°(g))::

        gap = tau Omega(b) - <b, g> + (1-s)/n (2 <Y, r> - (1+s) Q)

    Source: Mosci 2009, section 5.2, for the dual of the penalty; the arrangement is that of
    `genesig.optim.certificate.duality_gap`, which is the case of the l1 norm.
    """
    s = min(1.0, tau / max(found.dual, tau))
    q = left.square + left.n * mu * found.square
    gap = found.value - found.along + (1 - s) / left.n * (2 * left.along - (1 + s) * q)
    return max(gap, 0.0) / (left.response / left.n or 1.0)
