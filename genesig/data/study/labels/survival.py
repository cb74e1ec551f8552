"""Check survival: a column of times and a column of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.event_columns import event_word
from genesig.data.files.names import Config
from genesig.data.study.labels.record import (
    LabelChoice,
    LabelRequest,
    LabelRules,
    SettingFaults,
    exchanged_column_faults,
    place_of_cell,
)
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

SURVIVAL_DEFAULTS: Config = {
    "linear": {
        "criterion": "partial_likelihood",
        "tolerance": 1e-7,
        "tau_min": 0.05,
        "lam": [1e-2, 1e-1, 1.0],
    },
    "nonlinear": {"enabled": False},
}
LEAVE_ONE_OUT_SCHEMES = ("leave_one_out", "leave_one_group_out")


def _choose_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Return the survival fields of the design and the samples without an event."""
    settings = request.settings
    event = request.columns[1]
    if faults := list(exchanged_column_faults(request.table, request.columns, settings.event)):
        problems.append(Problem(f"{request.file}, column '{request.label_column}'", faults[0]))
        return LabelChoice(design_fields={"event": event})
    columns = (request.label_column, event)
    blank_times = list(check_blank_times(request.table, request.file, *columns, settings.event))
    if blank_times:
        problems += blank_times
        return LabelChoice(design_fields={"event": event})
    if "places" not in request.table.attrs:  # not for joined tables: `read_member` has checked each
        problems += check_event_coding(
            request.table, request.file, columns, settings.event, "data.event"
        )
    blank_samples = {str(name) for name, cell in request.table[event].items() if is_missing(cell)}
    blank_samples &= {str(name) for name in request.labels.index}
    if blank_samples:
        message = (
            "no event or censoring for "
            f"{listing(sample for sample in request.labels.index if sample in blank_samples)}; "
            f"left out of the study ({len(blank_samples)} of {len(request.table)})"
        )
        problems.append(Problem(f"{request.file}, column '{event}'", message, "warning"))
    samples = [name for name in request.labels.index if name not in blank_samples]
    time_faults = list(_check_times(request, samples))
    occurred, event_faults = _choose_event(request, event, samples)
    problems += time_faults + event_faults
    design_fields: dict[str, Any] = {
        "event": event,
        "occurred": occurred,
        "ties": settings.ties,
    }
    if not any(problem.level == "error" for problem in time_faults + event_faults):
        times = np.array([float(request.labels[name]) for name in samples])
        has_event = np.array([happened(request.table[event][name], occurred) for name in samples])
        problems += _check_outcomes(request, event, times, has_event)
        horizon = settings.horizon
        design_fields["horizon"] = float(np.median(times)) if horizon is None else float(horizon)
    return LabelChoice(
        dropped=dict.fromkeys(sorted(blank_samples), f"no event in column '{event}'"),
        design_fields=design_fields,
    )


def _check_times(request: LabelRequest, samples: list[str]) -> Iterator[Problem]:
    """Yield a problem for times that are no numbers of at least 0, or do not vary."""
    table = request.table
    column = request.label_column
    time_location = f"{request.file}, column '{column}'"
    rows = [row for row, name in enumerate(table.index) if name in set(samples)]
    cells = {row: str(table[column].iloc[row]) for row in rows}
    fault_of_row = {row: number_fault(cell) for row, cell in cells.items() if not is_number(cell)}
    fault_of_row |= {
        row: f"is {cell.strip()}, before the start"
        for row, cell in cells.items()
        if is_number(cell) and float(cell) < 0
    }
    for row, fault in list(fault_of_row.items())[:1]:
        place = place_of_cell(table, row, column, request.file)
        message = (
            f"the time of '{table.index[row]}' {fault}; survival needs a time of at least 0 for "
            f"each sample{further_text(len(fault_of_row) - 1, 'sample')}"
        )
        yield Problem(place, message)
    if not fault_of_row and len({float(cell) for cell in cells.values()}) < 2:
        times_text = (
            f"every time is {next(iter(cells.values()))}" if cells else "no sample has a time"
        )
        yield Problem(time_location, f"{times_text}; survival needs times that differ")


def _choose_event(
    request: LabelRequest, event: str, samples: list[str]
) -> tuple[str, list[Problem]]:
    """Return the word that is the event, and the problems of that choice."""
    event_location = f"{request.file}, column '{event}'"
    word = request.settings.event
    counts = Counter(str(request.table[event][name]).strip() for name in samples)
    counts_text = ", ".join(f"'{cell}' ({n_samples})" for cell, n_samples in counts.most_common(6))
    if word is None:
        other_words = [cell for cell in counts if not (is_number(cell) and float(cell) in (0, 1))]
        if other_words:
            message = (
                f"data.event must say which word is the event, found {counts_text}; for example "
                f"data: {flow_yaml({'event': event_word(counts, event)})}"
            )
            return "1", [Problem(event_location, message)]
        return "1", []
    if not any(happened(cell, word) for cell in counts):
        advice = did_you_mean(word, counts) or f"; name one of {counts_text}"
        return word, [Problem(event_location, f"data.event: no sample is '{word}'{advice}")]
    censored_words = [cell for cell in counts if not happened(cell, word)]
    if len(censored_words) > 1:
        message = f"{listing(censored_words)} all count as censored, only '{word}' as the event"
        return word, [Problem(event_location, message, "warning")]
    return word, []


def _check_outcomes(
    request: LabelRequest, column: str, time: Array, event: Array
) -> Iterator[Problem]:
    """Yield a problem if there is no event, none is outlived, or the horizon is out of range."""
    event_location = f"{request.file}, column '{column}'"
    horizon = request.settings.horizon
    if not event.any():
        message = (
            f"no event among {counted(len(time), 'sample')}, all are censored; nothing can be "
            "learned from them, name the word of the event in data.event"
        )
        yield Problem(event_location, message)
        return
    if time[event].min() >= time.max():
        yield Problem(
            event_location,
            "no event that anyone outlived, so nothing can be learned from these "
            "times; correct them, or set data.event",
        )
        return
    first_event = float(time[event].min())
    longest_time = float(time.max())
    if horizon is not None and not first_event <= horizon < longest_time:
        message = (
            f"data.horizon: {horizon:g} lies outside of the events, {first_event:g}, and the "
            f"longest time, {longest_time:g}; name a time in between, or take it away for the "
            "median"
        )
        yield Problem(f"{request.file}, column '{request.label_column}'", message)


def _setting_faults(config: Config) -> SettingFaults:
    """Yield settings that do not fit survival."""
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
    if splits["scheme"] in LEAVE_ONE_OUT_SCHEMES and splits["file"] is None:
        message = (
            f"'{splits['scheme']}' leaves no pairs to compare in a test set; set "
            "stratified_kfold, or stratified_group_kfold with groups"
        )
        yield "splits.scheme", message
    if config.get("nonlinear", {}).get("enabled"):
        yield "nonlinear.enabled", "is not offered for survival; set it to false or take it away"


SURVIVAL_LABELS = LabelRules(
    choose_labels=_choose_labels,
    setting_faults=_setting_faults,
    has_classes=False,
    label_columns=("time", "event"),
    data_keys=("event", "horizon"),
    one_response_per_group=True,
    path_seconds=0.0003,
    set_path_factor=8.0,
    adjustments=("covariates", "weights"),
    defaults=SURVIVAL_DEFAULTS,
)
