"""Parts of a set of samples, stratified, with groups kept whole; and the seeds that draw them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.response.record import Response
from genesig.results import Dataset

# The first number of a spawn key. A number, once given, keeps its meaning for good: the splits and
# permutations of earlier studies depend on it.
OUTER_SPLIT = 1
INNER_FOLD = 2
SUBSAMPLE = 3
PERMUTATION = 4
BASELINE = 5
RESAMPLE = 6
SET_WEIGHTS = 7
MODULE = 8
HALF = 9
CHANCE = 10
RANDOM_LIST = 11

Key = tuple[int, int, int, int]


def spawn_key(stage: int, *, permutation: int = 0, split: int = 0, fold: int = 0) -> Key:
    """Return the spawn key (stage, permutation, split, fold) of one random choice."""
    return stage, permutation, split, fold


def generator(seed: int, key: tuple[int, ...]) -> np.random.Generator:
    """Return the generator of one random choice: ``SeedSequence(seed, spawn_key=key)``."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def random_state(seed: int, key: tuple[int, ...]) -> int:
    """Return the 32 bits that scikit-learn takes as ``random_state`` for one random choice."""
    state: Any = np.random.SeedSequence(seed, spawn_key=key).generate_state(1)
    return int(state[0])


@dataclass(frozen=True)
class Samples:
    """What dividing samples needs to know of them.

    Attributes
    ----------
    names : (n,) str
    y : (n,) array
        Response.
    kind : Response
        What it is.
    classes : names of classes, or None
    groups : (n,) str or None
        Samples of one group stay together.
    batches : (n,) str or None
        Samples of one batch were processed together.
    studies : bool
        Whether the batches are studies: parts are alike within each.
    """

    names: tuple[str, ...]
    y: Array
    kind: Response
    classes: tuple[str, ...] | None
    groups: Array | None
    batches: Array | None
    studies: bool = False

    @classmethod
    def of(cls, dataset: Dataset) -> Samples:
        """Take them from a data set."""
        return cls(
            tuple(dataset.samples),
            dataset.response(),
            dataset.kind,
            dataset.design.classes,
            dataset.groups(),
            dataset.batches(),
            dataset.design.studies,
        )

    def rows(self, names: Iterable[str]) -> Array:
        """Return the row numbers of some names, growing."""
        place = {name: row for row, name in enumerate(self.names)}
        return np.array(sorted(place[name] for name in names), dtype=np.int64)

    def named(self, rows: Array) -> tuple[str, ...]:
        """Return the names of some rows, in the order of the data set."""
        return tuple(self.names[row] for row in np.sort(rows))

    def one_by_one(self, rows: Array) -> list[Array]:
        """Return each sample, or each group (in the order of their names), as a part."""
        if self.groups is None:
            return list(rows[:, None])
        return [rows[self.groups[rows] == group] for group in np.unique(self.groups[rows])]

    def parts(self, rows: Array, number: int, seed: int, key: tuple[int, ...]) -> list[Array]:
        """Divide rows into stratified parts of like size, groups whole.

        Raises
        ------
        GenesigError
            If there are fewer samples or groups, or fewer samples of every class, than parts.
        """
        strata = self._within_studies(rows, self._strata(rows, number))
        if not self._divisible(rows, number):
            units = len(self.one_by_one(rows))
            unit = "samples" if self.groups is None else "groups"
            raise GenesigError(
                f"{len(rows)} samples ({units} {unit}) cannot be divided into {number} stratified "
                "parts: ask for fewer"
            )
        if self.groups is None:
            part = _stratified(strata, number, random_state(seed, key))
        else:
            _, group = np.unique(self.groups[rows], return_inverse=True)
            part = _stratified_groups(strata, group, number, generator(seed, key))
        return [rows[part == which] for which in range(number)]

    def most_parts(self, rows: Array, number: int) -> int:
        """Return the most parts, 2 to `number`, that `parts` can divide rows into."""
        return next((k for k in range(number, 2, -1) if self._divisible(rows, k)), 2)

    def _divisible(self, rows: Array, number: int) -> bool:
        most = max(np.bincount(self._strata(rows, number)))
        return bool(most >= number and len(self.one_by_one(rows)) >= number)

    def of_study(self, rows: Array) -> list[Array]:
        """Return the rows of each study that has some, in the order of their names."""
        if not self.studies or self.batches is None:
            return [rows]
        own = self.batches[rows]
        return [rows[own == name] for name in np.unique(own)]

    def _within_studies(self, rows: Array, strata: Array) -> Array:
        """Tell the strata of one study from those of another."""
        if not self.studies or self.batches is None:
            return strata
        _, study = np.unique(self.batches[rows], return_inverse=True)
        return _by_appearance(study * (strata.max(initial=0) + 1) + strata)

    def _strata(self, rows: Array, number: int) -> Array:
        return _by_appearance(self.kind.strata(self.y[rows], number))


def _by_appearance(strata: Array) -> Array:
    """Count strata in the order in which they first appear, whatever the classes are called."""
    _, first, stratum = np.unique(strata, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[stratum])


def _stratified(strata: Array, number: int, state: int) -> Array:
    """Return the part of each sample, by the rule and draws of scikit-learn's StratifiedKFold.

    Sorted by stratum, the first to appear first, samples are dealt out to the parts in turn: so
    many of a stratum each part takes, and which ones is drawn.
    """
    rng = np.random.RandomState(state)
    part = np.empty(len(strata), dtype=np.int64)
    dealt = 0
    for stratum in range(strata.max() + 1):
        inside = strata == stratum
        turns = np.sort((dealt + np.arange(inside.sum())) % number)
        rng.shuffle(turns)
        part[inside] = turns
        dealt += len(turns)
    return part


def _stratified_groups(strata: Array, group: Array, number: int, rng: np.random.Generator) -> Array:
    """Return the part of each sample: each group takes the part least filled with its classes.

    Large groups choose first, but only roughly so. scikit-learn's StratifiedGroupKFold goes
    strictly by size: where all sizes differ, every repeat and every pair of halves would be the
    same, and stability a false 1.
    """
    counts = np.zeros((group.max() + 1, strata.max() + 1))
    np.add.at(counts, (group, strata), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    order = np.argsort(-shares.max(axis=1) * rng.uniform(0.25, 1, len(shares)))
    held = np.zeros((number, shares.shape[1]))
    size = np.zeros(number)
    place = np.empty(len(shares), dtype=np.int64)
    for which in order:
        overlap = np.sum(held * shares[which], axis=1).round(12)
        part = np.lexsort((rng.permutation(number), size, overlap))[0]
        held[part] += shares[which]
        size[part] += counts[which].sum()
        place[which] = part
    return place[group]
