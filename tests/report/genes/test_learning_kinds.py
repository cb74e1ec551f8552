"""The errors of halves for every kind of response: none, chance and signal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kinds_study import study_of
from linear_settings import of_kind
from settings import MOMENTS, SPLITS

from genesig.data.splits.draw import draw_splits
from genesig.report.genes.collect_learning import ERRORS, learning
from genesig.response.known import RESPONSES
from genesig.selection.linear.double_loop import fit_final, fit_subsamples

CHANCE = {"classification": 0.5, "several_classes": 2 / 3, "regression": 1.0, "survival": 0.5}


def _learned(kind: str, signal: float) -> list[float]:
    dataset = study_of(kind, 5, n=60, d=12, signal=signal)
    splits = draw_splits(dataset, seed=1, **{**SPLITS, "repeats": 1, "subsamples": 8})
    settings = of_kind(kind)
    final = fit_final(dataset, splits, folds=MOMENTS, **settings)
    halves = fit_subsamples(dataset, splits, final, folds=MOMENTS, **settings)
    found: Any = {"error": {"value": 0.2}}
    curve = learning(dataset, splits, halves, found, MOMENTS)
    assert curve is not None
    return curve["errors"]


def test_there_is_an_error_of_every_kind() -> None:
    assert list(ERRORS) == list(RESPONSES)


@pytest.mark.parametrize("kind", RESPONSES)
def test_halves_find_a_signal_and_none_in_noise(kind: str) -> None:
    signal, noise = _learned(kind, 1.5), _learned(kind, 0.0)
    assert np.mean(signal) < 0.7 * CHANCE[kind]
    assert np.mean(noise) > 0.8 * CHANCE[kind]
