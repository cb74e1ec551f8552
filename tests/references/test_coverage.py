"""Coverage of the interval of the nested cross-validation error."""

import numpy as np
import pytest

from genesig.selection.assess.assessment import assess
from genesig.selection.assess.held_out import HeldOutScores
from genesig.selection.assess.intervals import corrected_t
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

CLASSES = ASSESSMENT_KINDS["classification"].headline
NUMBERS = ASSESSMENT_KINDS["regression"].headline
CLASS_SIZES = (27, 11)


def draw(rng, sizes, signal):
    """Return Gaussian X with ten informative features of 200, and y."""
    y = np.repeat([-1.0, 1.0], sizes)
    X = rng.standard_normal((len(y), 200))
    X[:, :10] += signal * y[:, None]
    return X, y


def scores(X, y, X_test):
    low = X[y < 0].mean(axis=0)
    high = X[y > 0].mean(axis=0)
    return (X_test - (low + high) / 2) @ (high - low)


def cross_validate(rng, X, y, folds, repeats):
    parts = []
    for repeat in range(repeats):
        order = np.lexsort((rng.random(len(y)), y))
        fold_of = np.empty(len(y), dtype=int)
        fold_of[order] = np.arange(len(y)) % folds
        for fold in range(folds):
            test = fold_of == fold
            train = fold_of != fold
            f = scores(X[train], y[train], X[test])
            place = np.full(len(f), repeat * folds + fold)
            parts.append((np.flatnonzero(test), place, np.full(len(f), repeat), f))
    row, split, repeat, f = (np.concatenate(column) for column in zip(*parts, strict=True))
    return HeldOutScores(y[row], row, split, repeat, 0 * row, f[:, None], 1 / (folds - 1))


def expected_error(rng, folds, signal):
    """Mean balanced error of the procedure, trained on as many samples as the folds leave."""
    sizes = [round(size * (1 - 1 / folds)) for size in CLASS_SIZES]
    errors = []
    for _ in range(150):
        X, y = draw(rng, sizes, signal)
        X_test, y_test = draw(rng, (300, 300), signal)
        errors.append(np.mean(y_test * scores(X, y, X_test) <= 0))
    return np.mean(errors)


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0.0, 0.3, 0.6, 1.0])
@pytest.mark.parametrize(("folds", "repeats", "least"), [(5, 4, 0.95), (38, 1, 0.89)])
def test_the_interval_covers(signal, folds, repeats, least):
    rng = np.random.default_rng(1)
    truth = expected_error(rng, folds, signal)
    is_covered = []
    over_splits = []
    for _ in range(200):
        X, y = draw(rng, CLASS_SIZES, signal)
        held_out_scores = cross_validate(rng, X, y, folds, repeats)
        assessment = assess(held_out_scores, CLASSES)[0]
        is_covered.append(assessment.low <= truth <= assessment.high)
        loss = CLASSES.loss(held_out_scores)[:, 0].astype(float)
        alone = corrected_t(
            CLASSES.split_errors(held_out_scores, loss),
            assessment.error,
            held_out_scores.test_train_ratio,
        )
        over_splits.append(alone[0] <= truth <= alone[1])
    assert np.mean(is_covered) >= least
    if signal == 1.0 and folds == 5:
        assert np.mean(over_splits) < 0.85  # why it is not used by itself


def fit_top_genes(X, y):
    """Return the weights of the eight genes of the largest difference, and the intercept."""
    low = X[y < 0].mean(axis=0)
    high = X[y > 0].mean(axis=0)
    w = (high - low) * (np.abs(high - low) >= np.sort(np.abs(high - low))[-8])
    return w, -(low + high) @ w / 2


def test_leave_one_out_of_noise_is_no_finding():
    """Lists differ with the training set, which samples alone do not show: 95 % was 69."""
    rng = np.random.default_rng(3)
    draws = 120
    n = 60
    n_covered = 0
    n_below = 0
    all_rows = np.arange(n)
    y = np.where(all_rows % 2, 1.0, -1.0)
    for _ in range(draws):
        X = rng.standard_normal((n, 60))
        f = np.empty(n)
        for row in all_rows:
            w, a = fit_top_genes(X[all_rows != row], y[all_rows != row])
            f[row] = X[row] @ w + a
        held_out_scores = HeldOutScores(
            y, all_rows, all_rows, 0 * all_rows, 0 * all_rows, f[:, None], 1 / (n - 1)
        )
        assessment = assess(held_out_scores, CLASSES)[0]
        n_covered = n_covered + (assessment.low <= 0.5 <= assessment.high)
        n_below = n_below + (assessment.high < 0.5)
    assert n_covered >= 0.86 * draws
    assert n_below <= 0.08 * draws


def numbers(rng, n, signal):
    """Return Gaussian X with ten informative features of 100, and y with noise of variance 1."""
    X = rng.standard_normal((n, 100))
    return X, signal * X[:, :10].sum(axis=1) / np.sqrt(10) + rng.standard_normal(n)


def ridge(X, y, X_test):
    Xc = X - X.mean(axis=0)
    yc = y - y.mean()
    dual = np.linalg.solve(Xc @ Xc.T + 20 * np.eye(len(y)), yc)
    return y.mean() + (X_test - X.mean(axis=0)) @ (Xc.T @ dual)


def validate_numbers(rng, X, y, folds):
    fold_of = rng.permutation(np.arange(len(y)) % folds)
    f = np.empty(len(y))
    for fold in range(folds):
        test = fold_of == fold
        f[test] = ridge(X[~test], y[~test], X[test])
    all_rows = np.arange(len(y))
    return HeldOutScores(
        y, all_rows, fold_of, 0 * all_rows, 0 * all_rows, f[:, None], 1 / (folds - 1)
    )


def expected_number_error(rng, n, signal):
    errors = []
    for _ in range(200):
        X, y = numbers(rng, n, signal)
        X_test, y_test = numbers(rng, 400, signal)
        errors.append(np.mean(np.square(y_test - ridge(X, y, X_test))))
    return np.mean(errors) / (1 + signal**2)


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0.0, 1.0, 4.0])
@pytest.mark.parametrize(("n", "folds"), [(30, 3), (30, 4), (15, 3)])
def test_interval_of_few_numeric_splits_covers(signal, n, folds):
    rng = np.random.default_rng(1)
    truth = expected_number_error(rng, round(n * (1 - 1 / folds)), signal)
    is_covered = []
    for _ in range(300):
        assessment = assess(validate_numbers(rng, *numbers(rng, n, signal), folds), NUMBERS)[0]
        is_covered.append(assessment.low <= truth <= assessment.high)
    assert np.mean(is_covered) >= 0.93
