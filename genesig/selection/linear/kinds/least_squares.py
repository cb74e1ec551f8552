"""Training sets under the squared error: two classes as ±1, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.refit import covariate_coef, refit_coef, refit_scores
from genesig.optim.solution import Path
from genesig.optim.solvers import path
from genesig.optim.structured.stretch_path import along
from genesig.optim.training import TrainingSets, training_sets
from genesig.selection.assess.held import Held, held_fixed
from genesig.selection.linear.kinds.record import Ground
from genesig.selection.linear.protocol import Protocol

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class LeastSquares:
    """k training sets, as `record.Sets` has them."""

    sets: TrainingSets

    @classmethod
    def of(cls, X: Array, Y: Array, rows: Array, held: Sequence[Held | None],
           ground: Ground) -> LeastSquares:  # fmt: skip
        """Describe k training sets: responses Y and mask `rows`, (n, k), what each holds fixed."""
        sets = training_sets(X, Y, rows, centre=ground.centre, weights=ground.weights,
                             unit_variance=ground.unit_variance,
                             adjustment=held_fixed(held, Y, rows))  # fmt: skip
        return cls(sets if ground.stretches is None else along(sets, ground.stretches))

    @property
    def X(self) -> Array:
        """The matrix, (n, d)."""
        return self.sets.X

    @property
    def tau_max(self) -> Array:
        """``(2/n) max_j |z_j'y| / w_j`` of each, (k,)."""
        return self.sets.tau_max

    @property
    def norm(self) -> Array:
        """``||Z'Z||/n`` of each, (k,)."""
        return self.sets.norm

    def inner(
        self, Y: Array, rows: Array, held: Sequence[Held | None], of: Array, *,
        together: bool = True,
    ) -> LeastSquares:  # fmt: skip
        """Return other training sets of the matrix, centred and scaled as these are."""
        own = self.sets
        return LeastSquares(training_sets(own.X, Y, rows, centre=own.centre, like=own,
                                          unit_variance=own.unit_variance,
                                          adjustment=held_fixed(held, Y, rows),
                                          norm=None if together else own.norm[of]))  # fmt: skip

    def path(self, tau: Array, mu: Array, protocol: Protocol, longest: int | None) -> Path:
        """Minimise ``(1/n)||y - Zb||² + mu ||b||² + tau Σ w_j |b_j|``."""
        return path(self.sets, tau, mu, solver=protocol.solver, tolerance=protocol.tolerance,
                    longest=longest)  # fmt: skip

    def scores(self, lists: Path, lam: Array, rows: Array) -> Array:
        """Refit by ridge, see `refit.refit_scores`."""
        return refit_scores(self.sets, lists, lam, rows)

    def coef(self, lists: Path, lam: Array) -> tuple[Array, Array]:
        """Refit by ridge, see `refit.refit_coef`."""
        return refit_coef(self.sets, lists, lam)

    def covariates(
        self, lists: Path, values: Array, lam: Array
    ) -> tuple[Array, Array] | tuple[None, None]:
        """Return what `refit.covariate_coef` gives, and the means."""
        fixed = self.sets.adjustment
        if fixed is None or not fixed.mean.shape[1]:
            return None, None
        return covariate_coef(self.sets, lists, values), fixed.mean
