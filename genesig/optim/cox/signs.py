"""A small l1 problem by its signs: where they are known, it is a linear system.

Source: Lee, Battle, Raina and Ng 2007, Efficient sparse coding algorithms (feature-sign search).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

Array = np.ndarray[Any, Any]

EASE = 1e-10
"""Share of its bound, or of the largest gradient, by which a gradient may miss."""


def by_signs(Q: Array, g: Array, cut: Array, start: Array) -> Array | None:
    """Minimise ``½ x'Qx - g'x + Σ_j cut_j |x_j|``; None where it cannot be had in this way.

    Solves for the values of the signs that are held, goes back to where the first of them turns,
    lets in the feature that misses its bound most. Near the solution the signs are those of the
    start, and one linear system is all.

    Parameters
    ----------
    Q : (m, m) array
        Positive definite on every set of features that is met.
    g, cut, start : (m,) array
        A feature with cut 0 is always in.
    """
    x, free = np.where(cut == 0, start, np.where(start != 0, start, 0.0)), cut == 0
    sign = np.sign(x) * ~free
    inside = (x != 0) | free
    ease = EASE * max(float(np.abs(g).max(initial=0.0)), 1e-300)
    for _ in range(20 * len(g) + 20):
        A = np.flatnonzero(inside)
        z = _solved(Q[np.ix_(A, A)], g[A] - cut[A] * sign[A])
        if z is None:
            return None
        turned = (z * sign[A] < 0) & ~free[A]
        if turned.any():
            x[A] = _towards(Q[np.ix_(A, A)], g[A], cut[A], x[A], z)
            x[A] = np.where(np.abs(x[A]) <= 1e-14 * np.abs(x[A]).max(), 0.0, x[A])
            inside, sign = (x != 0) | free, np.sign(x) * ~free
            continue
        x[A] = z
        rest = g - Q[:, A] @ z
        over = np.where(inside, 0.0, np.abs(rest) - cut * (1 + EASE) - ease)
        if over.max(initial=0.0) <= 0:
            return x
        j = int(np.argmax(over))
        inside[j], sign[j] = True, np.sign(rest[j])
    return None


def _solved(Q: Array, b: Array) -> Array | None:
    if not len(b):
        return b
    _, z, info = dposv(Q, b)
    return z if info == 0 and np.isfinite(z).all() else None


def _towards(Q: Array, g: Array, cut: Array, x: Array, z: Array) -> Array:
    """Return the best point on the way from x to z among z and those where a sign turns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at = x / (x - z)
    stops = np.append(np.unique(at[(at > 0) & (at < 1)]), 1.0)
    points = x + stops[:, None] * (z - x)
    hits = np.isclose(at, stops[:, None], rtol=1e-12, atol=0)
    points = np.where(hits & (stops[:, None] < 1), 0.0, points)
    values = 0.5 * np.sum(points * (points @ Q), axis=1) - points @ g + np.abs(points) @ cut
    return np.asarray(points[int(np.argmin(values))])
