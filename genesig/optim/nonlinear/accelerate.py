"""Proximal gradient steps on the dual in a metric of its own, combined by Anderson's rule.

The metric acts on the samples alone, alike on every feature, so that the bounds of the features
stay apart: in its basis the prox of a feature is one equation in one unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from genesig.compiled.descent import AT, WINDOW, Bounds, Memory, advance
from genesig.optim.nonlinear.metric import Metric
from genesig.optim.nonlinear.penalties import Penalty, row_squares

Array = np.ndarray[Any, Any]


def accelerate(
    gradient: Callable[[Array, Array], None], penalty: Penalty, metric: Metric, q: Array,
    done: Callable[[float], bool], max_iterations: int, *, free: int = 0, slack: float = 0.0,
) -> tuple[Array, int]:  # fmt: skip
    """Minimise H(q) + Ω*(q) from q (m, n), within its bounds; return q and the number of steps.

    Parameters
    ----------
    gradient : callable
        (q, out), fills out (m, n) with φ(q) = -∇H(q) less `metric.own` q; in the metric's basis,
        like q.
    penalty : Penalty
        Of the rows after the first `free` ones, which have no bound.
    done : callable
        Whether a duality gap is small enough.
    max_iterations : int
    slack : float
        Bound of Σ r_g ||φ_g|| over ||φ|| for the features that the free rows stand for.
    """
    bounds = Bounds(
        np.array([free]), penalty.block.astype(np.int64), penalty.radius,
        np.array([penalty.curvature, slack]),
    )  # fmt: skip
    memory = _memory(metric, q, len(penalty.radius))
    memory.conjugate[0] = penalty.conjugate(row_squares(q[free:]))
    steps = 0
    while True:
        at, steps = memory.place[AT], steps + 1
        found = memory.points[at].reshape(q.shape)
        gradient(found, memory.slopes[at].reshape(q.shape))
        if done(advance(bounds, memory)) or steps >= max_iterations:
            return found, steps


def _memory(metric: Metric, q: Array, groups: int) -> Memory:
    """Return room for the last points, the first of which is q."""
    (m, n), slots = q.shape, WINDOW + 1
    memory = Memory(
        points=np.empty((slots, m * n)), slopes=np.empty((slots, m * n)),
        moves=np.empty((slots, m * n)), gram=np.zeros((slots, slots)), ahead=np.empty(m * n),
        slope=np.empty(m * n), weight=metric.weight.copy(), own=metric.own,
        conjugate=np.zeros(slots), shift=np.full(groups, -1.0), place=np.array([0, 0, -1]),
        scratch=np.empty((5, max(n, groups))), squares=np.empty((groups, n)),
    )  # fmt: skip
    memory.points[0] = q.ravel()
    return memory
