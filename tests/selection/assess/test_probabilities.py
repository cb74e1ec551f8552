"""Probabilities of several classes from held-out scores: whose they are, how they are fitted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from kinds_study import study_of
from linear_settings import of_kind
from scipy.special import log_softmax, softmax
from settings import MOMENTS, SPLITS

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.selection.assess.held_out import held_out, predictions_table
from genesig.selection.assess.several import cross_fitted, fitted_slope, predicted, probabilities
from genesig.selection.linear.double_loop import double_loop, fit_final
from genesig.selection.model.final import final_model, held_out_scores
from genesig.selection.model.lists import chosen_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import check_model


def drawn(seed, n=60, T=4):
    rng = np.random.default_rng(seed)
    return rng.integers(T, size=n), rng.normal(size=(n, T)), np.arange(n) % 2, np.arange(n) % 6


def test_they_are_the_softmax_of_the_scores():
    f = np.random.default_rng(0).normal(size=(20, 3)) * 300
    found = probabilities(f, 1.5)
    np.testing.assert_allclose(found, softmax(1.5 * f, axis=1), atol=1e-15)
    np.testing.assert_array_equal(found.argmax(axis=1), predicted(f))


@pytest.mark.parametrize("b", [0.3, 2.0])
def test_the_slope_of_scores_that_have_one_is_found(b):
    rng = np.random.default_rng(1)
    f = rng.normal(size=(6000, 3))
    cut = probabilities(f, b).cumsum(axis=1)
    y = (rng.random(6000)[:, None] > cut).sum(axis=1)
    assert fitted_slope(y, f) == pytest.approx(b, rel=0.1)


def test_no_other_slope_has_a_smaller_cross_entropy():
    y, f, _, _ = drawn(2)
    f[np.arange(60), y] += 1.0
    target = (1 + 60 * np.eye(4)[y]) / 64
    loss = {b: -np.sum(target * log_softmax(b * f, axis=1))
            for b in fitted_slope(y, f) * np.array([0.99, 1, 1.01])}  # fmt: skip
    assert min(loss, key=loss.__getitem__) == list(loss)[1]


def test_a_sample_has_no_part_in_its_own():
    y, f, repeat, split = drawn(3)
    before = cross_fitted(y, f, repeat, split)
    own = split == 2
    changed = np.where(own, (y + 1) % 4, y)
    np.testing.assert_array_equal(cross_fitted(changed, f, repeat, split)[own], before[own])
    assert (cross_fitted(changed, f, repeat, split)[split == 4] != before[split == 4]).all()
    np.testing.assert_allclose(before.sum(axis=1), 1)


def test_without_another_split_there_are_none():
    y, f, _, _ = drawn(4)
    one = np.zeros(60, dtype=int)
    assert np.isnan(cross_fitted(y, f, one, one)).all()


def test_the_study_and_its_model_tell_them():
    dataset = study_of("several_classes", 3, n=45, d=12, signal=1.5)
    splits = draw_splits(dataset, seed=2, **SPLITS)
    settings = of_kind("several_classes")
    fits = double_loop(dataset, splits, labels="observed", batch="1of1", folds=MOMENTS, **settings)
    table = predictions_table(dataset, splits, fits.with_chosen())
    classes = dataset.design.classes
    columns = [f"probability of {name}" for name in classes]
    np.testing.assert_allclose(table[columns].sum(axis=1), 1)
    assert (np.array(classes)[table[columns].to_numpy().argmax(axis=1)] == table["predicted"]).all()
    final = fit_final(dataset, splits, folds=MOMENTS, **settings)
    found = held_out_scores(dataset, splits, fits, final)
    model = json.loads(json.dumps(final_model(dataset, final, folds=MOMENTS, found=found)))
    check_model(model, "m")
    lines = tuple(range(2, len(dataset.X) + 2))
    new = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X, {}, lines)
    told, _ = predict(model, new, "new.tsv", missing=0, mu=None)
    slope = chosen_model(model)["slope"]
    whole = held_out(dataset, splits, fits.with_chosen())
    assert slope == fitted_slope(whole.y, whole.scores[:, -1])
    scores = told[[f"score of {name}" for name in classes]].to_numpy()
    expected = softmax(slope * scores, axis=1)
    np.testing.assert_allclose(told[columns].to_numpy(), expected, atol=1e-12)
