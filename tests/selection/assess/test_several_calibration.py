"""The calibration slope of several classes maximises its likelihood and covers the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import norm
from scipy.stats import t as student

from genesig.optim.classes import probabilities
from genesig.selection.assess.clusters import class_calibration_slope

EQUAL = np.full(3, 1 / 3)


def drawn(seed: int, n: int, b: float, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return classes drawn by the probabilities of their margins, and these times b."""
    rng = np.random.default_rng(seed)
    f = spread * rng.normal(size=(n, 3))
    p = told(f, 1.0)
    y = (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    return y.astype(float), told(f, b)


def told(f: np.ndarray, b: float) -> np.ndarray:
    """Return the probabilities of equal classes by a slope."""
    return probabilities(f, np.array([0.0, 0.0, 0.0, b]))


def test_calibration_slope_maximises_the_class_weighted_likelihood() -> None:
    y, p = drawn(1, 60, 1.7)
    size = np.bincount(y.astype(int))[y.astype(int)]

    def loss(b: float) -> float:
        return -float((1 / size) @ log_softmax(b * np.log(p), axis=1)[np.arange(60), y.astype(int)])

    want = minimize_scalar(loss, bounds=(0, 5), method="bounded", options={"xatol": 1e-10}).x
    slope, (low, high) = class_calibration_slope(y, p, EQUAL)
    assert slope == pytest.approx(want, abs=1e-6)
    assert low < slope < high


@pytest.mark.parametrize(("group_size", "b"), [(None, 1.7), (1, 1.7), (3, 1.7), (None, 0.15)])
def test_calibration_interval_is_the_sandwich_of_numerical_derivatives(
    group_size: int | None, b: float
) -> None:
    y, p = drawn(1, 60, b)
    share = np.array([0.5, 0.3, 0.2])
    class_number = y.astype(int)
    weight = share[class_number] / np.bincount(class_number)[class_number]

    def losses(b: float) -> np.ndarray:
        logits = np.log(share) + b * np.log(p / share)
        return -weight * log_softmax(logits, axis=1)[np.arange(60), class_number]

    groups = None if group_size is None else np.arange(60) // group_size
    slope, limits = class_calibration_slope(y, p, share, groups)
    step = 1e-4
    before, at, after = losses(slope - step), losses(slope), losses(slope + step)
    derivatives = (after - before) / (2 * step)
    information = (after - 2 * at + before).sum() / step**2
    sums = derivatives.reshape(-1, group_size or 1).sum(axis=1)
    n = len(sums)
    quantile = norm.ppf(0.975)
    if group_size is not None:
        quantile = student.ppf(0.975, n - 1) * np.sqrt(n / (n - 1))
    half_width = quantile * np.sqrt(sums @ sums) / information
    assert limits == pytest.approx((slope - half_width, slope + half_width), rel=1e-4)


@pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
def test_calibration_interval_covers_the_true_slope(b: float) -> None:
    slopes = [class_calibration_slope(*drawn(seed, 120, b, 1.5), EQUAL) for seed in range(200)]
    covered = np.mean([low <= 1 / b <= high for _, (low, high) in slopes])
    assert np.median([slope for slope, _ in slopes]) == pytest.approx(1 / b, rel=0.1)
    assert 0.88 <= covered <= 0.98


@pytest.mark.parametrize(
    ("y", "f"),
    [
        ([0, 0, 1, 1], [[2, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]),  # no sample of a class
        ([0, 1, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1]]),  # all right
        ([0, 1, 2], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),  # all wrong
        ([0, 1, 2], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]),  # all alike
        ([0, 1, 2, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1], [np.nan] * 3]),
    ],
)
def test_calibration_slope_without_finite_maximum_is_nan(
    y: list[int], f: list[list[float]]
) -> None:
    slope, limits = class_calibration_slope(
        np.array(y, float), told(np.array(f, float), 1.0), EQUAL
    )
    assert np.isnan([slope, *limits]).all()


@pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
def test_classes_of_unlike_shares_have_the_same_slope(b: float) -> None:
    rng = np.random.default_rng(5)
    share = np.array([0.65, 0.25, 0.1])
    f = 1.5 * rng.normal(size=(40000, 3))
    p = probabilities(f, np.append(np.log(share), 1.0))
    y = (rng.random(len(f))[:, None] > np.cumsum(p, axis=1)).sum(axis=1).astype(float)
    share = np.bincount(y.astype(int)) / len(y)
    stated = share * (p / share) ** b
    stated /= stated.sum(axis=1, keepdims=True)
    slope, _ = class_calibration_slope(y, stated, share)
    assert slope == pytest.approx(1 / b, rel=0.1)
