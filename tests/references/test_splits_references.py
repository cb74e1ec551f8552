"""Stratified parts against scikit-learn, whose rule and draws they follow."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from genesig.data.splits.folds import Samples, random_state
from genesig.response.kinds import RESPONSES


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", range(20))
def test_folds_equal_stratified_k_fold(seed, task):
    """Numbers are stratified by their ranks, in many strata; one class of two is rare."""
    rng = np.random.default_rng(seed)
    kind = RESPONSES[task]
    n = int(rng.integers(24, 90))
    number = int(rng.integers(2, 6))
    key = (3, seed)
    y = rng.uniform(size=n) - 0.2
    y = np.sign(y) if task == "classification" else y
    rows = np.sort(rng.permutation(n)[: n - n // 4])
    samples = Samples(tuple(map(str, range(n))), y, kind, None, None, None)
    strata = kind.strata(y[rows], number)
    expected_folds = StratifiedKFold(number, shuffle=True, random_state=random_state(seed, key))
    parts = samples.draw_parts(rows, number, seed, key)
    for fold, (_, test) in zip(parts, expected_folds.split(rows, strata), strict=True):
        np.testing.assert_array_equal(fold, rows[test])
