"""Outer splits with their inner folds, half-subsamples for stability, and permutations.

A permutation moves the rows of X; the labels, the splits and the rest of the sample table stay with
the sample. So the splits of the observed study serve all permutations. It stays within the limits
of the design. The keyword `split` of `spawn_key` is the repeat of a split, or the pair of a half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import (
    INNER_FOLD,
    OUTER_SPLIT,
    PERMUTATION,
    SUBSAMPLE,
    Samples,
    generator,
    spawn_key,
)
from genesig.data.splits.given import (
    ListedSplits,
    excess_message,
    inner_faults,
    outer_faults,
    read_split_file,
)
from genesig.errors import GenesigError, InvalidInput, LocatedError, Problem, pick
from genesig.results import Dataset, Split, Splits
from genesig.results.splits import INNER_FOLD_DRAWS
from genesig.words import listing


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """Settings of the splits: the keys of the section ``splits``, which the schema explains."""

    scheme: str
    folds: int
    repeats: int
    column: str | None
    file: str | None
    inner_scheme: str
    inner_folds: int
    subsamples: int
    batches: int  # how jobs share the splits; the splits do not depend on it


def draw_splits(dataset: Dataset, *, seed: int, **settings: Any) -> Splits:
    """Draw every split of the study, or take them from a file.

    Each random choice has its own child seed (stage, repeat, fold): more repeats, more subsamples
    or another number of inner folds do not change the other draws. Samples are assigned in the
    order of their names, which is the row order of every data set of a study.

    seed: the study's seed; a complete file contains its own.
    **settings: fields of `SplitSettings`.

    Raises InvalidInput: with one line for every split or fold that cannot be used.

    All training sets, also of inner folds, have both classes (two different responses), and no
    group is on both sides of a split.
    """
    split_settings = SplitSettings(**settings)
    samples = Samples.from_dataset(dataset)
    if split_settings.file is None:
        listed = _draw_outer(dataset, samples, seed, split_settings)
    else:
        listed = read_split_file(split_settings.file, samples)
    _raise_problems(outer_faults(samples, listed.outer))
    seed = seed if listed.seed is None else listed.seed
    inner_scheme = listed.inner_scheme or split_settings.inner_scheme
    inner = _InnerFolds(samples, seed, inner_scheme, split_settings.inner_folds)
    half_splits = listed.subsamples
    if half_splits is None:
        half_splits = tuple(_halves(samples, seed, split_settings.subsamples // 2))
    key = spawn_key(INNER_FOLD)
    all_samples = Split("final", repeat=0, fold=0, train=samples.names, test=(), inner=(), seed=key)
    splits = Splits(
        scheme=listed.scheme,
        inner_scheme=inner.scheme,
        seed=seed,
        outer=tuple(map(inner.fill, listed.outer)),
        final=inner.fill(listed.final or all_samples),
        subsamples=tuple(map(inner.fill_half, half_splits)),
    )
    _raise_problems(inner_faults(samples, splits))
    return splits


def _draw_outer(
    dataset: Dataset, samples: Samples, seed: int, settings: SplitSettings
) -> ListedSplits:
    """Return the outer splits of the scheme in a record that leaves all else to be drawn."""
    scheme = settings.scheme
    reads_column = settings.column is not None and scheme == "predefined"
    sides = (
        dataset.obs[settings.column].astype(str).to_numpy(dtype=object) if reads_column else None
    )  # "train" or "test" for each sample
    draw_scheme = pick("splits.scheme", SCHEMES, scheme)
    _check_scheme(samples, scheme, settings.folds)
    n_splits = settings.folds * settings.repeats
    _check_number_of_splits(samples, scheme, n_splits, settings.inner_scheme, settings.inner_folds)
    outer = draw_scheme(
        samples, seed=seed, folds=settings.folds, repeats=settings.repeats, sides=sides
    )
    return ListedSplits(scheme=scheme, outer=tuple(outer))


def redraw_final_split(dataset: Dataset, splits: Splits) -> list[Split]:
    """Return copies of the final split with other random inner folds, each different.

    There are at most `INNER_FOLD_DRAWS` draws, with the first one, which the final split has. The
    list is empty if the inner folds are not random, or if a file contains them.
    """
    samples = Samples.from_dataset(dataset)
    final = splits.final
    inner = _InnerFolds(samples, splits.seed, splits.inner_scheme, len(final.inner))
    final_splits = [final]
    if inner.fill(replace(final, inner=())).inner != final.inner:
        return []
    for draw in range(1, INNER_FOLD_DRAWS):
        key = spawn_key(INNER_FOLD, fold=draw)
        new_final = inner.divide(final, f"draw {draw} of splits.inner_folds", inner.n_folds, key)
        new_splits = replace(splits, outer=(), final=new_final, subsamples=())
        if new_final not in final_splits and not any(inner_faults(samples, new_splits)):
            final_splits.append(new_final)
    return final_splits[1:]


def _raise_problems(problems: Iterable[Problem]) -> None:
    """Raise InvalidInput if there is a problem."""
    if all_problems := list(problems):
        raise InvalidInput(all_problems)


@dataclass(frozen=True)
class _InnerFolds:
    """Settings by which inner folds are drawn."""

    samples: Samples
    seed: int  # seed of the study
    scheme: str  # a name in `INNER_SCHEMES`
    n_folds: int

    def fill(self, split: Split) -> Split:
        """Return the split with inner folds; it may have them already."""
        if split.inner:
            return split
        key = spawn_key(INNER_FOLD, split=split.repeat, fold=split.fold)
        return self.divide(split, f"split {split.name}, splits.inner_folds", self.n_folds, key)

    def fill_half(self, half: Split) -> Split:
        """Return the half-sample with inner folds, fewer if it has too few samples."""
        if half.inner:
            return half
        n_folds = self.samples.max_number_of_parts(self.samples.rows(half.train), self.n_folds)
        key = spawn_key(SUBSAMPLE, split=half.repeat, fold=half.fold)
        return self.divide(half, f"subsample {half.name}, splits.subsamples", n_folds, key)

    def divide(self, split: Split, location: str, n_folds: int, key: tuple[int, ...]) -> Split:
        """Return the split with the given number of inner folds (see `INNER_SCHEMES`)."""
        divide_scheme = pick("splits.inner_scheme", INNER_SCHEMES, self.scheme)
        rows = self.samples.rows(split.train)
        folds_of_rows = divide_scheme(location, self.samples, rows, n_folds, self.seed, key)
        return replace(split, inner=tuple(map(self.samples.names_of, folds_of_rows)))


def _divide_into_units(
    location: str, samples: Samples, rows: Array, n_parts: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    """Return one part for each sample, or for each group."""
    return samples.unit_rows(rows)


def _divide_by_study(
    location: str, samples: Samples, rows: Array, n_parts: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    """Return one part for each study if two others are left to train; else stratified parts."""
    studies = samples.rows_by_study(rows)
    if len(studies) >= MIN_STUDIES_OF_INNER_FOLDS:
        return studies
    return _divide_stratified(location, samples, rows, n_parts, seed, key)


def _divide_stratified(
    location: str, samples: Samples, rows: Array, n_parts: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    """Return parts of the rows, stratified by response and study; an error names the split."""
    try:
        return samples.draw_parts(rows, n_parts, seed, key)
    except GenesigError as error:
        raise LocatedError(location, str(error)) from error


def _halves(samples: Samples, seed: int, n_pairs: int) -> Iterator[Split]:
    """Yield subsamples s01a, s01b, s02a, ...: a and b are complementary."""
    all_rows = np.arange(len(samples.names))
    for pair in range(1, n_pairs + 1):
        key = spawn_key(SUBSAMPLE, split=pair)
        half_pair = _divide_stratified(
            "splits.subsamples", samples, all_rows, n_parts=2, seed=seed, key=key
        )
        for fold, half_rows in enumerate(half_pair, start=1):
            name = f"s{pair:02d}{'ab'[fold - 1]}"
            yield Split(name, pair, fold, samples.names_of(half_rows), test=(), inner=(), seed=key)


def _check_scheme(samples: Samples, scheme: str, folds: int) -> None:
    """Raise if a scheme would divide a group, lacks groups, or leaves a fold without a class.

    folds: number of folds of a k-fold scheme.
    """
    all_rows = np.arange(len(samples.names))
    # `unit_rows` has a part for each group: fewer parts than rows if a group has two samples.
    has_shared_groups = len(samples.unit_rows(all_rows)) < len(all_rows)
    grouped_scheme = GROUPED_SCHEME_OF.get(scheme)
    if has_shared_groups and grouped_scheme:
        raise LocatedError(
            "splits.scheme",
            f"{scheme} tears groups apart; {grouped_scheme} keeps the samples of one "
            "data.group (or data.pair) together",
        )
    if samples.groups is None and "group" in scheme:
        raise LocatedError("splits.scheme", f"{scheme} needs data.group (or data.pair)")
    if scheme in BATCH_SCHEMES:
        _check_batches(samples, scheme)
    if scheme == "stratified_kfold":
        for stratum_name, members in samples.kind.required_samples(
            samples.y, samples.classes
        ).items():
            if (size := int(members.sum())) < folds:
                raise LocatedError(
                    "splits.folds",
                    f"{folds} folds, but {stratum_name} has {size} samples; each fold needs one: "
                    f"at most {size} folds",
                )


def _check_number_of_splits(
    samples: Samples, scheme: str, n_splits: int, inner_scheme: str, inner_folds: int
) -> None:
    """Raise if the scheme makes more splits or inner folds than any study needs.

    n_splits: number of splits of a k-fold scheme.
    """
    n_units = len(samples.names if samples.groups is None else np.unique(samples.groups))
    # The other schemes leave out one unit at a time.
    n_outer = {_kfold: n_splits, _predefined: 1}.get(SCHEMES[scheme], n_units)
    n_inner = n_units if inner_scheme == "leave_one_out" else inner_folds
    if SCHEMES[scheme] is _leave_one_batch_out and samples.batches is not None:
        n_outer = len(np.unique(samples.batches))
    if message := excess_message(n_outer, n_inner, len(samples.names)):
        raise LocatedError("splits.scheme", message)


def _check_batches(samples: Samples, scheme: str) -> None:
    """Raise if a scheme that leaves out batches has fewer than two, or would divide a group."""
    setting, plural = BATCH_SCHEMES[scheme]
    if samples.batches is None:
        raise LocatedError("splits.scheme", f"{scheme} needs {setting}")
    if len(set(samples.batches)) < 2:
        raise LocatedError(
            "splits.scheme",
            f"{scheme} needs two {plural}, every sample is of '{samples.batches[0]}'",
        )
    if samples.groups is not None:
        for group in np.unique(samples.groups):
            batches_of_group = np.unique(samples.batches[samples.groups == group])
            if len(batches_of_group) > 1:
                raise LocatedError(
                    "splits.scheme",
                    f"{scheme} tears group '{group}' apart, which has samples in the {plural} "
                    f"{listing(batches_of_group)}; choose leave_one_group_out",
                )


def _kfold(samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any) -> Iterator[Split]:
    """Yield the splits of repeated k-fold cross-validation, with groups kept whole."""
    all_rows = np.arange(len(samples.names))
    for repeat in range(1, repeats + 1):
        key = spawn_key(OUTER_SPLIT, split=repeat)
        parts = _divide_stratified("splits.folds", samples, all_rows, folds, seed, key)
        for fold, test in enumerate(parts, start=1):
            yield _outer_split(samples, f"r{repeat}f{fold}", repeat, fold, test)


def _leave_one_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    """Yield a split for each sample, which alone is tested."""
    for row, name in enumerate(samples.names):
        yield _outer_split(samples, name, repeat=1, fold=row + 1, test=np.array([row]))


def _leave_one_group_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    """Yield a split for each group, which is tested."""
    yield from _leave_out(samples, samples.groups)


def _leave_one_batch_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    """Yield a split for each batch, which is tested."""
    yield from _leave_out(samples, samples.batches)


def _leave_out(samples: Samples, set_of_sample: Array | None) -> Iterator[Split]:
    """Yield a split for each set of samples, in order of names: that set is the test side."""
    for fold, name in enumerate([] if set_of_sample is None else np.unique(set_of_sample), start=1):
        test = np.flatnonzero(set_of_sample == name)
        yield _outer_split(samples, str(name), repeat=1, fold=fold, test=test)


def _predefined(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    """Yield the one split of a sample-table column with "train" and "test" (`sides`)."""
    if sides is None:
        raise LocatedError("splits.column", "the predefined scheme needs a column (train or test)")
    if unknown_words := sorted(set(sides) - {"train", "test"}):
        unknown_listing = ", ".join(f"'{word}'" for word in unknown_words[:5])
        raise LocatedError(
            "splits.column", f"only 'train' and 'test' are known, found {unknown_listing}"
        )
    test = np.flatnonzero(sides == "test")
    yield _outer_split(samples, "predefined", repeat=1, fold=1, test=test)


def _outer_split(samples: Samples, name: str, repeat: int, fold: int, test: Array) -> Split:
    """Return an outer split by its test rows, without inner folds."""
    train_rows = np.setdiff1d(np.arange(len(samples.names)), test)
    train = samples.names_of(train_rows)
    key = spawn_key(OUTER_SPLIT, split=repeat, fold=fold)
    return Split(name, repeat, fold, train, samples.names_of(test), inner=(), seed=key)


MIN_STUDIES_OF_INNER_FOLDS = 3  # studies of which one may be left out: two must train
BATCH_SCHEMES = {
    "leave_one_batch_out": ("data.batch", "batches"),
    "leave_one_study_out": ("several studies", "studies"),
}
"""Schemes that leave out batches: the setting that they need, and their word for batches."""

GROUPED_SCHEME_OF = {
    "stratified_kfold": "stratified_group_kfold",
    "leave_one_out": "leave_one_group_out",
}
"""Scheme that splits single samples -> the scheme that splits groups in the same way."""

INNER_SCHEMES: dict[str, Callable[..., list[Array]]] = {
    "stratified_kfold": _divide_stratified,
    "leave_one_out": _divide_into_units,
    "leave_one_study_out": _divide_by_study,
}
"""Inner scheme -> function that returns the rows of each fold; all have the same arguments.

`location` is the place that an error names, `key` the spawn key of the draw under the study's seed.
"""

SCHEMES: dict[str, Callable[..., Iterator[Split]]] = {
    "stratified_kfold": _kfold,
    "leave_one_out": _leave_one_out,
    "leave_one_group_out": _leave_one_group_out,
    "leave_one_batch_out": _leave_one_batch_out,
    "leave_one_study_out": _leave_one_batch_out,
    "stratified_group_kfold": _kfold,
    "predefined": _predefined,
}
"""Scheme -> function that yields the outer splits; all have the same arguments.

`sides` are "train" or "test" for each sample, (n,) object, of the scheme predefined, else None.
"""


def draw_permutation(
    dataset: Dataset, splits: Splits, number: int, stage: int = PERMUTATION
) -> Array:
    """Return rows (n,) such that ``X[rows]`` with the original y and splits is a study under H0.

    Samples are exchanged as far as they are exchangeable if expression is independent of the label:
    within a group whose labels differ; groups of one label as a whole, among groups of equal size;
    within each side of a single split into training and test; within each batch, because a label
    associated with the batch would be predicted through the batch. Without groups and batches, and
    with several splits, all samples are exchanged.

    splits: their seed, and the sides of a single split, are used.
    number: 0 for the observed study (the identity), 1, 2, ... for permutations.
    stage: purpose of the permutation (a stage of `genesig.data.splits.folds`), with its own draws.

    Raises GenesigError: if no label can change place: all groups of one label have different sizes,
    or each batch has one label.

    Source: p = (1 + #{null >= observed}) / (B + 1): B. Phipson, G. K. Smyth (2010), Permutation
    p-values should never be zero. Restricted exchange: P. Good (2005), Permutation, parametric and
    bootstrap tests of hypotheses.
    """
    row_of_sample = np.arange(len(dataset.samples))
    if number == 0:
        return row_of_sample
    y = dataset.response()
    rng = generator(splits.seed, spawn_key(stage, permutation=number))
    any_exchange = False
    batches = dataset.batches()
    for blocks in _exchangeable_blocks(y, dataset.groups(), batches, _side_codes(dataset, splits)):
        rows = np.array(blocks)  # (n_blocks, block_size): each row of it goes to another's place
        any_exchange = any_exchange or len(np.unique(y[rows])) > 1
        row_of_sample[rows] = rows[rng.permutation(len(rows))]
    if not any_exchange:
        fault = (
            "no label can change place, because groups with one label are exchanged as a whole "
            "with groups of equal size, and there are none with the other label; set "
            "controls.permutations: 0"
        )
        if dataset.design.batch is not None:
            fault = (
                "no label can change place inside its batch, because each batch has one label (or "
                "groups of one label, none of equal size with the other); set "
                "controls.permutations: 0, or take data.batch away"
            )
        raise LocatedError("controls.permutations", fault)
    return row_of_sample


def permute_responses(
    y: Array, groups: Array | None, batches: Array | None, count: int, rng: np.random.Generator
) -> Array:
    """Return `count` permutations of the responses y, as in `draw_permutation`, (n, count).

    If the design allows no exchange of these responses, all of them are exchanged: the result
    scales weights of sums, and is no significance test.

    y (n,) float.
    groups, batches (n,) or None: of the same samples.
    """
    permuted = np.empty((count, len(y)))
    for rows in response_strata(y, groups, batches):
        order = rng.permuted(np.tile(np.arange(len(rows)), (count, 1)), axis=1)
        permuted[:, rows] = y[rows[order]]
    return permuted.T


def response_strata(y: Array, groups: Array | None, batches: Array | None) -> list[Array]:
    """Return arrays (n_units, unit_size) of rows; `permute_responses` exchanges their units.

    If the design allows no exchange, all rows are units of one array.
    """
    one_side = np.zeros(len(y))
    strata = [np.array(units) for units in _exchangeable_blocks(y, groups, batches, one_side)]
    if all(len(np.unique(y[rows])) == 1 for rows in strata):
        return [np.arange(len(y))[:, None]]
    return strata


def _exchangeable_blocks(
    y: Array, groups: Array | None, batches: Array | None, side_code: Array
) -> list[list[Array]]:
    """Return lists of blocks, arrays (block_size,) of rows; blocks of one list may be exchanged.

    A block is a group of one response, or a sample of a group with several.

    side_code (n,): from `_side_codes`; samples of different sides are never exchanged.
    """
    groups = np.arange(len(y)) if groups is None else groups
    batch = np.zeros(len(y)) if batches is None else batches
    strata: dict[tuple[Any, ...], list[Array]] = {}  # what exchangeable blocks share -> blocks
    _, group_codes = np.unique(groups, return_inverse=True)
    rows_by_group = np.argsort(group_codes, kind="stable")
    group_ends = np.cumsum(np.bincount(group_codes))
    for group_code, rows in enumerate(np.split(rows_by_group, group_ends[:-1])):
        if (y[rows] == y[rows[0]]).all():
            # Samples of one batch have one number; a group in several batches is exchanged with
            # those that have as many samples in each.
            rows = rows[np.argsort(batch[rows], kind="stable")]
            strata.setdefault((side_code[rows[0]], tuple(batch[rows])), []).append(rows)
        else:
            for batch_name in np.unique(batch[rows]):
                strata[side_code[rows[0]], batch_name, group_code] = list(
                    rows[batch[rows] == batch_name][:, None]
                )
    return list(strata.values())


def _side_codes(dataset: Dataset, splits: Splits) -> Array:
    """Return, for a single split, 0 for training, 1 for test, 2 for other samples; else all 0."""
    side_code = np.zeros(len(dataset.samples), dtype=np.int64)
    if len(splits.outer) == 1:
        side_code[:] = 2
        side_code[dataset.rows(splits.outer[0].train)] = 0
        side_code[dataset.rows(splits.outer[0].test)] = 1
    return side_code
