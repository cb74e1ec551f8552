"""Cox fits with more active features than samples are stationary."""

import numpy as np
import pytest
from reference_formulas import tied

from genesig.optim.cox.path import cox_path
from genesig.optim.cox.training import FollowUp, cox_sets


def wide(seed, n=20, d=160, weighted=False, ties="efron"):
    """Return a training set, tau and mu at which most features are active."""
    X, time, event = tied(seed, n, d)
    rng = np.random.default_rng(seed)
    sets = cox_sets(
        X,
        FollowUp(time, event),
        np.ones((n, 1), bool),
        centre=True,
        unit_variance=True,
        ties=ties,
        weights=rng.uniform(0.5, 2, d) if weighted else None,
    )
    return (
        sets,
        0.1 * float(sets.training_sets.tau_max[0]),
        0.05 * float(sets.training_sets.norm[0]),
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize(("seed", "d"), [(0, 160), (1, 160), (3, 1050)])
def test_the_fit_is_stationary_from_nothing_and_from_another(seed, d, ties, weighted):
    """From other signs, with features that leave, too."""
    sets, tau, mu = wide(seed, d=d, weighted=weighted, ties=ties)
    risk = sets.risk[0]
    Z = sets.columns(0, np.arange(d))
    cut = tau * sets.training_sets.weights
    solutions = []
    for levels in ([tau], [0.1 * tau, 5 * tau, tau]):
        fits = cox_path(sets, levels, mu, tolerance=1e-12)
        assert fits.converged.all()
        b = np.zeros(d)
        features, values = fits.coef(0, len(levels) - 1)
        b[features] = values
        assert len(features) > 2 * len(risk.died)
        g = Z.T @ risk.gradient(risk.shares(Z @ b)) + 2 * mu * b
        off = np.where(b != 0, np.abs(g + cut * np.sign(b)), np.maximum(np.abs(g) - cut, 0))
        assert off.max() < 1e-8 * tau
        solutions.append(b)
    np.testing.assert_allclose(*solutions, atol=1e-9 * np.abs(solutions[0]).max())


def test_a_path_is_certified_from_the_first_feature_to_most_of_all():
    sets, tau, mu = wide(5, n=15, d=300)
    fits = cox_path(sets, tau * np.array([9.0, 5, 2, 1, 0.3]), mu, tolerance=1e-9)
    assert fits.converged.all()
    sizes = fits.sizes()[0]
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] < 15 < 2 * 15 < sizes[-1]


def test_without_a_ridge_signs_decide():
    sets, tau, _ = wide(7)
    assert cox_path(sets, tau, 0.0, tolerance=1e-8).converged.all()
