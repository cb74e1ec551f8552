"""One fit: which variables are selected, and the function that selects them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.kernels import Kernel, evaluate
from genesig.optim.nonlinear.certificate import certify
from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.multipliers import Multipliers
from genesig.optim.nonlinear.penalties import Penalty, row_squares

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Solution:
    """The minimiser for one tau, to within its gap.

    Attributes
    ----------
    tau : float
        Absolute.
    norms : (d,)
        ||∂_a f||/√n over the training points, exactly zero where a is not selected.
    f : (n,)
        Values at the training points, without the mean of y.
    alpha : (n,)
    multipliers : Multipliers
        β = -q/2ν `root`; not sparse.
    gap : float
        Duality gap over all features, relative to ||y||²/n.
    objective : float
    iterations : int
    """

    tau: float
    norms: Array
    f: Array
    alpha: Array
    multipliers: Multipliers
    gap: float
    objective: float
    iterations: int
    root: Array | float

    @property
    def support(self) -> Array:
        """Return the selected variables: those whose multipliers reach their bound."""
        return np.flatnonzero(self.norms)

    def evaluate(self, kernel: Kernel, points: Array, X: Array, nu: float) -> tuple[Array, Array]:
        """Return f (m,) and its gradient (d, m) at new points, from the training points X.

        `nu` is absolute.
        """
        return evaluate(
            kernel, points, X, self.alpha, self.multipliers.dense(X) / (-2 * nu / self.root)
        )


def conclude(
    instance: Instance, tau: float, penalty: Penalty, q: Multipliers, iterations: int,
    tolerance: float,
) -> Solution:  # fmt: skip
    """Certify multipliers, whoever found them, and read the selection off them.

    φ_a is the step of the dual's prox over its length: zero unless ||q_g + t φ_g|| exceeds r_g.
    It is zero as well where a block's part of the penalty, r_g ||φ_g||, is less than the gap that
    was asked for: where M is singular, multipliers can lie on their bound with no gradient.
    """
    squares = q.squares(instance.X)
    found = certify(instance.problem, penalty, instance.X, instance.inner, q, squares)
    norms = np.zeros(instance.X.shape[1])
    if len(q.active):
        step = 1 / float(instance.metric.weight.max())
        active = penalty.take(q.active)
        v = q.values + step * found.phi
        phi = (v - active.prox_conjugate(v, step)) / step
        share = active.radius * active.norms(row_squares(phi))
        phi *= active.spread(share > max(tolerance * instance.scale, found.gap))
        norms[q.active] = np.sqrt(row_squares(phi) / instance.problem.n)
    return Solution(
        tau=tau, norms=norms, f=found.expansion.f / instance.root,
        alpha=found.expansion.alpha * instance.root, multipliers=q,
        gap=found.gap / instance.scale, objective=found.objective, iterations=iterations,
        root=instance.root,
    )  # fmt: skip
