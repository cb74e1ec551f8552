"""The record of a path over blocks, and the duality gap from one number a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.optim.solution import not_converged
from genesig.optim.structured.columns import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Fit(NamedTuple):
    """The minimiser at one level: its m blocks, their norms, and alpha (n, T).

    pieces (m, T) are the coefficients of blocks of one column, mostly not kept.
    """

    blocks: Array
    norms: Array
    gap: float
    steps: int
    alpha: Array
    pieces: Array


class Minimisers(Protocol):
    """What every solver gives: a fit for each tau."""

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
    """Minimisers at M values of tau.

    Attributes
    ----------
    design : Layout
        Of n samples; `Columns` of d columns, or `Kernels`.
    tau : (M,)
        Absolute; as far as the path went (see `most` of `block_path`).
    norms : (M, B) sparse
        ||v_k|| of the coefficients of each block.
    gap : (M,)
        Duality gap over all blocks, relative to ||Y||²/n.
    steps : (M,) int
    converged : (M,) bool
    alpha : (M, n, T)
        Residuals over n; the coefficients of block k lie along ``A_k'alpha``.
    message : str
        Empty, or a sentence about the fits that did not converge.
    """

    design: Layout
    tau: Array
    norms: csr_array
    gap: Array
    steps: Array
    converged: Array
    alpha: Array
    message: str

    @classmethod
    def of(cls, design: Layout, tau: Array, fits: Sequence[Fit], tolerance: float) -> BlockPath:
        """Collect the fits of the first values of tau."""
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
            message=not_converged(gap, tolerance),
        )

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""
        found: Array = self.norms.indices[self.norms.indptr[m] : self.norms.indptr[m + 1]]
        return found

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
    """Minimisers at M values of tau, whose coefficients (M, d, T) are all kept.

    The other attributes are those of `BlockPath`; norms are of each block's coefficients.
    """

    tau: Array
    coefs: Array
    norms: csr_array
    gap: Array
    steps: Array
    converged: Array
    message: str

    @classmethod
    def of(
        cls, tau: Array, coefs: Array, norms: Array, gap: Array, steps: Array, tolerance: float
    ) -> DensePath:
        """Judge fits by their gaps."""
        from scipy.sparse import csr_array

        message = not_converged(gap, tolerance)
        return cls(tau, coefs, csr_array(norms), gap, steps, gap <= tolerance, message)

    def support(self, m: int) -> Array:
        """Return the blocks of one fit, ascending."""
        return np.flatnonzero(self.norms[[m]].toarray())

    def coef(self, m: int) -> Array:
        """Return the coefficients of one fit, (d, T)."""
        found: Array = self.coefs[m]
        return found


class Norms(NamedTuple):
    """Of each block: ``v = ||v_k||`` of its coefficients and ``g = ||g_k||`` of its gradient.

    v_k must be a non-negative multiple of g_k = (2/n) A_k'r - 2 mu v_k, so that <v_k, g_k> = v g.
    """

    v: Array
    g: Array


class Residual(NamedTuple):
    """n, <Y, r>, ||r||² and ||Y||²."""

    n: int
    along: float
    square: float
    response: float


def residual(Y: Array, alpha: Array) -> Residual:
    """Take the residual r = n alpha of a response Y (n, T)."""
    n = len(Y)
    square = float(np.vdot(alpha, alpha))
    return Residual(n, n * float(np.vdot(Y, alpha)), n * n * square, float(np.vdot(Y, Y)))


def block_gap(norms: Norms, weights: Array, tau: float, mu: float, left: Residual) -> float:
    """Bound the objective minus its minimum, relative to ``||Y||²/n``.

    Parameters
    ----------
    norms : Norms
    weights : (B,) array
    tau, mu : float
        Absolute.
    left : Residual
    """
    found = Certified(
        value=tau * float(weights @ norms.v),
        along=float(norms.v @ norms.g),
        dual=float((norms.g / weights).max(initial=0.0)),
        square=float(norms.v @ norms.v),
    )
    return duality_gap(found, tau, mu, left)


class Certified(NamedTuple):
    """Of coefficients b with the gradient g = (2/n) X'r - 2 mu b.

    Attributes
    ----------
    value : float
        tau times the penalty of b.
    along : float
        <b, g>.
    dual : float
        The dual norm of g, or a bound on it from above.
    square : float
        ||b||².
    """

    value: float
    along: float
    dual: float
    square: float


def duality_gap(found: Certified, tau: float, mu: float, left: Residual) -> float:
    r"""Bound the objective minus its minimum for any norm, relative to ``||Y||²/n``.

    With Q = ||r||² + n mu ||b||² and s = min(1, tau / Omega°(g))::

        gap = tau Omega(b) - <b, g> + (1-s)/n (2 <Y, r> - (1+s) Q)

    Source: Mosci 2009, section 5.2, for the dual of the penalty; the arrangement is that of
    `genesig.optim.solution.duality_gap`, which is the case of the l1 norm.
    """
    s = min(1.0, tau / max(found.dual, tau))
    q = left.square + left.n * mu * found.square
    gap = found.value - found.along + (1 - s) / left.n * (2 * left.along - (1 + s) * q)
    return max(gap, 0.0) / (left.response / left.n or 1.0)
