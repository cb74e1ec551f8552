"""Models of more active features than samples, which are solved for the samples."""

import numpy as np
import pytest
from cox_by_hand import tied

from genesig.compiled.cox_model import FEW, MANY
from genesig.optim.cox import newton
from genesig.optim.cox.certificate import null_deviance
from genesig.optim.cox.newton import Point, Problem, minimise
from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import cox_sets


def wide(seed, n=20, d=160, weighted=False, ties="efron"):
    """Return a training set, tau and mu at which most features are active."""
    X, time, event = tied(seed, n, d)
    rng = np.random.default_rng(seed)
    sets = cox_sets(
        X, time, event, np.ones((n, 1), bool), centre=True, unit_variance=True, ties=ties,
        weights=rng.uniform(0.5, 2, d) if weighted else None,
    )  # fmt: skip
    return sets, 0.1 * float(sets.sets.tau_max[0]), 0.05 * float(sets.sets.norm[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize(("seed", "d"), [(0, 160), (1, 160), (2, 160), (3, FEW + 50)])
def test_the_fit_is_that_of_least_squares_models(seed, d, ties, weighted, monkeypatch):
    """From nothing, and from the fit of another tau: other signs, and features that leave."""
    sets, tau, mu = wide(seed, d=d, weighted=weighted, ties=ties)
    by_least_squares = newton._by_least_squares
    monkeypatch.delattr(newton, "_by_least_squares")  # which would help unseen
    risk = sets.risk[0]
    D = sets.by_row(0, np.arange(d), np.zeros((len(risk.died), 0)))
    slack = 1e-14 * null_deviance(risk)
    start = Point.at(Problem(risk, D, np.full(d, 2 * mu), np.zeros(d)), np.zeros(d))
    other = -0.3 * np.random.default_rng(seed).normal(size=d) / d
    for x in (start.x, other):
        problem = Problem(risk, D, np.full(d, 2 * mu), tau * sets.sets.weights)
        found, _ = minimise(problem, Point.at(problem, x), slack)
        assert np.count_nonzero(found.x) > MANY * len(risk.died)
        expected, _ = by_least_squares(problem, Point.at(problem, x), slack)
        np.testing.assert_allclose(found.x, expected.x, atol=1e-9 * np.abs(expected.x).max())
        np.testing.assert_array_equal(found.x != 0, expected.x != 0)


def test_a_path_is_certified_from_the_first_feature_to_most_of_all():
    sets, tau, mu = wide(5, n=15, d=300)
    fits = cox_path(sets, tau * np.array([9.0, 5, 2, 1, 0.3]), mu, tolerance=1e-9)
    assert fits.converged.all()
    sizes = fits.sizes()[0]
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] < 15 < MANY * 15 < sizes[-1]


def test_without_a_ridge_signs_decide():
    sets, tau, _ = wide(7)
    assert cox_path(sets, tau, 0.0, tolerance=1e-8).converged.all()
