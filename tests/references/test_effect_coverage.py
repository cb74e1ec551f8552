"""Coverage of the interval of the score's effect in new samples."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.response.kinds import martingale_residuals, survival_response
from genesig.selection.assess.kinds import HeldOutScores
from genesig.selection.assess.score_effect import score_effect

N_GENES = 50
N_SIGNAL_GENES = 5
DRAWS = 200
TRAININGS = 60
N_NEW_SAMPLES = 600


def draw(rng, kind, n, signal):
    """Return Gaussian X, y, and a covariate that goes with the response and with one gene."""
    X = rng.standard_normal((n, N_GENES))
    c = rng.standard_normal(n)
    X[:, 0] = (X[:, 0] + c) / np.sqrt(2)
    eta = signal * X[:, :N_SIGNAL_GENES].sum(axis=1) / 2 + 0.3 * c
    if kind == "number":
        return X, eta + rng.standard_normal(n), c
    if kind == "time":
        event_time = rng.exponential(np.exp(-eta))
        lost = rng.exponential(2.0, n)
        return X, survival_response(np.minimum(event_time, lost), event_time <= lost), c
    y = np.arange(n) < 11 * n // 38
    X[:, :N_SIGNAL_GENES] += signal * y[:, None]
    return X, y, c + 0.3 * y


def scores(X, y, X_test):
    if y.dtype.kind == "b":
        high = X[y].mean(axis=0)
        low = X[~y].mean(axis=0)
        return (X_test - (high + low) / 2) @ (high - low)
    weights = martingale_residuals(y) if y.dtype.names else y - y.mean()
    return X_test @ X.T @ weights / len(y)


def cross_validate(rng, X, y, folds, repeats):
    parts = []
    side = y["event"] if y.dtype.names else y if y.dtype.kind == "b" else np.zeros(len(y))
    for repeat in range(repeats):
        fold = np.empty(len(y), dtype=int)
        fold[np.lexsort((rng.random(len(y)), side))] = np.arange(len(y)) % folds
        for k in range(folds):
            test = fold == k
            rows = np.flatnonzero(test)
            many = int(test.sum())
            parts.append(
                (
                    rows,
                    np.full(many, repeat * folds + k),
                    np.full(many, repeat),
                    scores(X[~test], y[~test], X[test]),
                )
            )
    row, split, repeat, f = map(np.concatenate, zip(*parts, strict=True))
    return HeldOutScores(y[row], row, split, repeat, 0 * row, f[:, None], 1 / (folds - 1))


def estimate_effect(held_out_scores, c, *, adjusted):
    C = c[held_out_scores.row][:, None][:, : int(adjusted)]
    return score_effect(held_out_scores, held_out_scores.y, held_out_scores.scores[:, 0], C)


def expected(rng, kind, n, signal, *, adjusted):
    """Return the mean effect, in new samples, of scores of models trained on n."""
    effects_drawn = []
    zero = np.zeros(N_NEW_SAMPLES, dtype=int)
    for _ in range(TRAININGS):
        X, y, _ = draw(rng, kind, n, signal)
        X_new, y_new, c_new = draw(rng, kind, N_NEW_SAMPLES, signal)
        f = scores(X, y, X_new)[:, None]
        held_out_scores = HeldOutScores(y_new, np.arange(N_NEW_SAMPLES), zero, zero, zero, f, 0.0)
        effects_drawn.append(estimate_effect(held_out_scores, c_new, adjusted=adjusted).value)
    return np.mean(effects_drawn)


COVERAGE_CASES = [
    (kind, n, 5, 4, adjusted, 0.9)
    for kind in ("class", "number", "time")
    for n, adjusted in ((38, False), (100, False), (100, True))
]
COVERAGE_CASES += [(kind, 38, 38, 1, False, 0.78) for kind in ("class", "number", "time")]


@pytest.mark.slow
@pytest.mark.parametrize("signal", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("kind", "n", "folds", "repeats", "adjusted", "least"), COVERAGE_CASES)
def test_the_interval_covers(kind, n, folds, repeats, adjusted, least, signal):
    rng = np.random.default_rng(1)
    truth = expected(rng, kind, round(n * (1 - 1 / folds)), signal, adjusted=adjusted)
    is_covered = []
    for _ in range(DRAWS):
        X, y, c = draw(rng, kind, n, signal)
        _, low, high = estimate_effect(
            cross_validate(rng, X, y, folds, repeats), c, adjusted=adjusted
        )
        is_covered.append(low <= truth <= high)
    print(f"{kind} {n} {folds} {adjusted} {signal}: {np.mean(is_covered):.3f}")
    assert np.mean(is_covered) >= least
