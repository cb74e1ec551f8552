"""Read the labels of an external cohort and translate them to those of the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import TextTable
from genesig.data.study.label_checks import (
    check_event_coding,
    check_times,
    check_zero_times,
    find_unlabelled_samples,
    join_times,
    unknown_event_fault,
)
from genesig.data.study.settings import CohortSettings
from genesig.data.study.sheet_check import check_column
from genesig.errors import Problem, did_you_mean, has_errors
from genesig.response.design import label_columns, time_columns
from genesig.response.kinds import RESPONSES, is_event, survival_response
from genesig.results import Design
from genesig.words import (
    counted,
    further_in_brackets,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
    word_counts_text,
)

# takes (word of each sample, design, class of each word, location, problems); returns the label of
# each sample in the words of the study, and a record of each sample left out
LabelTranslation = Callable[..., tuple[dict[str, str], list[dict[str, str]]]]
PREDICT_ADVICE = "to score samples without labels: genesig predict results/model.json FILE"


class CohortLabelRequest(NamedTuple):
    """The sample table of a cohort, with the settings of its labels."""

    table: TextTable
    file: str  # file of the table, for messages
    design: Design  # design of the study
    settings: CohortSettings
    problems: list[Problem]  # problems are appended


@dataclass(frozen=True, eq=False)
class CohortLabels:
    """The labelled samples of a cohort."""

    names: tuple[str, ...]  # samples with a label
    cohort_words: tuple[str, ...]  # their labels as the cohort's table has them
    study_labels: tuple[str, ...]  # the same labels in the words of the study
    response: Array  # the same labels as the study codes its response
    dropped: list[dict[str, str]]  # {kind, name, reason} of each sample left out


def check_label_columns(request: CohortLabelRequest, columns: Sequence[str]) -> bool:
    """Return whether the table has each column once; append a problem for each that it lacks."""
    table_columns = list(map(str, request.table.cells.columns))
    index_name = str(request.table.cells.index.name)
    for column in columns:
        if column not in table_columns:
            column_problems: list[Problem] = []
            check_column(column, "label", table_columns, index_name, request.file, column_problems)
            request.problems.extend(
                [
                    Problem(problem.location, f"{problem.message}; {PREDICT_ADVICE}")
                    for problem in column_problems
                ]
            )
    return all(table_columns.count(column) == 1 for column in columns)


def _read_one_column(
    request: CohortLabelRequest, translate: LabelTranslation
) -> CohortLabels | None:
    """Return the labels of one column, translated; None if the column cannot be read.

    After an error of single labels (it is in `problems`) the response is NaN.
    """
    column = request.design.label if request.settings.label is None else request.settings.label
    if not isinstance(column, str) or not check_label_columns(request, [column]):
        return None  # `check_settings` yields the error of a label with several columns
    problems = request.problems
    label_location = f"{request.file}, column '{column}'"
    word_of_sample = {str(name): str(value) for name, value in request.table.cells[column].items()}
    class_of_word = {str(word): name for word, name in request.settings.classes.items()}
    blank_samples = {
        name
        for name, value in word_of_sample.items()
        if is_missing(value) and value not in class_of_word
    }
    if len(blank_samples) == len(word_of_sample):
        message = f"no sample has a label, so nothing can be tested; {PREDICT_ADVICE}"
        problems.append(Problem(label_location, message))
        return None
    reasons = _find_unlabelled(request, request.table, column, list(class_of_word))
    dropped = [drop_note(name, reason) for name, reason in reasons.items()]
    filled_words = {
        name: value for name, value in word_of_sample.items() if name not in blank_samples
    }
    study_label_of_sample, dropped_classes = translate(
        filled_words, request.design, class_of_word, label_location, problems
    )
    names = tuple(study_label_of_sample)
    response = (
        np.full(len(study_label_of_sample), np.nan)
        if has_errors(problems)
        else _code_responses(study_label_of_sample, request.design)
    )
    return CohortLabels(
        names,
        tuple(word_of_sample[name] for name in names),
        tuple(study_label_of_sample.values()),
        response,
        dropped + dropped_classes,
    )


def _find_unlabelled(
    request: CohortLabelRequest, table: TextTable, column: str, words: Sequence[str]
) -> dict[str, str]:
    """Return the samples without a label, {name: reason}, by the same rule as in a study.

    words: words of the column that are classes, although they look like a missing value.
    """
    return find_unlabelled_samples(
        table,
        request.file,
        column,
        classes=words,
        words_are_classes=False,  # a cohort has no setting that would make such a word a class
        leave_out=request.settings.unlabelled == "leave_out",
        problems=request.problems,
        setting="unlabelled",
    )


def read_classes(request: CohortLabelRequest) -> CohortLabels | None:
    """Return the classes of a cohort in the words of the study; None after an error."""
    return _read_one_column(request, _translate_classes)


def read_numbers(request: CohortLabelRequest) -> CohortLabels | None:
    """Return the labels of a cohort that are numbers; None after an error."""
    return _read_one_column(request, _check_numbers)


def _code_responses(study_label_of_sample: dict[str, str], design: Design) -> Array:
    """Return labels in the study's words (classes or numbers) as the study codes its response."""
    import pandas as pd

    return RESPONSES[design.kind].read(
        pd.DataFrame({design.label: list(study_label_of_sample.values())}), design
    )


def _translate_classes(
    word_of_sample: dict[str, str],
    design: Design,
    class_of_word: dict[str, str],
    label_location: str,
    problems: list[Problem],
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the class of each sample, and records of the samples left out for another class.

    word_of_sample: samples with a label. class_of_word: the cohort's setting ``classes``, their
    word -> class of the study; other words must be classes of the study.
    """
    classes = design.classes or ()
    n_samples_of_word = Counter(word_of_sample.values())
    word_of_class = {name: word for word, name in class_of_word.items()}
    if (
        word_of_class
        and set(word_of_class) <= set(n_samples_of_word)
        and set(class_of_word) <= set(classes) - set(word_of_class)
    ):
        pairs = ", ".join(f"{word}: {name}" for word, name in word_of_class.items())
        message = (
            "classes: the other way round; their word first, then the class of the study: "
            f"{{{pairs}}}"
        )
        problems.append(Problem(label_location, message))
        return {}, []
    for word, name in class_of_word.items():
        if name not in classes:
            advice = did_you_mean(name, classes) or f"; name one of {listing(classes, 6)}"
            problems.append(
                Problem(label_location, f"classes: '{name}' is no class of the study{advice}")
            )
        if word not in n_samples_of_word:
            advice = did_you_mean(word, n_samples_of_word)
            hint = advice or f" (found: {listing(n_samples_of_word, 6)})"
            message = f"classes: no sample is '{word}'{hint}"
            problems.append(Problem(label_location, message, "error" if advice else "warning"))
    translated_words = {
        name: class_of_word.get(value, value) for name, value in word_of_sample.items()
    }
    class_of_sample = {name: value for name, value in translated_words.items() if value in classes}
    n_samples_of_other_word = Counter(
        word_of_sample[name] for name in translated_words if name not in class_of_sample
    )
    counts_text = ", ".join(
        f"'{word}' ({counted(n_samples, 'sample')})"
        for word, n_samples in n_samples_of_other_word.items()
    )
    if not class_of_sample:
        message = (
            f"no label is a class of the study: found {counts_text}, needs {listing(classes)}; "
        )
        problems.append(
            Problem(
                label_location, message + _classes_setting(list(n_samples_of_other_word), classes)
            )
        )
    elif n_samples_of_other_word:
        problems.append(
            Problem(label_location, f"left out, as no class of the study: {counts_text}", "warning")
        )
    for name in classes if class_of_sample else ():
        if name not in class_of_sample.values():
            message = (
                f"no sample is '{name}', so AUC and balanced error are not defined; the samples "
                "are scored"
            )
            advice = (
                f"; {_classes_setting(list(n_samples_of_other_word), (name,))}"
                if n_samples_of_other_word
                else ""
            )
            problems.append(Problem(label_location, message + advice, "warning"))
    return class_of_sample, [
        drop_note(name, f"class '{word_of_sample[name]}' is no class of the study")
        for name in translated_words
        if name not in class_of_sample
    ]


def _classes_setting(words: list[str], classes: tuple[str, ...]) -> str:
    """Return a question with the setting ``classes`` that is probably meant.

    words: words of the cohort without a class. classes: classes of the study without a word.
    """
    nearest_words = {name: get_close_matches(name, words, n=1, cutoff=0.4) for name in classes}
    pairs = [f"{(nearest_words[name] or ['THEIR WORD'])[0]}: {name}" for name in classes]
    return f"is it spelled otherwise? classes: {{{', '.join(pairs)}}}"


def _check_numbers(
    word_of_sample: dict[str, str],
    design: Design,
    class_of_word: dict[str, str],
    label_location: str,
    problems: list[Problem],
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the labels as they are, and no sample left out; append a problem for no numbers.

    Parameters are those of `_translate_classes`.
    """
    faulty_samples = [name for name, value in word_of_sample.items() if not is_number(value)]
    if faulty_samples:
        message = (
            f"the label of '{faulty_samples[0]}' "
            f"{number_fault(word_of_sample[faulty_samples[0]])}"
            f"{further_in_brackets(len(faulty_samples) - 1, 'cell')}"
            "; regression needs a number for each sample"
        )
        problems.append(Problem(label_location, message))
    return word_of_sample, []


def drop_note(name: str, reason: str) -> dict[str, str]:
    """Return the record of a sample that is left out."""
    return {"kind": "sample", "name": name, "reason": reason}


UNIT_ADVICE = "if they are in another unit, bring them to that of the study"
MAX_HORIZON_RATIO = 6.0
"""Largest ratio of median time and study's horizon, or the reverse: a year has twelve months."""


def read_times(request: CohortLabelRequest) -> CohortLabels | None:
    """Return the times and events of a cohort; None after an error."""
    design = request.design
    label = request.settings.label
    if isinstance(label, str) or design.event is None:
        return None  # `check_settings` yields the error
    label_columns_of_cohort = (
        label if isinstance(label, Mapping) else {"time": design.label, "event": design.event}
    )
    columns_of_times = time_columns(label_columns_of_cohort)
    time, event = label_columns(label_columns_of_cohort)
    if not check_label_columns(request, [*columns_of_times, event]):
        return None
    table = join_times(request.table.cells, columns_of_times)
    event_word = request.settings.event
    if event_word is None:
        event_word = design.occurred or "1"
    if time_faults := list(check_times(table, request.file, time, event, event_word)):
        request.problems.extend(time_faults)
        return None
    request.problems.extend(check_zero_times(table, request.file, (time, event), event_word))
    request.problems.extend(
        check_event_coding(table, request.file, (time, event), event_word, "event")
    )
    cells_of_sample = {
        str(name): (str(row[time]), str(row[event])) for name, row in table.iterrows()
    }
    blank_samples = [name for name, cells in cells_of_sample.items() if any(map(is_missing, cells))]
    complete_cells = {
        name: cells for name, cells in cells_of_sample.items() if name not in set(blank_samples)
    }
    cell_faults = list(_time_faults(request, complete_cells, (time, event), event_word))
    request.problems.extend(cell_faults)
    if cell_faults:
        return None
    without_time = _find_unlabelled(request, request.table.with_cells(table), time, ())
    if no_event := [name for name in blank_samples if name not in without_time]:
        n_samples = len(cells_of_sample)
        message = f"no event for {listing(no_event)}; left out ({len(no_event)} of {n_samples})"
        request.problems.append(Problem(f"{request.file}, column '{event}'", message, "warning"))
    times = [time_cell.strip() for time_cell, _ in complete_cells.values()]
    has_event = [is_event(event_cell, event_word) for _, event_cell in complete_cells.values()]
    response = survival_response(np.array(list(map(float, times))), np.array(has_event, bool))
    request.problems.extend(_comparison_warnings(request, response, time, event))
    outcomes = tuple(  # "5.2+" if censored
        text + ("" if event_came else "+")
        for text, event_came in zip(times, has_event, strict=True)
    )
    cohort_words = tuple(map(" ".join, complete_cells.values()))
    dropped = [
        drop_note(name, f"no time or event in columns '{time}', '{event}'")
        for name in blank_samples
    ]
    return CohortLabels(tuple(complete_cells), cohort_words, outcomes, response, dropped)


def _time_faults(
    request: CohortLabelRequest,
    cells_of_sample: dict[str, tuple[str, str]],
    columns: tuple[str, str],
    event_word: str,
) -> Iterator[Problem]:
    """Yield an error about times that are no numbers of at least 0, and one if no event came.

    cells_of_sample: sample -> (time, event). columns: names of both. event_word: cell that says the
    event came.
    """
    time_location, event_location = (f"{request.file}, column '{column}'" for column in columns)
    if not cells_of_sample:
        yield Problem(
            time_location,
            f"no sample has a time and an event, so nothing can be tested; {PREDICT_ADVICE}",
        )
        return
    fault_of_sample = {
        name: number_fault(time_cell)
        for name, (time_cell, _) in cells_of_sample.items()
        if not is_number(time_cell)
    }
    fault_of_sample |= {
        name: f"is {time_cell.strip()}, before the start"
        for name, (time_cell, _) in cells_of_sample.items()
        if is_number(time_cell) and float(time_cell) < 0
    }
    for name, fault in list(fault_of_sample.items())[:1]:
        sentence = f"the time of '{name}' {fault}; survival needs a time of at least 0"
        yield Problem(time_location, sentence + further_text(len(fault_of_sample) - 1, "sample"))
    n_samples_of_word = Counter(event_cell.strip() for _, event_cell in cells_of_sample.values())
    if not any(is_event(cell, event_word) for cell in n_samples_of_word):
        advice = (
            did_you_mean(event_word, n_samples_of_word)
            or f"; name their word in event, found {word_counts_text(n_samples_of_word)}"
        )
        yield Problem(
            event_location,
            f"no event, as no sample is '{event_word}', so there is nothing to order{advice}",
        )
    elif fault := unknown_event_fault(n_samples_of_word, event_word):
        yield Problem(event_location, fault)


def _comparison_warnings(
    request: CohortLabelRequest, response: np.ndarray, time: str, event: str
) -> Iterator[Problem]:
    """Yield the error that no pair of samples is ordered, or a warning of times of another unit.

    response: structured array (n,) of times and events. Horizon: when the study reports risks.
    """
    design = request.design
    time_location = f"{request.file}, column '{time}'"
    if reason := RESPONSES[design.kind].training_fault(response, design.classes):
        yield Problem(
            time_location, f"the samples {reason}, so there is nothing to order; {PREDICT_ADVICE}"
        )
    elif (
        design.horizon is not None
        and not response["time"].min() <= design.horizon < response["time"].max()
    ):
        message = (
            f"from {response['time'].min():g} to {response['time'].max():g}, without the horizon "
            f"of the study, {design.horizon:g}; {UNIT_ADVICE}"
        )
        yield Problem(time_location, message, "warning")
    elif (
        design.horizon
        and not 1 / MAX_HORIZON_RATIO
        < np.median(response["time"]) / design.horizon
        < MAX_HORIZON_RATIO
    ):
        message = (
            f"half of the times are up to {np.median(response['time']):g}, and the horizon of the "
            f"study is {design.horizon:g}; {UNIT_ADVICE}"
        )
        yield Problem(time_location, message, "warning")
