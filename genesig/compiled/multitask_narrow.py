"""Newton steps where rows are many more than responses times samples: the Hessian by its factor.

With H = BB' + D, D diagonal, B (m, TN), and E = B'W^-½ of the rows that are free, W = D + damping
diag(H)::

    (BB' + W)^-1 r = W^-½ (I - E'(I + EE')^-1 E) W^-½ r
"""

from __future__ import annotations

from typing import Any

import numpy as np

from genesig.compiled import inner, plain
from genesig.compiled.cholesky import cholesky
from genesig.compiled.dense import backward, forward
from genesig.compiled.lanes import dot
from genesig.compiled.multitask_lengths import Lengths, alone, halve
from genesig.compiled.products import products

Array = np.ndarray[Any, Any]

MANY = 2.0  # times responses and samples: from here on the factor is less work than the Hessian


@plain
def bend(p: Lengths) -> None:
    """Fill the Hessian's factor and diagonal at the point whose slopes were found last."""
    m, N, width = p.size[0], len(p.U), p.narrow.shape[1]
    halve(p)
    for k in range(m):
        p.lone[k] = p.own[k] = alone(p, k)
    for t in range(len(p.narrow) // N):
        for i in range(N):
            row = p.narrow[t * N + i]
            for k in range(m):
                row[k] = p.step[k] * p.A[t, k] * p.half[i, k]
                p.own[k] += row[k] * row[k]
            for k in range(m, width):
                row[k] = 0.0


@inner
def narrow_step(p: Lengths, damping: float, held: int) -> bool:
    """Fill the step of the rows that are free, where q is 0; False where nothing can be factored.

    The `held` others go all the way to 0, and what that changes is taken off the slope.
    """
    m, c = p.size[0], len(p.narrow)
    for k in range(m):
        p.step[k], p.trial[k] = p.slope[k], p.q[k] * p.x[k]
    for i in range(c if held > 0 else 0):
        along = dot(p.narrow[i][:m], p.trial[:m])
        for k in range(m):
            p.step[k] -= along * p.narrow[i, k]
    for k in range(m):
        p.trial[k] = 1.0 / np.sqrt(p.lone[k] + damping * p.own[k]) if p.q[k] == 0.0 else 0.0
        p.step[k] *= p.trial[k]
    for i in range(c):
        for k in range(m):
            p.free[i, k] = p.narrow[i, k] * p.trial[k]
        for k in range(m, p.free.shape[1]):
            p.free[i, k] = 0.0
    products(p.free, 0, c, p.few)
    for i in range(c):
        p.few[i, i] += 1.0
    if not cholesky(p.few, c):
        return False
    for i in range(c):
        p.side[i] = dot(p.free[i][:m], p.step[:m])
    forward(p.few, c, p.side)
    backward(p.few, c, p.side)
    for i in range(c):
        for k in range(m):
            p.step[k] -= p.side[i] * p.free[i, k]
    for k in range(m):
        p.step[k] = p.step[k] * p.trial[k] if p.q[k] == 0.0 else p.x[k]
    return True
