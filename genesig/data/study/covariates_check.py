"""Covariates and sample weights: whether the sample table has what a model can hold fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import SAMPLES_PER_COVARIATE, are_codes
from genesig.data.study.labels.known import LABELS
from genesig.data.study.labels.record import BY_SIGHT
from genesig.data.study.pool.record import WEIGHT
from genesig.data.study.sheet_check import Sheet, check_column
from genesig.errors import Problem, did_you_mean
from genesig.response.covariates import Covariate, encoded, knots_for, names_of
from genesig.response.design import BALANCED, label_columns
from genesig.response.known import RESPONSES
from genesig.results import Splits
from genesig.words import (
    counted,
    flow_yaml,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
)

if TYPE_CHECKING:
    import pandas as pd

Config = dict[str, Any]

SPARE = 3
"""Samples more than columns in every training set: for the mean, and for something to be left."""
ENOUGH = 2 * SAMPLES_PER_COVARIATE
"""Samples for each column of covariates, below which numbers enter as straight lines."""
SAME = 1e-9
"""Share of a column's variance that is left where another one, or the label, says the same."""


def fixed_settings(config: Config) -> Iterator[tuple[str, str]]:
    """Yield what keys of the config say against covariates and weights, as `check_settings` has it.

    Not offered with them: the nonlinear part, gene sets and matched pairs.
    """
    data = config["data"]
    label = config["label"]
    covariates = data["covariates"]
    weights = data["weights"]
    kind = LABELS[data["task"]]
    own = {
        data["group"]: "data.group",
        data["pair"]: "data.pair",
        **dict.fromkeys(label_columns(label), "the label"),
    }
    for number, name in enumerate(covariates, 1):
        if name in own:
            yield f"data.covariates, item {number}", f"'{name}' is {own[name]}; take it out"
    if weights in label_columns(label):
        yield "data.weights", f"'{weights}' is the label; name a column of numbers, or balanced"
    if weights == BALANCED and not kind.named and "weights" in kind.held:
        yield "data.weights", "'balanced' weighs classes, and here are none; name a column, or null"
    of_studies = not covariates and weights == WEIGHT  # which nobody wrote into the config
    key = "data.covariates" if covariates else "data.weights"
    for message in unquoted(data["covariate_words"]):
        yield "data.covariate_words", message
    for name in data["covariate_words"]:
        if name not in covariates:
            near = did_you_mean(name, covariates) or "; name it in data.covariates, or take it out"
            yield "data.covariate_words", f"'{name}' is none of data.covariates{near}"
    for number, name in enumerate(data["categorical_covariates"], 1):
        if name not in covariates:
            near = did_you_mean(name, covariates) or "; name it there, too, or take it out"
            place = f"data.categorical_covariates, item {number}"
            yield place, f"'{name}' is none of data.covariates{near}"
    if not covariates and weights is None:
        if data["missing_covariates"] != "refuse":
            yield "data.missing_covariates", "is for data.covariates; name some, or take it away"
        return
    for name in ("covariates", "weights"):
        if data[name] and name not in kind.held:
            yield f"data.{name}", f"is not offered with data.task: {data['task']}; take it away"
    if of_studies:
        yield from _alike(config)
        return
    if data["pair"] is not None:
        message = (
            "is not offered with data.pair; a pair holds fixed what its samples share already"
            ", so take one of the two away"
        )
        yield key, message
    if config.get("nonlinear", {}).get("enabled"):
        yield key, "is not offered with the nonlinear part; set nonlinear.enabled: false"
    if config.get("structured", {}).get("sets") is not None:
        yield key, "is not offered with gene sets; take structured.sets away"


def _alike(config: Config) -> Iterator[tuple[str, str]]:
    """Yield what is not offered where studies count alike, each sample having a weight for that."""
    asked = {
        "data.pair": config["data"]["pair"] is not None,
        "the nonlinear part": config.get("nonlinear", {}).get("enabled"),
        "gene sets": config.get("structured", {}).get("sets") is not None,
    }
    for name in (name for name, is_asked in asked.items() if is_asked):
        yield "across.weights", f"'equal' is not offered with {name}; set it to samples"


def unquoted(words: Mapping[str, Mapping[Any, str]]) -> Iterator[str]:
    """Yield that YAML has taken a word for true or false."""
    for column, its in words.items():
        if any(isinstance(word, bool) for word in its):
            message = (
                f"YAML reads a word of '{column}' as true or false; put yes, no, on, off in quotes"
            )
            yield message
            return


def with_fixed(
    sheet: Sheet,
    place: str,
    problems: list[Problem],
    *,
    covariates: Sequence[str],
    words: Mapping[str, Mapping[Any, str]],
    missing: str,
    shape: str,
    weights: str | None,
    categorical: Sequence[str] = (),
) -> Sheet:
    """Return the sheet with what its study holds fixed; add what is wrong with that to `problems`.

    Parameters
    ----------
    sheet : Sheet
        Without fault but for this.
    place : str
        Its file, in messages.
    covariates, words, missing, shape, weights, categorical
        ``data.covariates``, ``data.covariate_words``, ``data.missing_covariates``,
        ``data.covariate_shape``, ``data.weights`` and ``data.categorical_covariates``.
    """
    obs = sheet.obs
    design = sheet.design
    kind = RESPONSES[design.kind]
    y = kind.number(kind.read(obs, design))
    known = list(obs.columns)
    index = str(obs.index.name)
    for name in covariates:
        check_column(name, "data.covariates", known, index, place, problems)
    usable = set(known) - {design.label, design.group, design.pair}  # see `fixed_settings`
    columns = [obs[name] for name in covariates if name in usable]
    found = _shaped(columns, shape, words, categorical)
    problems += [warning for each in found for warning in _respelt(each, obs, place)]
    obs = obs.assign(**{each.column: each.spelt(obs[each.column]) for each in found})
    faults = [
        fault
        for covariate in found
        for fault in _of_one(
            covariate, obs, missing, place, categorical=covariate.column in categorical
        )
    ]
    problems += faults
    if not any(fault.level == "error" for fault in faults):
        problems += _of_all(found, obs, y, place)
    if weights is not None and weights != BALANCED:
        check_column(weights, "data.weights", known, index, place, problems)
        if weights in known and weights != design.label:
            problems += _of_weights(obs[weights], sheet, place)
    held = replace(design, covariates=found, filled=missing == "mean", weights=weights)
    return replace(sheet, obs=obs, design=held)


def _shaped(
    columns: Sequence[pd.Series[str]],
    shape: str,
    words: Mapping[str, Mapping[Any, str]],
    categorical: Sequence[str],
) -> tuple[Covariate, ...]:
    """Return the covariates; numbers as splines, unless they are too many for the samples."""
    n = max(map(len, columns), default=0)
    knots = knots_for(n) if shape == "splines" else 0
    meant = {name: {str(word): of for word, of in its.items()} for name, its in words.items()}
    found = tuple(
        Covariate.from_cells(name, column, knots, meant.get(name), categorical=name in categorical)
        for name, column in ((str(column.name), column) for column in columns)
    )
    if ENOUGH * len(names_of(found)) > n:
        return tuple(replace(each, knots=0) for each in found)
    return found


def _respelt(covariate: Covariate, obs: pd.DataFrame, place: str) -> Iterator[Problem]:
    """Yield the words that are taken for a level spelt otherwise: one thing is meant, or two."""
    cells = [cell for cell in obs[covariate.column] if not is_missing(cell)]
    taken = dict(zip(cells, covariate.spelt(cells), strict=True))
    other = {cell: level for cell, level in taken.items() if cell != level}
    unsaid = [cell for cell in other if cell not in covariate.words]
    if unsaid:
        message = (
            f"data.covariates: '{unsaid[0]}' is read as '{other[unsaid[0]]}', from which it "
            f"differs in {BY_SIGHT}{too(len(unsaid) - 1, 'word')}"
        )
        yield Problem(f"{place}, column '{covariate.column}'", message, "warning")


def _of_one(
    covariate: Covariate, obs: pd.DataFrame, missing: str, place: str, *, categorical: bool
) -> Iterator[Problem]:
    """Yield what is wrong with a column of covariates; `categorical` says that it has names."""
    column = obs[covariate.column].astype(str)
    at = f"{place}, column '{covariate.column}'"
    blank = [str(name) for name, cell in column.items() if is_missing(cell)]
    if len(blank) == len(column):
        yield Problem(at, "data.covariates: no sample has a value; take it out")
        return
    if blank and missing == "refuse":
        message = (
            f"data.covariates: no value for {counted(len(blank), 'sample')} of {len(column)} "
            f"({listing(blank)}); fill them in, or set data.missing_covariates: mean"
        )
        yield Problem(at, message)
    cells = {str(name): cell for name, cell in column.items() if not is_missing(cell)}
    times = Counter(cells.values())
    if len(times) == 1:
        message = (
            f"data.covariates: every sample is '{next(iter(times))}', which holds nothing fixed"
            "; take it out"
        )
        yield Problem(at, message)
    elif categorical:
        yield from _too_many_words(times, len(obs), at)
    elif covariate.levels is not None:
        yield from _of_words(covariate, obs, cells, place)
    elif are_codes(covariate.column, list(cells.values())):
        numbers = sorted(times, key=float)
        message = (
            f"data.covariates: its numbers, {numbers[0]} to {numbers[-1]}, count as a quantity; "
            "if they are names, such as numbers of centres, set "
            f"data: {flow({'categorical_covariates': [covariate.column]})}"
        )
        yield Problem(at, message, "note", "numbers_may_be_names", "data.categorical_covariates")


def _of_words(
    covariate: Covariate, obs: pd.DataFrame, cells: dict[str, str], place: str
) -> Iterator[Problem]:
    """Yield what looks wrong with a column of words: numbers among them, or names."""
    at = f"{place}, column '{covariate.column}'"
    times = Counter(cells.values())
    odd = [(name, cell) for name, cell in cells.items() if not is_number(cell)]
    with_point = [cell for _, cell in odd if is_number(cell.replace(",", "."))]
    if 2 * (len(odd) - len(with_point)) < len(cells):
        name, cell = odd[0]
        message = f"data.covariates: the value of '{name}' {number_fault(cell)}"
        if 2 * len(odd) < len(cells):
            message += "; the others are numbers: correct it, or leave it blank"
        yield Problem(at, message + too(len(odd) - 1, "sample"))
        return
    yield from _too_many_words(times, len(obs), at)


def _too_many_words(times: Mapping[str, int], n_samples: int, at: str) -> Iterator[Problem]:
    if SAMPLES_PER_COVARIATE * (len(times) - 1) > n_samples:
        message = (
            f"data.covariates: {len(times)} words for {counted(n_samples, 'sample')}; at most "
            f"{1 + n_samples // SAMPLES_PER_COVARIATE} can be held fixed: put rare ones together, or take it "
            "out"
        )
        yield Problem(at, message)


def check_trained(sheet: Sheet, splits: Splits, place: str) -> Iterator[Problem]:
    """Yield what the splits leave of covariates and weights.

    Too few samples, words never seen, and training sets of which what has weight cannot be learned.
    """
    columns = len(names_of(sheet.design.covariates))
    for trained, message, remedy in (
        ([*splits.outer, splits.final], "training set", "more splits.folds and splits.inner_folds"),
        (splits.subsamples, "training set of a half", "splits.subsamples: 0 (no stability)"),
    ):
        sizes = [len(one.train) - max(map(len, one.inner), default=0) for one in trained]
        if columns and sizes and min(sizes) < columns + SPARE:
            told = f"data.covariates make {counted(columns, 'column')}, and the smallest {message} has "
            told += f"{counted(min(sizes), 'sample')}; at least {columns + SPARE} are needed: take "
            yield Problem(place, f"{told}some out, or set {remedy}")
            break
    yield from _unseen(sheet, splits, place)
    yield from _boundless(sheet, splits, place)
    if sheet.design.weights not in (None, BALANCED):
        yield from _weightless(sheet, splits, f"{place}, column '{sheet.design.weights}'")


def _unseen(sheet: Sheet, splits: Splits, place: str) -> Iterator[Problem]:
    """Yield the words of a covariate that a test sample has and no sample it is tested with."""
    for covariate in sheet.design.covariates:
        if covariate.levels is None:
            continue
        cells = sheet.obs[covariate.column].to_dict()
        torn = [
            unseen
            for split in splits.outer
            if (
                unseen := {cells[name] for name in split.test if not is_missing(cells[name])}
                - {cells[name] for name in split.train}
            )
        ]
        if torn:
            message = (
                f"data.covariates: in {counted(len(torn), 'split')} of {len(splits.outer)} no "
                f"training sample is {listing(sorted(set().union(*torn)))}, which counts as "
                f"'{covariate.levels[0]}' there"
            )
            yield Problem(f"{place}, column '{covariate.column}'", message, "warning")


def _boundless(sheet: Sheet, splits: Splits, place: str) -> Iterator[Problem]:
    """Yield the words of a covariate whose weight has no finite value in some training set."""
    kind = RESPONSES[sheet.design.kind]
    design = sheet.design
    every = [*splits.outer, splits.final]
    y = kind.read(sheet.obs, design)
    trained = [sheet.obs.index.isin(one.train) for one in every]
    for covariate in design.covariates:
        cells = sheet.obs[covariate.column].to_numpy(dtype=object)
        for word in covariate.levels or ():
            own = cells == word
            sets = [own & inside for inside in trained]
            torn = sum(bool(one.any()) and kind.has_infinite_weight(y[one]) for one in sets)
            if torn:
                message = (
                    f"data.covariates: '{word}' has {counted(int(own.sum()), 'sample')} and "
                    f"{kind.describe_counts(y[own], design.classes)}; in {torn} of "
                    f"{counted(len(sets), 'training set')} its weight has no finite value, and "
                    "a small ridge holds the covariates there: give its samples another word, "
                    "leave them out, or leave their cells blank and set "
                    "data.missing_covariates: mean"
                )
                yield Problem(f"{place}, column '{covariate.column}'", message, "warning")


def _weightless(sheet: Sheet, splits: Splits, at: str) -> Iterator[Problem]:
    """Yield the training sets, inner ones too, where what has weight cannot be learned from."""
    kind = RESPONSES[sheet.design.kind]
    design = sheet.design
    y = kind.read(sheet.obs, design)
    names = sheet.obs.index
    heavy = sheet.obs[design.weights].astype(float).to_numpy() > 0
    found = [
        kind.training_fault(y[heavy & names.isin(one.train) & ~names.isin(fold)], design.classes)
        for one in [*splits.outer, splits.final, *splits.subsamples]
        for fold in [(), *one.inner]
    ]
    if told := [why for why in found if why]:
        message = (
            f"data.weights: in {len(told)} of {counted(len(found), 'training set')} the samples "
            f"with a weight above 0 {told[0]}; give more of the samples a weight above 0, or "
            "set data.weights: null"
        )
        yield Problem(at, message)


def _of_all(
    found: Sequence[Covariate], obs: pd.DataFrame, y: Array, place: str
) -> Iterator[Problem]:
    """Yield too many columns, one that others say, and the label said by them."""
    lines = [replace(each, knots=0) for each in found]
    names = names_of(lines)
    C = encoded(found, obs)
    if SAMPLES_PER_COVARIATE * len(names) > len(obs):
        message = (
            f"data.covariates make {counted(len(names), 'column')} for "
            f"{counted(len(obs), 'sample')}; at most {len(obs) // SAMPLES_PER_COVARIATE} can be held fixed, "
            "so take some out"
        )
        yield Problem(place, message)
        return
    C = np.where(np.isnan(C), np.nanmean(C, axis=0) if len(C) else 0.0, C)
    C = (C - C.mean(axis=0)) / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    if names and _left(C, y) <= SAME:
        message = (
            f"data.covariates: {listing(names)} give the label exactly, so that expression has "
            "nothing to add; take out what is the label by another name"
        )
        yield Problem(place, message)
        return
    for at, name in enumerate(names):
        if at and _left(C[:, :at], C[:, at]) <= SAME:
            message = (
                f"data.covariates: '{name}' follows from {listing(names[:at])}; one weight can "
                "not be told from the other's"
            )
            yield Problem(place, message, "warning")


def _left(C: Array, y: Array) -> float:
    """Return the share of the variance of y (n,) or (n, T) that the columns of C leave."""
    y = y - y.mean(axis=0)
    rest = y - C @ np.linalg.lstsq(C, y, rcond=None)[0]
    total = float(np.sum(y**2))
    return float(np.sum(rest**2)) / total if total > 0 else 1.0


def _of_weights(column: pd.Series[str], sheet: Sheet, place: str) -> Iterator[Problem]:
    at = f"{place}, column '{column.name}'"
    cells = {str(name): str(cell) for name, cell in column.items()}
    wrong = [name for name, cell in cells.items() if not is_number(cell) or float(cell) < 0]
    if wrong:
        cell = cells[wrong[0]]
        fault = f"is {cell}, below 0" if is_number(cell) else number_fault(cell)
        message = (
            f"data.weights: the weight of '{wrong[0]}' {fault}{too(len(wrong) - 1, 'sample')}"
            "; each sample needs a number, 0 or more"
        )
        yield Problem(at, message)
        return
    v = np.array([float(cell) for cell in cells.values()])
    if not v.any():
        yield Problem(at, "data.weights: every weight is 0; some must be above")
        return
    kind = RESPONSES[sheet.design.kind]
    classes = sheet.design.classes
    y = kind.read(sheet.obs, sheet.design)
    if kind.training_fault(y, classes) is None and (why := kind.training_fault(y[v > 0], classes)):
        yield Problem(at, f"data.weights: the samples with a weight above 0 {why}")
    elif v.sum() ** 2 < len(v) / 2 * (v @ v):
        message = (
            f"data.weights: so uneven that {len(v)} samples are worth "
            f"{v.sum() ** 2 / (v @ v):.0f} (Kish's effective sample size)"
        )
        yield Problem(at, message, "warning")
