"""Splits from a file, of an earlier study or written by hand, and checks of splits.

`path` is the split file, `location` the place that a problem names.
"""

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
from genesig.errors import GenesigError, InvalidInput, LocatedError, Problem, did_you_mean
from genesig.results import Split, Splits, load_json
from genesig.words import counted, further_text, listing

MAX_LISTED_PROBLEMS = 5
FINAL_SPLIT_DEFAULTS = {"name": "final", "repeat": 0, "fold": 0, "seed": spawn_key(INNER_FOLD)}


@dataclass(frozen=True)
class ListedSplits:
    """Splits as a file lists them; None, or a split with an empty `inner`, is still to be drawn."""

    scheme: str
    outer: tuple[Split, ...]
    inner_scheme: str | None = None
    seed: int | None = None
    final: Split | None = None
    subsamples: tuple[Split, ...] | None = None


def read_split_file(path: str, samples: Samples) -> ListedSplits:
    """Return the splits of a JSON file, which lists sample names.

    The shortest file is ``{"outer": [{"train": [...], "test": [...]}, ...]}``; every key of a
    complete splits.json may be added.

    Raises InvalidInput: one line for every list with an unknown or repeated name, and for every
        overlap.
    """
    raw = _load(path)
    if problems := list(_form_problems(path, raw)):
        raise InvalidInput(problems)
    final = raw.get("final")
    subsamples = raw.get("subsamples")
    listed = ListedSplits(
        scheme=str(raw.get("scheme", "file")),
        outer=_complete_splits(raw["outer"]),
        inner_scheme=raw.get("inner_scheme"),
        seed=raw.get("seed"),
        final=None if final is None else _complete_splits([FINAL_SPLIT_DEFAULTS | final])[0],
        subsamples=None if subsamples is None else _complete_splits(subsamples),
    )
    if problems := list(_name_problems(path, listed, samples)):
        raise InvalidInput(problems)
    return listed


def _load(path: str) -> dict[str, Any]:
    """Return the JSON object of a split file."""
    if not Path(path).is_file():
        raise LocatedError("splits.file", f"there is no file '{path}'")
    try:
        raw = load_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise GenesigError(f"{path}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise GenesigError(f'{path}: needed is an object {{"outer": [...]}}')
    return raw


def _form_problems(path: str, raw: dict[str, Any]) -> Iterator[Problem]:
    """Yield a problem for each key of a split file with a value of the wrong form."""
    requirement = (
        "needed are objects with the lists 'train' and 'test' (and 'inner', a list of lists); "
        "'name' is a text, 'repeat' and 'fold' are whole numbers from 0, 'seed' is a list of these"
    )
    for key in ("outer", "subsamples"):
        value = raw.get(key, [])
        if not isinstance(value, list) or not all(map(_is_split, value)):
            yield Problem(f"{path}, '{key}'", requirement)
    if raw.get("final") is not None and not _is_split(raw["final"]):
        yield Problem(f"{path}, 'final'", requirement)
    if not raw.get("outer"):
        yield Problem(f"{path}, 'outer'", "at least one split is needed")
    for key in ("scheme", "inner_scheme"):
        if not isinstance(raw.get(key), str | None):
            yield Problem(f"{path}, '{key}'", f"{raw[key]!r} is not of type str")
    if raw.get("seed") is not None and not _is_count(raw["seed"]):
        yield Problem(f"{path}, 'seed'", f"{raw['seed']!r} is not a whole number from 0")


def _is_split(value: Any) -> bool:
    """Tell whether a JSON value has the form of a split."""
    return (
        isinstance(value, dict)
        and all(_are_names(value.get(side)) for side in ("train", "test"))
        and isinstance(value.get("inner", []), list)
        and all(map(_are_names, value.get("inner", [])))
        and isinstance(value.get("name", ""), str)
        and all(_is_count(value.get(key, 1)) for key in ("repeat", "fold"))
        and isinstance(value.get("seed", []), list)  # the spawn key of the split
        and all(map(_is_count, value.get("seed", [])))
    )


def _is_count(value: Any) -> bool:
    """Tell whether a value is a whole number from 0, as seeds of random numbers are."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_names(value: Any) -> bool:
    """Tell whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _complete_splits(raw: list[dict[str, Any]]) -> tuple[Split, ...]:
    """Return splits from JSON objects, with defaults for missing keys and sorted names."""
    filled = []
    for position, raw_split in enumerate(raw, start=1):
        split: dict[str, Any] = {
            "name": f"split{position}",
            "repeat": 1,
            "fold": position,
            "inner": [],
        }
        split |= raw_split
        split |= {side: sorted(split[side]) for side in ("train", "test")}
        split["inner"] = [sorted(fold) for fold in split["inner"]]
        key = spawn_key(OUTER_SPLIT, split=split["repeat"], fold=split["fold"])
        filled.append(Split.from_json({"seed": key} | split))
    return tuple(filled)


def _name_problems(path: str, listed: ListedSplits, samples: Samples) -> Iterator[Problem]:
    """Yield a problem for repeated split names, and for sample names that do not fit."""
    final = () if listed.final is None else (listed.final,)
    all_splits = (*listed.outer, *final, *(listed.subsamples or ()))
    for name, count in Counter(split.name for split in all_splits).items():
        if count > 1:
            yield Problem(path, f"{count} splits are named '{name}'; names must differ")
    list_problems: list[Problem] = []
    for split in all_splits:
        location = f"{path}, split {split.name}"
        sides = split.train + split.test
        list_problems += _list_problems(location, "train or test", sides, samples.names, "a sample")
        fold_names = tuple(name for fold in split.inner for name in fold)
        list_problems += _list_problems(
            location, "the inner folds", fold_names, split.train, "in 'train'"
        )
    if len(list_problems) <= MAX_LISTED_PROBLEMS:
        yield from list_problems
        return
    # Names of another study give the same problem in every split: only the first one is shown.
    other_problems = counted(len(list_problems) - 1, "further problem")
    message = (
        f"{list_problems[0].message}; {other_problems} of this kind: is it the file of another"
        " study?"
    )
    yield Problem(list_problems[0].location, message)


def _list_problems(
    location: str,
    list_name: str,
    names: tuple[str, ...],
    allowed_names: tuple[str, ...],
    requirement: str,
) -> Iterator[Problem]:
    """Yield a problem for unknown names in a list, and for each name that is repeated.

    list_name, requirement: the list, and a description of its allowed names, for messages.
    """
    if unknown_names := [name for name in dict.fromkeys(names) if name not in allowed_names]:
        statement = (
            f"is not {requirement}" if len(unknown_names) == 1 else f"are not {requirement} each"
        )
        suggestion = (
            did_you_mean(unknown_names[0], allowed_names)
            or "; correct that, or draw the splits again"
        )
        yield Problem(location, f"{listing(unknown_names)} of {list_name} {statement}{suggestion}")
    for name, count in Counter(names).items():
        if count > 1:
            yield Problem(location, f"'{name}' occurs {count} times in {list_name}; keep it once")


MAX_OUTER_SPLITS = 2000  # all splits within these three limits are drawn in about ten seconds
MAX_INNER_FOLDS = 40_000  # largest number of inner folds of all outer splits together
MAX_SAMPLE_NAMES = 20_000_000  # largest number of sample names in all of these
# level of a faulty split -> what to choose instead
REMEDY = {
    "outer": "another splits.scheme, number of splits.folds or seed",
    "inner": "another splits.inner_scheme, number of splits.inner_folds or seed",
    "subsample": "splits.subsamples: 0 (no stability), or more samples of the rarer class",
}


def excess_message(n_outer: int, n_inner: int, n_samples: int = 1) -> str | None:
    """Return a message if more splits than any study needs would be drawn, otherwise None.

    n_inner: number of inner folds of each outer split. n_samples: 1 if it is not known.
    """
    max_fits = min(MAX_INNER_FOLDS, MAX_SAMPLE_NAMES // n_samples)
    remedy = "take fewer splits.repeats, splits.folds"
    if n_outer > MAX_OUTER_SPLITS:
        return f"{n_outer} outer splits, at most {MAX_OUTER_SPLITS}; {remedy}, or a k-fold scheme"
    if n_outer * n_inner > max_fits:
        folds = f"{n_outer} outer splits of {n_inner} inner folds each are {n_outer * n_inner} fits"
        return f"{folds}, at most {max_fits}; {remedy} or splits.inner_folds"
    return None


def outer_faults(samples: Samples, outer: Sequence[Split]) -> Iterator[Problem]:
    """Yield a problem for each empty test set, divided group and faulty outer training set."""
    for split in outer:
        location = f"split {split.name}"
        train = samples.rows(split.train)
        if not split.test:
            yield Problem(location, f"no test samples; choose {REMEDY['outer']}")
        yield from _split_group_problems(samples, location, train, samples.rows(split.test))
        yield from _response_problems(samples, location, train, "outer")


def inner_faults(samples: Samples, splits: Splits) -> Iterator[Problem]:
    """Yield a problem for each inner fold and subsample that cannot be used, see `_fold_faults`."""
    for split in (*splits.outer, splits.final):
        yield from _fold_faults(samples, f"split {split.name}", split, "inner")
    for split in splits.subsamples:
        location = f"subsample {split.name}"
        side_problems = list(
            _response_problems(samples, location, samples.rows(split.train), "subsample")
        )
        yield from side_problems or _fold_faults(samples, location, split, "subsample")
    if unpaired := list(_pair_faults(samples, splits.subsamples)):
        message = unpaired[0].message + further_text(len(unpaired) - 1, "pair")
        yield Problem(unpaired[0].location, message)


def _fold_faults(
    samples: Samples, split_location: str, split: Split, level: str
) -> Iterator[Problem]:
    """Yield a problem for each empty inner fold, divided group and faulty inner training set.

    level: key of `REMEDY`.
    """
    for fold_number, fold in enumerate(split.inner, start=1):
        location = f"{split_location}, inner fold {fold_number}"
        if not fold:
            yield Problem(location, f"no validation samples; choose {REMEDY[level]}")
        train = samples.rows(sorted(set(split.train) - set(fold)))
        yield from _split_group_problems(samples, location, train, samples.rows(fold))
        yield from _response_problems(samples, location, train, level)


def _pair_faults(samples: Samples, halves: Sequence[Split]) -> Iterator[Problem]:
    """Yield a problem for each pair of subsamples that share samples or groups, or lack a half."""
    requirement = "stability compares disjoint halves, listed one pair after the other"
    for first_half, second_half in zip_longest(halves[0::2], halves[1::2]):
        if second_half is None:
            yield Problem(f"subsample {first_half.name}", f"has no partner; {requirement}")
            continue
        location = f"subsamples {first_half.name} and {second_half.name}"
        if shared := [name for name in first_half.train if name in second_half.train]:
            yield Problem(location, f"have {listing(shared)} in common; {requirement}")
        rows = (samples.rows(half.train) for half in (first_half, second_half))
        yield from islice(_split_group_problems(samples, location, *rows), 1)  # the first group


def _split_group_problems(
    samples: Samples, location: str, train: Array, test: Array
) -> Iterator[Problem]:
    """Yield a problem for each group with samples on both sides of a split.

    train, test: rows of the samples of each side.
    """
    if samples.groups is not None:
        for group in np.intersect1d(samples.groups[train], samples.groups[test]):
            yield Problem(location, f"group '{group}' has samples on both sides; keep it whole")


def _response_problems(
    samples: Samples, location: str, train: Array, level: str
) -> Iterator[Problem]:
    """Yield a problem if a training set has too few different responses.

    train (n_train,) int: its rows. level: key of `REMEDY`.
    """
    if fault := samples.kind.training_fault(samples.y[train], samples.classes):
        sentence = f"its {len(train)} training samples {fault}; choose {REMEDY[level]}"
        yield Problem(location, sentence)
