"""Splits from a file, of an earlier study or written by hand, and what makes a split unusable."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.folds import INNER_FOLD, OUTER_SPLIT, Samples, spawn_key
from genesig.errors import GenesigError, InvalidInput, Problem, did_you_mean
from genesig.results import Split, Splits, load_json
from genesig.words import counted, listing, too

MOST = 5
FINAL = {"name": "final", "repeat": 0, "fold": 0, "seed": spawn_key(INNER_FOLD)}


@dataclass(frozen=True)
class Listed:
    """Splits as far as they are given; None, or an empty `inner`, is still to be drawn."""

    scheme: str
    outer: tuple[Split, ...]
    inner_scheme: str | None = None
    seed: int | None = None
    final: Split | None = None
    subsamples: tuple[Split, ...] | None = None


def read_split_file(path: str, samples: Samples) -> Listed:
    """Read splits by sample name.

    The least a file holds is ``{"outer": [{"train": [...], "test": [...]}, ...]}``; every key of
    a complete splits.json may be added.

    Raises
    ------
    InvalidInput
        One line for every list with an unknown or repeated name, and for every overlap.
    """
    raw = _load(path)
    problems = list(_form_problems(path, raw))
    if problems:
        raise InvalidInput(problems)
    final = raw.get("final")
    subsamples = raw.get("subsamples")
    listed = Listed(
        scheme=str(raw.get("scheme", "file")),
        outer=_splits(raw["outer"]),
        inner_scheme=raw.get("inner_scheme"),
        seed=raw.get("seed"),
        final=None if final is None else _splits([FINAL | final])[0],
        subsamples=None if subsamples is None else _splits(subsamples),
    )
    problems = list(_name_problems(path, listed, samples))
    if problems:
        raise InvalidInput(problems)
    return listed


def _load(path: str) -> dict[str, Any]:
    if not Path(path).is_file():
        raise GenesigError(f"splits.file: there is no file '{path}'")
    try:
        raw = load_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise GenesigError(f"{path}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise GenesigError(f'{path}: needed is an object {{"outer": [...]}}')
    return raw


def _form_problems(path: str, raw: dict[str, Any]) -> Iterator[Problem]:
    need = "needed are objects with the lists 'train' and 'test' (and 'inner', a list of lists)"
    for key in ("outer", "subsamples"):
        value = raw.get(key, [])
        if not isinstance(value, list) or not all(map(_is_split, value)):
            yield Problem(f"{path}, '{key}'", need)
    if raw.get("final") is not None and not _is_split(raw["final"]):
        yield Problem(f"{path}, 'final'", need)
    if not raw.get("outer"):
        yield Problem(f"{path}, 'outer'", "at least one split is needed")
    for key, kind in (("seed", int), ("scheme", str), ("inner_scheme", str)):
        if not isinstance(raw.get(key), kind | None):
            yield Problem(f"{path}, '{key}'", f"{raw[key]!r} is not of type {kind.__name__}")


def _is_split(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(_are_names(value.get(side)) for side in ("train", "test"))
        and isinstance(value.get("inner", []), list)
        and all(map(_are_names, value.get("inner", [])))
        and isinstance(value.get("name", ""), str)
        and all(isinstance(value.get(key, 1), int) for key in ("repeat", "fold"))
        and isinstance(value.get("seed", []), list)
    )


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _splits(raw: list[dict[str, Any]]) -> tuple[Split, ...]:
    """Fill what a hand-written split leaves out; names are put in order, as drawn ones are."""
    filled = []
    for number, given in enumerate(raw, start=1):
        split: dict[str, Any] = {"name": f"split{number}", "repeat": 1, "fold": number, "inner": []}
        split |= given
        split |= {side: sorted(split[side]) for side in ("train", "test")}
        split["inner"] = [sorted(fold) for fold in split["inner"]]
        key = spawn_key(OUTER_SPLIT, split=split["repeat"], fold=split["fold"])
        filled.append(Split.of({"seed": key} | split))
    return tuple(filled)


def _name_problems(path: str, listed: Listed, samples: Samples) -> Iterator[Problem]:
    final = () if listed.final is None else (listed.final,)
    every = (*listed.outer, *final, *(listed.subsamples or ()))
    for name, times in Counter(split.name for split in every).items():
        if times > 1:
            yield Problem(path, f"{times} splits are named '{name}'; names must differ")
    found: list[Problem] = []
    for split in every:
        where = f"{path}, split {split.name}"
        found += _list_problems(where, "train or test", split.train + split.test, samples.names)
        inner = tuple(name for fold in split.inner for name in fold)
        found += _list_problems(where, "the inner folds", inner, split.train)
    if len(found) <= MOST:
        yield from found
        return
    further = counted(len(found) - 1, "further problem")  # the same in every split
    what = f"{found[0].what}; {further} of this kind: is it the file of another study?"
    yield Problem(found[0].where, what)


def _list_problems(
    where: str, what: str, names: tuple[str, ...], known: tuple[str, ...]
) -> Iterator[Problem]:
    strange = [name for name in dict.fromkeys(names) if name not in known]
    if strange:
        allowed = "a sample" if what == "train or test" else "in 'train'"
        is_not = f"is not {allowed}" if len(strange) == 1 else f"are not {allowed} each"
        near = did_you_mean(strange[0], known) or "; correct that, or draw the splits anew"
        yield Problem(where, f"{listing(strange)} of {what} {is_not}{near}")
    for name, times in Counter(names).items():
        if times > 1:
            yield Problem(where, f"'{name}' occurs {times} times in {what}; keep it once")


MOST_SPLITS = 2000
MOST_FOLDS = 40_000
MOST_NAMES = 20_000_000
"""Outer splits, their inner folds, and names of samples in all of these: drawn in ten seconds."""
REMEDY = {
    "outer": "another splits.scheme, number of splits.folds or seed",
    "inner": "another splits.inner_scheme, number of splits.inner_folds or seed",
    "subsample": "splits.subsamples: 0 (no stability), or more samples of the rarer class",
}


def too_many(outer: int, inner: int, samples: int = 1) -> str | None:
    """Say that there are more splits than any study needs, before they are drawn; None if not."""
    most = min(MOST_FOLDS, MOST_NAMES // samples)
    fewer = "take fewer splits.repeats, splits.folds"
    if outer > MOST_SPLITS:
        return f"{outer} outer splits, at most {MOST_SPLITS}; {fewer}, or a k-fold scheme"
    if outer * inner > most:
        folds = f"{outer} outer splits of {inner} inner folds each are {outer * inner} fits"
        return f"{folds}, at most {most}; {fewer} or splits.inner_folds"
    return None


def outer_faults(samples: Samples, outer: Sequence[Split]) -> Iterator[Problem]:
    """Yield a problem for each outer split that cannot assess anything."""
    for split in outer:
        where = f"split {split.name}"
        train = samples.rows(split.train)
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
