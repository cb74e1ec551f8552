"""Dual proximal gradients, combined, over all features, one matrix-free product per step."""

from __future__ import annotations

from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.metric import accelerate
from genesig.optim.nonlinear.multipliers import Multipliers
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Gradient


def fista(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau; 4 n² (n + d) flops a step, O(n² + n d) memory.

    Fast for a Gaussian kernel of about the median distance (tens of steps), slow for cubic
    polynomials and wide kernels, whose M is ill conditioned.
    """
    X, basis, goal = instance.X, instance.metric.basis, tolerance * instance.scale
    q = penalty.within(start.dense(X))
    found, steps = accelerate(
        Gradient(instance.problem, X, basis), penalty, instance.metric, q @ basis,
        lambda gap: gap <= goal, max_iterations,
    )  # fmt: skip
    return Multipliers.full(found @ basis.T), steps
