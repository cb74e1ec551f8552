"""Minima of blocks under Cox's partial likelihood against CVXPY with Clarabel."""

from __future__ import annotations

import numpy as np
import pytest
from structured_problems import EXACT, design, lists

from genesig.optim.cox.risk_sets import RiskSets
from genesig.optim.structured.columns import Blocks, Columns
from genesig.optim.structured.cox import CoxObjective, cox_block_path
from genesig.optim.structured.path import tau_maxima

cvxpy = pytest.importorskip("cvxpy")
pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")


def minimum(columns: Columns, risk: RiskSets, tau: float, mu: float) -> float:
    X = columns.X[risk.order]
    blocks = columns.blocks
    parts = [blocks.columns(k) for k in range(len(blocks))]
    V = [cvxpy.Variable(len(part)) for part in parts]
    eta = sum(X[:, part] @ v for part, v in zip(parts, V, strict=True))
    terms = [
        w * cvxpy.log_sum_exp(eta[c > 0] + np.log(c[c > 0]))
        for w, c in zip(risk.omega, risk.c, strict=True)
    ]
    loss = 2 / len(X) * (sum(terms) - risk.died @ eta)
    omega = sum(w * cvxpy.norm(v) for w, v in zip(blocks.weights, V, strict=True))
    convex_problem = cvxpy.Problem(
        cvxpy.Minimize(loss + mu * sum(cvxpy.sum_squares(v) for v in V) + tau * omega)
    )
    convex_problem.solve(**EXACT)
    return float(convex_problem.value)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["partition", "overlap"])
@pytest.mark.parametrize("seed", range(3))
def test_the_minimum(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    X = design(rng, 20, 12)
    event_time = rng.exponential(np.exp(-X[:, 0]))
    lost = rng.exponential(2, 20)
    risk = RiskSets.from_times(np.minimum(event_time, lost).round(1), event_time <= lost)
    gene_lists = lists(rng, 12, kind)
    columns = Columns(X, Blocks.from_lists(gene_lists, rng.uniform(0.5, 2, len(gene_lists))))
    u = CoxObjective(risk).value_and_gradient(np.zeros(20))[1]
    tau = 0.2 * float(tau_maxima(columns, -10 * u[None, :, None])[0])
    mu = [0.0, 0.1, 1.0][seed]
    path = cox_block_path(columns, risk, np.array([tau]), mu, tolerance=1e-11)
    norms = path.norms.toarray()[0]
    eta = X @ path.coef(0)[:, 0]
    value = risk.value(eta[risk.order]) + mu * norms @ norms + tau * columns.weights @ norms
    assert -1e-7 <= (value - minimum(columns, risk, tau, mu)) / risk.null_deviance <= 1e-8
