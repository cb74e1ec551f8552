r"""The latent overlap norm: the support is a union of blocks.

    Omega(B) = min sum_k w_k ||V_k||  over  sum_k V_k = B, V_k on the rows of block k
    Omega°(G) = max_k ||G_k|| / w_k

Its dual ball is an intersection of cylinders; projections on it have one multiplier a block.

Source: Jacob, Obozinski, Vert 2009, Group lasso with overlap and graph lasso.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from genesig.errors import GenesigError
from genesig.optim.structured.blocks import Blocks
from genesig.optim.structured.penalties import row_squares
from genesig.optim.structured.projected import minimise

Array = np.ndarray[Any, Any]

EXACT = 1e-12  # relative gap of a value


@dataclass(frozen=True)
class LatentOverlap:
    """The latent overlap norm of coefficients B (d, T), for blocks of rows."""

    blocks: Blocks
    apart: ClassVar[bool] = True

    def value(self, B: Array) -> float:
        """Return Omega(B), infinite where a row that is not 0 is in no block."""
        squares, held = row_squares(B), np.zeros(len(B), dtype=bool)
        held[self.blocks.members] = True
        if squares[~held].any():
            return np.inf
        if not squares.any():
            return 0.0
        cylinders = Cylinders(squares, self.blocks, self.blocks.weights, 0.0)
        start = np.sqrt(self.blocks.sums(squares)) / self.blocks.weights
        point, _ = minimise(cylinders, start, EXACT)
        return point.value

    def dual(self, G: Array, pieces: Array | None = None) -> float:
        """Return ``max_k ||G_k|| / w_k``."""
        norms = np.sqrt(self.blocks.sums(row_squares(G)))
        return float((norms / self.blocks.weights).max())

    def prox(
        self, Z: Array, level: float, pieces: Array | None = None, tolerance: float = 1e-14
    ) -> tuple[Array, None]:
        """Return Z less its projection on ``||U_k|| <= level w_k``; 0 for rows in no block."""
        cylinders = Cylinders(row_squares(Z), self.blocks, level * self.blocks.weights, 1.0)
        point, _ = minimise(cylinders, np.zeros(len(self.blocks)), tolerance)
        total = cylinders.total(point.x)
        B = Z * (total / (1 + total))[:, None]
        return B, None


@dataclass(frozen=True)
class Multipliers:
    """The dual function at nu = x."""

    x: Array
    total: Array
    value: float
    gap: float


class Cylinders:
    r"""The dual of the projection of z on ``{u: ||u_k|| <= R_k}``, whose u is z_j / (c + s_j).

        D(nu) = sum_j z_j² / (c + s_j) / 2 + sum_k R_k² nu_k / 2,  s_j = sum_{k has j} nu_k

    With c = 1 its minimum gives the projection. With c = 0 it is the latent norm of z for the
    weights R: ``||v|| = min_rho (||v||²/rho + rho)/2``, block by block, with rho_k = R_k² nu_k.
    """

    def __init__(self, squares: Array, blocks: Blocks, radius: Array, c: float) -> None:
        if not (radius > 0).all():
            raise GenesigError("the level of a proximal map must be > 0")
        self.squares, self.blocks, self.radius, self.c = squares, blocks, radius, c
        ones, shape = np.ones(len(blocks.members)), (len(blocks), len(squares))
        self.sums = csr_array((ones, blocks.members, blocks.starts), shape=shape)

    def total(self, nu: Array) -> Array:
        """Return s_j, the multipliers that act on each row, (d,)."""
        found: Array = self.sums.T @ nu
        return found

    def at(self, x: Array) -> Multipliers:
        """Return D(x); its gap is that of u, shortened until it is inside, relative to D."""
        total = self.total(x)
        below = np.where(self.squares > 0, self.c + total, 1.0)
        if (below == 0).any():
            return Multipliers(x, total, np.inf, np.inf)
        part = self.squares / below
        value = float(part.sum() + self.radius**2 @ x) / 2
        norms = np.sqrt(self.sums @ (part / below))
        inside = min(1.0, 1 / float((norms / self.radius).max()))
        # The primal of D at t u: <z, t u> - c ||t u||²/2.
        reached = inside * part.sum() - self.c * inside**2 * float((part / below).sum()) / 2
        return Multipliers(x, total, value, (value - reached) / (value or 1.0))

    def gradient(self, point: Multipliers) -> Array:
        """Return ``(R_k² - ||u_k||²) / 2``."""
        u = self.squares / self._below(point) ** 2
        return np.asarray((self.radius**2 - self.sums @ u) / 2)

    def hessian(self, point: Multipliers, free: Array) -> Array:
        """Return ``sum_{j in k and l} z_j² / (c + s_j)³``."""
        some = self.sums[free]
        curved = self.squares / self._below(point) ** 3
        dense: Array = (some.multiply(curved[None, :]) @ some.T).toarray()
        return dense

    def _below(self, point: Multipliers) -> Array:
        return np.where(self.squares > 0, self.c + point.total, 1.0)
