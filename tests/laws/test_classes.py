"""Several classes: response columns, nearest mean, error measures; two classes as special case."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import stats

from genesig.optim.classes import centres, coded, discriminant, margins, shares
from genesig.optim.multitask import joint_path, joint_scores, joint_sets
from genesig.optim.refit import refit_scores
from genesig.optim.solvers import path
from genesig.optim.training import training_sets
from genesig.selection.assess.clusters import (
    class_sides,
    macro_auc,
    mean_class_error,
    predict_class,
    wrong_classes,
)
from genesig.selection.assess.intervals import (
    auc,
    called_class,
    confusion_matrix,
    delong,
    zero_one_loss,
)
from genesig.selection.assess.kinds import held_out_area
from genesig.selection.genes.univariate import class_test, welch_anova
from genesig.selection.model.external_scores import as_one_test_set


def draw_classes(seed=0, n=60, T=4, d=30):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % T).astype(float)
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    return rng, X, y


def test_the_columns_of_rare_classes_weigh_as_much():
    _, _, y = draw_classes(T=3)
    y[y == 2] = np.where(np.arange((y == 2).sum()) < 3, 2, 0)
    rows = np.ones((60, 1), dtype=bool)
    Y = coded(y[:, None], shares(y[:, None], rows, 3))[:, 0]
    share = np.bincount(y.astype(int)) / 60
    np.testing.assert_allclose(np.square(Y).sum(axis=0), 60)
    np.testing.assert_allclose(np.square(Y - Y.mean(axis=0)).mean(axis=0), 1 - share)


def test_class_weights_equal_shares_of_the_training_rows():
    _, _, y = draw_classes()
    rows = np.arange(60)[:, None] % np.array([2, 3]) == 0
    two_columns = np.repeat(y[:, None], 2, axis=1)
    Y = coded(two_columns, shares(two_columns, rows, 4))
    for k in range(2):
        share = np.bincount(y[rows[:, k]].astype(int), minlength=4) / rows[:, k].sum()
        np.testing.assert_allclose(Y[:, k].max(axis=0), 1 / np.sqrt(share))


def test_margins_order_classes_by_distance_and_are_linear():
    rng, _, y = draw_classes()
    scores = rng.normal(size=(2, 3, 60, 4))
    means = centres(y, scores, 4)
    np.testing.assert_allclose(means[1, 2, 3], scores[1, 2, y == 3].mean(axis=0))
    margin_scores = margins(scores, means)
    distance = np.square(scores[..., None, :] - means[..., None, :, :]).sum(axis=-1)
    np.testing.assert_array_equal(margin_scores.argmax(axis=-1), distance.argmin(axis=-1))
    np.testing.assert_allclose(margin_scores, -(distance - distance.mean(-1, keepdims=True)) / 2)
    centred_scores, constant = discriminant(means[0, 0])
    np.testing.assert_allclose(scores[0, 0] @ centred_scores + constant, margin_scores[0, 0])


@pytest.mark.parametrize("rare", [30, 12])
def test_two_classes_as_classes_have_the_lists_and_the_midpoint_of_two(rare):
    rng = np.random.default_rng(rare)
    n = 60
    d = 200
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + rng.normal(size=(n, d))
    y = (np.arange(n) < rare).astype(float)
    X[:, :3] += y[:, None]
    rows = np.arange(n)[:, None] % 5 != np.arange(5)
    many = np.repeat(y[:, None], 5, axis=1)
    two = training_sets(X, 2 * many - 1, rows, centre=True, unit_variance=True)
    of_all = np.full((5, 2), [1 - y.mean(), y.mean()])
    joint = joint_sets(X, coded(many, of_all), rows, centre=True, unit_variance=True)
    share = np.geomspace(0.9, 0.01, 10)
    alone = path(two, two.tau_max[:, None] * share, 1e-3, solver="landweber-newton", tolerance=1e-9)
    class_path = joint_path(joint, joint.tau_max[:, None] * share, 1e-3, tolerance=1e-9)
    np.testing.assert_array_equal(class_path.indices, alone.indices)
    f = refit_scores(two, alone, [1e-3])
    F = joint_scores(joint, class_path, [1e-3])
    held_out_scores = np.stack([f[k][..., ~rows[:, k]] for k in range(5)]).transpose(1, 2, 0, 3)
    several = np.stack([F[k][..., ~rows[:, k], :] for k in range(5)]).transpose(1, 2, 0, 3, 4)
    order = np.concatenate([np.flatnonzero(~rows[:, k]) for k in range(5)])
    held_out_scores = held_out_scores.reshape(10, 1, n)
    several = several.reshape(10, 1, n, 2)
    low, high = (held_out_scores[..., y[order] == side].mean(-1) for side in (0, 1))
    forwards = (high > low).ravel()  # a model that is worse than chance is turned round
    assert forwards.sum() > 5
    beyond = (held_out_scores - ((low + high) / 2)[..., None])[forwards]
    class_path = margins(several, centres(y[order], several, 2))[forwards]
    np.testing.assert_array_equal(class_path.argmax(axis=-1), (beyond > 0).astype(int))
    ratio = class_path[..., 1] / beyond
    np.testing.assert_allclose(ratio, ratio[..., :1] + 0 * ratio, rtol=1e-3)


def test_a_tie_and_a_missing_score_are_no_prediction():
    f = np.array([[1.0, 2, 0], [2, 2, 0], [np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(predict_class(f), [1, -1, -1])
    np.testing.assert_array_equal(wrong_classes(np.array([1.0, 0, 0]), f), [0, 1, np.nan])


def test_called_class_of_a_score_of_zero_is_an_error():
    positive = np.array([True, True, True, False, False, False])
    calls = called_class(positive, np.array([0.5, -0.5, 0, 0.5, -0.5, 0]))
    np.testing.assert_array_equal(calls, [1, 0, 0, 1, 0, 1])


def test_confusion_matrix_by_hand():
    y = np.array([0.0, 0, 0, 1, 1, 2])
    calls = np.array([0, 0, 1, 1, -1, 0])
    table = confusion_matrix(y, calls, 3)
    np.testing.assert_array_equal(table, [[2, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]])


def test_mean_class_error_equals_scikit_learn():
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    rng, _, y = draw_classes(3)
    f = rng.normal(size=(60, 4)) + np.eye(4)[y.astype(int)]
    expected = 1 - balanced_accuracy_score(y, predict_class(f))
    assert mean_class_error(y, f, 4) == pytest.approx(expected)
    areas = [roc_auc_score(y == c, f[:, c]) for c in range(4)]
    assert macro_auc(y, f) == pytest.approx(np.mean(areas))
    area, low, high = held_out_area(as_one_test_set(y, f), class_sides(y, f))
    assert area == pytest.approx(np.mean(areas))
    assert low < area < high
    class_areas = np.array([delong(np.where(y == c, 1.0, -1.0), f[:, c]) for c in range(4)])
    assert (
        high - low < 0.95 * (class_areas[:, 2] - class_areas[:, 1]).mean()
    )  # four classes tell more than one


def test_two_classes_have_the_interval_and_the_error_of_two():
    rng, _, y = draw_classes(T=2)
    f = rng.normal(size=60) + y
    class_scores = np.column_stack([-f, f])
    sign = 2 * y - 1
    area = held_out_area(as_one_test_set(y, class_scores), class_sides(y, class_scores))
    np.testing.assert_allclose(area, delong(sign, f), rtol=0.02)  # n - 1 for n in a variance
    assert macro_auc(y, class_scores) == pytest.approx(auc(sign, f))
    np.testing.assert_array_equal(wrong_classes(y, class_scores), zero_one_loss(sign, f))


def test_welch_anova_of_two_classes_is_welchs_test():
    _, X, y = draw_classes(T=2)
    expected = stats.ttest_ind(X[y == 1], X[y == 0], equal_var=False)
    F, p = welch_anova(X, y)
    np.testing.assert_allclose(F, expected.statistic**2)
    np.testing.assert_allclose(p, expected.pvalue)


@pytest.mark.skipif(
    "equal_var" not in inspect.signature(stats.f_oneway).parameters, reason="an older SciPy"
)
def test_welch_anova_equals_scipy():
    _, X, y = draw_classes()
    expected = stats.f_oneway(*[X[y == c] for c in range(4)], equal_var=False)
    F, p = welch_anova(X, y)
    np.testing.assert_allclose(F, expected.statistic, rtol=1e-10)
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-9)


def test_class_test_with_batches_equals_comparison_of_two_linear_models():
    rng, X, y = draw_classes()
    batch = rng.permutation(np.arange(60) % 3)
    F, p = class_test(X, y, batch)
    full = np.hstack([np.eye(3)[batch], np.eye(4)[y.astype(int)][:, 1:]])
    small = np.eye(3)[batch]
    for gene in range(3):
        residual_sums = [np.linalg.lstsq(M, X[:, gene], rcond=None)[1][0] for M in (small, full)]
        value = (residual_sums[0] - residual_sums[1]) / 3 / (residual_sums[1] / 54)
        assert F[gene] == pytest.approx(value)
        assert p[gene] == pytest.approx(stats.f.sf(value, 3, 54))


def test_class_test_is_nan_without_spread_and_finite_if_one_class_lacks_spread():
    _, X, y = draw_classes()
    X[:, 1], X[:, 2] = 5.0, np.where(y == 0, 20.0, X[:, 2] + 20)
    for batch in (None, np.arange(60) % 2):
        F, p = class_test(X, y, batch)
        assert np.isnan(F[1])
        assert np.isnan(p[1])
        assert np.isfinite(F[2])
        assert 0 < p[2] <= 1
    assert np.isnan(class_test(X[:4], np.arange(4.0), None)[0]).all()


def test_p_values_are_uniform_where_there_is_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 4000))
    y = np.arange(40) % 4
    X *= 1 + y[:, None]
    _, p = welch_anova(X, y)
    assert abs(np.mean(p <= 0.05) - 0.05) < 0.012
