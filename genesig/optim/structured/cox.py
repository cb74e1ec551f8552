r"""Blocks of columns under Cox's partial likelihood: Newton steps around the block solver.

    min_v h(η) + mu sum_k ||v_k||² + tau sum_k w_k ||v_k||,   η = sum_k A_k v_k,  h = -(2/n) l

Near η_0, where h has the derivatives u and H, it is ``(1/n)||Y - R η||²`` but for a constant, with
``R'R = (n/2) H`` and ``Y = R η_0 - (n/2) R'^-1 u``: the problem of `path`, of the blocks R A_k. Its
v_k lie along ``A_k'R'alpha``, so that R'alpha stands for alpha in what is kept.

Every fit is certified by a dual value of the whole problem: of each s in [0, 1]

    -h*(s u) - sum_k max(s ||A_k'u|| - tau w_k, 0)² / (4 mu),   u = ∇h(η).

Source: Lee, Sun and Saunders 2014, proximal Newton-type methods; h*: that of
`genesig.optim.cox.likelihood`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.optim.cox.likelihood import at, conjugate, curve
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.structured.columns import Columns, full, lower
from genesig.optim.structured.path import Level, Walk, checked_levels, solve_together
from genesig.optim.structured.solution import BlockPath, Fit

STEPS = 50
HALVINGS = 30
ARMIJO = 1e-4  # share of the promised decrease that a step must keep
SINGULAR = 1e-9  # of the largest second derivative: what H, which is singular, is made regular by
INNER = 0.02  # share of the tolerance to which a step solves its problem


@dataclass(frozen=True)
class Turned:
    """The blocks R A_k of a design, see `columns.Design`."""

    design: Columns
    R: Array

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return self.design.n

    @property
    def weights(self) -> Array:
        """Return the blocks' weights, (B,)."""
        return self.design.weights

    @property
    def single(self) -> bool:
        """Return whether each block is one column."""
        return self.design.single

    def inside(self, s: int) -> Array:
        """Return all samples."""
        return self.design.inside(s)

    def squares(self, alphas: Array, which: Sequence[int] = ()) -> Array:
        """Return ``||A_k'R'alpha||²``, (P, B), of alphas (P, n, T)."""
        return self.design.squares(self.R.T @ alphas)

    def parts(self, s: int, blocks: Array) -> Array:
        """Return some R A_k (m, n), or ``R A_k A_k'R'``, see `lower`."""
        own = self.design.parts(s, blocks)
        return own @ self.R.T if self.single else lower(self.R @ full(own, self.n) @ self.R.T)


class Likelihood(NamedTuple):
    """h of samples in the order of a design's rows."""

    risk: RiskSets

    def at(self, eta: Array) -> tuple[float, Array]:
        """Return h(η) and its gradient u, (n,)."""
        here = at(self.risk.terms, eta[self.risk.order])
        u = np.empty(len(eta))
        u[self.risk.order] = here.u
        return here.value, u

    def quadratic(self, eta: Array) -> tuple[Array, Array]:
        """Return R (n, n) and Y (n, 1) of the squared error that h is near η."""
        n = len(eta)
        order = self.risk.order
        R = np.empty((len(eta), len(eta)))
        here = at(self.risk.terms, eta[order])
        H = np.empty((len(eta), len(eta)))
        curve(self.risk.terms, here, np.eye(n), np.arange(n), H)
        H.flat[:: n + 1] += SINGULAR * max(float(H.diagonal().max()), 1 / n)
        L = np.linalg.cholesky(H)
        R[:, order] = np.sqrt(n / 2) * L.T
        return R, (R @ eta - np.sqrt(n / 2) * np.linalg.solve(L, here.u))[:, None]

    def conjugate(self, eta: Array, s: float) -> float:
        """Return h*(s u) at u = ∇h(η), or more."""
        order = self.risk.order
        none = np.zeros(len(eta))
        here = at(self.risk.terms, eta[order])
        return float(conjugate(self.risk.terms, here, eta[order], none, none, s))


class Place(NamedTuple):
    """Where the path is: η (n,), blocks (W,), ||v_k|| of each and the penalty there, at most."""

    eta: Array
    blocks: Array
    norms: Array
    penalty: float


def cox_block_path(
    design: Columns,
    risk: RiskSets,
    tau: Array,
    mu: float,
    *,
    tolerance: float = 1e-9,
    most: int | None = None,
) -> BlockPath:
    """Minimise for falling tau, each fit started at the one before.

    Parameters
    ----------
    design : Columns
        Of n samples, blocks as in `path`.
    risk : RiskSets
        Of the same samples, in the same order.
    tau, mu, most
        As in `path.block_path`; nothing is selected from ``max_k ||A_k'∇h(0)|| / w_k`` on.
    tolerance : float
        Largest duality gap, relative to ``2 (l_saturated - l(0)) / n``.

    Raises
    ------
    GenesigError
        For tau that is not positive and falling, or mu < 0.
    """
    checked_levels(tau, mu)
    fits: list[Fit] = []
    place = Place(np.zeros(design.n), np.zeros(0, dtype=np.int64), np.zeros(0), 0.0)
    for one in map(float, tau):
        fit, place = _fitted(design, Likelihood(risk), Level(one, mu), place, tolerance)
        if most is not None and len(fit.blocks) > most:
            break
        fits.append(fit)
    return BlockPath.of(design, tau, fits, tolerance)


def _fitted(
    design: Columns, loss: Likelihood, level: Level, place: Place, tolerance: float
) -> tuple[Fit, Place]:
    """Take Newton steps from a place until the gap is small, or none goes down."""
    scale = loss.risk.null_deviance
    steps = 0
    place = place._replace(penalty=_penalty(design, place.blocks, place.norms, level))
    for _ in range(STEPS):
        R, Y = loss.quadratic(place.eta)
        goal = INNER * tolerance * scale / (float(np.vdot(Y, Y)) / len(Y) or 1.0)
        walk = Walk(Turned(design, R), 0, Y, min(goal, INNER))
        walk.go_on(level, place.blocks, place.norms)
        solve_together([walk])
        found = walk.fit()
        steps = steps + walk.steps
        alpha = R.T @ found.alpha
        (blocks, norms) = found[:2]
        eta = design.fitted(blocks, norms, alpha)[:, 0]
        there = Place(eta, blocks, norms, _penalty(design, blocks, norms, level))
        fit = Fit(
            blocks, norms, _gap(design, loss, there, level) / scale, steps, alpha, found.pieces[:0]
        )
        if fit.gap <= tolerance:
            break
        further = _step(loss, place, there)
        if further is None:
            break
        place = further
    return fit, there


def _step(loss: Likelihood, place: Place, there: Place) -> Place | None:
    """Go from one place towards another as far as the objective falls; None where it does not."""
    value, u = loss.at(place.eta)
    way = there.eta - place.eta
    more = there.penalty - place.penalty
    share = 1.0
    promised = float(u @ way) + more
    if promised >= 0:
        return None
    for _ in range(HALVINGS):
        eta = place.eta + share * way
        if loss.at(eta)[0] + share * more <= value + ARMIJO * share * promised:
            return there._replace(eta=eta, penalty=place.penalty + share * more)
        share /= 2
    return None


def _penalty(design: Columns, blocks: Array, norms: Array, level: Level) -> float:
    tau, mu = level
    return float(norms @ (tau * design.weights[blocks] + mu * norms))


def _gap(design: Columns, loss: Likelihood, there: Place, level: Level) -> float:
    """Return the duality gap, not relative; s is as large as keeps the excess at that of v."""
    (value, u) = loss.at(there.eta)
    (tau, mu) = level
    w = design.weights
    norms = np.sqrt(design.squares(u[None, :, None])[0])
    v = np.zeros(len(w))
    v[there.blocks] = there.norms
    bound = tau * w + 2 * mu * v
    s = float(np.min(bound / np.maximum(norms, bound)))
    excess = np.maximum(s * norms - tau * w, 0.0)
    paid = float(excess @ excess) / (4 * mu) if mu > 0 else 0.0
    return max(value + there.penalty + loss.conjugate(there.eta, s) + paid, 0.0)
