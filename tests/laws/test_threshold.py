"""The decision threshold is the midpoint of the class means, whatever the class sizes."""

from dataclasses import replace

import numpy as np
import pytest
from gathered_study import make_dataset
from hypothesis import given
from hypothesis import strategies as st
from linear_loops import nested_cross_validation
from settings import MOMENTS, SPLITS, linear
from toys import unequal_classes

from genesig.data.splits.draw import draw_splits
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.linear.kinds import midpoint
from genesig.selection.linear.training_sets import TrainingSet

SMALL = {"mu": [1e-6, 1e-2], "lam": [1e-3, 1e-1], "tau_min": 0.1, "tau_count": 5}


def task_of(y, folds):
    """Return a training set of all samples but the last two."""
    train = np.arange(len(y) - 2)
    test = np.arange(len(y) - 2, len(y))
    return TrainingSet("r1f1", 0, np.asarray(y, float), train, test, folds, test, "classification")


def out_of_fold(seed):
    """Return a task of random classes and folds, and scores (n_folds, n_tau, n_lam, n)."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 20))
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    y[:2] = 1, -1
    folds = tuple(np.array_split(rng.permutation(n - 2), 3))
    return task_of(y, folds), rng.standard_normal((3, 2, 4, n))


def test_the_midpoint_of_six_samples_by_hand():
    y = [1, -1, -1, -1, 1, -1, 1, 1]  # the last two are not of the training set
    folds = (np.array([0, 1, 2]), np.array([3, 4, 5]))
    scores = np.array([[0.9, 0.1, -0.4, 7, 7, 7, 7, 7], [8, 8, 8, -0.5, 0.3, -0.2, 8, 8]])
    cut = midpoint(task_of(y, folds), scores[:, None, None])
    positive = (0.9 + 0.3) / 2
    negative = (0.1 - 0.4 - 0.5 - 0.2) / 4
    assert cut.item() == pytest.approx((positive + negative) / 2)


seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.floats(-5, 5), st.floats(0.1, 5))
def test_midpoint_moves_with_the_scores(seed, shift, factor):
    task, scores = out_of_fold(seed)
    moved_cut = midpoint(task, factor * scores + shift)
    np.testing.assert_allclose(moved_cut, factor * midpoint(task, scores) + shift, atol=1e-12)


@given(seeds)
def test_midpoint_is_mirrored_if_classes_are_exchanged(seed):
    task, scores = out_of_fold(seed)
    mirrored_cut = midpoint(replace(task, y=-task.y), -scores)
    np.testing.assert_allclose(mirrored_cut, -midpoint(task, scores), atol=1e-12)


@given(seeds)
def test_midpoint_ignores_repeated_samples_of_a_class(seed):
    task, scores = out_of_fold(seed)
    n = len(task.y)
    copy_of_row = {row: n + at for at, row in enumerate(task.train[task.y[task.train] < 0])}
    double = replace(
        task,
        y=np.append(task.y, -np.ones(len(copy_of_row))),
        train=np.append(task.train, list(copy_of_row.values())).astype(int),
        inner_folds=tuple(
            np.append(fold, [copy_of_row[r] for r in fold if r in copy_of_row]).astype(int)
            for fold in task.inner_folds
        ),
    )
    all_scores = np.concatenate([scores, scores[..., list(copy_of_row)]], axis=-1)
    np.testing.assert_allclose(midpoint(double, all_scores), midpoint(task, scores), atol=1e-12)


@given(seeds)
def test_midpoint_of_balanced_classes_is_the_mean_score(seed):
    rng = np.random.default_rng(seed)
    y = np.append(rng.permutation(np.repeat([-1.0, 1.0], 6)), [1, 1])
    folds = tuple(np.array_split(rng.permutation(12), 4))
    scores = rng.standard_normal((4, 1, 1, 14))
    fold_scores = [scores[k, 0, 0, rows] for k, rows in enumerate(folds)]
    cut = midpoint(task_of(y, folds), scores).item()
    assert cut == pytest.approx(np.concatenate(fold_scores).mean())


def test_midpoint_ignores_scores_of_training_samples():
    task, scores = out_of_fold(3)
    changed = scores.copy()
    for k, rows in enumerate(task.inner_folds):
        changed[k][..., np.setdiff1d(np.arange(len(task.y)), rows)] = 1e6
    np.testing.assert_array_equal(midpoint(task, changed), midpoint(task, scores))


def unbalanced(seed):
    return unequal_classes(np.random.default_rng(seed), 32, 40)


def fitted(dataset, **changes):
    splits = draw_splits(dataset, seed=1, **SPLITS)
    settings = linear(**{**SMALL, **changes})
    return splits, nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **settings
    )


@pytest.mark.parametrize("rule", ["stable", "minimal"])
def test_where_errors_are_not_counted_the_cut_changes_nothing_but_decisions(rule):
    dataset = make_dataset(*unbalanced(0))
    splits, cut = fitted(dataset, list=rule)
    _, plain = fitted(dataset, list=rule, threshold="zero")
    assert (cut.threshold != 0).all()
    assert plain.threshold.tolist() == [0] * len(splits.outer)
    for name in ("choice", "cv_error", "indptr", "indices", "values", "intercept", "scores"):
        assert cut.arrays()[name].tobytes() == plain.arrays()[name].tobytes()
    score_arrays = (
        collect_held_out(dataset, splits, cut).scores,
        collect_held_out(dataset, splits, plain).scores,
    )
    at = np.repeat(cut.threshold, np.diff(cut.test_indptr))[:, None]
    np.testing.assert_array_equal(score_arrays[0], score_arrays[1] - at)


def test_turned_labels_turn_scores_and_thresholds():
    X, y = unbalanced(1)
    _, fits = fitted(make_dataset(X, y))
    _, mirrored_fits = fitted(make_dataset(X, -y))
    np.testing.assert_array_equal(fits.choice, mirrored_fits.choice)
    np.testing.assert_allclose(fits.threshold, -mirrored_fits.threshold, atol=1e-10)
    np.testing.assert_allclose(fits.scores, -mirrored_fits.scores, atol=1e-10)


@pytest.mark.parametrize("rule", ["stable", "minimal"])
@pytest.mark.parametrize("threshold", ["midpoint", "zero"])
def test_numbers_are_not_cut(rule, threshold):
    X, _ = unbalanced(2)
    dataset = make_dataset(X, X[:, 0] + 0.3 * X[:, 1], "regression")
    splits, fits = fitted(dataset, list=rule, threshold=threshold)
    assert fits.threshold.tolist() == [0] * len(splits.outer)
    np.testing.assert_array_equal(collect_held_out(dataset, splits, fits).scores, fits.scores)
