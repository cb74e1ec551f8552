"""Solvers of one fit, by name."""

from __future__ import annotations

from collections.abc import Callable

from genesig.optim.nonlinear.instance import Instance
from genesig.optim.nonlinear.multipliers import Multipliers
from genesig.optim.nonlinear.penalties import Penalty
from genesig.optim.nonlinear.solvers.admm import admm
from genesig.optim.nonlinear.solvers.automatic import automatic
from genesig.optim.nonlinear.solvers.compressed import compressed
from genesig.optim.nonlinear.solvers.fista import fista
from genesig.optim.nonlinear.solvers.projection import projection

Solver = Callable[[Instance, Penalty, Multipliers, float, int], tuple[Multipliers, int]]

SOLVERS: dict[str, Solver] = {
    "auto": automatic,
    "compressed": compressed,
    "fista": fista,
    "admm": admm,
    "projection": projection,
}
"""(instance, penalty, start, relative gap, most iterations) -> (multipliers, iterations)."""
