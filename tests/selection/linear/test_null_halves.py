"""Half samples of a split are shared by all its permutations."""

import numpy as np
import settings
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.data.splits.folds import CHANCE, HalfCounts, Samples
from genesig.selection.linear.half_samples import _null_training_sets
from genesig.selection.linear.training_sets import PreparedStudy

HALF_COUNTS = HalfCounts(2, 1)
PERMUTATIONS = range(1, 8)


def drawn_study():
    dataset = study_of("classification", 1, n=40, d=6)
    splits = draw_splits(dataset, seed=3, **settings.SPLITS | {"repeats": 1})
    return PreparedStudy(dataset, splits, settings.MOMENTS)


def test_null_training_sets_equal_those_drawn_for_each_permutation():
    study = drawn_study()
    outer_splits = study.splits.outer
    joint_sets = _null_training_sets(study, PERMUTATIONS, outer_splits, HALF_COUNTS)
    assert [training_set.permutation for training_set in joint_sets] == list(PERMUTATIONS)
    for training_set in joint_sets:
        number = training_set.permutation
        split = outer_splits[(number - 1) % len(outer_splits)]
        (alone,) = study.make_training_sets(
            [split], [number], half_counts=HALF_COUNTS, stage=CHANCE
        )
        assert training_set.split == alone.split
        for name in ("y", "train", "test", "halves", "inner_halves"):
            np.testing.assert_array_equal(getattr(training_set, name), getattr(alone, name))


def test_halves_of_each_split_are_drawn_once(monkeypatch):
    study = drawn_study()
    outer_splits = study.splits.outer
    keys = []
    draw_halves = Samples.draw_halves

    def recorded(samples, rows, pairs, seed, key):
        keys.append(key)
        return draw_halves(samples, rows, pairs, seed, key)

    monkeypatch.setattr(Samples, "draw_halves", recorded)
    _null_training_sets(study, PERMUTATIONS, outer_splits, HALF_COUNTS)
    assert len(keys) == len(set(keys))


def test_no_halves_are_drawn_without_permutations():
    study = drawn_study()
    outer_splits = study.splits.outer
    assert _null_training_sets(study, range(1, 1), outer_splits, HALF_COUNTS) == []
