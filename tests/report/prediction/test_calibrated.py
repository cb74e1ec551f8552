"""Precision, net benefit and calibration groups equal scikit-learn and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import confusion_matrix

from genesig.report.prediction.decision import HeldOutProbabilities, net_benefit

RNG = np.random.default_rng(4)
POSITIVE = RNG.random(80) < 0.35
SCORE = np.where(POSITIVE, 0.6, -0.4) + RNG.normal(size=80)
THRESHOLDS = np.array([0.1, 0.35, 0.5, 0.9])


def test_net_benefit_is_its_definition():
    p = expit(SCORE)
    share = POSITIVE.mean()
    for t in THRESHOLDS:
        (_, false), (_, true) = confusion_matrix(POSITIVE, p >= t)
        expected = true / 80 - false / 80 * t / (1 - t)
        assert net_benefit(p, POSITIVE, np.array([t]), share)[0] == pytest.approx(expected)
    everyone = net_benefit(np.ones(80), POSITIVE, THRESHOLDS, share)
    held_out = HeldOutProbabilities(p, POSITIVE, 1, share)
    np.testing.assert_allclose(held_out.net_benefit_of_all(THRESHOLDS), everyone, atol=1e-12)
    assert held_out.net_benefit_of_all(np.array([share]))[0] == pytest.approx(0)
    assert (net_benefit(np.zeros(80), POSITIVE, THRESHOLDS, share) == 0).all()


def test_other_shares_are_those_of_samples_that_stand_there_more_often():
    p = expit(SCORE)
    share = 3 * POSITIVE.sum() / (3 * POSITIVE.sum() + (~POSITIVE).sum())
    rows = np.repeat(np.arange(80), np.where(POSITIVE, 3, 1))
    held_out = HeldOutProbabilities(p, POSITIVE, 1, share)
    often = HeldOutProbabilities(p[rows], POSITIVE[rows], 1, share)
    np.testing.assert_allclose(held_out.net_benefit(THRESHOLDS), often.net_benefit(THRESHOLDS))
    assert (
        held_out.mean_probability()
        == pytest.approx(often.mean_probability())
        == pytest.approx(p[rows].mean())
    )
    raw = HeldOutProbabilities(p, POSITIVE, 1, float(POSITIVE.mean())).reliability_groups()
    for weighted, plain in zip(held_out.reliability_groups(), raw, strict=True):
        odds = [group["share"] / (1 - group["share"]) for group in (weighted, plain)]
        assert odds[0] == pytest.approx(3 * odds[1])


def test_repeats_are_no_further_samples():
    p = np.sort(expit(SCORE))
    once = HeldOutProbabilities(p, POSITIVE, 1, 0.35).reliability_groups()
    often = HeldOutProbabilities(
        np.repeat(p, 4), np.repeat(POSITIVE, 4), 4, 0.35
    ).reliability_groups()
    for once_group, often_group in zip(once, often, strict=True):
        assert once_group == pytest.approx(often_group)
