"""Intervals of the Brier score are those of retrained models and of groups of samples."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.response.kinds import SURVIVAL_DTYPE
from genesig.selection import survival
from genesig.selection.assess.survival import censoring

AT = np.linspace(0.1, 1.0, 10)
MEASURES = ["brier", "explained"]


def study(rng, n, *, shift=0.0, group_size=1):
    """Return y, test sets of four repeats of 5 folds, the group of each sample; n patients."""
    y = np.zeros(n, dtype=SURVIVAL_DTYPE)
    y["time"] = rng.exponential(1.0, n)
    y["event"] = rng.random(n) < 0.7
    probabilities = 0.2 + 0.1 * rng.random(n)
    group = np.repeat(np.arange(n), group_size)
    y = y[group]
    probabilities = probabilities[group]
    scores = []
    for repeat in range(4):
        fold = rng.permutation(np.arange(n) % 5)[group]
        for fold_number in range(5):
            rows = np.flatnonzero(fold == fold_number)
            losses = np.repeat(
                probabilities[rows, None] + shift * rng.standard_normal(), len(AT), axis=1
            )
            reference = np.full_like(losses, 0.27)
            labels = y[rows]
            S = np.repeat(np.linspace(0.3, 0.7, len(rows))[:, None], len(AT), 1)
            f = rng.standard_normal(len(rows))
            lost = censoring(y["time"], y["event"])
            scores.append(
                survival.SurvivalPredictions(rows, repeat, labels, f, f, S, losses, reference, lost)
            )
    return y, scores, group


def widths(y, scores, group):
    table = survival.prediction_tables(scores, y, AT, (0.5, (0.4, 0.6)), 0.25, group)["survival"]
    table = table.set_index("measure")
    return (table["high"] - table["low"])[MEASURES].to_numpy()


def test_copied_samples_do_not_shorten_brier_intervals():
    alone = widths(*study(np.random.default_rng(0), 40))
    thrice = widths(*study(np.random.default_rng(0), 40, group_size=3))
    assert thrice == pytest.approx(alone, rel=0.3)


def test_differing_models_widen_brier_intervals():
    similar_widths = widths(*study(np.random.default_rng(1), 40))
    different_widths = widths(*study(np.random.default_rng(1), 40, shift=0.05))
    assert different_widths[1] > 1.5 * similar_widths[1]
