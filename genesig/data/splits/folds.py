"""Stratified division of samples into parts and halves, with groups kept whole; random seeds.

`rows` are row numbers of the data set; a draw has the study's `seed` and the spawn key `key`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.response.kinds import Response
from genesig.results import Dataset, Split

# The first number of a spawn key. These numbers must never change: the splits and permutations of
# earlier studies depend on them.
OUTER_SPLIT = 1
INNER_FOLD = 2
SUBSAMPLE = 3
PERMUTATION = 4
BASELINE = 5
SET_WEIGHTS = 7
MODULE = 8
HALF = 9
CHANCE = 10
RANDOM_LIST = 11

Key = tuple[int, int, int, int]


def spawn_key(stage: int, *, permutation: int = 0, split: int = 0, fold: int = 0) -> Key:
    """Return the spawn key (stage, permutation, split, fold) of one random choice.

    split: repeat of the cross-validation, pair of half-samples, or number of the split.
    """
    return stage, permutation, split, fold


def generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """Return the generator of one random choice: ``SeedSequence(seed, spawn_key=key)``."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def random_state(seed: int, key: tuple[int, ...]) -> int:
    """Return the 32 bits that scikit-learn takes as ``random_state`` for one random choice."""
    state: Any = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0])


class HalfCounts(NamedTuple):
    """Number of pairs of complementary half-samples to draw."""

    outer: int = 0  # pairs of each training set
    inner: int = 0  # pairs of the rows that train each of its inner folds


@dataclass(frozen=True)
class Samples:
    """The samples of a study with everything by which they are divided."""

    names: tuple[str, ...]  # (n,) str
    y: Array  # (n,) array: response
    kind: Response  # kind of the response
    classes: tuple[str, ...] | None  # names of the classes, as in `Design`
    groups: Array | None  # (n,) str or None: samples of one group stay together
    batches: Array | None  # (n,) str or None: samples of one batch were processed together
    studies: bool = False  # whether the batches are studies: parts are alike within each

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> Samples:
        """Return the samples of a data set."""
        return cls(
            tuple(dataset.samples),
            dataset.response(),
            dataset.response_kind,
            dataset.design.classes,
            dataset.groups(),
            dataset.batches(),
            dataset.design.studies,
        )

    @cached_property
    def _row_of_sample(self) -> dict[str, int]:
        """The row number of each sample by its name."""
        return {name: row for row, name in enumerate(self.names)}

    def rows(self, names: Iterable[str]) -> Array:
        """Return the row numbers of the given names, ascending."""
        return np.array(sorted(map(self._row_of_sample.__getitem__, names)), dtype=np.int64)

    def names_of(self, rows: Array) -> tuple[str, ...]:
        """Return the names of the given rows, in the order of the data set."""
        return tuple(self.names[row] for row in np.sort(rows))

    def unit_rows(self, rows: Array) -> list[Array]:
        """Return the rows of each unit: of each sample, or of each group in the order of names."""
        if self.groups is None:
            return list(rows[:, None])
        return [rows[self.groups[rows] == group] for group in np.unique(self.groups[rows])]

    def draw_parts(self, rows: Array, n_parts: int, seed: int, key: tuple[int, ...]) -> list[Array]:
        """Return the rows of stratified parts of like size, groups whole; draws depend on the key.

        Raises GenesigError: if there are fewer samples or groups, or fewer samples of every class,
            than parts.
        """
        strata = self._strata(rows, n_parts)
        if not self._can_divide(rows, strata, n_parts):
            n_units = len(self.unit_rows(rows))
            units = "samples" if self.groups is None else "groups"
            raise GenesigError(
                f"{len(rows)} samples ({n_units} {units}) cannot be divided into {n_parts} "
                "stratified parts: ask for fewer"
            )
        strata = self._within_studies(rows, strata)
        if self.groups is None:
            part_of_row = _stratified(strata, n_parts, random_state(seed, key))
        else:
            _, group_number = np.unique(self.groups[rows], return_inverse=True)
            part_of_row = _stratified_groups(strata, group_number, n_parts, generator(seed, key))
        return [rows[part_of_row == part_number] for part_number in range(n_parts)]

    def draw_halves(self, rows: Array, n_pairs: int, seed: int, key: tuple[int, ...]) -> Array:
        """Return the masks (n, 2 n_pairs) of complementary pairs of stratified halves of some rows.

        Columns 2i and 2i + 1 are a pair. Groups stay together. Each pair has its own random
        numbers, so that more pairs leave the first ones as they are.
        """
        masks = np.zeros((len(self.names), 2 * n_pairs), dtype=bool)
        for pair in range(n_pairs):
            halves = self.draw_parts(rows, n_parts=2, seed=seed, key=(HALF, *key, pair))
            for side, rows_of_half in enumerate(halves):
                masks[rows_of_half, 2 * pair + side] = True
        return masks

    def draw_halves_of_split(
        self, split: Split, counts: HalfCounts, seed: int
    ) -> tuple[Array, Array]:
        """Return the masks of halves of a split's training rows, and of the rows that train a fold.

        They are (n, 2 counts.outer) and (n_folds, n, 2 counts.inner); without pairs for folds
        n_folds is 0.
        """
        train = self.rows(split.train)
        # The last number of a key is 0 for the training set, and counts its folds from 1.
        halves = self.draw_halves(train, counts.outer, seed, (*split.seed, 0))
        if not counts.inner or not split.inner:
            return halves, np.zeros((0, len(self.names), 0), dtype=bool)
        inner_halves = [
            self.draw_halves(
                np.setdiff1d(train, self.rows(fold)), counts.inner, seed, (*split.seed, number)
            )
            for number, fold in enumerate(split.inner, start=1)
        ]
        return halves, np.stack(inner_halves)

    def max_number_of_parts(self, rows: Array, max_parts: int) -> int:
        """Return the largest number of parts, 2 to `max_parts`, into which rows can be divided."""
        for n_parts in range(max_parts, 2, -1):
            if self._can_divide(rows, self._strata(rows, n_parts), n_parts):
                return n_parts
        return 2

    def _can_divide(self, rows: Array, strata: Array, n_parts: int) -> bool:
        """Tell whether rows with these strata (n,) can be divided into so many parts."""
        n_units = len(rows if self.groups is None else np.unique(self.groups[rows]))
        return bool(np.bincount(strata).max() >= n_parts and n_units >= n_parts)

    def rows_by_study(self, rows: Array) -> list[Array]:
        """Return the rows of each study among the given rows, in the order of study names."""
        if not self.studies or self.batches is None:
            return [rows]
        studies = self.batches[rows]
        return [rows[studies == name] for name in np.unique(studies)]

    def _within_studies(self, rows: Array, strata: Array) -> Array:
        """Return strata (n,), each split into its studies if there are several."""
        if not self.studies or self.batches is None:
            return strata
        _, study = np.unique(self.batches[rows], return_inverse=True)
        return _number_by_appearance(study * (strata.max(initial=0) + 1) + strata)

    def _strata(self, rows: Array, n_parts: int) -> Array:
        """Return the number of the stratum of each row, (n,), in order of appearance.

        Strata of numbers depend on the number of parts.
        """
        return _number_by_appearance(self.kind.strata(self.y[rows], n_parts))


def _number_by_appearance(strata: Array) -> Array:
    """Return strata numbered by first appearance, so that names of classes do not matter."""
    _, first_index, stratum = np.unique(strata, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first_index))[stratum])


def _stratified(strata: Array, n_parts: int, state: int) -> Array:
    """Return the part of each sample, (n,), by the rule and draws of StratifiedKFold.

    The class is scikit-learn's, with ``random_state=state`` and shuffled samples.

    Strata come in order of first appearance, and their samples go to the parts in turn. This sets
    the number of samples of a stratum in each part; which samples these are is drawn.
    """
    rng = np.random.RandomState(state)
    part_of_sample = np.empty(len(strata), dtype=np.int64)
    n_dealt = 0
    for stratum in range(strata.max() + 1):
        in_stratum = strata == stratum
        part_turns = np.sort((n_dealt + np.arange(in_stratum.sum())) % n_parts)
        rng.shuffle(part_turns)
        part_of_sample[in_stratum] = part_turns
        n_dealt += len(part_turns)
    return part_of_sample


def _stratified_groups(
    strata: Array, group_of_sample: Array, n_parts: int, rng: np.random.Generator
) -> Array:
    """Return the part of each sample: each group goes to the part with the fewest of its strata.

    Of such parts the one with the fewest samples is taken, of equal ones a random one.

    strata, group_of_sample (n,) int: numbers from 0.

    Larger groups tend to come first, in random order. scikit-learn's StratifiedGroupKFold orders
    strictly by size: if all sizes differ, every repeat and every pair of halves would be the same,
    and stability would falsely be 1.
    """
    counts = np.zeros((group_of_sample.max() + 1, strata.max() + 1))
    np.add.at(counts, (group_of_sample, strata), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)  # (n_groups, n_strata): of each stratum
    # Groups up to four times as large as another may change places with it.
    order = np.argsort(-shares.max(axis=1) * rng.uniform(0.25, 1, len(shares)))
    filled_shares = np.zeros((n_parts, shares.shape[1]))
    part_sizes = np.zeros(n_parts)
    part_of_group = np.empty(len(shares), dtype=np.int64)
    for group in order:
        overlap = np.sum(filled_shares * shares[group], axis=1).round(12)  # for ties
        part = np.lexsort((rng.permutation(n_parts), part_sizes, overlap))[0]
        filled_shares[part] += shares[group]
        part_sizes[part] += counts[group].sum()
        part_of_group[group] = part
    return part_of_group[group_of_sample]
