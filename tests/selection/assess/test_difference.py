"""The paired interval counts the variance of samples and of repeats."""

from __future__ import annotations

import numpy as np
from scipy import stats

from genesig.selection.assess.assessment import compare_errors
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, HeldOutScores

N_SAMPLES_COMPARED = 24
REPEATS = 4
FOLDS = 3


def held_out(scores: np.ndarray, y: np.ndarray) -> HeldOutScores:
    """Each sample is scored once in each repeat; scores (REPEATS, N)."""
    row = np.tile(np.arange(N_SAMPLES_COMPARED), REPEATS)
    repeat = np.repeat(np.arange(REPEATS), N_SAMPLES_COMPARED)
    split = repeat * FOLDS + row % FOLDS
    return HeldOutScores(
        y[row], row, split, repeat, np.zeros(len(row), dtype=int), scores.reshape(-1, 1), 0.5
    )


def test_difference_error_of_three_repeats_adds_their_variance() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=N_SAMPLES_COMPARED)
    scores_a, two = (
        y + rng.normal(size=(REPEATS, N_SAMPLES_COMPARED)) + rng.normal(size=(REPEATS, 1))
        for _ in "ab"
    )
    headline = ASSESSMENT_KINDS["regression"].headline
    loss_difference = ((y - scores_a) ** 2 - (y - two) ** 2) / y.var()
    _, _, centre, low, high = compare_errors(held_out(scores_a, y), held_out(two, y), 0, headline)
    assert np.isclose(centre, loss_difference.mean())
    one_by_one = loss_difference.mean(axis=0).var(ddof=1) / N_SAMPLES_COMPARED
    variance_of_repeats = loss_difference.mean(axis=1).var(ddof=1)
    freedom = (one_by_one + variance_of_repeats) ** 2 / (
        one_by_one**2 / (N_SAMPLES_COMPARED - 1) + variance_of_repeats**2 / (REPEATS - 1)
    )
    half = stats.t(freedom).ppf(0.975) * np.sqrt(one_by_one + variance_of_repeats)
    np.testing.assert_allclose([low, high], [centre - half, centre + half])


def test_difference_error_of_equal_repeats_is_that_of_samples() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=N_SAMPLES_COMPARED)
    scores_a, two = (np.tile(y + rng.normal(size=N_SAMPLES_COMPARED), (REPEATS, 1)) for _ in "ab")
    headline = ASSESSMENT_KINDS["regression"].headline
    loss_difference = ((y - scores_a[0]) ** 2 - (y - two[0]) ** 2) / y.var()
    _, _, centre, low, high = compare_errors(held_out(scores_a, y), held_out(two, y), 0, headline)
    want = stats.t(N_SAMPLES_COMPARED - 1, centre, stats.sem(loss_difference)).interval(0.95)
    np.testing.assert_allclose([low, high], want)
