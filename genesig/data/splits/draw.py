"""Outer splits with their inner folds, and the half-subsamples for stability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import INNER_FOLD, OUTER_SPLIT, SUBSAMPLE, Samples, spawn_key
from genesig.data.splits.given import Listed, inner_faults, outer_faults, read_split_file, too_many
from genesig.errors import GenesigError, InvalidInput, Problem, pick
from genesig.results import Dataset, Split, Splits
from genesig.results.splits import DRAWS
from genesig.words import listing


def draw_splits(
    dataset: Dataset,
    *,
    seed: int,
    scheme: str,
    folds: int,
    repeats: int,
    column: str | None,
    file: str | None,
    inner_scheme: str,
    inner_folds: int,
    subsamples: int,
    batches: int,
) -> Splits:
    """Draw every split of the study, or take them from a file.

    Each random choice has its own child seed (stage, repeat, fold): more repeats, more subsamples
    or another number of inner folds leave the other draws as they are. Samples are dealt out in
    the order of their names, as every data set of a study holds them.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        The study's seed; a complete file brings its own.
    scheme, folds, repeats, column, file, inner_scheme, inner_folds, subsamples
        As in the config schema, section ``splits``.
    batches : int
        How jobs share the splits; the splits do not depend on it.

    Returns
    -------
    Splits
        All training sets, inner ones too, hold both classes (two different responses), and no
        group straddles a split.

    Raises
    ------
    InvalidInput
        With one line for every split or fold that cannot be used.
    """
    samples = Samples.of(dataset)
    if file is None:
        asked = column is not None and scheme == "predefined"
        sides = dataset.obs[column].astype(str).to_numpy(dtype=object) if asked else None
        draw = pick("splits.scheme", SCHEMES, scheme)
        _check_scheme(samples, scheme, folds)
        _check_number(samples, scheme, folds * repeats, inner_scheme, inner_folds)
        outer = draw(samples, seed=seed, folds=folds, repeats=repeats, sides=sides)
        listed = Listed(scheme=scheme, outer=tuple(outer))
    else:
        listed = read_split_file(file, samples)
    _refuse(outer_faults(samples, listed.outer))
    seed = seed if listed.seed is None else listed.seed
    inner = _Inner(samples, seed, listed.inner_scheme or inner_scheme, inner_folds)
    halves = listed.subsamples
    if halves is None:
        halves = tuple(_halves(samples, seed, subsamples // 2))
    everyone = Split("final", 0, 0, samples.names, (), (), spawn_key(INNER_FOLD))
    splits = Splits(
        scheme=listed.scheme,
        inner_scheme=inner.scheme,
        seed=seed,
        outer=tuple(map(inner.fill, listed.outer)),
        final=inner.fill(listed.final or everyone),
        subsamples=tuple(map(inner.fill_half, halves)),
    )
    _refuse(inner_faults(samples, splits))
    return splits


def redrawn(dataset: Dataset, splits: Splits) -> list[Split]:
    """Return the final split with its inner folds drawn anew, to make `DRAWS`, where they differ.

    None where chance has no part in them, or where a file brought them.
    """
    samples = Samples.of(dataset)
    final = splits.final
    inner = _Inner(samples, splits.seed, splits.inner_scheme, len(final.inner))
    found = [final]
    if inner.fill(replace(final, inner=())).inner != final.inner:
        return []
    for draw in range(1, DRAWS):
        key = spawn_key(INNER_FOLD, fold=draw)
        again = inner.divided(final, f"draw {draw} of splits.inner_folds", inner.folds, key)
        alone = replace(splits, outer=(), final=again, subsamples=())
        if again not in found and not any(inner_faults(samples, alone)):
            found.append(again)
    return found[1:]


def _refuse(problems: Iterable[Problem]) -> None:
    found = list(problems)
    if found:
        raise InvalidInput(found)


@dataclass(frozen=True)
class _Inner:
    """How the inner folds of a split are drawn; those of all samples have split 0 in their key."""

    samples: Samples
    seed: int
    scheme: str
    folds: int

    def fill(self, split: Split) -> Split:
        """Return the split with its inner folds, unless it brings them."""
        if split.inner:
            return split
        key = spawn_key(INNER_FOLD, split=split.repeat, fold=split.fold)
        return self.divided(split, f"split {split.name}, splits.inner_folds", self.folds, key)

    def fill_half(self, half: Split) -> Split:
        """Return the half with its inner folds: fewer, where it has too few samples for them."""
        if half.inner:
            return half
        folds = self.samples.most_parts(self.samples.rows(half.train), self.folds)
        key = spawn_key(SUBSAMPLE, split=half.repeat, fold=half.fold)
        return self.divided(half, f"subsample {half.name}, splits.subsamples", folds, key)

    def divided(self, split: Split, where: str, folds: int, key: tuple[int, ...]) -> Split:
        """Return the split with so many inner folds, drawn by this key."""
        divide = pick("splits.inner_scheme", INNER_SCHEMES, self.scheme)
        rows = self.samples.rows(split.train)
        parts = divide(where, self.samples, rows, folds, self.seed, key)
        return replace(split, inner=tuple(map(self.samples.named, parts)))


def _one_by_one(
    where: str, samples: Samples, rows: Array, number: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    return samples.one_by_one(rows)


def _by_study(
    where: str, samples: Samples, rows: Array, number: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    """Leave out one study at a time where that leaves two to train; else divide within studies."""
    studies = samples.of_study(rows)
    if len(studies) >= LEAST_STUDIES:
        return studies
    return _stratified(where, samples, rows, number, seed, key)


def _stratified(
    where: str, samples: Samples, rows: Array, number: int, seed: int, key: tuple[int, ...]
) -> list[Array]:
    """Divide rows; an error says which split it is about."""
    try:
        return samples.parts(rows, number, seed, key)
    except GenesigError as error:
        raise GenesigError(f"{where}: {error}") from error


def _halves(samples: Samples, seed: int, pairs: int) -> Iterator[Split]:
    """Yield subsamples s01a, s01b, s02a, ...: a and b are complementary."""
    everyone = np.arange(len(samples.names))
    for pair in range(1, pairs + 1):
        key = spawn_key(SUBSAMPLE, split=pair)
        halves = _stratified("splits.subsamples", samples, everyone, 2, seed, key)
        for fold, half in enumerate(halves, start=1):
            name = f"s{pair:02d}{'ab'[fold - 1]}"
            yield Split(name, pair, fold, samples.named(half), (), (), key)


def _check_scheme(samples: Samples, scheme: str, folds: int) -> None:
    """Refuse schemes that would tear groups apart or leave a class out of a fold."""
    everyone = np.arange(len(samples.names))
    grouped = len(samples.one_by_one(everyone)) < len(everyone)
    instead = GROUPED.get(scheme)
    if grouped and instead:
        raise GenesigError(
            f"splits.scheme: {scheme} tears groups apart; {instead} keeps the samples of one "
            "data.group (or data.pair) together"
        )
    if samples.groups is None and "group" in scheme:
        raise GenesigError(f"splits.scheme: {scheme} needs data.group (or data.pair)")
    if scheme in BY_BATCH:
        _check_batches(samples, scheme)
    if scheme == "stratified_kfold":
        for who, inside in samples.kind.needed(samples.y, samples.classes).items():
            if (size := int(inside.sum())) < folds:
                raise GenesigError(
                    f"splits.folds: {folds} folds, but {who} has {size} samples; each fold needs "
                    f"one: at most {size} folds"
                )


def _check_number(
    samples: Samples, scheme: str, drawn: int, inner_scheme: str, inner_folds: int
) -> None:
    units = len(samples.names if samples.groups is None else np.unique(samples.groups))
    outer = {_kfold: drawn, _predefined: 1}.get(SCHEMES[scheme], units)
    inner = units if inner_scheme == "leave_one_out" else inner_folds
    if SCHEMES[scheme] is _leave_one_batch_out and samples.batches is not None:
        outer = len(np.unique(samples.batches))
    if what := too_many(outer, inner, len(samples.names)):
        raise GenesigError(f"splits.scheme: {what}")


def _check_batches(samples: Samples, scheme: str) -> None:
    needed, several = BY_BATCH[scheme]
    if samples.batches is None:
        raise GenesigError(f"splits.scheme: {scheme} needs {needed}")
    if len(set(samples.batches)) < 2:
        raise GenesigError(
            f"splits.scheme: {scheme} needs two {several}, every sample is of "
            f"'{samples.batches[0]}'"
        )
    if samples.groups is not None:
        for group in np.unique(samples.groups):
            among = np.unique(samples.batches[samples.groups == group])
            if len(among) > 1:
                raise GenesigError(
                    f"splits.scheme: {scheme} tears group '{group}' apart, which has "
                    f"samples in the {several} {listing(among)}; choose leave_one_group_out"
                )


def _kfold(samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any) -> Iterator[Split]:
    everyone = np.arange(len(samples.names))
    for repeat in range(1, repeats + 1):
        key = spawn_key(OUTER_SPLIT, split=repeat)
        parts = _stratified("splits.folds", samples, everyone, folds, seed, key)
        for fold, test in enumerate(parts, start=1):
            yield _split(samples, f"r{repeat}f{fold}", repeat, fold, test)


def _leave_one_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    for row, name in enumerate(samples.names):
        yield _split(samples, name, 1, row + 1, np.array([row]))


def _leave_one_group_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    yield from _leave_out(samples, samples.groups)


def _leave_one_batch_out(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    yield from _leave_out(samples, samples.batches)


def _leave_out(samples: Samples, sets: Array | None) -> Iterator[Split]:
    """Yield a split for each set of samples, by name: the test side of one is that set."""
    for fold, name in enumerate([] if sets is None else np.unique(sets), start=1):
        yield _split(samples, str(name), 1, fold, np.flatnonzero(sets == name))


def _predefined(
    samples: Samples, *, seed: int, folds: int, repeats: int, sides: Any
) -> Iterator[Split]:
    if sides is None:
        raise GenesigError("splits.column: the predefined scheme needs a column (train or test)")
    strange = sorted(set(sides) - {"train", "test"})
    if strange:
        found = ", ".join(f"'{word}'" for word in strange[:5])
        raise GenesigError(f"splits.column: only 'train' and 'test' are known, found {found}")
    yield _split(samples, "predefined", 1, 1, np.flatnonzero(sides == "test"))


def _split(samples: Samples, name: str, repeat: int, fold: int, test: Array) -> Split:
    train = np.setdiff1d(np.arange(len(samples.names)), test)
    key = spawn_key(OUTER_SPLIT, split=repeat, fold=fold)
    return Split(name, repeat, fold, samples.named(train), samples.named(test), (), key)


LEAST_STUDIES = 3
"""Studies of which one may be left out and the others tell what studies have in common."""
BY_BATCH = {
    "leave_one_batch_out": ("data.batch", "batches"),
    "leave_one_study_out": ("several studies", "studies"),
}
"""What a scheme needs that leaves out batches, and what it calls them."""

GROUPED = {
    "stratified_kfold": "stratified_group_kfold",
    "leave_one_out": "leave_one_group_out",
}

INNER_SCHEMES: dict[str, Callable[..., list[Array]]] = {
    "stratified_kfold": _stratified,
    "leave_one_out": _one_by_one,
    "leave_one_study_out": _by_study,
}

SCHEMES: dict[str, Callable[..., Iterator[Split]]] = {
    "stratified_kfold": _kfold,
    "leave_one_out": _leave_one_out,
    "leave_one_group_out": _leave_one_group_out,
    "leave_one_batch_out": _leave_one_batch_out,
    "leave_one_study_out": _leave_one_batch_out,
    "stratified_group_kfold": _kfold,
    "predefined": _predefined,
}
