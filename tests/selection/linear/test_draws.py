"""The final model minimises the mean error over several draws of its inner folds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from linear_loops import fit_final_model
from settings import MOMENTS, SPLITS, of_kind
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits, redraw_final_split
from genesig.results.splits import INNER_FOLD_DRAWS
from genesig.selection.linear import grid, nested_cross_validation

THREE_FOLDS = {"folds": 3, "subsamples": 0}


def drawn(dataset, seed=0, **changes):
    return draw_splits(dataset, seed=seed, **{**SPLITS, **THREE_FOLDS, **changes})


def settings(kind):
    return of_kind(kind) | {"list": "stable", "mu": [1e-3], "fold_steps": MOMENTS}


def test_further_draws_divide_all_samples_anew_and_are_always_the_same():
    dataset = study_of("classification", 1)
    splits = drawn(dataset)
    redraws = redraw_final_split(dataset, splits)
    assert len(redraws) == INNER_FOLD_DRAWS - 1
    all_draws = [splits.final, *redraws]
    assert all(draw_a.inner != draw_b.inner for draw_a, draw_b in combinations(all_draws, 2))
    for split in redraws:
        assert replace(split, inner=()) == replace(splits.final, inner=())
        assert sorted(name for fold in split.inner for name in fold) == sorted(dataset.samples)
    assert redraw_final_split(dataset, splits) == redraws


def test_fixed_folds_are_not_redrawn():
    dataset = study_of("classification", 1)
    assert redraw_final_split(dataset, drawn(dataset, inner_scheme="leave_one_out")) == []
    splits = drawn(dataset)
    reordered = replace(splits.final, inner=splits.final.inner[::-1])
    assert redraw_final_split(dataset, replace(splits, final=reordered)) == []


@pytest.mark.slow_cases("several_classes", "classification")
@pytest.mark.parametrize("kind", COLUMNS)
def test_equal_draws_choose_as_one_draw(kind, monkeypatch):
    dataset = study_of(kind, 2, signal=1.0)
    splits = drawn(dataset)
    monkeypatch.setattr(nested_cross_validation, "redraw_final_split", lambda dataset, splits: [])
    fit_of_one_draw = fit_final_model(dataset, splits, **settings(kind))
    monkeypatch.setattr(
        nested_cross_validation, "redraw_final_split", lambda dataset, splits: [splits.final] * 2
    )
    three = fit_final_model(dataset, splits, **settings(kind))
    for name in ("choice", "indices", "cv_size"):
        np.testing.assert_array_equal(fit_of_one_draw.arrays()[name], three.arrays()[name])
    for name in ("values", "cv_error", "cv_se", "threshold"):
        np.testing.assert_allclose(fit_of_one_draw.arrays()[name], three.arrays()[name], 1e-12)
    if fit_of_one_draw.line is not None:
        np.testing.assert_allclose(fit_of_one_draw.line, three.line, 1e-9, 1e-9)
        np.testing.assert_allclose(fit_of_one_draw.shrinkage, three.shrinkage, 1e-9)


@pytest.mark.slow_cases("several_classes")
@pytest.mark.parametrize("kind", ["classification", "several_classes"])
def test_order_of_the_draws_does_not_change_the_line(kind, monkeypatch):
    dataset = study_of(kind, 2, signal=1.0)
    splits = drawn(dataset)
    draws = [splits.final, *redraw_final_split(dataset, splits)]

    def fit(first, *others):
        monkeypatch.setattr(
            nested_cross_validation, "redraw_final_split", lambda dataset, splits: list(others)
        )
        return fit_final_model(dataset, replace(splits, final=first), **settings(kind))

    fits = fit(*draws), fit(*draws[::-1])
    assert (fits[0].line[..., -1] > 0).all()
    np.testing.assert_allclose(fits[0].line, fits[1].line, 1e-9, 1e-9)
    np.testing.assert_allclose(fits[0].shrinkage, fits[1].shrinkage, 1e-9)


@pytest.mark.slow_cases("several_classes", "classification")
@pytest.mark.parametrize("kind", COLUMNS)
def test_errors_are_the_mean_of_those_of_each_draw(kind, monkeypatch):
    dataset = study_of(kind, 2, signal=1.0)
    splits = drawn(dataset)
    all_draws = [splits.final, *redraw_final_split(dataset, splits)]
    fit_of_draws = fit_final_model(dataset, splits, **settings(kind))
    monkeypatch.setattr(nested_cross_validation, "redraw_final_split", lambda dataset, splits: [])
    fits_by_draw = [
        fit_final_model(dataset, replace(splits, final=draw), **settings(kind))
        for draw in all_draws
    ]
    for name in ("cv_error", "cv_se", "cv_size"):
        mean = np.mean([draw.arrays()[name] for draw in fits_by_draw], axis=0)
        np.testing.assert_allclose(fit_of_draws.arrays()[name], mean, 1e-9)


def test_the_smallest_error_alone_is_chosen_by_one_draw(monkeypatch):
    """As published: the rule `minimal` is that of Mosci 2009."""
    dataset = study_of("classification", 2, signal=1.0)
    linear = settings("classification") | {"list": "minimal"}
    splits = drawn(dataset)
    final_fit = fit_final_model(dataset, splits, **linear)
    monkeypatch.setattr(nested_cross_validation, "redraw_final_split", lambda dataset, splits: [])
    np.testing.assert_array_equal(
        final_fit.grid.error, fit_final_model(dataset, splits, **linear).grid.error
    )


@pytest.mark.parametrize(("kind", "n_draws"), [("classification", 2), ("survival", 1)])
def test_left_out_samples_are_scored_by_the_draws_of_the_line(kind, n_draws, monkeypatch):
    dataset = study_of(kind, 2, signal=1.0)
    splits = drawn(dataset)
    other_draw = list(redraw_final_split(dataset, splits))[:1]
    monkeypatch.setattr(
        nested_cross_validation, "redraw_final_split", lambda dataset, splits: other_draw
    )
    first_folds = set()
    crossfit = grid.crossfit

    def record(training_set, *arguments):
        first_folds.add(training_set.inner_folds[0].tobytes())
        return crossfit(training_set, *arguments)

    monkeypatch.setattr(grid, "crossfit", record)
    fit_final_model(dataset, splits, **settings(kind))
    assert len(first_folds) == n_draws
