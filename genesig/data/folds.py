"""Parts of a set of samples: stratified, with groups kept whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.data.seeds import generator, random_state
from genesig.errors import GenesigError
from genesig.results import Dataset

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Samples:
    """What dividing samples needs to know of them.

    Attributes
    ----------
    names : (n,) str
    y : (n,) float
        ±1, or the response of a regression.
    classes : (str, str) or None
        Names of -1 and +1; None for regression.
    groups : (n,) str or None
        Samples of one group stay together.
    """

    names: tuple[str, ...]
    y: Array
    classes: tuple[str, str] | None
    groups: Array | None

    @classmethod
    def of(cls, dataset: Dataset) -> Samples:
        """Take them from a data set."""
        response = dataset.response()
        return cls(tuple(dataset.samples), response, dataset.design.classes, dataset.groups())

    def rows(self, names: Iterable[str]) -> Array:
        """Return the row numbers of some names, growing."""
        place = {name: row for row, name in enumerate(self.names)}
        return np.array(sorted(place[name] for name in names), dtype=np.int64)

    def named(self, rows: Array) -> tuple[str, ...]:
        """Return the names of some rows, in the order of the data set."""
        return tuple(self.names[row] for row in np.sort(rows))

    def strata(self, rows: Array, parts: int) -> Array:
        """Return the stratum of each row: its class, or a bin of at least `parts` like responses.

        A regression is cut along the ranks of its response, so that each part gets low, middle and
        high responses alike.
        """
        if self.classes is not None:
            return (self.y[rows] > 0).astype(np.int64)
        bins = np.empty(len(rows), dtype=np.int64)
        by_rank = np.argsort(self.y[rows], kind="stable")
        for number, members in enumerate(np.array_split(by_rank, max(1, len(rows) // parts))):
            bins[members] = number
        return bins

    def one_by_one(self, rows: Array) -> list[Array]:
        """Return each sample, or each group (in the order of their names), as a part."""
        if self.groups is None:
            return list(rows[:, None])
        return [rows[self.groups[rows] == group] for group in np.unique(self.groups[rows])]

    def parts(self, rows: Array, number: int, seed: int, key: tuple[int, ...]) -> list[Array]:
        """Divide rows into stratified parts of like size, groups whole; by scikit-learn.

        Raises
        ------
        GenesigError
            If there are fewer samples or groups, or fewer samples of every class, than parts.
        """
        strata = self.strata(rows, number)
        units = len(self.one_by_one(rows))
        if max(np.bincount(strata)) < number or units < number:
            unit = "samples" if self.groups is None else "groups"
            raise GenesigError(
                f"{len(rows)} samples ({units} {unit}) cannot be divided into {number} stratified "
                "parts: ask for fewer"
            )
        with warnings.catch_warnings():
            # A class with fewer samples than parts is a fault of the outer splits only, which say
            # so themselves; some validation folds may well lack the rarer class.
            warnings.filterwarnings("ignore", message="The least populated class")
            return [rows[part] for part in self._divide(rows, strata, number, seed, key)]

    def _divide(
        self, rows: Array, strata: Array, number: int, seed: int, key: tuple[int, ...]
    ) -> list[Array]:
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

        if self.groups is None:
            plain = StratifiedKFold(number, shuffle=True, random_state=random_state(seed, key))
            return [test for _, test in plain.split(strata, strata)]
        # scikit-learn before 1.8 shuffles the class counts of groups away from the groups. It
        # breaks ties by the order of the group numbers, so shuffled numbers do what is wanted.
        names, place = np.unique(self.groups[rows], return_inverse=True)
        shuffled = generator(seed, key).permutation(len(names))[place]
        grouped = StratifiedGroupKFold(number)
        return [test for _, test in grouped.split(strata, strata, shuffled)]
