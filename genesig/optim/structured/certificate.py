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


def block_gap(norms: Norms, weights: Array, tau: float, mu: float, response: Array) -> float:
    r"""Bound the objective minus its minimum, relative to ``||Y||²/n``.

    With Q = ||r||² + n mu sum ||v_k||² and s = min(1, tau / max_k (||g_k|| / w_k))::

        gap = sum_k (tau w_k ||v_k|| - <v_k, g_k>) + (1-s)/n (2 <Y, r> - (1+s) Q)

    Parameters
    ----------
    norms : Norms
    weights : (B,) array
    response : (3,) array
        n, <Y, r> and ||r||², then ||Y||².

    Source: Mosci 2009, section 5.2, for the dual of the penalty; the arrangement is that of
    `genesig.optim.certificate.duality_gap`, which is the case of one column a block.
    """
    n, along, squares, scale = response
    s = min(1.0, tau / max(float((norms.g / weights).max(initial=0.0)), tau))
    q = squares + n * mu * (norms.v @ norms.v)
    gap = norms.v @ (tau * weights - norms.g) + (1 - s) / n * (2 * along - (1 + s) * q)
    return float(max(gap, 0.0) / (scale / n or 1.0))
