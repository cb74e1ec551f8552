"""What makes a split unusable, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from genesig.data.splits.folds import Samples
from genesig.errors import Problem
from genesig.results import Split, Splits
from genesig.words import listing, too

Array = np.ndarray[Any, Any]

MOST_SPLITS, MOST_FOLDS, MOST_NAMES = 2000, 40_000, 20_000_000
"""Outer splits, their inner folds, and names of samples in all of these: drawn in ten seconds."""
REMEDY = {
    "outer": "another splits.scheme, number of splits.folds or seed",
    "inner": "another splits.inner_scheme, number of splits.inner_folds or seed",
    "subsample": "splits.subsamples: 0 (no stability), or more samples of the rarer class",
}


def too_many(outer: int, inner: int, samples: int = 1) -> str | None:
    """Say that there are more splits than any study needs, before they are drawn; None if not."""
    most, fewer = min(MOST_FOLDS, MOST_NAMES // samples), "take fewer splits.repeats, splits.folds"
    if outer > MOST_SPLITS:
        return f"{outer} outer splits, at most {MOST_SPLITS}; {fewer}, or a k-fold scheme"
    if outer * inner > most:
        folds = f"{outer} outer splits of {inner} inner folds each are {outer * inner} fits"
        return f"{folds}, at most {most}; {fewer} or splits.inner_folds"
    return None


def outer_faults(samples: Samples, outer: Sequence[Split]) -> Iterator[Problem]:
    """Yield a problem for each outer split that cannot assess anything."""
    for split in outer:
        where, train = f"split {split.name}", samples.rows(split.train)
        if not split.test:
            yield Problem(where, f"no test samples; choose {REMEDY['outer']}")
        yield from _torn(samples, where, train, samples.rows(split.test))
        yield from _one_sided(samples, where, train, "outer")


def inner_faults(samples: Samples, splits: Splits) -> Iterator[Problem]:
    """Yield a problem for each inner fold and subsample that cannot be used."""
    for split in (*splits.outer, splits.final):
        yield from _fold_faults(samples, f"split {split.name}", split, "inner")
    for split in splits.subsamples:
        where = f"subsample {split.name}"
        own = list(_one_sided(samples, where, samples.rows(split.train), "subsample"))
        yield from own or _fold_faults(samples, where, split, "subsample")
    unpaired = list(_pair_faults(samples, splits.subsamples))
    for problem in unpaired[:1]:
        yield Problem(problem.where, problem.what + too(len(unpaired) - 1, "pair"))


def _fold_faults(samples: Samples, of: str, split: Split, level: str) -> Iterator[Problem]:
    for number, fold in enumerate(split.inner, start=1):
        where = f"{of}, inner fold {number}"
        if not fold:
            yield Problem(where, f"no validation samples; choose {REMEDY[level]}")
        train = samples.rows(sorted(set(split.train) - set(fold)))
        yield from _torn(samples, where, train, samples.rows(fold))
        yield from _one_sided(samples, where, train, level)


def _pair_faults(samples: Samples, halves: Sequence[Split]) -> Iterator[Problem]:
    """Yield a problem for each pair of subsamples that could not be of different patients."""
    need = "stability compares disjoint halves, listed one pair after the other"
    for first, second in zip_longest(halves[0::2], halves[1::2]):
        if second is None:
            yield Problem(f"subsample {first.name}", f"has no partner; {need}")
            continue
        where = f"subsamples {first.name} and {second.name}"
        if shared := [name for name in first.train if name in second.train]:
            yield Problem(where, f"have {listing(shared)} in common; {need}")
        rows = (samples.rows(half.train) for half in (first, second))
        yield from islice(_torn(samples, where, *rows), 1)


def _torn(samples: Samples, where: str, train: Array, test: Array) -> Iterator[Problem]:
    if samples.groups is not None:
        for group in np.intersect1d(samples.groups[train], samples.groups[test]):
            yield Problem(where, f"group '{group}' has samples on both sides; keep it whole")


def _one_sided(samples: Samples, where: str, train: Array, level: str) -> Iterator[Problem]:
    """Yield a problem if there is nothing to tell apart in a training set."""
    if found := samples.kind.untold(samples.y[train], samples.classes):
        sentence = f"its {len(train)} training samples {found}; choose {REMEDY[level]}"
        yield Problem(where, sentence)
