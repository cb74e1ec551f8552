"""The record of a path over blocks, and the duality gap from one number a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import convergence_message
from genesig.optim.structured.columns import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class BlockFit(NamedTuple):
    """The minimiser at one level."""

    blocks: Array  # (m,) blocks that are not 0
    norms: Array  # (m,) ||v_k|| of their coefficients
    gap: float  # relative duality gap
    steps: int  # number of Newton steps
    alpha: Array  # (n, T) residuals over n
    coefs: Array  # (m, T) of blocks of one column; of others empty


class Minimisers(Protocol):
    """The result of every solver: a fit for each tau."""

    @property
    def tau(self) -> Array:
        """Return tau, absolute, (M,)."""

    @property
    def norms(self) -> csr_array:
        """Return the norm of each block's coefficients, (M, B)."""

    @property
    def gap(self) -> Array:
        """Return duality gaps relative to ``||Y||²/n``, (M,)."""

    @property
    def steps(self) -> Array:
        """Return the number of steps of each fit, (M,)."""

    @property
    def message(self) -> str:
        """Return a sentence about the fits that did not converge, or nothing."""

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""

    def coef(self, m: int) -> Array:
        """Return the coefficients of one fit, (d, T)."""


@dataclass(frozen=True)
class BlockPath:
    """Minimisers at M values of tau."""

    design: Layout  # of n samples; `Columns` of d columns, or `Kernels`
    tau: Array  # (M,) absolute; only as far as the path went (see `max_blocks` of `block_path`)
    norms: csr_array  # (M, B) sparse, ||v_k|| of the coefficients of each block
    gap: Array  # (M,) duality gap over all blocks, relative to ||Y||²/n
    steps: Array  # (M,) int
    converged: Array  # (M,) bool
    # (M, n, T) residuals over n; the coefficients of block k are multiples of ``A_k'alpha``
    alpha: Array
    message: str  # empty, or a sentence about the fits that did not converge

    @classmethod
    def from_fits(
        cls, design: Layout, tau: Array, fits: Sequence[BlockFit], tolerance: float
    ) -> BlockPath:
        """Return the path of fits at the first values of tau."""
        from scipy.sparse import csr_array

        gap = np.array([fit.gap for fit in fits], dtype=float)
        indptr = np.cumsum([0, *(len(fit.blocks) for fit in fits)])
        indices = np.concatenate([np.zeros(0, np.int64), *(fit.blocks for fit in fits)])
        norms = np.concatenate([np.zeros(0), *(fit.norms for fit in fits)])
        alpha = np.array([fit.alpha for fit in fits]) if fits else np.zeros((0, design.n, 1))
        sparse = csr_array((norms, indices, indptr), shape=(len(fits), len(design.weights)))
        return cls(
            design=design,
            tau=tau[: len(fits)],
            norms=sparse.sorted_indices(),
            gap=gap,
            steps=np.array([fit.steps for fit in fits], dtype=np.int64),
            converged=gap <= tolerance,
            alpha=alpha,
            message=convergence_message(gap, tolerance),
        )

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""
        return np.asarray(self.norms.indices[self.norms.indptr[m] : self.norms.indptr[m + 1]])

    def piece(self, m: int, k: int) -> Array:
        """Return v_k, (m_k, T), in the order of the block's columns."""
        return np.asarray(self.norms[m, k] * self.design.direction(k, self.alpha[m]))

    def coef(self, m: int) -> Array:
        """Return the sum of the pieces on their columns, (d, T)."""
        b = np.zeros((self.design.d, self.alpha.shape[2]))
        for k in self.support(m):
            b[self.design.columns(k)] += self.piece(m, k)
        return b


@dataclass(frozen=True)
class DensePath:
    """Minimisers at M values of tau, with all their coefficients.

    The other fields are as in `BlockPath`; norms are of each block's coefficients.
    """

    tau: Array
    coefs: Array  # (M, d, T)
    norms: csr_array
    gap: Array
    steps: Array
    converged: Array
    message: str

    @classmethod
    def from_coefs(
        cls, tau: Array, coefs: Array, norms: Array, gap: Array, steps: Array, tolerance: float
    ) -> DensePath:
        """Return the path of fits with these coefficients (M, d, T), norms (M, B) and gaps."""
        from scipy.sparse import csr_array

        message = convergence_message(gap, tolerance)
        return cls(tau, coefs, csr_array(norms), gap, steps, gap <= tolerance, message)

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""
        return np.flatnonzero(self.norms[[m]].toarray())

    def coef(self, m: int) -> Array:
        """Return the coefficients of one fit, (d, T)."""
        return np.asarray(self.coefs[m])


class BlockNorms(NamedTuple):
    """Norms of the coefficients v_k and gradients g_k of each block.

    v_k must be a non-negative multiple of g_k = (2/n) A_k'r - 2 mu v_k, so that <v_k, g_k> = v g.
    """

    v: Array  # (B,)
    g: Array  # (B,)


class ResidualSums(NamedTuple):
    """Sums of a response Y and its residual r."""

    n: int  # number of samples
    y_r: float  # <Y, r>
    r_r: float  # ||r||²
    y_y: float  # ||Y||²


def sums_of_residual(Y: Array, alpha: Array) -> ResidualSums:
    """Return the sums for the residual r = n alpha of a response Y (n, T)."""
    n = len(Y)
    square = float(np.vdot(alpha, alpha))
    return ResidualSums(n, n * float(np.vdot(Y, alpha)), n * n * square, float(np.vdot(Y, Y)))


def block_gap(
    norms: BlockNorms, weights: Array, tau: float, mu: float, residual_sums: ResidualSums
) -> float:
    """Return an upper bound of the objective minus its minimum, relative to ``||Y||²/n``.

    weights (B,). tau, mu: absolute.
    """
    certificate = PenaltyCertificate(
        value=tau * float(weights @ norms.v),
        b_g=float(norms.v @ norms.g),
        dual=float((norms.g / weights).max(initial=0.0)),
        square=float(norms.v @ norms.v),
    )
    return duality_gap(certificate, tau, mu, residual_sums)


class PenaltyCertificate(NamedTuple):
    """Values of coefficients b with the gradient g = (2/n) X'r - 2 mu b."""

    value: float  # tau times the penalty of b
    b_g: float  # <b, g>
    dual: float  # the dual norm of g, or an upper bound
    square: float  # ||b||²


def duality_gap(
    certificate: PenaltyCertificate, tau: float, mu: float, residual_sums: ResidualSums
) -> float:
    """Return an upper bound of the objective minus its minimum for any norm, over ``||Y||²/n``.

    With Q = ||r||² + n mu ||b||² and s = min(1, tau / Omega°(g))::

        gap = tau Omega(b) - <b, g> + (1-s)/n (2 <Y, r> - (1+s) Q)

    Source: Mosci 2009, section 5.2, for the dual of the penalty; arranged as in
    `genesig.optim.solution.duality_gap`, which is the case of the l1 norm.
    """
    s = min(1.0, tau / max(certificate.dual, tau))
    energy = residual_sums.r_r + residual_sums.n * mu * certificate.square
    gap = (
        certificate.value
        - certificate.b_g
        + (1 - s) / residual_sums.n * (2 * residual_sums.y_r - (1 + s) * energy)
    )
    return max(gap, 0.0) / (residual_sums.y_y / residual_sums.n or 1.0)
