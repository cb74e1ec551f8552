"""Random-effects estimates: closed forms, a published example, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import t as student

from genesig.selection.meta_analysis import (
    fisher,
    hazard,
    hedges,
    next_study,
    random_effects,
)

# 13 trials of BCG against tuberculosis, log relative risks and their variances, as R's metafor has
# them (escalc of dat.bcg): Colditz et al. 1994, JAMA 271:698.
BCG = np.array([
    [-0.8893, 0.3256], [-1.5854, 0.1946], [-1.3481, 0.4154], [-1.4416, 0.0200], [-0.2175, 0.0512],
    [-0.7861, 0.0069], [-1.6209, 0.2230], [0.0120, 0.0040], [-0.4694, 0.0564], [-1.3713, 0.0730],
    [-0.3394, 0.0124], [0.4459, 0.5325], [-0.0173, 0.0714],
])  # fmt: skip


def single_gene_effects(y, v):
    return random_effects(np.asarray(y, float)[:, None], np.asarray(v, float)[:, None])


def test_the_published_example_has_its_published_numbers():
    """metafor, rma(yi, vi, data = dat.bcg, method = "PM"): tau^2 0.3181, estimate -0.7150."""
    effect = single_gene_effects(*BCG.T)
    assert effect.mean[0] == pytest.approx(-0.7150, abs=6e-4)
    assert effect.tau2[0] == pytest.approx(0.3181, abs=2e-3)
    assert effect.q[0] == pytest.approx(152.233, rel=2e-2)  # variances are rounded to four places


def test_tau_solves_the_equation_of_paule_and_mandel():
    y, v = BCG.T

    def excess(tau2):
        w = 1 / (v + tau2)
        return w @ (y - w @ y / w.sum()) ** 2 - 12

    assert single_gene_effects(y, v).tau2[0] == pytest.approx(
        brentq(excess, 0, 10, xtol=1e-14), rel=1e-8
    )


def test_intervals_of_equal_variances_equal_the_interval_of_a_mean():
    """With one variance the model is a sample of y: mean, s and t on k - 1 degrees of freedom."""
    y = np.array([0.1, 0.9, 1.4, 2.2, 0.4])
    effect = single_gene_effects(y, np.full(5, 0.01))
    half = student.ppf(0.975, 4) * y.std(ddof=1) / np.sqrt(5)
    np.testing.assert_allclose([effect.low[0], effect.high[0]], [y.mean() - half, y.mean() + half])
    assert effect.tau2[0] == pytest.approx(y.var(ddof=1) - 0.01)


def test_two_studies_have_their_closed_form():
    """With k = 2 Paule and Mandel's equation is (y1 - y2)² = v1 + v2 + 2 tau²."""
    y = np.array([[0.2, 0.2, 0.2, np.nan], [1.4, 1.4, np.nan, np.nan], [9.0, np.nan, 9.0, 9.0]])
    v = np.array([[0.1, 0.1, 0.1, 0.1], [0.3, 0.3, 0.3, 0.3], [0.0, 0.2, np.nan, 0.0]])
    tau2 = ((1.4 - 0.2) ** 2 - 0.1 - 0.3) / 2
    weights = 1 / (np.array([0.1, 0.3]) + tau2)
    mean = weights @ [0.2, 1.4] / weights.sum()
    error = 1 / np.sqrt(weights.sum())
    half_width = student.ppf(0.975, 1) * error
    q = (1.4 - 0.2) ** 2 / (0.1 + 0.3)
    effects = random_effects(y, v)
    assert effects.studies.tolist() == [2, 2, 1, 0]  # a variance of 0 is not an estimate
    nan = np.nan
    for name, two, one in (
        ("mean", mean, 0.2),
        ("error", error, np.sqrt(0.1)),
        ("tau2", tau2, 0.0),
        ("low", mean - half_width, nan),
        ("high", mean + half_width, nan),
        ("q", q, nan),
        ("i2", 1 - 1 / q, nan),
    ):
        none = 0.0 if name == "tau2" else nan
        np.testing.assert_allclose(getattr(effects, name), [two, two, one, none], err_msg=name)


def test_equal_effects_leave_the_interval_of_a_fixed_effect():
    effect = single_gene_effects([0.5, 0.5, 0.5], [0.1, 0.2, 0.3])
    error = 1 / np.sqrt(1 / 0.1 + 1 / 0.2 + 1 / 0.3)
    assert (effect.tau2[0], effect.i2[0]) == (0, 0)
    assert effect.high[0] - 0.5 == pytest.approx(student.ppf(0.975, 2) * error)


def test_unknown_effects_take_no_part():
    y = BCG[:, 0].copy()
    v = BCG[:, 1].copy()
    y[3] = np.nan
    with_gap = single_gene_effects(y, v)
    without = single_gene_effects(np.delete(y, 3), np.delete(v, 3))
    for name in ("studies", "mean", "tau2", "low", "i2"):
        np.testing.assert_allclose(getattr(with_gap, name), getattr(without, name))
    alone = single_gene_effects([0.7, np.nan], [0.1, np.nan])
    assert alone.mean[0] == 0.7
    assert np.isnan([alone.low[0], alone.i2[0], *next_study(y[2:4], v[2:4])]).all()
    assert next_study(y, v) == next_study(np.delete(y, 3), np.delete(v, 3))
    assert np.isnan(single_gene_effects([np.nan], [np.nan]).mean[0])


def test_many_genes_are_as_each_alone():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(4, 50))
    v = rng.uniform(0.05, 0.5, (4, 50))
    effects = random_effects(y, v)
    for gene in range(0, 50, 7):
        effect = single_gene_effects(y[:, gene], v[:, gene])
        assert effects.mean[gene] == pytest.approx(effect.mean[0])
        assert effects.high[gene] == pytest.approx(effect.high[0])


@pytest.mark.slow
@pytest.mark.parametrize(("k", "tau"), [(5, 0.0), (5, 0.3), (10, 0.3)])
def test_prediction_interval_covers_a_further_study(k, tau):
    rng = np.random.default_rng(k)
    draws = 300
    v = rng.uniform(0.02, 0.2, (k, draws))
    y = 1 + rng.normal(0, tau, (k, draws)) + rng.normal(0, np.sqrt(v))
    low, high = np.transpose([next_study(y[:, i], v[:, i]) for i in range(draws)])
    new = 1 + rng.normal(0, tau, draws)
    coverage = np.mean((low <= new) & (new <= high))
    assert 0.90 <= coverage <= (0.985 if tau else 1.0)
    effects = random_effects(y, v)
    assert np.mean((effects.low <= 1) & (effects.high >= 1)) > 0.92


def test_prediction_interval_with_many_studies_equals_the_known_spread():
    """With many studies of no error of their own it is the quantiles of the effects."""
    y = np.sort(np.random.default_rng(0).normal(0, 2, 400))
    low, high = next_study(y, np.full(400, 1e-6))
    assert low == pytest.approx(y.mean() - 1.96 * y.std(ddof=1), abs=0.15)
    assert high == pytest.approx(y.mean() + 1.96 * y.std(ddof=1), abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5])
def test_a_further_study_is_never_surer_than_the_mean(k):
    rng = np.random.default_rng(k)
    for _ in range(100):
        v = rng.uniform(0.02, 0.2, k)
        y = rng.normal(0, np.sqrt(v))
        effect = single_gene_effects(y, v)
        (low, high) = next_study(y, v)
        assert low <= effect.low[0]
        assert high >= effect.high[0]


@pytest.mark.slow_cases("6")
@pytest.mark.parametrize("k", [3, 6])
def test_the_grid_is_as_wide_as_draws_of_the_formula(k):
    """Nagashima, Noma and Furukawa (2019), by chance: tau from a chi-square, then Z and T."""
    rng = np.random.default_rng(k)
    draws = 40_000
    y = rng.normal(0, 1.0, k)
    v = rng.uniform(0.02, 0.2, k)

    def spread(tau2):
        w = 1 / (v[:, None] + tau2)
        mean = (w * y[:, None]).sum(axis=0) / w.sum(axis=0)
        return mean, (w * (y[:, None] - mean) ** 2).sum(axis=0), w.sum(axis=0)

    low = np.zeros(draws)
    high = np.full(draws, 1e4)
    u = rng.chisquare(k - 1, draws)
    for _ in range(80):  # bisection: the spread falls as tau2 grows
        middle = (low + high) / 2
        is_above = spread(middle)[1] > u
        low = np.where(is_above, middle, low)
        high = np.where(is_above, high, middle)
    mean, heterogeneity, total = spread(low)
    drawn = mean + np.sqrt(low) * rng.standard_normal(draws)
    drawn += np.sqrt(heterogeneity / (k - 1) / total) * rng.standard_t(k - 1, draws)
    expected = np.diff(np.quantile(drawn, [0.025, 0.975]))[0]
    assert np.diff(next_study(y, v))[0] == pytest.approx(expected, rel=0.05)


def test_hedges_g_is_the_unbiased_difference_and_has_its_variance():
    rng = np.random.default_rng(1)
    n = 8
    m = 12
    delta = 0.8
    draws = 20000
    y = np.repeat([1.0, -1.0], [n, m])
    X = rng.standard_normal((n + m, draws)) + delta * (y[:, None] > 0)
    effect = hedges(X, y)
    assert effect.value.mean() == pytest.approx(delta, abs=0.015)
    assert effect.variance.mean() == pytest.approx(effect.value.var(), rel=0.12)
    np.testing.assert_allclose(hedges(3 * X + 7, y).value, effect.value)
    np.testing.assert_allclose(hedges(X, -y).value, -effect.value)


def test_a_constant_gene_has_no_effect():
    y = np.array([1, 1, 1, -1, -1, -1.0])
    for measure in (hedges, fisher):
        effect = measure(np.ones((6, 2)), y)
        assert np.isnan(effect.value).all()
        assert np.isnan(random_effects(effect.value[None], effect.variance[None]).mean).all()


def test_fishers_z_equals_numpys_correlation():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((15, 4))
    y = rng.standard_normal(15)
    expected = [np.arctanh(np.corrcoef(x, y)[0, 1]) for x in X.T]
    np.testing.assert_allclose(fisher(X, y).value, expected)
    np.testing.assert_allclose(fisher(X, y).variance, 1 / 12)


@pytest.mark.parametrize("ties", [False, True])
def test_the_hazard_ratio_maximises_the_partial_likelihood(ties):
    rng = np.random.default_rng(3)
    n = 40
    X = rng.standard_normal((n, 3))
    time = rng.exponential(np.exp(-X[:, 0]))
    time = np.ceil(4 * time) if ties else time
    event = rng.random(n) < 0.7
    y = np.array(list(zip(time, event, strict=True)), dtype=[("time", float), ("event", bool)])
    effect = hazard(X, y)
    for gene in range(3):
        z = (X[:, gene] - X[:, gene].mean()) / X[:, gene].std()

        def loss(b, z=z):
            at_risk = [np.log(np.exp(b * z[time >= time[i]]).sum()) for i in np.flatnonzero(event)]
            return np.sum(at_risk) - b * z[event].sum()

        best = minimize_scalar(loss, bracket=(-1, 1), options={"xtol": 1e-10}).x
        assert effect.value[gene] == pytest.approx(best, abs=1e-6)
        bend = (loss(best + 1e-3) - 2 * loss(best) + loss(best - 1e-3)) / 1e-6
        assert effect.variance[gene] == pytest.approx(1 / bend, rel=1e-3)
