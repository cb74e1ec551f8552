"""``blocks``: Newton steps on one number a block, certified over all of them."""

from __future__ import annotations

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.structured.path import block_path
from genesig.optim.structured.penalties import Penalty
from genesig.optim.structured.solution import Minimisers


def blocks(
    X: Array, Y: Array, penalty: Penalty, tau: Array, mu: float, tolerance: float
) -> Minimisers:
    """Solve for a penalty whose blocks stand apart."""
    if not penalty.apart:
        raise GenesigError(
            "the solver 'blocks' cannot take a penalty whose zeros are a union of blocks;"
            " use the solver 'projection'"
        )
    return block_path(X, Y, penalty.blocks, tau, mu, tolerance=tolerance)
