"""Intervals of the Brier score and of what is explained are for models built so, and for groups."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.response.survival import SURVIVAL_DTYPE
from genesig.selection import survival
from genesig.selection.assess.survival import censoring

AT = np.linspace(0.1, 1.0, 10)
MEASURES = ["brier", "explained"]


def study(rng, n, *, shift=0.0, each=1):
    """Return y, test sets of four repeats of 5 folds, the group of each sample; n patients."""
    y = np.zeros(n, dtype=SURVIVAL_DTYPE)
    y["time"] = rng.exponential(1.0, n)
    y["event"] = rng.random(n) < 0.7
    own = 0.2 + 0.1 * rng.random(n)
    group = np.repeat(np.arange(n), each)
    y = y[group]
    own = own[group]
    found = []
    for repeat in range(4):
        fold = rng.permutation(np.arange(n) % 5)[group]
        for one in range(5):
            rows = np.flatnonzero(fold == one)
            losses = np.repeat(own[rows, None] + shift * rng.standard_normal(), len(AT), axis=1)
            reference = np.full_like(losses, 0.27)
            seen = y[rows]
            S = np.repeat(np.linspace(0.3, 0.7, len(rows))[:, None], len(AT), 1)
            f = rng.standard_normal(len(rows))
            lost = censoring(y["time"], y["event"])
            found.append(
                survival.SurvivalPredictions(rows, repeat, seen, f, f, S, losses, reference, lost)
            )
    return y, found, group


def widths(y, found, group):
    table = survival.prediction_tables(found, y, AT, (0.5, (0.4, 0.6)), 0.25, group)["survival"]
    table = table.set_index("measure")
    return (table["high"] - table["low"])[MEASURES].to_numpy()


def test_samples_of_one_patient_do_not_shorten_them():
    alone = widths(*study(np.random.default_rng(0), 40))
    thrice = widths(*study(np.random.default_rng(0), 40, each=3))
    assert thrice == pytest.approx(alone, rel=0.3)


def test_models_that_differ_widen_them():
    alike = widths(*study(np.random.default_rng(1), 40))
    apart = widths(*study(np.random.default_rng(1), 40, shift=0.05))
    assert apart[1] > 1.5 * alike[1]
