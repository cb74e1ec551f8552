"""What makes a split unusable, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from genesig.data.folds import Samples
from genesig.errors import Problem
from genesig.results import Split, Splits

Array = np.ndarray[Any, Any]

REMEDY = {
    "outer": "another splits.scheme, number of splits.folds or seed",
    "inner": "another splits.inner_scheme, number of splits.inner_folds or seed",
    "subsample": "splits.subsamples: 0 (no stability), or more samples of the rarer class",
}


def faults(samples: Samples, splits: Splits) -> Iterator[Problem]:
    """Yield a problem for each split, inner fold or subsample that cannot be used."""
    place = {name: row for row, name in enumerate(samples.names)}

    def rows(names: tuple[str, ...]) -> Array:
        return np.array([place[name] for name in names], dtype=np.int64)

    for split in splits.outer:
        where, train, test = f"split {split.name}", rows(split.train), rows(split.test)
        if not split.test:
            yield Problem(where, f"no test samples; choose {REMEDY['outer']}")
        yield from _torn(samples, where, train, test)
        yield from _one_sided(samples, where, train, "outer")
    for split in (*splits.outer, splits.final):
        if _kinds(samples, rows(split.train)) > 1:
            yield from _inner_faults(samples, split, rows)
    for split in splits.subsamples:
        yield from _one_sided(samples, f"subsample {split.name}", rows(split.train), "subsample")


def _inner_faults(samples: Samples, split: Split, rows: Any) -> Iterator[Problem]:
    for number, fold in enumerate(split.inner, start=1):
        where = f"split {split.name}, inner fold {number}"
        if not fold:
            yield Problem(where, f"no validation samples; choose {REMEDY['inner']}")
        train = rows(tuple(name for name in split.train if name not in set(fold)))
        yield from _torn(samples, where, train, rows(fold))
        yield from _one_sided(samples, where, train, "inner")


def _torn(samples: Samples, where: str, train: Array, test: Array) -> Iterator[Problem]:
    if samples.groups is not None:
        for group in np.intersect1d(samples.groups[train], samples.groups[test]):
            yield Problem(where, f"group '{group}' has samples on both sides; keep it whole")


def _kinds(samples: Samples, rows: Array) -> int:
    """Return how many different responses there are: 1 cannot be learned from."""
    return len(np.unique(samples.y[rows]))


def _one_sided(samples: Samples, where: str, train: Array, level: str) -> Iterator[Problem]:
    if _kinds(samples, train) > 1:
        return
    found = f"its {len(train)} training samples "
    if samples.classes is None or not len(train):
        found += "do not have two different responses"
    else:
        found += (
            f"are all '{samples.classes[int(samples.y[train[0]] > 0)]}'; two classes are needed"
        )
    yield Problem(where, f"{found}: choose {REMEDY[level]}")
