"""Laws of block penalties under the partial likelihood: certificates, limits, minima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from structured_problems import design, lists, single_columns

from genesig.errors import GenesigError
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.cox.training import FollowUp, cox_sets
from genesig.optim.structured.columns import Blocks, Columns
from genesig.optim.structured.cox import (
    CoxBlockState,
    CoxObjective,
    _duality_gap,
    cox_block_path,
)
from genesig.optim.structured.path import PathLevel, tau_maxima

Array = np.ndarray[Any, Any]


def times(rng: np.random.Generator, X: Array) -> tuple[Array, Array]:
    """Draw times with ties, and events, that the first column drives."""
    event_time = rng.exponential(np.exp(-X[:, 0]))
    lost = rng.exponential(2, len(X))
    event = event_time <= lost
    event[np.argmin(event_time)] = True
    return np.minimum(event_time, lost).round(1), event


def gradient(risk: RiskSets, eta: Array) -> Array:
    return CoxObjective(risk).value_and_gradient(eta)[1]


def largest(columns: Columns, risk: RiskSets) -> float:
    """Return the smallest tau at which nothing is selected."""
    u = gradient(risk, np.zeros(columns.n))
    return float(tau_maxima(columns, -columns.n / 2 * u[None, :, None])[0])


def problem(seed: int, kind: str) -> tuple[Columns, RiskSets, float, float]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 25))
    d = int(rng.integers(3, 20))
    X = design(rng, n, d)
    gene_lists = lists(rng, d, kind)
    columns = Columns(X, Blocks.from_lists(gene_lists, rng.uniform(0.5, 2, len(gene_lists))))
    risk = RiskSets.from_times(*times(rng, X))
    tau = float(rng.uniform(0.05, 0.7)) * largest(columns, risk)
    return columns, risk, tau, float(rng.choice([0.0, 0.1, 1.0]))


def by_projection(columns: Columns, risk: RiskSets, tau: float, mu: float) -> float:
    """Return the minimum by accelerated proximal gradient steps over the pieces of the blocks."""
    X = columns.X[:, columns.blocks.members]
    blocks = columns.blocks
    step = 1 / np.linalg.norm(X, 2) ** 2  # h bends by Σω/n at most
    sizes = blocks.sizes()
    w = blocks.weights

    def value(v: Array) -> float:
        norms = np.sqrt(np.add.reduceat(v * v, blocks.starts[:-1]))
        return risk.value((X @ v)[risk.order]) + mu * float(v @ v) + tau * float(w @ norms)

    v = ahead = np.zeros(X.shape[1])
    best = value(v)
    t = 1.0
    still = 0
    while still < 100:
        u = gradient(risk, X @ ahead)
        free = (ahead - step * X.T @ u) / (1 + 2 * mu * step)
        norms = np.sqrt(np.add.reduceat(free * free, blocks.starts[:-1]))
        cut = step * tau * w / (1 + 2 * mu * step) / np.maximum(norms, 1e-300)
        new = free * np.repeat(np.maximum(1 - cut, 0), sizes)
        if (ahead - new) @ (new - v) > 0:  # O'Donoghue and Candes: momentum that leads uphill ends
            t = 1.0
        later = (1 + np.sqrt(1 + 4 * t * t)) / 2
        v, ahead, t = new, new + (t - 1) / later * (new - v), later
        now = value(v)
        still = 0 if now < best - 1e-14 else still + 1
        best = min(best, now)
    return best


@pytest.mark.parametrize("kind", ["singletons", "partition", "overlap"])
@pytest.mark.parametrize("seed", range(2))
def test_block_minimum_equals_proximal_gradient_steps(seed: int, kind: str) -> None:
    columns, risk, tau, mu = problem(seed, kind)
    path = cox_block_path(columns, risk, np.array([tau]), mu, tolerance=1e-11)
    norms = path.norms.toarray()[0]
    eta = columns.X @ path.coef(0)[:, 0]
    objective_value = (
        risk.value(eta[risk.order]) + mu * norms @ norms + tau * columns.weights @ norms
    )
    reference = by_projection(columns, risk, tau, mu)
    assert path.gap[0] <= 1e-11
    assert -1e-8 <= (objective_value - reference) / risk.null_deviance <= 1e-10
    all_blocks = range(len(columns.weights))
    for k in all_blocks:  # the pieces that are kept are those of which the norms were certified
        assert np.linalg.norm(path.piece(0, k)) == pytest.approx(norms[k], abs=1e-12)


def test_gap_is_a_share_of_the_null_deviance() -> None:
    columns, risk, tau, mu = problem(0, "overlap")
    path = cox_block_path(columns, risk, np.array([tau]), mu, tolerance=0.1)
    norms = path.norms.toarray()[0]
    blocks = np.flatnonzero(norms)
    penalty = float(mu * norms @ norms + tau * columns.weights @ norms)
    state = CoxBlockState(columns.X @ path.coef(0)[:, 0], blocks, norms[blocks], penalty)
    gap = _duality_gap(columns, CoxObjective(risk), state, PathLevel(tau, mu))
    assert gap / risk.null_deviance == pytest.approx(path.gap[0], rel=1e-6)
    assert path.gap[0] > 1e-6


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_blocks_of_single_genes_equal_the_elastic_net(ties: str) -> None:
    rng = np.random.default_rng(1)
    X = design(rng, 40, 60)
    time, event = times(rng, X)
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((40, 1), dtype=bool),
        centre=True,
        unit_variance=False,
        ties=ties,
    )
    columns = Columns(X, single_columns(60, 1.0))
    risk = RiskSets.from_times(time, event, ties)
    tau = np.geomspace(0.8, 0.1, 6) * float(sets.training_sets.tau_max[0])
    assert largest(columns, risk) == pytest.approx(float(sets.training_sets.tau_max[0]), rel=1e-10)
    theirs = cox_path(sets, tau[None], 0.05, tolerance=1e-12)
    ours = cox_block_path(columns, risk, tau, 0.05, tolerance=1e-12)
    for m in range(6):
        b = np.zeros(60)
        indices, values = theirs.coef(0, m)
        b[indices] = values
        # A gap g leaves coefficients within √(g / mu) of the minimum.
        separate_penalty = sum(
            np.sqrt(max(gap, 0) * risk.null_deviance / 0.05)
            for gap in (theirs.gap[0, m], ours.gap[m])
        )
        assert np.linalg.norm(ours.coef(m)[:, 0] - b) <= separate_penalty + 1e-10


def test_nothing_from_the_largest_tau_on_and_a_gap_however_small() -> None:
    columns, risk, _, mu = problem(7, "overlap")
    top = largest(columns, risk)
    tau = np.array([1.0001, 0.9, 0.5, 0.05, 0.01]) * top
    path = cox_block_path(columns, risk, tau, mu, tolerance=1e-12)
    assert len(path.support(0)) == 0
    assert len(path.support(1)) > 0
    assert path.gap.max() <= 1e-12
    assert not path.message


def test_the_order_of_samples_and_the_path_before_change_nothing() -> None:
    columns, risk, tau, mu = problem(3, "overlap")
    rng = np.random.default_rng(0)
    n = columns.n
    row_order = rng.permutation(n)
    reordered_columns = Columns(columns.X[row_order], columns.blocks)
    order = np.argsort(row_order)[risk.order]
    reordered_path = cox_block_path(
        reordered_columns,
        RiskSets(order, risk.terms, risk.times),
        np.array([tau]),
        mu,
        tolerance=1e-12,
    )
    long = cox_block_path(columns, risk, tau * np.array([3.0, 2.0, 1.0]), mu, tolerance=1e-12)
    np.testing.assert_allclose(reordered_path.coef(0), long.coef(2), atol=1e-6)


def test_a_path_ends_before_its_first_list_of_more_blocks() -> None:
    columns, risk, _, mu = problem(5, "singletons")
    levels = largest(columns, risk) * np.geomspace(0.95, 0.05, 8)
    path = cox_block_path(columns, risk, levels, mu, max_blocks=2)
    assert 0 < len(path.tau) < 8
    assert np.diff(path.norms.indptr).max() <= 2
    with pytest.raises(GenesigError, match="positive and falling"):
        cox_block_path(columns, risk, levels[::-1], mu)
