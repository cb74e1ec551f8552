"""Blocks of columns under Cox's partial likelihood: Newton steps around the block solver.

    min_v h(η) + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||,   η = sum_k A_k v_k,  h = -(2/n) l

Near η_0, where h has the derivatives u and H, it is ``(1/n)||Y - R η||²`` up to a constant, with
``R'R = (n/2) H`` and ``Y = R η_0 - (n/2) R'^-1 u``: the problem of `path` with the blocks R A_k.
Its v_k are multiples of ``A_k'R'alpha``, so that fits hold R'alpha as their alpha.

Every fit is certified by a dual value of the whole problem: of each s in [0, 1]

    -h*(s u) - sum_k max(s ||A_k'u|| - tau w_k, 0)² / (4 mu),   u = ∇h(η).

Source: Lee, Sun and Saunders 2014, proximal Newton-type methods; h* as in
`genesig.optim.cox.likelihood`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.likelihood import conjugate, evaluate, fill_hessian_products
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.structured.columns import Columns, lower_triangle, symmetric_matrix
from genesig.optim.structured.path import PathLevel, WorkingSetSolver, check_levels, solve_level
from genesig.optim.structured.solution import BlockFit, BlockPath

MAX_COX_STEPS = 50  # largest number of Newton steps of a fit
MAX_HALVINGS = 30  # largest number of halvings of a step
KEPT_DECREASE_SHARE = 1e-4  # share of the promised decrease that a step must keep (Armijo)
HESSIAN_RIDGE_SHARE = 1e-9
"""Ridge, as a share of the largest second derivative, that makes the singular H regular."""
INNER_TOLERANCE_SHARE = 0.02  # share of the tolerance to which a step solves its problem


class RotatedDesign:
    """The blocks R A_k of a design with a matrix R (n, n), see `columns.Design`."""

    def __init__(self, design: Columns, R: Array) -> None:
        self.design = design
        self.R = R
        self.n = design.n
        self.weights = design.weights
        self.single_columns = design.single_columns

    def in_training(self, set_number: int) -> Array:
        """Return all samples."""
        return self.design.in_training(set_number)

    def squared_products(self, alphas: Array, set_numbers: Sequence[int] = ()) -> Array:
        """Return ``||A_k'R'alpha||²``, (P, B), of P alphas (P, n, T) and B blocks.

        `set_numbers` has no effect: there is one training set, of all samples.
        """
        return self.design.squared_products(self.R.T @ alphas)

    def block_designs(self, set_number: int, blocks: Array) -> Array:
        """Return some R A_k (m, n), or ``R A_k A_k'R'`` as by `lower_triangle`."""
        designs = self.design.block_designs(set_number, blocks)
        return (
            designs @ self.R.T
            if self.single_columns
            else lower_triangle(self.R @ symmetric_matrix(designs, self.n) @ self.R.T)
        )


class CoxObjective(NamedTuple):
    """h of samples in the order of a design's rows."""

    risk: RiskSets

    def value_and_gradient(self, eta: Array) -> tuple[float, Array]:
        """Return h(η) and its gradient u (n,)."""
        current = evaluate(self.risk.terms, eta[self.risk.order])
        u = np.empty(len(eta))
        u[self.risk.order] = current.u
        return current.value, u

    def quadratic(self, eta: Array) -> tuple[Array, Array]:
        """Return R (n, n) and Y (n, 1) of the squared error that approximates h near η."""
        n = len(eta)
        order = self.risk.order
        R = np.empty((n, n))
        current = evaluate(self.risk.terms, eta[order])
        H = np.empty((n, n))
        fill_hessian_products(self.risk.terms, current, np.eye(n), np.arange(n), H)
        H.flat[:: n + 1] += HESSIAN_RIDGE_SHARE * max(float(H.diagonal().max()), 1 / n)
        L = np.linalg.cholesky(H)
        R[:, order] = np.sqrt(n / 2) * L.T
        return R, (R @ eta - np.sqrt(n / 2) * np.linalg.solve(L, current.u))[:, None]

    def conjugate(self, eta: Array, s: float) -> float:
        """Return h*(s u) at u = ∇h(η), or a larger number."""
        order = self.risk.order
        zeros = np.zeros(len(eta))
        current = evaluate(self.risk.terms, eta[order])
        return float(conjugate(self.risk.terms, current, eta[order], zeros, zeros, s))


class CoxBlockState(NamedTuple):
    """A point of the path."""

    eta: Array  # (n,)
    blocks: Array  # (W,) numbers of the blocks that are not 0
    norms: Array  # (W,) ||v_k||
    penalty: float  # the penalty there, or a larger number


def cox_block_path(
    design: Columns,
    risk: RiskSets,
    tau: Array,
    mu: float,
    *,
    tolerance: float = 1e-9,
    max_blocks: int | None = None,
) -> BlockPath:
    """Return the minimisers for falling tau, each fit started at the one before.

    design: of n samples, blocks as in `path`. risk: of the same samples, in the same order. tau,
    mu, max_blocks: as in `path.block_paths`; nothing is selected from ``max_k ||A_k'∇h(0)|| / w_k``
    on. tolerance: largest duality gap, relative to ``2 (l_saturated - l(0)) / n``.

    Raises GenesigError: for tau that is not positive and falling, or mu < 0.
    """
    check_levels(tau, mu)
    fits: list[BlockFit] = []
    state = CoxBlockState(np.zeros(design.n), np.zeros(0, dtype=np.int64), np.zeros(0), 0.0)
    for level_tau in map(float, tau):
        fit, state = _fit_level(
            design, CoxObjective(risk), PathLevel(level_tau, float(mu)), state, tolerance
        )
        if max_blocks is not None and len(fit.blocks) > max_blocks:
            break
        fits.append(fit)
    return BlockPath.from_fits(design, tau, fits, tolerance)


def _fit_level(
    design: Columns, loss: CoxObjective, level: PathLevel, state: CoxBlockState, tolerance: float
) -> tuple[BlockFit, CoxBlockState]:
    """Return the fit at a level by Newton steps, and its state.

    They end once the gap, relative to the null deviance, is small, or no step decreases the
    objective. The gap of `WorkingSetSolver` is relative to the mean square of Y, and at most
    `INNER_TOLERANCE_SHARE`, however small Y is.
    """
    null_deviance = loss.risk.null_deviance
    steps = 0
    state = state._replace(penalty=_penalty_value(design, state.blocks, state.norms, level))
    for _ in range(MAX_COX_STEPS):
        R, Y = loss.quadratic(state.eta)
        mean_square = float(np.vdot(Y, Y)) / len(Y) or 1.0
        relative_tolerance = INNER_TOLERANCE_SHARE * tolerance * null_deviance / mean_square
        solver = WorkingSetSolver(
            RotatedDesign(design, R),
            set_number=0,
            Y=Y,
            tolerance=min(relative_tolerance, INNER_TOLERANCE_SHARE),
        )
        solver.warm_start(level, state.blocks, state.norms)
        solve_level([solver])
        block_fit = solver.to_fit()
        steps = steps + solver.steps
        alpha = R.T @ block_fit.alpha
        blocks, norms = block_fit.blocks, block_fit.norms
        eta = design.fitted(blocks, norms, alpha)[:, 0]
        solution = CoxBlockState(eta, blocks, norms, _penalty_value(design, blocks, norms, level))
        fit = BlockFit(
            blocks,
            norms,
            _duality_gap(design, loss, solution, level) / null_deviance,
            steps,
            alpha,
            coefs=block_fit.coefs[:0],  # not stored: `BlockPath.piece` uses alpha
        )
        if fit.gap <= tolerance:
            break
        next_state = _line_search(loss, state, solution)
        if next_state is None:
            break
        state = next_state
    return fit, solution


def _line_search(
    loss: CoxObjective, state: CoxBlockState, solution: CoxBlockState
) -> CoxBlockState | None:
    """Return the state between two states at which the objective falls; None if there is none."""
    value, u = loss.value_and_gradient(state.eta)
    direction = solution.eta - state.eta
    penalty_change = solution.penalty - state.penalty
    share = 1.0
    promised = float(u @ direction) + penalty_change
    if promised >= 0:
        return None
    for _ in range(MAX_HALVINGS):
        eta = state.eta + share * direction
        if (
            loss.value_and_gradient(eta)[0] + share * penalty_change
            <= value + KEPT_DECREASE_SHARE * share * promised
        ):
            return solution._replace(eta=eta, penalty=state.penalty + share * penalty_change)
        share /= 2
    return None


def _penalty_value(design: Columns, blocks: Array, norms: Array, level: PathLevel) -> float:
    """Return ``sum_k tau w_k ||v_k|| + mu ||v_k||²``."""
    tau, mu = level
    return float(norms @ (tau * design.weights[blocks] + mu * norms))


def _duality_gap(
    design: Columns, loss: CoxObjective, solution: CoxBlockState, level: PathLevel
) -> float:
    """Return the duality gap, not relative.

    s is the largest at which no block exceeds its bound by more than v does.
    """
    (value, u) = loss.value_and_gradient(solution.eta)
    (tau, mu) = level
    w = design.weights
    norms = np.sqrt(design.squared_products(u[None, :, None])[0])
    v = np.zeros(len(w))
    v[solution.blocks] = solution.norms
    bound = tau * w + 2 * mu * v
    s = float(np.min(bound / np.maximum(norms, bound)))
    excess = np.maximum(s * norms - tau * w, 0.0)
    penalty_excess = float(excess @ excess) / (4 * mu) if mu > 0 else 0.0
    return max(value + solution.penalty + loss.conjugate(solution.eta, s) + penalty_excess, 0.0)
