"""A line fitted on training labels gives class probabilities for the requested shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from linear_loops import nested_cross_validation, study_half_samples
from scipy.special import expit, log_softmax, softmax
from settings import MOMENTS, SPLITS, of_kind
from sklearn.linear_model import LogisticRegression
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.optim.classes import (
    MIN_UNDOUBTED_SHRINKAGE,
    VARIANCE_FACTOR,
    doubt_of_line,
    fitted_line,
    line_for_shares,
    probabilities,
    shrunken_line,
    two_columns,
)
from genesig.selection.assess.held_out import class_shares, predictions_table, requested_shares
from genesig.selection.linear.grid import calibration_lines, crossfit
from genesig.selection.linear.kinds import slope_design_effect
from genesig.selection.linear.training_sets import PreparedStudy

KINDS_OF_CLASSES = ("classification", "several_classes")


def drawn(seed, n=300, shares=(0.6, 0.3, 0.1), b=1.3):
    """Return scores, classes drawn by a line, and the line; intercepts are the logs of shares."""
    rng = np.random.default_rng(seed)
    line = np.append(np.log(shares), b)
    f = rng.normal(size=(n, len(shares)))
    p = probabilities(f, line)
    return f, (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1), line


def test_probabilities_equal_softmax_of_the_line():
    f, _, line = drawn(0)
    f *= 300
    np.testing.assert_allclose(probabilities(f, line), softmax(line[:-1] + line[-1] * f, axis=1))
    line_of_row = np.tile(line, (len(f), 1))
    np.testing.assert_allclose(probabilities(f, line_of_row), probabilities(f, line))
    np.testing.assert_allclose(
        probabilities(two_columns(f[:, 0]), np.array([0, -0.4, 2.0]))[:, 1],
        expit(-0.4 + 2 * f[:, 0]),
        atol=1e-300,
    )


def test_line_of_two_classes_equals_logistic_regression_on_smoothed_targets():
    rng = np.random.default_rng(4)
    y = (rng.random(80) < 0.35).astype(int)
    f = np.where(y, 0.6, -0.4) + rng.normal(size=80)
    target = (80 * y + 2 * y.mean()) / 82
    X = np.concatenate([f, f])[:, None]
    twice = np.repeat([1, 0], 80)
    weight = np.concatenate([target, 1 - target])
    referee = LogisticRegression(C=1e12, tol=1e-12, max_iter=10000).fit(X, twice, weight)
    _, a, b = fitted_line(two_columns(f), y)
    assert (a, b) == pytest.approx((referee.intercept_[0], referee.coef_[0, 0]), rel=1e-4)


def test_fitted_line_minimises_cross_entropy():
    f, y, _ = drawn(2)
    share = np.bincount(y) / len(y)
    target = (len(y) * np.eye(3)[y] + 2 * share) / (len(y) + 2)

    def loss(line):
        return -np.sum(target * log_softmax(line[:-1] + line[-1] * f, axis=1))

    best = fitted_line(f, y)
    for k in range(4):
        for step in (-0.01, 0.01):
            assert loss(best + step * np.eye(4)[k]) > loss(best)


def test_fitted_line_recovers_the_true_line_and_mean_shares():
    f, y, line = drawn(3, n=20000)
    line_fit = fitted_line(f, y)
    np.testing.assert_allclose(line_fit - [*np.full(3, line_fit[0] - line[0]), 0], line, atol=0.1)
    np.testing.assert_allclose(probabilities(f, line_fit).mean(axis=0), class_shares(y), atol=1e-9)


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("n_classes", [2, 4])
def test_slope_of_normal_scores_is_right_on_average(n_classes):
    """With scores of unit variance and means d apart in their own class, the true slope is d."""
    rng = np.random.default_rng(11)
    d = 1.75
    classes = np.arange(100) % n_classes
    slopes = [
        fitted_line(rng.normal(size=(100, n_classes)) + d * np.eye(n_classes)[classes], classes)[-1]
        for _ in range(120)
    ]
    standard_error = np.std(slopes, ddof=1) / np.sqrt(len(slopes))
    assert abs(np.mean(slopes) - d) < 0.06 * d + 2 * standard_error


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_separated_classes_have_a_finite_line_that_orders_them(scale):
    score = scale * np.concatenate([np.linspace(-2, -1, 12), np.linspace(1, 2, 7)])
    line = fitted_line(two_columns(score), (score > 0).astype(int))
    p = probabilities(two_columns(score), line)[:, 1]
    assert np.isfinite(line).all()
    assert p[score > 0].min() > 0.5 > p[score < 0].max()


def test_reversed_or_constant_score_gives_the_class_shares():
    y = np.repeat([0, 1], [30, 10])
    for f in (-1.0 * y, np.ones(40)):
        line = fitted_line(two_columns(f), y)
        assert line[-1] == 0
        np.testing.assert_allclose(probabilities(two_columns(f), line), [[0.75, 0.25]] * 40)


def test_line_without_class_or_score_is_nan():
    f, y, _ = drawn(4)
    assert f.shape[1] == 3
    assert np.isnan(fitted_line(f, np.minimum(y, 1))).all()
    f[3, 1] = np.nan
    assert np.isnan(fitted_line(f, y)).all()


@pytest.mark.parametrize("T", [2, 3])
def test_shrunken_slope_is_the_fitted_slope_by_its_shrinkage(T):
    scores, class_number, _ = drawn(6, n=80, shares=(0.5, 0.3, 0.2)[:T], b=0.8)
    fitted = fitted_line(scores, class_number)
    shrunken = shrunken_line(scores, class_number)

    def mean_log_likelihood(theta):  # of samples that are of each class as often as the line says
        logarithms = log_softmax(np.append(0, theta[:-1]) + theta[-1] * scores, axis=1)
        return np.sum(probabilities(scores, fitted) * logarithms)

    theta = np.append(fitted[1:-1] - fitted[0], fitted[-1])
    step = 1e-4 * np.eye(T)
    information = [
        [
            -sum(
                sign * second_sign * mean_log_likelihood(theta + sign * a + second_sign * b)
                for sign in (-1, 1)
                for second_sign in (-1, 1)
            )
            / 4e-8
            for a in step
        ]
        for b in step
    ]
    variance = np.linalg.inv(information)[-1, -1]
    expected = 1 - (VARIANCE_FACTOR * variance / fitted[-1] ** 2) ** 1.5
    assert 0.3 < expected < 0.99
    assert shrunken.shrinkage == pytest.approx(expected, rel=1e-4)
    assert shrunken.line[-1] == pytest.approx(expected * fitted[-1], rel=1e-4)
    p = probabilities(scores, shrunken.line)
    np.testing.assert_allclose(p.mean(axis=0), class_shares(class_number), atol=1e-9)


def test_shrunken_line_of_scores_without_relation_says_the_shares():
    scores = np.tile([-1.0, 1.0], 30)
    class_number = np.repeat([0, 1], [40, 20])
    line, shrinkage = shrunken_line(two_columns(scores), class_number)
    assert shrinkage == 0
    np.testing.assert_allclose(probabilities(two_columns(scores), line), [[2 / 3, 1 / 3]] * 60)


def test_shrunken_line_of_many_samples_is_the_fitted_line():
    scores, class_number, _ = drawn(3, n=20000)
    assert shrunken_line(scores, class_number).shrinkage > 0.99


def predictive_slope(rule, n, b, n_studies=1000):
    """Return the calibration slope among new samples, and the root mean square of fitted slopes.

    The former is the slope of the true on the fitted slopes of the studies, through 0.
    """
    products = []
    squares = []
    for seed in range(n_studies):
        # The difference of two scores has a standard deviation of √2.
        scores, class_number, _ = drawn(seed, n=n, shares=(0.5, 0.5), b=b / 2**0.5)
        if len(set(class_number)) == 2:
            slope = rule(scores, class_number)[-1]
            products.append(slope * b / 2**0.5)
            squares.append(slope**2)
    return np.sum(products) / np.sum(squares), np.sqrt(np.mean(squares))


@pytest.mark.slow
@pytest.mark.parametrize("b", [0.8, 1.2, 2.0])
def test_probabilities_of_new_samples_are_right_on_average_over_studies(b):
    """The scores are given, so that only the line errs; the fitted line errs more.

    With 150 studies instead of 1000 the slope would have a standard error of .07 at b = .8.
    """
    slope, _ = predictive_slope(lambda f, y: shrunken_line(f, y).line, 40, b)
    fitted, _ = predictive_slope(fitted_line, 40, b)
    assert 0.8 < slope < 1.25
    assert fitted < slope


@pytest.mark.slow
def test_shrunken_slopes_in_noise_are_below_0_7_of_fitted_slopes():
    _, shrunken = predictive_slope(lambda f, y: shrunken_line(f, y).line, 40, 0.0)
    _, fitted = predictive_slope(fitted_line, 40, 0.0)
    assert shrunken < 0.7 * fitted


def test_repeated_samples_of_a_patient_are_no_more_evidence():
    scores, class_number, _ = drawn(7, n=60, b=1.0)
    three_times = np.repeat(scores, 3, axis=0), np.repeat(class_number, 3)
    effect = slope_design_effect(*three_times, np.repeat(np.arange(60), 3))
    assert effect == pytest.approx(3, rel=0.02)
    assert slope_design_effect(scores, class_number, np.arange(60)) == 1
    once = shrunken_line(scores, class_number)
    line_of_repeats = shrunken_line(*three_times, effect)
    assert line_of_repeats.shrinkage == pytest.approx(once.shrinkage, abs=0.02)


@pytest.mark.parametrize("T", [2, 3])
def test_draws_of_the_folds_make_no_more_samples(T):
    scores, class_number, _ = drawn(8, n=60, shares=(0.5, 0.3, 0.2)[:T], b=1.0)
    draws = scores + 0.5 * np.random.default_rng(8).normal(size=(5, *scores.shape))
    group = np.arange(60) // 3

    def line(draws):
        effect = slope_design_effect(draws, class_number, group)
        shrunken = shrunken_line(draws, class_number, effect)
        return np.append(shrunken.line, shrunken.shrinkage)

    assert 0 < line(draws)[-1] < 1
    np.testing.assert_allclose(line(np.stack([scores] * 5)), line(scores), rtol=1e-9)
    np.testing.assert_allclose(line(np.concatenate([draws, draws])), line(draws), rtol=1e-9)
    np.testing.assert_allclose(line(draws[::-1]), line(draws), rtol=1e-9)
    assert not np.allclose(line(draws), line(draws[:1]))


def test_calibration_lines_count_groups_of_samples():
    dataset = study_of("classification", 3, n=60, d=12, signal=1.0)
    splits = draw_splits(dataset, seed=2, **SPLITS)
    training_set = PreparedStudy(dataset, splits, MOMENTS).make_training_sets([splits.final])[0]
    scores = np.random.default_rng(0).normal(size=len(training_set.y)) + 0.3 * training_set.y
    grouped = replace(training_set, group=np.argsort(np.argsort(scores)) // 4)
    alone, by_group = (
        calibration_lines([learning_set], [scores[None]])
        for learning_set in (training_set, grouped)
    )
    assert 0 <= by_group.shrinkage[0] < alone.shrinkage[0] < 1


@pytest.mark.parametrize(
    ("shrinkage", "words"),
    [
        (0.0, "do not show that the score predicts the class: the probability is the share of the"),
        (0.25, "hardly show that the score predicts the class: the probability keeps 25% of its"),
        (MIN_UNDOUBTED_SHRINKAGE, None),  # no doubt, so no words
        (1.0, None),
    ],
)
def test_doubt_of_a_line_goes_by_its_shrinkage(shrinkage, words):
    assert (words is None) == (doubt_of_line(shrinkage) == "")
    assert (words or "") in doubt_of_line(shrinkage)


def test_other_shares_move_odds_by_their_ratio():
    f, y, line = drawn(5)
    shares = class_shares(y)
    new_shares = np.array([0.2, 0.3, 0.5])
    before = probabilities(f, line)
    after = probabilities(f, line_for_shares(line, shares, new_shares))
    weighed = before * new_shares / shares
    np.testing.assert_allclose(after, weighed / weighed.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(requested_shares("study", y), shares)
    np.testing.assert_array_equal(requested_shares("equal", y), np.full(3, 1 / 3))
    np.testing.assert_array_equal(requested_shares([0.2, 0.3, 0.5], y), new_shares)


def study(kind, **settings):
    dataset = study_of(kind, 3, n=60, d=12, signal=1.0)
    splits = draw_splits(dataset, seed=2, **SPLITS)
    settings = of_kind(kind) | settings
    halves = study_half_samples(dataset, splits, permutations=3, fold_steps=MOMENTS, **settings)
    return dataset, splits, halves, settings


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", ["two_stage", "ensemble"])
@pytest.mark.parametrize("kind", KINDS_OF_CLASSES)
def test_labels_of_test_samples_have_no_part_in_the_line(kind, model):
    dataset, splits, halves, settings = study(kind, list="best", model=model)
    fits = nested_cross_validation(
        dataset, splits, halves, labels="observed", batch="1of1", fold_steps=MOMENTS, **settings
    )
    label = dataset.design.label
    test = list(splits.outer[0].test)
    obs = dataset.obs.copy()
    obs.loc[test, label] = np.roll(obs.loc[test, label].to_numpy(), 1)
    fits_of_changed = nested_cross_validation(
        replace(dataset, obs=obs),
        splits,
        halves,
        labels="observed",
        batch="1of1",
        fold_steps=MOMENTS,
        **settings,
    )
    assert (obs != dataset.obs).to_numpy().any()
    np.testing.assert_array_equal(fits.line[0], fits_of_changed.line[0])
    np.testing.assert_array_equal(fits.answers.line[0], fits_of_changed.answers.line[0])
    assert (fits.answers.line[1:] != fits_of_changed.answers.line[1:]).any()
    assert (fits.answers.line[..., -1] >= 0).all()


@pytest.mark.parametrize("kind", KINDS_OF_CLASSES)
def test_crossfitted_scores_use_a_choice_without_the_own_fold(kind):
    dataset, splits, _, _ = study(kind)
    training_set = PreparedStudy(dataset, splits, MOMENTS).make_training_sets([splits.outer[0]])[0]
    tail = () if kind == "classification" else (3,)
    scores = np.random.default_rng(1).normal(size=(3, len(training_set.y), *tail))
    calls = []

    # Without class means as threshold, scores of several classes stay as they are.
    threshold = 0.25 if kind == "classification" else np.nan

    def choose(remaining, folds):
        calls.append((np.concatenate(remaining.inner_folds), folds))
        return scores, threshold

    crossfitted = crossfit(training_set, (scores, threshold), choose)
    assert len(calls) == len(training_set.inner_folds)
    for k, (rows, folds) in enumerate(calls):
        assert not set(rows) & set(training_set.inner_folds[k])
        assert k not in folds
        expected = scores[k, training_set.inner_folds[k]] - (
            0.25 if kind == "classification" else 0
        )
        np.testing.assert_array_equal(crossfitted[training_set.inner_folds[k]], expected)
    assert np.isnan(crossfitted[training_set.test]).all()


@pytest.mark.parametrize("kind", KINDS_OF_CLASSES)
@pytest.mark.parametrize("factor", [1 / 8, 8])
def test_crossfitted_scores_have_the_unit_of_the_settings_of_the_model(kind, factor):
    dataset, splits, _, _ = study(kind)
    training_set = PreparedStudy(dataset, splits, MOMENTS).make_training_sets([splits.outer[0]])[0]
    tail = () if kind == "classification" else (3,)
    scores = np.random.default_rng(1).normal(size=(3, len(training_set.y), *tail))
    without_gene = scores.copy()
    without_gene[1] = 0.5
    threshold = 0.0 if kind == "classification" else np.nan

    def crossfit_at(other_scores):
        return crossfit(
            training_set, (scores, threshold), lambda remaining, folds: (other_scores, threshold)
        )

    expected = crossfit_at(scores)
    np.testing.assert_allclose(crossfit_at(factor * scores), expected)
    in_other_folds = np.concatenate([training_set.inner_folds[0], training_set.inner_folds[2]])
    crossfitted = crossfit_at(factor * without_gene)
    np.testing.assert_allclose(crossfitted[in_other_folds], expected[in_other_folds])


@pytest.mark.parametrize("kind", KINDS_OF_CLASSES)
def test_held_out_table_has_probabilities_of_chosen_lists(kind):
    dataset, splits, halves, settings = study(kind)
    fits = nested_cross_validation(
        dataset, splits, halves, labels="observed", batch="1of1", fold_steps=MOMENTS, **settings
    )
    prediction_tables = [
        predictions_table(dataset, splits, fits.with_chosen(), class_shares_setting)
        for class_shares_setting in ("study", "equal")
    ]
    names = dataset.design.classes[1:] if kind == "classification" else dataset.design.classes
    columns = [f"probability of {name}" for name in names]
    is_chosen = prediction_tables[0]["mu"].isna()
    assert prediction_tables[0].loc[~is_chosen, columns].isna().all(axis=None)
    study_p, equal = (
        prediction_table.loc[is_chosen, columns].to_numpy()
        for prediction_table in prediction_tables
    )
    times = np.diff(fits.test_indptr)
    line = np.repeat(fits.answers.line[:, 0], times, axis=0)
    f = fits.answers.scores[:, 0]
    f = two_columns(f) if kind == "classification" else f
    p = probabilities(f, line)
    np.testing.assert_allclose(study_p, p[:, -len(names) :], atol=1e-12)
    weighed = p / class_shares(dataset.response())
    weighed /= weighed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(equal, weighed[:, -len(names) :], atol=1e-12)


def test_permuted_labels_have_no_probabilities():
    dataset, splits, halves, settings = study("classification")
    fits = nested_cross_validation(
        dataset,
        splits,
        halves,
        labels="permuted-001-001",
        batch="1of1",
        fold_steps=MOMENTS,
        **settings,
    )
    assert fits.line is None
    assert fits.answers is None or fits.answers.line is None
