"""Survival: a column of times, and one that says whether the event came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from genesig.arrays import Array
from genesig.data.files.event_columns import event_word
from genesig.data.study.labels.record import Asked, Chosen, Config, Found, Labels, exchanged, place
from genesig.data.study.labels.times import check_blank_times, check_event_coding
from genesig.errors import Problem, did_you_mean
from genesig.response.survival import happened
from genesig.words import (
    counted,
    flow_yaml,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
)

DEFAULTS: Config = {
    "linear": {
        "criterion": "partial_likelihood",
        "tolerance": 1e-7,
        "tau_min": 0.05,
        "lam": [1e-2, 1e-1, 1.0],
    },
    "nonlinear": {"enabled": False},
}
ALONE = ("leave_one_out", "leave_one_group_out")


def _choose(asked: Asked, problems: list[Problem]) -> Chosen:
    settings = asked.settings
    event = asked.columns[1]
    if faults := list(exchanged(asked.table, asked.columns, settings["event"])):
        problems.append(Problem(f"{asked.where}, column '{asked.label}'", faults[0]))
        return Chosen(more={"event": event})
    columns = (asked.label, event)
    blank_times = list(check_blank_times(asked.table, asked.where, *columns, settings["event"]))
    if blank_times:
        problems += blank_times
        return Chosen(more={"event": event})
    if "places" not in asked.table.attrs:  # of several studies each has been checked by itself
        problems += check_event_coding(
            asked.table, asked.where, columns, settings["event"], "data.event"
        )
    blank = {str(name) for name, cell in asked.table[event].items() if is_missing(cell)}
    blank &= {str(name) for name in asked.labels.index}
    if blank:
        message = (
            f"no event or censoring for {listing(n for n in asked.labels.index if n in blank)}; "
            f"left out of the study ({len(blank)} of {len(asked.table)})"
        )
        problems.append(Problem(f"{asked.where}, column '{event}'", message, "warning"))
    kept = [name for name in asked.labels.index if name not in blank]
    found = list(_check_times(asked, kept))
    word, wrong = _word(asked, event, kept)
    problems += found + wrong
    more = {"event": event, "occurred": word, "ties": settings["ties"]}
    if not any(problem.level == "error" for problem in found + wrong):
        time = np.array([float(asked.labels[name]) for name in kept])
        event_of = np.array([happened(asked.table[event][name], word) for name in kept])
        problems += _check_both(asked, event, time, event_of)
        horizon = settings["horizon"]
        more["horizon"] = float(np.median(time)) if horizon is None else float(horizon)
    return Chosen(dropped=dict.fromkeys(sorted(blank), f"no event in column '{event}'"), more=more)


def _check_times(asked: Asked, kept: list[str]) -> Iterator[Problem]:
    table = asked.table
    column = asked.label
    at = f"{asked.where}, column '{column}'"
    places = [row for row, name in enumerate(table.index) if name in set(kept)]
    cells = {row: str(table[column].iloc[row]) for row in places}
    odd = {row: number_fault(cell) for row, cell in cells.items() if not is_number(cell)}
    odd |= {
        row: f"is {cell.strip()}, before the start"
        for row, cell in cells.items()
        if is_number(cell) and float(cell) < 0
    }
    for row, message in list(odd.items())[:1]:
        where = place(table, row, column, asked.where)
        said = (
            f"the time of '{table.index[row]}' {message}; survival needs a time of at least 0 for "
        )
        yield Problem(where, f"{said}each sample{too(len(odd) - 1, 'sample')}")
    if not odd and len({float(cell) for cell in cells.values()}) < 2:
        found = f"every time is {next(iter(cells.values()))}" if cells else "no sample has a time"
        yield Problem(at, f"{found}; survival needs times that differ")


def _word(asked: Asked, event: str, kept: list[str]) -> tuple[str, list[Problem]]:
    """Return the word that is an event, and what speaks against it."""
    at = f"{asked.where}, column '{event}'"
    word = asked.settings["event"]
    counts = Counter(str(asked.table[event][name]).strip() for name in kept)
    found = ", ".join(f"'{cell}' ({times})" for cell, times in counts.most_common(6))
    if word is None:
        strange = [cell for cell in counts if not (is_number(cell) and float(cell) in (0, 1))]
        if strange:
            message = (
                f"data.event must say which word is the event, found {found}; for example "
                f"data: {flow({'event': event_word(counts, event)})}"
            )
            return "1", [Problem(at, message)]
        return "1", []
    if not any(happened(cell, word) for cell in counts):
        near = did_you_mean(word, counts) or f"; name one of {found}"
        return word, [Problem(at, f"data.event: no sample is '{word}'{near}")]
    others = [cell for cell in counts if not happened(cell, word)]
    if len(others) > 1:
        message = f"{listing(others)} all count as censored, only '{word}' as the event"
        return word, [Problem(at, message, "warning")]
    return word, []


def _check_both(asked: Asked, column: str, time: Array, event: Array) -> Iterator[Problem]:
    at = f"{asked.where}, column '{column}'"
    horizon = asked.settings["horizon"]
    if not event.any():
        message = (
            f"no event among {counted(len(time), 'sample')}, all are censored; nothing can be "
            "learned from them, name the word of the event in data.event"
        )
        yield Problem(at, message)
        return
    if time[event].min() >= time.max():
        yield Problem(
            at,
            "no event that anyone outlived, so nothing can be learned from these "
            "times; correct them, or set data.event",
        )
        return
    first = float(time[event].min())
    last = float(time.max())
    if horizon is not None and not first <= horizon < last:
        message = (
            f"data.horizon: {horizon:g} lies outside of the events, {first:g}, and the longest "
            f"time, {last:g}; name a time in between, or take it away for the median"
        )
        yield Problem(f"{asked.where}, column '{asked.label}'", message)


def _settings(config: Config) -> Found:
    linear = config["linear"]
    splits = config["splits"]
    if linear["criterion"] != "partial_likelihood":
        message = (
            f"'{linear['criterion']}' is no criterion of survival; set 'partial_likelihood', or "
            "take it away"
        )
        yield "linear.criterion", message
    if linear["solver"] != "landweber-newton":
        yield "linear.solver", f"'{linear['solver']}' does not solve survival; take it away"
    if linear["penalty"] != "l1":
        message = f"'{linear['penalty']}' is not offered for survival; set l1 or take it away"
        yield "linear.penalty", message
    if splits["scheme"] in ALONE and splits["file"] is None:
        message = (
            f"'{splits['scheme']}' leaves no pairs to compare in a test set; set "
            "stratified_kfold, or stratified_group_kfold with groups"
        )
        yield "splits.scheme", message
    if config.get("nonlinear", {}).get("enabled"):
        yield "nonlinear.enabled", "is not offered for survival; set it to false or take it away"


SURVIVAL = Labels(
    choose=_choose,
    settings=_settings,
    named=False,
    columns=("time", "event"),
    own=("event", "horizon"),
    one_of_a_group=True,
    step=0.0003,
    sets=8.0,
    held=("covariates", "weights"),
    defaults=DEFAULTS,
)
