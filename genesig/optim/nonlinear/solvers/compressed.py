"""Dual proximal gradients, combined, whose steps do not depend on the number of features.

While a feature's bound ||q_a|| ≤ r_g is not reached, its multipliers are q_a = Θ'x_a with the same
Θ for all (see `Multipliers`). So a step works on the active features and on n "rotated" ones that
stand for all the others, whose bound is left out; all d features are gone through only to look
for those that break it, which then become active. At the end nothing breaks it, and the gap is
taken over all d features: the answer is exact, not an approximation.

Source: the Kronecker structure of gradient Gram matrices (de Roos, Gessner and Hennig, 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.metric import accelerate, row_space
from genesig.optim.nonlinear.multipliers import Multipliers, certify
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.problem import Gradient

ENOUGH = 0.9
"""Share of the gap that is asked for at which the steps end."""
FIRST = 1e-3
"""Relative gap at which the bounds are looked at for the first time; then a tenth each time."""


def compressed(
    instance: Instance, penalty: Penalty, start: Multipliers, tolerance: float, max_iterations: int
) -> tuple[Multipliers, int]:
    """Solve for one tau; about 6 n² (n + active) flops a step, no array of d × n."""
    X, q, steps, relaxed = instance.X, start, 0, None
    target = max(FIRST, tolerance)
    while steps < max_iterations:
        squares = q.squares(X)
        broken = penalty.norms(squares) > penalty.radius
        features = np.flatnonzero(broken[penalty.block])
        new = np.setdiff1d(features, q.active)
        if len(new) == 0 and steps > 0:
            found = certify(instance.problem, penalty, X, instance.inner, q, squares)
            if found.gap <= tolerance * instance.scale:
                break
        if relaxed is None or len(new):
            q = q.join(X, new)
            relaxed = _Relaxed.of(instance, penalty, q)
        q, more = relaxed.solve(q, target, max_iterations - steps)
        steps += more
        # less than asked for, because the representation of the inactive part has its rounding
        least = ENOUGH * tolerance
        target = max(target / 10, least) if len(new) or target > tolerance else target / 3
    return q, steps


@dataclass(frozen=True)
class _Relaxed:
    """The problem with bounds on the active features only.

    `rotated` (n, r) stands for the others: same inner products, no bound. `slack` is
    sqrt(Σ r_g²) over their blocks, so that Σ r_g ||φ_g|| ≤ slack ||φ||.
    """

    instance: Instance
    features: Array
    rotated: Array
    unrotate: Array
    bounded: Penalty
    slack: float

    @classmethod
    def of(cls, instance: Instance, penalty: Penalty, q: Multipliers) -> _Relaxed:
        own = instance.X[:, q.active]
        V, s = row_space(instance.inner - own @ own.T)
        if len(q.active) == instance.X.shape[1]:
            V, s = V[:, :0], s[:0]
        bounded = penalty.take(q.active)
        rest = penalty.radius @ penalty.radius - bounded.radius @ bounded.radius
        features, slack = np.hstack([V * s, own]), float(np.sqrt(max(rest, 0)))
        return cls(instance, features, V * s, V / s, bounded, slack)

    def solve(self, q: Multipliers, tolerance: float, max_steps: int) -> tuple[Multipliers, int]:
        """Step until the bound on the gap is within the tolerance."""
        instance, free = self.instance, self.rotated.shape[1]
        basis, goal = instance.metric.basis, tolerance * instance.scale
        both = np.concatenate([self.rotated.T @ q.theta, self.bounded.within(q.values)])
        found, steps = accelerate(
            Gradient(instance.problem, self.features, basis), self.bounded, instance.metric,
            both @ basis, lambda gap: gap <= goal, max_steps, free=free, slack=self.slack,
        )  # fmt: skip
        both = found @ basis.T
        return Multipliers(self.unrotate @ both[:free], q.active, both[free:]), steps
