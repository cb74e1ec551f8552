"""Laws of splits for every scheme and design."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from genesig.data.splits.draw import BATCH_SCHEMES, SCHEMES, draw_splits
from genesig.data.splits.folds import Samples
from genesig.errors import GenesigError, InvalidInput
from genesig.results import Dataset, Design, Splits, load_json, save_json

SPLIT_SETTINGS = {
    "seed": 3,
    "scheme": "stratified_kfold",
    "folds": 3,
    "repeats": 2,
    "column": None,
    "file": None,
    "inner_scheme": "stratified_kfold",
    "inner_folds": 3,
    "subsamples": 4,
    "batches": 2,
}
KFOLD = "stratified_kfold"
GROUPED = ("leave_one_group_out", "stratified_group_kfold")
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
every_inner = pytest.mark.parametrize("inner_scheme", ["stratified_kfold", "leave_one_out"])


def study(y, group=None, side=None, task="classification", batch=None):
    n = len(y)
    obs = pd.DataFrame({"y": list(y)}, index=[f"p{row:02d}" for row in range(n)]).astype(str)
    for name, column in (("group", group), ("side", side), ("batch", batch)):
        if column is not None:
            obs[name] = [str(value) for value in column]
    design = Design(
        label="y",
        task=task,
        classes=("a", "b") if task == "classification" else None,
        group=None if group is None else "group",
        pair=None,
        batch=None if batch is None else "batch",
    )
    var = pd.DataFrame({"symbol": ["g"]}, index=["g"])
    return Dataset(np.zeros((n, 1)), obs, var, design, {})


def two_classes(scheme, negative=14, positive=8):
    """Return a study that the scheme can divide; its groups have two samples, labels mixed."""
    y = ["a"] * negative + ["b"] * positive
    n = len(y)
    group = [f"d{row % (n // 2):02d}" for row in range(n)] if scheme in GROUPED else None
    batch = [f"b{row % 3}" for row in range(n)] if scheme in BATCH_SCHEMES else None
    return study(y, group, ["test" if row % 3 == 0 else "train" for row in range(n)], batch=batch)


def splits_with(dataset, **changes):
    return draw_splits(dataset, **SPLIT_SETTINGS | changes)


def by_scheme(scheme, **changes):
    column = "side" if scheme == "predefined" else None
    return splits_with(two_classes(scheme), scheme=scheme, column=column, **changes)


def held_inside(splits):
    """Yield (train, test) of every outer split and of every inner fold."""
    for split in (*splits.outer, splits.final):
        if split.test:
            yield split.train, split.test
        for fold in split.inner:
            yield tuple(name for name in split.train if name not in fold), fold


@every_inner
@every_scheme
def test_train_and_test_share_no_sample_and_lose_none(scheme, inner_scheme):
    splits = by_scheme(scheme, inner_scheme=inner_scheme)
    everyone = Counter(f"p{row:02d}" for row in range(22))
    for split in splits.outer:
        assert Counter(split.train + split.test) == everyone
    assert Counter(splits.final.train) == everyone
    for split in (*splits.outer, splits.final):
        assert Counter(name for fold in split.inner for name in fold) == Counter(split.train)


@every_inner
@every_scheme
def test_every_training_set_holds_both_classes(scheme, inner_scheme):
    dataset = two_classes(scheme)
    splits = by_scheme(scheme, inner_scheme=inner_scheme)
    for train, _ in held_inside(splits):
        assert set(dataset.obs.loc[list(train), "y"]) == {"a", "b"}


@every_inner
@pytest.mark.parametrize("scheme", GROUPED)
def test_group_is_never_on_both_sides(scheme, inner_scheme):
    group = two_classes(scheme).obs["group"]
    splits = by_scheme(scheme, inner_scheme=inner_scheme)
    for train, test in held_inside(splits):
        assert not set(group[list(train)]) & set(group[list(test)])


@every_inner
def test_left_out_batch_is_the_test_set(inner_scheme):
    batch = two_classes("leave_one_batch_out").obs["batch"]
    splits = by_scheme("leave_one_batch_out", inner_scheme=inner_scheme)
    for split in splits.outer:
        assert set(batch[list(split.test)]) == {split.name}
        assert split.name not in set(batch[list(split.train)])


@every_scheme
def test_each_repeat_tests_every_sample_once(scheme):
    splits = by_scheme(scheme)
    tested = {repeat: Counter() for repeat in {split.repeat for split in splits.outer}}
    for split in splits.outer:
        tested[split.repeat].update(split.test)
    once = 22 if scheme != "predefined" else 8
    assert all(len(counts) == counts.total() == once for counts in tested.values())


@pytest.mark.parametrize(
    ("scheme", "names"),
    [
        ("stratified_kfold", ["r1f1", "r1f2", "r1f3", "r2f1", "r2f2", "r2f3"]),
        ("leave_one_out", [f"p{row:02d}" for row in range(22)]),
        ("leave_one_group_out", [f"d{row:02d}" for row in range(11)]),
        ("leave_one_batch_out", ["b0", "b1", "b2"]),
        ("leave_one_study_out", ["b0", "b1", "b2"]),
        ("stratified_group_kfold", ["r1f1", "r1f2", "r1f3", "r2f1", "r2f2", "r2f3"]),
        ("predefined", ["predefined"]),
    ],
)
def test_split_names_are_the_left_out_units(scheme, names):
    splits = by_scheme(scheme)
    assert [split.name for split in splits.outer] == names
    assert [half.name for half in splits.subsamples] == ["s01a", "s01b", "s02a", "s02b"]
    assert splits.final.name == "final"
    assert splits.scheme == scheme


@given(st.integers(6, 25), st.integers(6, 25), st.integers(2, 6), st.integers(0, 99))
def test_folds_hold_both_classes_in_proportion(negative, positive, folds, seed):
    y = ["a"] * negative + ["b"] * positive
    splits = splits_with(study(y), folds=folds, repeats=1, inner_folds=2, subsamples=0, seed=seed)
    positives = [sum(name >= f"p{negative:02d}" for name in split.test) for split in splits.outer]
    sizes = [len(split.test) for split in splits.outer]
    assert max(positives) - min(positives) <= 1
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.floats(-5, 5), min_size=12, max_size=40, unique=True), st.integers(2, 4))
def test_folds_of_a_regression_hold_low_and_high_responses(y, folds):
    splits = splits_with(study(y, task="regression"), folds=folds, repeats=1, inner_folds=2)
    rank = {f"p{row:02d}": place for row, place in enumerate(np.argsort(np.argsort(y)))}
    for split in splits.outer:
        ranks = sorted(rank[name] for name in split.test)
        assert ranks[0] < 2 * folds
        assert ranks[-1] >= len(y) - 2 * folds
        assert max(np.diff(ranks)) < 4 * folds


@given(st.integers(8, 25), st.integers(8, 25), st.integers(1, 5))
def test_subsamples_are_pairs_of_complementary_halves(negative, positive, pairs):
    splits = splits_with(study(["a"] * negative + ["b"] * positive), subsamples=2 * pairs)
    halves = [set(half.train) for half in splits.subsamples]
    assert len(halves) == 2 * pairs
    for first_half, complement in zip(halves[::2], halves[1::2], strict=True):
        assert not first_half & complement
        assert len(first_half | complement) == negative + positive
        assert abs(len(first_half) - len(complement)) <= (negative + positive) % 2


@given(st.integers(6, 12), st.integers(6, 12), st.integers(2, 4))
def test_half_has_its_own_inner_folds_fewer_if_it_is_small(negative, positive, folds):
    splits = splits_with(
        study(["a"] * negative + ["b"] * positive), inner_folds=folds, inner_scheme=KFOLD
    )
    for half in splits.subsamples:
        assert sorted(name for fold in half.inner for name in fold) == sorted(half.train)
        rows = [int(name[1:]) < negative for name in half.train]
        assert len(half.inner) == max(2, min(folds, max(sum(rows), len(rows) - sum(rows))))


def test_a_half_too_small_for_folds_is_refused_in_words():
    with pytest.raises(InvalidInput, match=r"subsample s01., inner fold .*splits.subsamples: 0"):
        splits_with(study("aaaaaabbb"))


def test_subsamples_keep_groups_whole():
    splits = by_scheme("stratified_group_kfold", subsamples=20)
    group = two_classes("stratified_group_kfold").obs["group"]
    for half in splits.subsamples:
        assert set(Counter(group[list(half.train)]).values()) == {2}
    assert len({half.train for half in splits.subsamples}) > 15
    halves = [set(group[list(half.train)]) for half in splits.subsamples]
    assert all(
        not first_half & complement
        for first_half, complement in zip(halves[::2], halves[1::2], strict=True)
    )


@given(st.lists(st.integers(1, 6), min_size=4, max_size=12), st.integers(2, 4), st.integers(0, 99))
def test_folds_of_groups_differ_by_no_more_than_the_largest_group(sizes, folds, seed):
    sizes = [*sizes, *sizes]  # once for each class
    group = np.repeat(np.arange(len(sizes)), sizes)
    y = np.repeat(["a", "b"], len(group) // 2)
    samples = Samples.from_dataset(study(y, group))
    parts = samples.draw_parts(np.arange(len(y)), folds, seed, (1, 0, 1, 0))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(y)))
    assert all(len(part) for part in parts)
    for label in "ab":
        label_counts = [np.sum(y[part] == label) for part in parts]
        assert max(label_counts) - min(label_counts) <= max(sizes)


def test_halves_of_groups_differ_even_where_all_groups_differ_in_size():
    group = np.repeat(np.arange(16), np.tile(np.arange(1, 9), 2))
    dataset = study(np.repeat(["a", "b"], 36), group)
    splits = splits_with(dataset, scheme="stratified_group_kfold", subsamples=50)
    assert len({half.train for half in splits.subsamples}) > 30


@every_scheme
def test_the_same_seed_draws_the_same_and_another_does_not(scheme):
    assert by_scheme(scheme) == by_scheme(scheme, batches=5)
    assert by_scheme(scheme).final.inner != by_scheme(scheme, seed=4).final.inner


@pytest.mark.parametrize("scheme", ["stratified_kfold", "stratified_group_kfold"])
def test_more_repeats_or_subsamples_leave_the_earlier_splits_unchanged(scheme):
    few = by_scheme(scheme)
    many = by_scheme(scheme, repeats=4, subsamples=8)
    assert many.outer[: len(few.outer)] == few.outer
    assert many.subsamples[: len(few.subsamples)] == few.subsamples
    assert many.final == few.final
    fewer = by_scheme(scheme, inner_folds=2).subsamples
    assert [half.train for half in fewer] == [half.train for half in few.subsamples]


@pytest.mark.parametrize("scheme", ["stratified_kfold", "stratified_group_kfold"])
def test_repeats_differ(scheme):
    splits = by_scheme(scheme, repeats=5)
    first_folds = [{split.test for split in splits.outer if split.repeat == r} for r in range(1, 6)]
    assert all(fold_a != two for fold_a, two in combinations(first_folds, 2))


@every_scheme
def test_every_random_choice_has_a_seed_of_its_own(scheme):
    splits = by_scheme(scheme)
    seeds = [split.seed for split in (*splits.outer, splits.final)]
    pairs = {half.name[:3]: half.seed for half in splits.subsamples}
    assert len({*seeds, *pairs.values()}) == len(seeds) + len(pairs)
    assert all(len(seed) == 4 for seed in seeds)


@every_inner
@every_scheme
def test_a_written_file_is_accepted_back_whatever_the_settings(scheme, inner_scheme, tmp_path):
    splits = by_scheme(scheme, inner_scheme=inner_scheme)
    splits.save(tmp_path / "splits.json")
    assert Splits.load(tmp_path / "splits.json") == splits
    reread = splits_with(
        two_classes(scheme), file=str(tmp_path / "splits.json"), seed=99, subsamples=0
    )
    assert reread == splits


def write_splits(tmp_path, **content):
    save_json(tmp_path / "mine.json", content)
    return str(tmp_path / "mine.json")


def test_a_file_by_hand_gets_the_rest_drawn(tmp_path):
    names = [f"p{row:02d}" for row in range(22)]
    outer = [{"train": names[2:], "test": names[:2]}, {"train": names[:18], "test": names[18:]}]
    splits = splits_with(two_classes("stratified_kfold"), file=write_splits(tmp_path, outer=outer))
    assert [(split.train, split.test) for split in splits.outer] == [
        (tuple(split["train"]), tuple(split["test"])) for split in outer
    ]
    assert [len(split.inner) for split in (*splits.outer, splits.final)] == [3, 3, 3]
    assert (splits.scheme, splits.seed, len(splits.subsamples)) == ("file", 3, 4)


def test_splits_with_the_same_training_set_have_inner_folds_of_their_own(tmp_path):
    names = [f"p{row:02d}" for row in range(22)]
    outer = [{"train": names[2:], "test": names[:2]}] * 3
    splits = splits_with(two_classes("stratified_kfold"), file=write_splits(tmp_path, outer=outer))
    assert len({split.inner for split in splits.outer}) == 3


@pytest.mark.parametrize(
    ("outer", "message"),
    [
        ([], "'outer': at least one split is needed"),
        ([{"train": ["p01"]}], "'outer': needed are objects with the lists 'train' and 'test'"),
        ("p01", "'outer': needed are objects"),
        ([{"train": ["p01"], "test": ["p02"], "repeat": -1}], "'outer': needed are objects"),
        ([{"train": ["p01"], "test": ["p02"], "seed": ["x"]}], "'seed' is a list of these"),
        ([{"train": ["p01", "p20"], "test": ["p2"]}], "'p2' of train or test is not a sample"),
        ([{"train": ["p01", "p20", "p02"], "test": ["p01"]}], "'p01' occurs 2 times in train or"),
        (
            [{"train": ["p01", "p20"], "test": ["p02"], "inner": [["p02"], ["p01"]]}],
            "'p02' of the inner folds is not in 'train'",
        ),
        (
            [{"name": "x", "train": ["p01", "p20"], "test": ["p02"]}] * 2,
            "2 splits are named 'x'",
        ),
        (
            [{"name": "x", "train": ["p01", "p02"], "test": ["p20"], "inner": [["p01"], ["p02"]]}],
            "split x: its 2 training samples are all 'a', and both classes are needed",
        ),
    ],
)
def test_a_file_with_faults_is_refused_in_words(tmp_path, outer, message):
    with pytest.raises(InvalidInput) as caught:
        splits_with(two_classes("stratified_kfold"), file=write_splits(tmp_path, outer=outer))
    assert message in str(caught.value)


def test_splits_file_that_divides_a_group_is_refused(tmp_path):
    dataset = two_classes("stratified_group_kfold")
    outer = [{"train": dataset.samples[1:], "test": dataset.samples[:1]}]
    with pytest.raises(InvalidInput, match="split split1: group 'd00' has samples on both sides"):
        splits_with(dataset, file=write_splits(tmp_path, outer=outer))


def halves_in_a_file(tmp_path, *halves, grouped=False):
    """Draw from a file with these halves, samples by their numbers."""
    dataset = two_classes("stratified_group_kfold" if grouped else "stratified_kfold")
    half_names = [
        {"name": f"h{number}", "train": [dataset.samples[row] for row in half], "test": []}
        for number, half in enumerate(halves, 1)
    ]
    test = [dataset.samples[row] for row in (10, 21)]  # group d10
    outer = [{"train": sorted({*dataset.samples} - {*test}), "test": test}]
    return splits_with(dataset, file=write_splits(tmp_path, outer=outer, subsamples=half_names))


FRONT = [0, 1, 2, 20, 21]
BACK = [3, 4, 5, 18, 19]


def test_pairs_of_halves_may_come_from_a_file(tmp_path):
    splits = halves_in_a_file(tmp_path, FRONT, BACK, BACK, FRONT)
    assert [half.name for half in splits.subsamples] == ["h1", "h2", "h3", "h4"]


@pytest.mark.parametrize(
    ("halves", "message"),
    [
        ([FRONT, BACK, FRONT], "subsample h3: has no partner"),
        ([FRONT, FRONT, BACK, BACK], r"h1 and h2: have 'p00', 'p01', 'p02' and 2 more in common"),
        ([FRONT, FRONT, BACK, BACK], "one pair after the other; 1 further pair, too"),
        ([FRONT, BACK, BACK, [*FRONT, 19]], "subsamples h3 and h4: have 'p19' in common"),
    ],
)
def test_splits_file_with_overlapping_halves_is_refused(tmp_path, halves, message):
    with pytest.raises(InvalidInput, match=message):
        halves_in_a_file(tmp_path, *halves)


def test_splits_file_with_a_group_in_both_halves_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="subsamples h1 and h2: group 'd00' has samples on both"):
        halves_in_a_file(tmp_path, [0, 1, 12, 20, 21], [2, 3, 11, 18, 19], grouped=True)


@pytest.mark.parametrize("seed", [-1, True, "x"])
def test_a_split_file_with_an_invalid_seed_is_refused(tmp_path, seed):
    with pytest.raises(InvalidInput, match=r"'seed': .* is not a whole number from 0"):
        splits_with(two_classes("stratified_kfold"), file=write_splits(tmp_path, seed=seed))


@pytest.mark.parametrize("text", ["{", "[]", '{"outer": [], "seed": "x"}'])
def test_invalid_splits_file_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(GenesigError, match=r"x\.json"):
        splits_with(two_classes("stratified_kfold"), file=str(tmp_path / "x.json"))
    with pytest.raises(GenesigError, match="there is no file"):
        splits_with(two_classes("stratified_kfold"), file=str(tmp_path / "y.json"))


@pytest.mark.parametrize(
    ("dataset", "changes", "message"),
    [
        (study("aaabb"), {}, "splits.folds: 3 folds, but class 'b' has 2 samples"),
        (study("aaab"), {"scheme": "leave_one_out"}, "split p03: its 3 training samples are all"),
        (
            study("aaaabb"),
            {"scheme": "leave_one_out", "inner_folds": 2},
            "split p04, inner fold 1: its .* training samples are all 'a'",
        ),
        (study("aaabbb"), {"inner_folds": 9}, "split r1f1, splits.inner_folds: 4 samples"),
        (study("aaabbb", "112233"), {}, "stratified_group_kfold keeps the samples"),
        (study("aaabbb", "112233"), {"scheme": "leave_one_out"}, "leave_one_group_out keeps"),
        (study("aaabbb"), {"scheme": "leave_one_group_out"}, "needs data.group"),
        (
            study("aaabbb", "111222"),
            {"scheme": "leave_one_group_out", "inner_scheme": "leave_one_out", "subsamples": 0},
            "split 1: its 3 training samples are all 'b', and both classes are needed; choose",
        ),
        (study("aaabbb", "111222"), {"scheme": "stratified_group_kfold"}, r"\(2 groups\) cannot"),
        (study("aaabbb"), {"scheme": "leave_one_batch_out"}, "needs data.batch"),
        (
            study("aaabbb", batch="111111"),
            {"scheme": "leave_one_batch_out"},
            "leave_one_batch_out needs two batches, every sample is of '1'",
        ),
        (
            study("abaabb", "112233", batch="121122"),
            {"scheme": "leave_one_batch_out"},
            "tears group '1' apart, which has samples in the batches '1', '2'; choose leave_one_gr",
        ),
        (
            study("aaabbb", batch="111122"),
            {"scheme": "leave_one_batch_out", "inner_scheme": "leave_one_out", "subsamples": 0},
            "split 1: its 2 training samples are all 'b', and both classes are needed; choose",
        ),
        (study("aaabbb"), {"scheme": "predefined"}, "splits.column: the predefined scheme needs"),
        (
            study("aaabbb", side=["train", "Test", "x"] * 2),
            {"scheme": "predefined", "column": "side"},
            "only 'train' and 'test' are known, found 'Test', 'x'",
        ),
        (
            study("aaabbb", side=["train"] * 6),
            {"scheme": "predefined", "column": "side"},
            "split predefined: no test samples",
        ),
        (
            study("abababab", "11223344", side=["train", "test"] + ["train"] * 6),
            {"scheme": "predefined", "column": "side"},
            "split predefined: group '1' has samples on both sides",
        ),
        (study("aaabbb"), {"scheme": "kfold"}, "splits.scheme: 'kfold' is not known"),
    ],
)
def test_an_impossible_split_names_the_place_and_the_way_out(dataset, changes, message):
    with pytest.raises(GenesigError, match=message):
        splits_with(dataset, **changes)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 7)), min_size=8, max_size=30))
def test_any_grouped_study_is_split_well_or_refused_in_words(rows):
    y, group = zip(*rows, strict=True)
    dataset = study(y, group)
    assume(set(y) == {"a", "b"})
    try:
        splits = splits_with(dataset, scheme="stratified_group_kfold", folds=2, inner_folds=2)
    except GenesigError as error:
        assert "split" in str(error)  # noqa: PT017
        return
    for train, test in held_inside(splits):
        assert train
        assert test
        assert set(dataset.obs.loc[list(train), "y"]) == {"a", "b"}
        assert not set(dataset.obs["group"][list(train)]) & set(dataset.obs["group"][list(test)])


def test_the_file_is_readable_by_people(tmp_path):
    by_scheme("stratified_kfold").save(tmp_path / "splits.json")
    raw = load_json(tmp_path / "splits.json")
    assert raw["outer"][0]["name"] == "r1f1"
    assert raw["outer"][0]["seed"] == [1, 0, 1, 1]


@given(
    y=st.lists(st.integers(-3, 3), min_size=8, max_size=20),
    factor=st.floats(1e-3, 1e3),
    parts=st.integers(2, 4),
)
def test_strata_of_a_regression_equal_those_of_its_negative(y, factor, parts):
    assume(len(set(y)) > 1)
    dataset = study(y, task="regression")
    negated_dataset = study([-factor * value for value in y], task="regression")
    strata = [
        value.response_kind.strata(value.response(), parts) for value in (dataset, negated_dataset)
    ]
    np.testing.assert_array_equal(*strata)
    lower_values, upper_values = (
        np.array(y)[in_stratum] for in_stratum in (strata[0] == 0, strata[0] != 0)
    )
    assert (
        not len(upper_values)
        or lower_values.max() <= upper_values.min()
        or lower_values.min() >= upper_values.max()
    )


@every_scheme
def test_exchanged_names_of_classes_change_no_split(scheme):
    exchanged_name = {"a": "b", "b": "a"}
    dataset = two_classes(scheme)
    obs = dataset.obs.assign(y=[exchanged_name[label] for label in dataset.obs["y"]])
    exchanged_dataset = Dataset(dataset.X, obs, dataset.var, dataset.design, {})
    column = "side" if scheme == "predefined" else None
    assert splits_with(dataset, scheme=scheme, column=column) == splits_with(
        exchanged_dataset, scheme=scheme, column=column
    )


def test_groups_of_several_classes_are_dealt_out_whatever_the_classes_are_called():
    y = [("a", "b", "c")[row % 3] for row in range(36)]
    design = Design("y", "classification", ("a", "b", "c"), "group", None, None)
    splits_by_name = []
    for names in ("abc", "cab", "bca"):
        dataset = study(
            [names["abc".index(letter)] for letter in y], [row // 2 for row in range(36)]
        )
        splits_by_name.append(
            splits_with(
                Dataset(dataset.X, dataset.obs, dataset.var, design, {}),
                folds=4,
                scheme="stratified_group_kfold",
                repeats=3,
            )
        )
    assert splits_by_name[0] == splits_by_name[1] == splits_by_name[2]
