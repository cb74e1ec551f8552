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
from genesig.report.genes.record import Learning
from genesig.response.known import RESPONSES
from genesig.selection.linear.double_loop import fit_final, fit_subsamples

CHANCE = {"classification": 0.5, "several_classes": 2 / 3, "regression": 1.0, "survival": 0.5}


def _curve(kind: str, signal: float, outer: int = SPLITS["folds"]) -> Learning | None:
    dataset = study_of(kind, 5, n=60, d=12, signal=signal)
    how = {**SPLITS, "repeats": 1, "subsamples": 8, "folds": outer}
    splits = draw_splits(dataset, seed=1, **how)
    settings = of_kind(kind)
    final = fit_final(dataset, splits, folds=MOMENTS, **settings)
    halves = fit_subsamples(dataset, splits, final, folds=MOMENTS, **settings)
    found: Any = {"error": {"value": 0.2}}
    return learning(dataset, splits, halves, found, MOMENTS)


def _learned(kind: str, signal: float) -> list[float]:
    curve = _curve(kind, signal)
    assert curve is not None
    return curve["errors"]


def test_training_sets_as_small_as_halves_are_no_second_size() -> None:
    assert _curve("regression", 1.5, outer=2) is None


def test_there_is_an_error_of_every_kind() -> None:
    assert list(ERRORS) == list(RESPONSES)


@pytest.mark.parametrize("kind", RESPONSES)
def test_halves_find_a_signal_and_none_in_noise(kind: str) -> None:
    signal, noise = _learned(kind, 1.5), _learned(kind, 0.0)
    assert np.mean(signal) < 0.7 * CHANCE[kind]
    assert np.mean(noise) > 0.8 * CHANCE[kind]
