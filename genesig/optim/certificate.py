"""The duality gap: how far a coefficient vector can be from the minimum, proved."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def duality_gap(
    Z: Array, y: Array, b: Array, tau: float, mu: float, weights: Array | None = None
) -> float:
    r"""Bound ``Phi(b) - min Phi`` from above, relative to ``||y||²/n``.

    With ``g = (2/n) Z'r - 2 mu b`` and ``s = min(1, tau / max_j |g_j|)``::

        gap = sum_j (tau |b_j| - b_j g_j) + (1-s)/n (2 y'r - (1+s) (||r||² + n mu ||b||²))

    which is the primal minus the dual objective at ``s r``, arranged so that nothing cancels. At
    ``tau = 0 < mu`` the dual of the ridge penalty is used instead: ``gap = ||g||² / (4 mu)``.

    Parameters
    ----------
    Z : (n, d) array
    y : (n,) array
    b : (d,) array
    tau, mu : float
    weights : (d,) array, optional
        Weights of the l1 term. A feature of weight 0 is left out of s, and ``|b_j g_j|`` added.
    """
    n, cut = len(y), tau * (np.ones(len(b)) if weights is None else weights)
    r = y - Z @ b
    g = 2 / n * (Z.T @ r) - 2 * mu * b
    scale = float(y @ y) / n or 1.0
    if tau == 0 and mu > 0:
        return float(g @ g) / (4 * mu) / scale
    s = min(1.0, 1.0 / float((np.abs(g[cut > 0]) / cut[cut > 0]).max(initial=1.0)))
    q = r @ r + n * mu * (b @ b)
    gap = np.where(cut > 0, cut * np.abs(b) - b * g, np.abs(b * g)).sum()
    gap += (1 - s) / n * (2 * (y @ r) - (1 + s) * q)
    return max(float(gap), 0.0) / scale
