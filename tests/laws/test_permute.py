"""Laws of permutations of the label for every design."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.data.splits.draw import draw_permutation
from genesig.errors import GenesigError
from genesig.results import Dataset, Design, Split, Splits

numbers = st.integers(0, 1000)


def study(y, group=None, batch=None):
    obs = pd.DataFrame({"y": list(y)}, index=[f"p{row:02d}" for row in range(len(y))])
    if group is not None:
        obs["group"] = [str(value) for value in group]
    if batch is not None:
        obs["batch"] = [str(value) for value in batch]
    columns = (None if group is None else "group", None, None if batch is None else "batch")
    design = Design("y", "classification", ("a", "b"), *columns)
    var = pd.DataFrame({"symbol": ["g"]}, index=["g"])
    return Dataset(np.zeros((len(y), 1)), obs, var, design, {})


def splits_of(*tests, names, seed=0):
    outer = tuple(
        Split(f"r1f{number}", 1, number, tuple(n for n in names if n not in test), test, (), ())
        for number, test in enumerate(tests, start=1)
    )
    return Splits("x", "x", seed, outer, Split("final", 0, 0, tuple(names), (), (), ()), ())


def folds(dataset, seed=0):
    """Return two splits, so that none is the one and only test set."""
    names = dataset.samples
    return splits_of(tuple(names[:2]), tuple(names[2:]), names=names, seed=seed)


@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=30), st.integers(0, 99))
def test_number_0_is_the_observed_study(y, seed):
    dataset = study(y)
    pi = draw_permutation(dataset, folds(dataset, seed), 0)
    np.testing.assert_array_equal(pi, np.arange(len(y)))


@given(st.integers(2, 15), st.integers(2, 15), st.integers(1, 1000), st.integers(0, 99))
def test_every_sample_is_used_once_and_the_draw_is_repeatable(n_a, n_b, number, seed):
    dataset = study("a" * n_a + "b" * n_b)
    pi = draw_permutation(dataset, folds(dataset, seed), number)
    np.testing.assert_array_equal(np.sort(pi), np.arange(n_a + n_b))
    np.testing.assert_array_equal(pi, draw_permutation(dataset, folds(dataset, seed), number))


def test_numbers_and_seeds_differ():
    dataset = study("ab" * 15)
    drawn = {
        tuple(draw_permutation(dataset, folds(dataset, seed), n))
        for seed in (0, 1)
        for n in range(1, 51)
    }
    assert len(drawn) == 100


@given(st.lists(st.integers(2, 5), min_size=2, max_size=6), st.integers(1, 1000))
def test_where_labels_vary_inside_groups_samples_stay_in_their_group(sizes, number):
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = ["ab"[row % 2] for size in sizes for row in range(size)]
    dataset = study(y, group)
    pi = draw_permutation(dataset, folds(dataset), number)
    np.testing.assert_array_equal(group[pi], group)


@given(st.lists(st.integers(1, 3), min_size=2, max_size=8), st.integers(1, 1000), st.randoms())
def test_where_labels_are_constant_in_groups_whole_groups_change_places(sizes, number, random):
    sizes = [*sizes, *sizes]  # each size with both labels
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = np.repeat(["a", "b"], len(group) // 2)
    order = np.array(random.sample(range(len(group)), len(group)))
    group = group[order]
    y = y[order]
    dataset = study(y, group)
    pi = draw_permutation(dataset, folds(dataset), number)
    for name in np.unique(group):
        source = pi[group == name]
        assert len(set(group[source])) == 1
        assert len(source) == np.sum(group == group[source[0]])
        assert np.all(np.diff(source) > 0)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), min_size=4, max_size=30),
    st.integers(1, 1000),
)
def test_samples_stay_in_their_batch(rows, number):
    y, batch = (np.array(column) for column in zip(*[*rows, ("a", 0), ("b", 0)], strict=True))
    dataset = study(y, batch=batch)
    pi = draw_permutation(dataset, folds(dataset), number)
    np.testing.assert_array_equal(batch[pi], batch)
    np.testing.assert_array_equal(np.sort(pi), np.arange(len(y)))


@given(st.lists(st.integers(0, 1), min_size=6, max_size=12), st.integers(1, 1000))
def test_permutation_exchanges_groups_with_the_same_batches(kinds, number):
    kinds = [*kinds, *kinds]  # a group of kind 0 is of one batch, of kind 1 of two
    group = np.repeat(np.arange(len(kinds)), 2)
    batch = np.array([[0, kind] for kind in kinds]).ravel()
    y = np.repeat(["a", "b"], len(kinds))
    dataset = study(y, group, batch)
    pi = draw_permutation(dataset, folds(dataset), number)
    np.testing.assert_array_equal(batch[pi], batch)
    assert all(len(set(group[pi][group == name])) == 1 for name in group)


def test_labels_of_a_group_in_two_batches_stay_in_each_batch():
    group = np.repeat(np.arange(4), 4)
    batch = np.tile([0, 0, 1, 1], 4)
    dataset = study("ab" * 8, group, batch)
    pi = draw_permutation(dataset, folds(dataset), 1)
    np.testing.assert_array_equal(batch[pi], batch)
    np.testing.assert_array_equal(group[pi], group)


def test_batches_with_a_single_label_are_refused():
    dataset = study("aaabbb", batch="111222")
    with pytest.raises(GenesigError, match=r"inside its batch.*take data\.batch away"):
        draw_permutation(dataset, folds(dataset), 1)


def test_mixed_groups_are_permuted_by_their_own_rules():
    group = np.repeat(np.arange(12), 2)
    y = ["a", "b"] * 6 + ["a", "a"] * 3 + ["b", "b"] * 3
    dataset = study(y, group)
    source = np.array([group[draw_permutation(dataset, folds(dataset), n)] for n in range(1, 30)])
    np.testing.assert_array_equal(source[:, :12], np.tile(group[:12], (29, 1)))
    assert set(source[:, 12:].ravel()) == set(range(6, 12))
    assert np.any(source[:, 12:] != group[12:])


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=6, max_size=30),
    st.integers(1, 1000),
)
def test_single_test_set_keeps_the_labels_of_each_side(rows, number):
    rows = [("a", False), ("b", False), *rows]
    y, in_test = (np.array(column) for column in zip(*rows, strict=True))
    dataset = study(y)
    names = np.array(dataset.samples)
    pi = draw_permutation(dataset, splits_of(tuple(names[in_test]), names=list(names)), number)
    for side in (in_test, ~in_test):
        assert Counter(y[np.isin(pi, np.flatnonzero(side))]) == Counter(y[side])
        assert set(pi[side]) == set(np.flatnonzero(side))


def test_samples_outside_the_only_split_stay_outside():
    dataset = study("ab" * 6)
    names = dataset.samples
    split = Split("x", 1, 1, tuple(names[:5]), tuple(names[5:8]), (), ())
    splits = Splits("file", "x", 0, (split,), Split("final", 0, 0, tuple(names), (), (), ()), ())
    pi = draw_permutation(dataset, splits, 1)
    assert set(pi[8:]) == {8, 9, 10, 11}


@pytest.mark.parametrize("group", ["1112", "111222"])
def test_a_design_whose_labels_cannot_move_is_refused(group):
    y = "aaab" if len(group) == 4 else "aaaaaa"
    dataset = study(y, group)
    with pytest.raises(GenesigError, match="no label can change place"):
        draw_permutation(dataset, folds(dataset), 1)


def test_all_arrangements_are_equally_likely():
    """Each sample's expression comes to each place one time in n, by a chi-squared bound."""
    dataset = study("ab" * 3)
    pi = np.array([draw_permutation(dataset, folds(dataset), n) for n in range(1, 1201)])
    counts = np.array([np.bincount(column, minlength=6) for column in pi.T])
    assert np.sum((counts - 200) ** 2 / 200) < 52.6  # 99.9 % of chi-squared, 25 degrees of freedom
