"""Total variation: the exact step function, its certificate, segments pruned by BIC."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from genesig.compiled.steps import (
    choose_segments,
    denoise_sample,
    find_segment_starts,
    noise_sd,
    prune_segments,
    segment_means,
    total_variation,
)
from genesig.errors import GenesigError
from genesig.genome import Genome
from genesig.models.components import TotalVariation
from genesig.optim.nonlinear.problem import InvalidProblem


@pytest.mark.one_in(4)
@parametrize_with_checks([TotalVariation()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def values(seed, n):
    """Steps and noise, rounded so that ties occur, far from 0."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=n) + 3 * (rng.random(n) < 0.2).cumsum(), 1) + 100


def tau_max(y):
    """Return ``max_i |sum_{j <= i} (y_j - mean y)|``, the smallest tau with a single level."""
    return float(np.abs(np.cumsum(y - y.mean())[:-1]).max(initial=0.0))


def objective(y, f, tau):
    return np.sum((y - f) ** 2) / 2 + tau * np.abs(np.diff(f)).sum()


def variation_gap(y, f, tau):
    """Bound the objective at f less the smallest one, relative to ``1/2 ||y - mean y||²``.

    The dual point is the residual, centred and scaled until its sums are within tau.
    """
    y, f = y - y.mean(), f - y.mean()
    r = y - f
    theta = r - r.mean()
    theta *= tau / (max(tau, float(np.abs(np.cumsum(theta)[:-1]).max(initial=0.0))) or 1.0)
    primal = r @ r / 2 + tau * np.abs(np.diff(f)).sum()
    return max(float(primal - (y @ theta - theta @ theta / 2)), 0.0) / (float(y @ y) / 2 or 1.0)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), share=st.floats(0, 1.2))
def test_every_step_function_is_certified(seed, n, share):
    y = values(seed, n)
    tau = share * tau_max(y)
    f = total_variation(y, tau)
    assert variation_gap(y, f, tau) <= 1e-13
    assert f.mean() == pytest.approx(y.mean())
    worse = f + np.random.default_rng(seed).normal(size=n) * 0.01
    gap = variation_gap(y, worse, tau) * (np.sum((y - y.mean()) ** 2) / 2 or 1.0)
    assert gap >= objective(y, worse, tau) - objective(y, f, tau) - 1e-10


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60))
def test_tau_max_is_sharp_and_no_penalty_changes_nothing(seed, n):
    y = values(seed, n)
    y[-1] += 0.05
    np.testing.assert_allclose(total_variation(y, 0.0), y, atol=1e-12)
    assert len(find_segment_starts(total_variation(y, tau_max(y) * (1 + 1e-9)))) == 1
    assert len(find_segment_starts(total_variation(y, tau_max(y) * (1 - 1e-6)))) > 1


@pytest.mark.parametrize("seed", range(4))
def test_total_variation_minimum_equals_clarabel(seed):
    cvxpy = pytest.importorskip("cvxpy")
    y = values(seed, 40)
    tau = 0.2 * tau_max(y)
    f = cvxpy.Variable(40)
    loss = cvxpy.sum_squares(y - f) / 2 + tau * cvxpy.norm1(cvxpy.diff(f))
    best = cvxpy.Problem(cvxpy.Minimize(loss)).solve(
        solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13
    )
    assert objective(y, total_variation(y, tau), tau) == pytest.approx(best, rel=1e-10)


def chromosomes(seed=0, levels=40, n_probes=50):
    """Return copy numbers of half-steps, and measurements with noise of .3."""
    rng = np.random.default_rng(seed)
    true = np.repeat(np.cumsum(rng.choice([-0.5, 0.5, 1.0], levels)), n_probes)
    return true, true + 0.3 * rng.normal(size=len(true))


def test_an_array_cgh_toy_loses_its_staircases_to_bic():
    """Total variation alone has three to four times the segments, and levels drawn together."""
    true, y = chromosomes()
    f = total_variation(y, 3 * 0.3)
    segmented_line = choose_segments(y)
    assert noise_sd(y) == pytest.approx(0.3, rel=0.1)
    assert len(find_segment_starts(f)) > 2 * 40
    assert abs(len(find_segment_starts(segmented_line)) - 40) <= 2
    far = [np.sqrt(np.mean((line - true) ** 2)) for line in (y, f, segmented_line)]
    assert far[2] < 0.08 < far[1] < 0.15 < far[0]


def test_bic_keeps_noiseless_steps_and_joins_noise():
    steps = np.repeat([0.0, 1.0, 3.0], 10)
    np.testing.assert_array_equal(choose_segments(steps), steps)
    np.testing.assert_array_equal(choose_segments(np.full(7, 2.0)), np.full(7, 2.0))
    joined = [
        len(find_segment_starts(choose_segments(np.random.default_rng(s).normal(size=200))))
        for s in range(20)
    ]
    assert np.mean(joined) < 1.2
    assert prune_segments(steps, np.array([0, 5, 10, 20])).tolist() == [0, 10, 20]
    np.testing.assert_array_equal(
        segment_means(steps, np.array([0, 20])), np.repeat([0.5, 3.0], [20, 10])
    )


def test_twenty_thousand_probes_take_a_moment():
    _, y = chromosomes(1, 200, 100)
    total_variation(y[:10], 1.0)  # compiles
    start = process_time()
    f = total_variation(y, 3 * 0.3)
    assert process_time() - start < 0.2
    assert variation_gap(y, f, 0.9) < 1e-12


def test_each_row_stands_for_itself_and_its_chromosomes_share_their_noise():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3, 30)) + np.repeat([0.0, 5.0], 15)
    order = rng.permutation(30)
    lines = np.array([0, 15])
    names = np.repeat(["b", "a"], 15)[order]
    place = np.arange(30.0)[order]
    for tau in (None, 2.0):
        reordered_lines = TotalVariation(names, place, tau).fit(X[:, order]).transform(X[:, order])
        for row, y in zip(reordered_lines, X, strict=True):
            np.testing.assert_allclose(
                row[np.argsort(place)], denoise_sample(y, lines, tau), atol=1e-12
            )
    transformed = TotalVariation(tau=2.0).fit(X).transform(X)
    np.testing.assert_array_equal(transformed[1], total_variation(X[1], 2 * noise_sd(X[1])))


@given(st.integers(0, 2**20), st.integers(2, 40), st.integers(2, 30), st.floats(0.0, 4.0))
def test_lines_of_equal_tau_are_denoised_separately(seed, n, m, tau):
    y = values(seed, n + m)
    lines = np.array([0, n])
    f = total_variation(y, tau, lines)
    separate_lines = np.concatenate([total_variation(y[:n], tau), total_variation(y[n:], tau)])
    np.testing.assert_allclose(f, separate_lines, atol=1e-12)
    assert n in find_segment_starts(np.zeros(n + m), lines)
    assert n in prune_segments(y, find_segment_starts(f, lines), lines)
    steps = np.delete(np.diff(y), n - 1)
    spread = 1.4826 * np.median(np.abs(steps - np.median(steps))) / 2**0.5
    assert noise_sd(y, lines) == pytest.approx(spread)


def test_chromosome_of_few_probes_is_not_segmented():
    """By itself it would be: few values leave no noise to hold a step against."""
    rng = np.random.default_rng(3)
    lines = np.arange(20) * 4
    y = rng.normal(size=200)
    lines = np.append(lines, 80)
    assert len(find_segment_starts(choose_segments(y, lines), lines)) <= len(lines) + 1
    alone = [choose_segments(part) for part in np.split(y, lines[1:])]
    assert sum(len(find_segment_starts(part)) for part in alone) > len(lines) + 1


def test_chromosomes_keep_their_order_and_features_are_sorted_within():
    genome = Genome.from_columns(5, ["X", "2", "X", "2", "X"], [3.0, 1.0, 1.0, 0.0, 2.0])
    assert [part.tolist() for part in genome.columns_by_chromosome()] == [[2, 4, 0], [3, 1]]


@pytest.mark.parametrize("settings", [{"tau": -1.0}, {"tau": np.inf}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(InvalidProblem, match="tau"):
        TotalVariation(**settings).fit(np.eye(4))


@pytest.mark.parametrize("settings", [{"chromosomes": ["1"]}, {"positions": [0, 1, 2, np.nan]}])
def test_positions_that_do_not_match_the_features_are_refused(settings):
    with pytest.raises(GenesigError, match="one for a feature"):
        TotalVariation(**settings).fit(np.eye(4))
