"""Probabilities, precision and net benefit against scikit-learn and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_curve

from genesig.report.prediction.calibrated import (
    cross_fitted,
    logistic_line,
    net_benefit,
    precision_recall,
)

RNG = np.random.default_rng(4)
POSITIVE = RNG.random(80) < 0.35
SCORE = np.where(POSITIVE, 0.6, -0.4) + RNG.normal(size=80)


def test_the_line_is_that_of_a_logistic_regression_on_smoothed_targets():
    up, down = POSITIVE.sum(), (~POSITIVE).sum()
    target = np.where(POSITIVE, (up + 1) / (up + 2), 1 / (down + 2))
    X = np.concatenate([SCORE, SCORE])[:, None]
    y = np.repeat([1, 0], len(SCORE))
    weight = np.concatenate([target, 1 - target])
    referee = LogisticRegression(C=1e12, tol=1e-12, max_iter=10000).fit(X, y, weight)
    found = logistic_line(SCORE, POSITIVE)
    assert found == pytest.approx((referee.intercept_[0], referee.coef_[0, 0]), rel=1e-4)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_separated_classes_have_a_finite_line_that_orders_them(scale):
    score = scale * np.concatenate([np.linspace(-2, -1, 12), np.linspace(1, 2, 7)])
    a, b = logistic_line(score, score > 0)
    p = expit(a + b * score)
    assert np.isfinite([a, b]).all()
    assert p[score > 0].min() > 0.5 > p[score < 0].max()
    assert p.mean() == pytest.approx(np.where(score > 0, 8 / 9, 1 / 14).mean(), abs=1e-6)


def test_no_sample_has_part_in_its_own_probability():
    before = cross_fitted(SCORE, POSITIVE)
    far = SCORE.copy()
    far[SCORE.argmax()] += 5  # the last of its class stays the last, so folds stay
    after = cross_fitted(far, POSITIVE)
    ranked = np.flatnonzero(POSITIVE)[np.argsort(SCORE[POSITIVE])]
    place = np.flatnonzero(ranked == SCORE.argmax())
    assert len(place) == 1
    same = np.abs(after - before) < 1e-12
    # Those of its fold were fitted without it, all others with it.
    assert 0 < same.sum() < len(SCORE) / 4


def test_probabilities_of_noise_are_near_the_share():
    rng = np.random.default_rng(0)
    found = [cross_fitted(rng.normal(size=60), np.arange(60) < 20).mean() for _ in range(20)]
    assert np.mean(found) == pytest.approx(1 / 3, abs=0.03)


def test_net_benefit_is_its_definition():
    p = expit(SCORE)
    for t in (0.1, 0.35, 0.5, 0.9):
        (_, false), (_, true) = confusion_matrix(POSITIVE, p >= t)
        wanted = true / 80 - false / 80 * t / (1 - t)
        assert net_benefit(p, POSITIVE, np.array([t]))[0] == pytest.approx(wanted)
    share = POSITIVE.mean()
    everyone = net_benefit(np.ones(80), POSITIVE, np.array([0.2, share]))
    np.testing.assert_allclose(everyone, [share - (1 - share) * 0.25, 0], atol=1e-12)
    assert (net_benefit(np.zeros(80), POSITIVE, np.array([0.2])) == 0).all()


@pytest.mark.parametrize("digits", [8, 1, 0])
def test_precision_and_recall_agree_with_sklearn_also_with_ties(digits):
    score = SCORE.round(digits)
    recall, precision, area = precision_recall(score, POSITIVE)
    p, r, _ = precision_recall_curve(POSITIVE, score)
    np.testing.assert_allclose((recall[::-1], precision[::-1]), (r[:-1], p[:-1]))
    assert area == pytest.approx(average_precision_score(POSITIVE, score))
