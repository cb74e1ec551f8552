"""The rules of the sample table and of the settings for each kind of outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import event_word
from genesig.data.files.delimited import TextTable
from genesig.data.files.names import Config
from genesig.data.study.label_checks import (
    MAX_STUDY_CLASSES,
    censoring_warnings,
    check_class_words,
    check_event_coding,
    check_left_out_classes,
    check_missing_codes,
    check_times,
    check_zero_times,
    class_advice,
    converted_class_warnings,
    dated_death_warnings,
    exchanged_column_faults,
    number_advice,
    unknown_event_fault,
)
from genesig.data.study.settings import OutcomeSettings
from genesig.errors import Problem, did_you_mean, has_errors
from genesig.response.design import SEVERAL_CLASSES, label_columns
from genesig.response.kinds import ByKind, is_event
from genesig.words import (
    MAX_COUNTED_WORDS,
    as_word,
    control_first,
    counted,
    equal_looking,
    flow_yaml,
    further_in_brackets,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
    word_counts_text,
)

if TYPE_CHECKING:
    import pandas as pd

# (setting, message) of an error, or (setting, message, level); message begins with a verb or value
SettingFaults = Iterator[tuple[str, str] | tuple[str, str, str]]


class LabelRequest(NamedTuple):
    """The sample table, with the settings of its label: input of `LabelRules.choose_labels`."""

    table: TextTable  # all samples
    file: str  # file of the table, for messages
    columns: Sequence[str]  # columns of the response; the first one is the label
    labels: pd.Series[str]  # labels of the samples that have one
    settings: OutcomeSettings

    @property
    def label_column(self) -> str:
        """Column of the label, the first one of the response."""
        return self.columns[0]


MAX_NUMBERS_AS_CLASSES = 6  # different numbers that may be classes; more of them are quantities


@dataclass(frozen=True)
class LabelChoice:
    """The classes and samples that a kind of outcome chooses."""

    classes: tuple[str, ...] | None = None  # None for outcomes without classes
    dropped: dict[str, str] = field(default_factory=dict)  # name -> reason of each sample left out
    design_fields: dict[str, Any] = field(default_factory=dict)  # further fields of `Design`


@dataclass(frozen=True)
class LabelRules:
    """The checks and settings of one kind of outcome."""

    # returns the classes and samples of a request; appends problems to the list
    choose_labels: Callable[[LabelRequest, list[Problem]], LabelChoice]
    # yields (setting, message) of each setting that does not fit the kind of outcome
    setting_faults: Callable[[Config], SettingFaults]
    has_classes: bool  # whether there are classes, which another study may call otherwise
    # result of leave-one-out without any signal; '' if the kind refuses leave-one-out
    leave_one_out_result: str = ""
    data_keys: tuple[str, ...] = ()  # keys of the section `data` that only some kinds have
    # keys of the setting `label` that name columns; empty if it is one column
    label_columns: tuple[str, ...] = ()
    one_response_per_group: bool = False  # whether the samples of one group must have one response
    # seconds of one path of the lasso besides those of its matrix products; per class of several
    path_seconds: float = 0.0
    set_path_factor: float = 1.0  # time of a path over gene sets, relative to one of two classes
    # settings whose defaults differ from those of the schema
    defaults: Config = field(default_factory=dict)
    adjustments: tuple[str, ...] = ()  # which of `data.covariates` and `data.weights` are offered


def _choose_class_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Return the classes and the samples of other classes; append the problems."""
    file = request.file
    classes = _choose_classes(request, problems)
    problems += [
        Problem(f"{file}, column '{request.label_column}'", message, "warning", key="data.task")
        for message in dated_death_warnings(request.table.cells, request.label_column)
    ]
    problems.extend(converted_class_warnings(request.label_column, classes, file))
    if request.settings.classes is None:
        problems.extend(check_class_words(request.table, request.label_column, classes, file))
        return LabelChoice(classes)
    return LabelChoice(classes, _drop_other_classes(request.labels, classes, file, problems))


def _choose_classes(request: LabelRequest, problems: list[Problem]) -> tuple[str, ...]:
    """Return the classes of the config, or of the table (the control first if there are two).

    After the error that there are fewer than two classes, blank names fill their places.
    """
    classes = request.settings.classes
    n_samples_of_class = Counter(sorted(request.labels))
    label_location = f"{request.file}, column '{request.label_column}'"
    if classes is not None:
        for name in classes:
            if name not in n_samples_of_class:
                advice = (
                    did_you_mean(name, n_samples_of_class.keys() - set(classes))
                    or f"; name one of {listing(n_samples_of_class, MAX_COUNTED_WORDS)}"
                )
                problems.append(
                    Problem(
                        label_location,
                        f"data.classes: no sample is '{name}'{advice}",
                        key="data.classes",
                    )
                )
        return tuple(classes)
    if len(n_samples_of_class) < 2:
        fault_text = (
            f"every sample is {listing(n_samples_of_class)}"
            if n_samples_of_class
            else "no sample has a label"
        )
        problems.append(
            Problem(label_location, f"{fault_text}; two classes are needed", key="data.classes")
        )
    # `check_class_words` yields the error of classes that look equal.
    if len(n_samples_of_class) > 2 and not equal_looking(n_samples_of_class, as_word):
        problems.extend(
            _check_number_of_classes(
                n_samples_of_class,
                label_location,
                number_advice(request.table.cells, request.label_column),
            )
        )
    names = (
        control_first(list(n_samples_of_class))
        if len(n_samples_of_class) == 2
        else [*n_samples_of_class]
    )
    return tuple(names) if len(names) > 1 else (*names, "", "")[:2]


def _check_number_of_classes(
    n_samples_of_class: Counter[str], label_location: str, advice: str
) -> Iterator[Problem]:
    """Yield a note or an error if the table has more than two classes and the config names none.

    advice: what to do if the classes are numbers.
    """
    counts_text = word_counts_text(n_samples_of_class)
    n_further = len(n_samples_of_class) - MAX_COUNTED_WORDS
    further_classes = f" and {n_further} more" if n_further > 0 else ""
    message = f"{len(n_samples_of_class)} classes: {counts_text}{further_classes}"
    if len(n_samples_of_class) > MAX_NUMBERS_AS_CLASSES and all(map(is_number, n_samples_of_class)):
        yield Problem(label_location, f"{message}; {advice}", key="data.task")
        return
    two_classes_setting = flow_yaml(
        {"classes": control_first([name for name, _ in n_samples_of_class.most_common(2)])}
    )
    if len(n_samples_of_class) > MAX_STUDY_CLASSES:
        message += (
            f"; at most {MAX_STUDY_CLASSES} are distinguished, choose some, for example data: "
            f"{two_classes_setting}"
        )
        yield Problem(label_location, message, key="data.classes")
    else:
        message += (
            f", distinguished by one list of genes; data: {two_classes_setting} would compare two"
        )
        yield Problem(label_location, message, "note", key="data.classes")


def _drop_other_classes(
    labels: pd.Series[str], classes: tuple[str, ...], file: str, problems: list[Problem]
) -> dict[str, str]:
    """Return the samples that are of none of the classes, {name: reason}; append a warning."""
    class_of_sample = {str(name): label for name, label in labels.items() if label not in classes}
    if class_of_sample:
        n_samples_of_class = Counter(class_of_sample.values())
        counts_text = ", ".join(
            f"'{name}' ({counted(n_samples, 'sample')})"
            for name, n_samples in n_samples_of_class.items()
        )
        label_location = f"{file}, column '{labels.name}'"
        message = f"left out by data.classes: {counts_text}"
        problems.append(Problem(label_location, message, "warning", key="data.classes"))
        problems.extend(check_left_out_classes(n_samples_of_class, classes, label_location))
    return {
        name: f"class '{label}' is not in data.classes" for name, label in class_of_sample.items()
    }


def _class_setting_faults(config: Config) -> SettingFaults:
    """Yield settings that do not fit classes."""
    if config["linear"]["criterion"] == "partial_likelihood":
        yield "linear.criterion", "'partial_likelihood' is for survival; take it away"


TWO_CLASS_TEXT = "is for two classes; choose two by data.classes, or "


def _several_class_setting_faults(config: Config) -> SettingFaults:
    """Yield settings that are for two classes only."""
    linear = config["linear"]
    data = config["data"]
    if config["nonlinear"]["enabled"]:
        yield "nonlinear.enabled", f"{TWO_CLASS_TEXT}set false"
    if data["pair"] is not None:
        yield "data.pair", f"{TWO_CLASS_TEXT}name the column as data.group"
    if linear["penalty"] != "l1":
        yield "linear.penalty", f"'{linear['penalty']}' {TWO_CLASS_TEXT}use l1"
    if linear["threshold"] != "midpoint":
        yield "linear.threshold", f"'zero' {TWO_CLASS_TEXT}take it away"
    if linear["criterion"] == "log_loss":
        yield "linear.criterion", f"'log_loss' {TWO_CLASS_TEXT}set squared_error"
    if linear["solver"] != "landweber-newton":
        message = "does not know several classes; set landweber-newton"
        yield "linear.solver", f"'{linear['solver']}' {message}"


CLASS_CRITERIA = ("balanced_error", "misclassification", "log_loss")


def _choose_number_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Return a choice without classes that drops no sample; append the problems of the numbers."""
    _check_numbers(request.table, request.file, request.label_column, problems)
    problems.extend(check_missing_codes(request.table, request.label_column, request.file))
    label_location = f"{request.file}, column '{request.label_column}'"
    problems += [
        Problem(label_location, message, "warning", key="data.task")
        for message in censoring_warnings(request.table.cells, request.label_column)
    ]
    return LabelChoice()


def _check_numbers(table: TextTable, file: str, label: str, problems: list[Problem]) -> None:
    """Append a problem for labels that are no numbers, or do not vary."""
    values = list(table.cells[label])
    faulty_rows = [
        row for row, value in enumerate(values) if not (is_missing(value) or is_number(value))
    ]
    if faulty_rows:
        row = faulty_rows[0]
        place = table.place_of_cell(row, label, file)
        message = (
            f"the label of '{table.cells.index[row]}' {number_fault(values[row])}"
            f"{further_in_brackets(len(faulty_rows) - 1, 'cell')}; regression needs a number "
            f"for each sample{class_advice(table.cells, label)}"
        )
        problems.append(Problem(place, message))
    elif len({float(value) for value in values if not is_missing(value)}) < 2:
        message = "regression needs labels that vary; here is one value or none"
        problems.append(Problem(f"{file}, column '{label}'", message, key="data.task"))


def _number_setting_faults(config: Config) -> SettingFaults:
    """Yield criteria that do not fit numbers."""
    criterion = config["linear"]["criterion"]
    if criterion != "squared_error":
        requirement = "classes" if criterion in CLASS_CRITERIA else "survival"
        yield (
            "linear.criterion",
            f"'{criterion}' needs {requirement}; regression needs 'squared_error'",
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


def _choose_survival_labels(request: LabelRequest, problems: list[Problem]) -> LabelChoice:
    """Return the survival fields of the design and the samples whose event is blank.

    request.columns: (time, event). After an error later checks are left out.
    """
    settings = request.settings
    cells = request.table.cells
    event = request.columns[1]
    if faults := list(exchanged_column_faults(cells, request.columns, settings.event)):
        problems.append(Problem(f"{request.file}, column '{request.label_column}'", faults[0]))
        return LabelChoice(design_fields={"event": event})
    columns = (request.label_column, event)
    # Times with a plus sign or a unit would be reported again below, cell by cell; without the
    # samples of an outcome that lacks all times, later checks would find one outcome only.
    if column_faults := list(check_times(cells, request.file, *columns, settings.event)):
        problems += column_faults
        return LabelChoice(design_fields={"event": event})
    if not request.table.places:  # not for joined tables: `read_member` has checked each
        problems += check_event_coding(cells, request.file, columns, settings.event, "data.event")
        problems += check_zero_times(cells, request.file, columns, settings.event)
    blank_samples = {str(name) for name, cell in cells[event].items() if is_missing(cell)}
    blank_samples &= {str(name) for name in request.labels.index}
    if blank_samples:
        message = (
            "no event or censoring for "
            f"{listing(sample for sample in request.labels.index if sample in blank_samples)}; "
            f"left out of the study ({len(blank_samples)} of {len(cells)})"
        )
        problems.append(Problem(f"{request.file}, column '{event}'", message, "warning"))
    samples = [name for name in request.labels.index if name not in blank_samples]
    time_faults = list(_check_times_of_samples(request, samples))
    occurred, event_faults = _choose_event(request, event, samples)
    problems += time_faults + event_faults
    design_fields: dict[str, Any] = {"event": event, "occurred": occurred, "ties": settings.ties}
    if not has_errors(time_faults + event_faults):
        times = np.array([float(request.labels[name]) for name in samples])
        has_event = np.array([is_event(cells[event][name], occurred) for name in samples])
        problems += _check_outcomes(request, event, times, has_event)
        horizon = settings.horizon
        design_fields["horizon"] = float(np.median(times)) if horizon is None else float(horizon)
    return LabelChoice(
        dropped=dict.fromkeys(sorted(blank_samples), f"no event in column '{event}'"),
        design_fields=design_fields,
    )


def _check_times_of_samples(request: LabelRequest, samples: list[str]) -> Iterator[Problem]:
    """Yield a problem for times that are no numbers of at least 0, or do not vary.

    samples: names of the samples with a time and an event or censoring.
    """
    table = request.table.cells
    column = request.label_column
    time_location = f"{request.file}, column '{column}'"
    is_chosen = table.index.isin(samples)
    cells = {row: str(table[column].iloc[row]) for row in np.flatnonzero(is_chosen).tolist()}
    fault_of_row = {row: number_fault(cell) for row, cell in cells.items() if not is_number(cell)}
    fault_of_row |= {
        row: f"is {cell.strip()}, before the start"
        for row, cell in cells.items()
        if is_number(cell) and float(cell) < 0
    }
    for row, fault in list(fault_of_row.items())[:1]:
        place = request.table.place_of_cell(row, column, request.file)
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
    """Return the word that counts as the event (1 if none is set), and the problems of that choice.

    event: column of the events. samples: samples with a time and an event or censoring.
    """
    event_location = f"{request.file}, column '{event}'"
    word = request.settings.event
    counts = Counter(str(request.table.cells[event][name]).strip() for name in samples)
    counts_text = word_counts_text(counts)
    if word is None:
        other_words = [cell for cell in counts if not (is_number(cell) and float(cell) in (0, 1))]
        if other_words:
            message = (
                f"data.event must say which word is the event, found {counts_text}; for example "
                f"data: {flow_yaml({'event': event_word(counts, event)})}"
            )
            return "1", [Problem(event_location, message)]
        return "1", []
    if not any(is_event(cell, word) for cell in counts):
        advice = did_you_mean(word, counts) or f"; name one of {counts_text}"
        return word, [Problem(event_location, f"data.event: no sample is '{word}'{advice}")]
    if fault := unknown_event_fault(counts, word):
        return word, [Problem(event_location, fault)]
    censored_words = [cell for cell in counts if not is_event(cell, word)]
    if len(censored_words) > 1:
        message = f"{listing(censored_words)} all count as censored, only '{word}' as the event"
        return word, [Problem(event_location, message, "warning")]
    return word, []


def _check_outcomes(
    request: LabelRequest, column: str, time: Array, event: Array
) -> Iterator[Problem]:
    """Yield a problem if there is no event, none is outlived, or the horizon is out of range.

    column: column of the events. time (n,) float. event (n,) bool.
    """
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


def _survival_setting_faults(config: Config) -> SettingFaults:
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


LABEL_RULES: dict[str, LabelRules] = ByKind(
    {
        "classification": LabelRules(
            choose_labels=_choose_class_labels,
            setting_faults=_class_setting_faults,
            leave_one_out_result=(
                "it gives a balanced error of 0.53 to 0.56 and an AUC of 0.43 to 0.49"
            ),
            has_classes=True,
            adjustments=("covariates", "weights"),
            data_keys=("classes", "pair"),
        ),
        SEVERAL_CLASSES: LabelRules(
            choose_labels=_choose_class_labels,
            setting_faults=_several_class_setting_faults,
            leave_one_out_result="it makes more errors than chance would",
            has_classes=True,
            path_seconds=0.0002,
            defaults={"nonlinear": {"enabled": False}},
        ),
        "regression": LabelRules(
            choose_labels=_choose_number_labels,
            setting_faults=_number_setting_faults,
            leave_one_out_result="predictions run against the label",
            has_classes=False,
            adjustments=("covariates", "weights"),
        ),
        "survival": LabelRules(
            choose_labels=_choose_survival_labels,
            setting_faults=_survival_setting_faults,
            has_classes=False,
            label_columns=("time", "event"),
            data_keys=("event", "horizon"),
            one_response_per_group=True,
            path_seconds=0.0003,
            set_path_factor=8.0,
            adjustments=("covariates", "weights"),
            defaults=SURVIVAL_DEFAULTS,
        ),
    }
)


def misplaced_words(item: Config, item_setting: str, rules: LabelRules) -> SettingFaults:
    """Yield classes or an event of another data set, if outcomes of this kind have none.

    item: of ``external`` or ``studies``. item_setting: its place, as messages write it.
    """
    if item["classes"] and not rules.has_classes:
        yield f"{item_setting}, classes", "is for classification; take it away"
    if item["event"] is not None and not rules.label_columns:
        yield f"{item_setting}, event", "is for survival; take it away"


def check_kind_settings(config: Config) -> SettingFaults:
    """Yield settings that do not fit the kind of outcome that the config asks for."""
    data = config["data"]
    rules = LABEL_RULES[config["data"]["task"]]
    yield from _label_faults(config["label"], data["task"])
    yield from rules.setting_faults(config)
    for kind, other_rules in LABEL_RULES.items():
        for key in other_rules.data_keys:
            if data[key] is not None and key not in rules.data_keys:
                message = f"is for {kind}; take it away or set data.task: {kind}"
                yield f"data.{key}", message


def _label_faults(label: str | dict[str, str], task: str) -> SettingFaults:
    """Yield that the label does not name the columns that the kind of outcome needs.

    label: a column, or {"time": column, "event": column}. task: a key of `LABEL_RULES`.
    """
    named_columns = () if isinstance(label, str) else tuple(label)
    required_columns = LABEL_RULES[task].label_columns
    if named_columns and not required_columns:
        fitting_kind = next(kind for kind, rules in LABEL_RULES.items() if rules.label_columns)
        message = (
            f"names columns of {' and '.join(LABEL_RULES[fitting_kind].label_columns)}; for "
            f"{task} name one column, or write data: {{task: {fitting_kind}}}"
        )
        yield "label", message
    elif required_columns and not named_columns:
        columns = ", ".join(f"{key}: COLUMN" for key in required_columns)
        yield "label", f"{task} needs columns of its own; write label: {{{columns}}}"
    elif len(set(label_columns(label))) < len(named_columns):
        yield "label", f"'{label_columns(label)[0]}' is named twice; name two columns"
