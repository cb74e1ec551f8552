"""Mosci (2009), section 4.2: selection by l1 and then a refit, against l1 alone.

50 training and 1000 validation samples, 1000 features, three of them relevant. Claims: the refit
reaches a smaller validation error, at a larger tau, with fewer features.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from toys import sparse_regression

from genesig.optim.refit import refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import training_sets

pytestmark = pytest.mark.slow

TRAINING = 50
VALIDATION = 1000
FRACTIONS = np.geomspace(1, 0.005, 61)[1:]


@dataclass(frozen=True)
class Best:
    """Smallest validation error of a method over the grid of tau, and the model there."""

    error: float
    tau: float
    size: int

    @classmethod
    def of(cls, scores, y, sizes):
        errors = np.mean(np.square(scores[:, TRAINING:] - y[TRAINING:]), axis=1)
        best = int(np.argmin(errors))
        return cls(errors[best], FRACTIONS[best], sizes[best])


def shrunken_scores(sets, X, lists):
    """f(x) of the l1 models themselves, which the package never uses without a refit."""
    scores = np.full((len(FRACTIONS), len(X)), sets.y_mean[0])
    for m in range(len(FRACTIONS)):
        features, values = lists.coef(0, m)
        scores[m] += (X[:, features] - sets.mean[0, features]) @ values
    return scores


def experiment(seed):
    X, y = sparse_regression(np.random.default_rng(seed), TRAINING + VALIDATION)
    rows = np.arange(len(y))[:, None] < TRAINING
    sets = training_sets(X, y[:, None], rows, centre=True, unit_variance=False)
    tau = FRACTIONS * sets.tau_max[:, None]
    lists = path(sets, tau, np.zeros((1, 1)), solver="landweber-newton", tolerance=1e-9)
    refitted = refit_scores(sets, lists, np.zeros((1, 1)))[0, :, 0]
    sizes = np.diff(lists.indptr)
    return Best.of(shrunken_scores(sets, X, lists), y, sizes), Best.of(refitted, y, sizes)


@pytest.fixture(scope="module")
def replications(request):
    return [experiment(seed) for seed in range(request.param)]


replicated = pytest.mark.parametrize(
    "replications",
    [
        pytest.param(5, id="5 replications"),
        pytest.param(50, id="50 replications", marks=pytest.mark.slow),
    ],
    indirect=True,
)


@replicated
def test_refit_is_better_than_l1_alone(replications):
    better = [refit.error < l1.error for l1, refit in replications]
    assert np.mean(better) >= 45 / 50


@replicated
def test_refit_chooses_a_larger_tau_and_fewer_features(replications):
    assert np.mean([refit.tau > l1.tau for l1, refit in replications]) >= 45 / 50
    assert np.median([refit.size for _, refit in replications]) <= 5
    assert np.median([l1.size for l1, _ in replications]) >= 15
