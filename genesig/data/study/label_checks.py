"""Checks of labels of several kinds of outcome: missing labels, class names, numbers, times.

Advice is lines of the config: with all lines of a message the study is accepted. `table` is the
sample table (index = sample names, cells as strings; a `TextTable` also has the line of each row),
`label` and other names of roles are names of its columns, `file` is its file, for messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import (
    MARKED_TIME,
    YES_WORDS,
    TimeAndEvent,
    class_columns,
    evaluable_cells,
    event_by_name,
    event_word,
    find_lacking_times,
    rank_sum_of_times,
    time_event_pairs,
    unit_of,
    units_of_times,
)
from genesig.data.files.delimited import TextTable
from genesig.data.files.gene_ids import converted_names
from genesig.data.steps.scale import missing_codes
from genesig.errors import Problem
from genesig.response.kinds import is_event
from genesig.words import (
    DOUBTFUL_UNKNOWN,
    as_word,
    counted,
    equal_looking,
    flow_yaml,
    further_text,
    is_missing,
    is_misspelt,
    is_number,
    is_unknown,
    listing,
    number_fault_kind,
    overlooked_differences,
    says_unknown,
    word_counts_text,
    words_not_evaluable,
)

if TYPE_CHECKING:
    import pandas as pd


def survival_advice(pair: TimeAndEvent, event: str | None = None) -> str:
    """Return the config lines of a survival study, without the word of the event if it is set.

    event: the setting ``data.event``.
    """
    event_setting = {} if pair.word is None or event is not None else {"event": pair.word}
    label_setting = flow_yaml({"label": pair.label})[1:-1]  # without the outer braces
    return f"write {label_setting} and data: {flow_yaml({'task': 'survival', **event_setting})}"


def number_advice(table: pd.DataFrame, label: str) -> str:
    """Return the config lines for numbers that are no classes: survival times, or regression."""
    for pair in time_event_pairs(table):
        if pair.time == label:
            return f"these are times, of events in '{pair.event}'; {survival_advice(pair)}"
    return f"these are numbers; write data: {flow_yaml({'task': 'regression'})}"


def class_advice(table: pd.DataFrame, label: str) -> str:
    """Return the advice that words are classes; '' for mistyped numbers, and for many words."""
    for name, counts in class_columns(table):
        are_words = all(
            not is_number(cell) and number_fault_kind(cell) == "word" for cell in counts
        )
        if name == label and are_words:
            return f"; these are classes: write data: {flow_yaml({'task': 'classification'})}"
    return ""


def censoring_warnings(table: pd.DataFrame, label: str) -> Iterator[str]:
    """Yield a sentence if numbers look like the times, some censored, of the first endpoint."""
    for pair in time_event_pairs(table)[:1]:
        if pair.time == label:
            yield (
                f"looks like times of events in '{pair.event}', and where none came it is a "
                f"time without one; for survival {survival_advice(pair)}"
            )


DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
"""2019-03-31, 31.3.2019 or 3/31/2019, at the start of a cell."""
DEATH = re.compile("dead|died|death|deceased", re.IGNORECASE)


def dated_death_warnings(table: pd.DataFrame, label: str) -> Iterator[str]:
    """Yield a sentence if classes are deaths, and the times to them are hidden in dates."""
    date_columns = [
        name
        for name in dict.fromkeys(map(str, table.columns))
        if (cells := evaluable_cells(table, name)) and all(map(DATE.match, cells))
    ]
    deaths = [name for name in dict.fromkeys(evaluable_cells(table, label)) if DEATH.search(name)]
    if len(date_columns) >= 2 and len(deaths) == 1:
        yield (
            f"'{deaths[0]}' is an event, and {listing(date_columns)} are dates; as classes, "
            "patients of short follow-up count as survivors; for survival add a column of the days "
            "between two dates"
        )


def event_column_hints(table: pd.DataFrame, event: str | None) -> Iterator[str]:
    """Yield a sentence that names the columns that look like time and event, if there are some.

    event: the setting ``data.event``.
    """
    for pair in time_event_pairs(table)[:1]:
        yield f"'{pair.time}' and '{pair.event}' look like it; {survival_advice(pair, event)}"


def exchanged_column_faults(
    table: pd.DataFrame, columns: Sequence[str], event: str | None
) -> Iterator[str]:
    """Yield a sentence if the columns of time and event are exchanged.

    columns: (time, event) as the config has them. event: the setting ``data.event``.
    """
    for pair in time_event_pairs(table):
        if [pair.event, pair.time] == list(columns):
            yield f"time and event look exchanged; {survival_advice(pair, event)}"


MAX_STUDY_CLASSES = 20  # classes of a study; of more, misspelt words are not looked for


def check_class_words(
    table: TextTable, label: str, names: Sequence[str], file: str
) -> Iterator[Problem]:
    """Yield a problem for class names that may be no class, or may be one class spelt in two ways.

    `names` are the classes. ``-`` beside ``+`` is a class; ``none``, or ``-`` beside another word,
    may be one, and so may 99 or -1 beside 0 and 1; ``?`` and ``-99`` are none.
    """
    if groups := equal_looking(names, as_word):
        groups_text = " and ".join(map(listing, groups[:3]))
        difference = _difference_of_equal_words(names)
        message = f"the classes {groups_text} differ only in {difference}; write them alike"
        yield Problem(f"{file}, column '{label}'", message, key="data.classes")
    if 2 < len(names) <= MAX_STUDY_CLASSES:
        yield from _misspelling_warnings(table, label, names, file)
    not_evaluable = words_not_evaluable(names)
    for name in names:
        is_error = says_unknown(name) or name in not_evaluable
        may_be_nothing = DOUBTFUL_UNKNOWN.fullmatch(name) or _may_be_missing_code(name, names)
        if not (is_error or may_be_nothing) or (name == "-" and "+" in names):
            continue
        rows = np.flatnonzero(table.cells[label] == name)
        message = (
            f"'{name}' ({counted(len(rows), 'sample')}) is taken for a class; "
            "if it says that there is no label, leave these cells blank, "
            f"else write data: {flow_yaml({'classes': list(names)})}"
        )
        cell_location = f"{file}, line {table.lines[rows[0]]}, column '{label}'"
        yield Problem(cell_location, message, "error" if is_error else "warning")


def _may_be_missing_code(name: str, names: Sequence[str]) -> bool:
    """Tell whether a class is 99 beside smaller numbers with a gap, or -1 beside two from 0 on."""
    others = [word for word in names if word != name]
    all_whole = all(re.fullmatch(r"\d+([.]0)?", word) for word in others)
    if not all_whole or not re.fullmatch(r"(-1|-?9+)([.]0)?", name):
        return False
    if name.startswith("-"):
        return len(others) > 1
    return all(float(word) < float(name) - 1 for word in others)


def converted_class_warnings(label: str, names: Sequence[str], file: str) -> Iterator[Problem]:
    """Yield a warning for classes that a spreadsheet has turned into dates (1-3 into 3-Jan)."""
    if dates := converted_names([name for name in names if not is_number(name)]):
        message = f"classes that a spreadsheet may have turned into dates: {listing(dates)}; "
        message += "write the classes again, as text"
        yield Problem(f"{file}, column '{label}'", message, "warning")


def unknown_event_fault(n_samples_of_word: Mapping[str, int], event_word: str) -> str:
    """Return the fault that words such as "unknown" would count as censored; '' without any.

    n_samples_of_word: words of the column of events. event_word: the word of the event.
    """
    unknown = [
        f"'{word}' ({counted(n_samples, 'sample')})"
        for word, n_samples in n_samples_of_word.items()
        if says_unknown(word) and not is_event(word, event_word)
    ]
    if not unknown:
        return ""
    return f"{', '.join(unknown)} would count as censored; leave these cells blank"


def check_left_out_classes(
    n_samples_of_left_out: Mapping[str, int], classes: Sequence[str], column_location: str
) -> Iterator[Problem]:
    """Yield a problem if a class that ``data.classes`` leaves out looks like one of its classes."""
    class_of_word = {as_word(name): name for name in classes}
    for name, n_samples in n_samples_of_left_out.items():
        if as_word(name) in class_of_word:
            similar = class_of_word[as_word(name)]
            difference = _difference_of_equal_words([name, similar])
            message = (
                f"'{name}' ({counted(n_samples, 'sample')}) is left out by data.classes, but "
                f"differs from '{similar}' only in {difference}; write them alike, or "
                "quite differently"
            )
            yield Problem(column_location, message, key="data.classes")


def _difference_of_equal_words(names: Sequence[str]) -> str:
    """Return the difference, "dashes or blanks", of the names that are equal by `as_word`."""
    seen_alike = equal_looking(names)
    # `equal_looking` distinguishes dashes, _ and blanks, which `as_word` does not.
    return overlooked_differences(seen_alike) if seen_alike else "dashes or blanks"


def _misspelling_warnings(
    table: TextTable, label: str, names: Sequence[str], file: str
) -> Iterator[Problem]:
    """Yield a warning for two class names that differ by a slip of the keyboard."""
    labels = table.cells[label]
    n_samples = labels.value_counts()
    for pair in combinations(names, 2):
        if is_misspelt(*pair):
            frequent, rare_name = sorted(pair, key=lambda name: -n_samples[name])
            row = int(np.flatnonzero(labels == rare_name)[0])
            message = (
                f"'{rare_name}' ({counted(int(n_samples[rare_name]), 'sample')}) is taken for a "
                f"class beside '{frequent}' ({n_samples[frequent]}); if one of them is misspelt, "
                "write them alike; if both are meant, write data: "
                f"{flow_yaml({'classes': list(names)})}"
            )
            cell_location = f"{file}, line {table.lines[row]}, column '{label}'"
            yield Problem(cell_location, message, "warning")


def check_missing_codes(table: TextTable, label: str, file: str) -> Iterator[Problem]:
    """Yield a problem if a label such as -99 may stand for a missing number.

    It is an error if the code lies below all other labels by more than their range.
    """
    labels = table.cells[label]
    rows = [row for row, cell in enumerate(labels) if is_number(cell)]
    values = np.array([float(labels.iloc[row]) for row in rows])
    for code in missing_codes(values):
        other_values = values[values != code]
        first_row = rows[int(np.argmax(values == code))]
        is_certain = len(other_values) > 0 and code < 2 * other_values.min() - other_values.max()
        message = (
            f"the label of '{labels.index[first_row]}' is {code:g}, as "
            f"{counted(int((values == code).sum()), 'cell')} here; if it says that there is no "
            "label, leave it blank"
        )
        cell_location = f"{file}, line {table.lines[first_row]}, column '{label}'"
        yield Problem(cell_location, message, "error" if is_certain else "warning")


def check_similar_names(table: TextTable, key: str, column: str, file: str) -> Iterator[Problem]:
    """Yield an error if one patient or pair may be written in two ways, a warning for a batch.

    key: setting that names the column.
    """
    if pairs := equal_looking(map(str, table.cells[column])):
        first_name, second_name = pairs[0][:2]
        row = int(np.argmax(table.cells[column] == second_name))
        message = (
            f"{key}: '{second_name}' differs from '{first_name}' only in "
            f"{overlooked_differences([[first_name, second_name]])}"
            f"{further_text(len(pairs) - 1, 'name')}; write them alike, or quite differently"
        )
        cell_location = f"{file}, line {table.lines[row]}, column '{column}'"
        yield Problem(cell_location, message, "warning" if key == "data.batch" else "error")


def join_times(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the sample table with blanks of the first time column filled from the others.

    Nothing is changed if one of the columns is absent or occurs twice.
    """
    headers = list(map(str, table.columns))
    if len(columns) < 2 or any(headers.count(column) != 1 for column in columns):
        return table
    cells = zip(*(map(str, table[column]) for column in columns), strict=True)
    return table.assign(**{columns[0]: [_first_time(row) for row in cells]})


def _first_time(cells: Sequence[str]) -> str:
    """Return the first cell that is a number, else the first other word that is not missing."""
    answers = [cell for cell in cells if not is_unknown(cell)]
    return next(filter(is_number, answers), answers[0] if answers else "")


def check_times(
    table: pd.DataFrame, file: str, time: str, event: str, event_setting: str | None
) -> Iterator[Problem]:
    """Yield an error if times cannot be read as numbers of one unit for both outcomes.

    These are times with a plus sign or in several units, and an outcome of which all samples lack a
    time, and would be left out. `event_setting` is ``data.event``.
    """
    if not {time, event} <= set(table.columns):
        return
    if faults := list(_check_marks_of_times(table, f"{file}, column '{time}'", time, event)):
        yield from faults
        return
    n_samples_of_word = Counter(
        str(cell).strip() for cell in table[event] if not is_missing(str(cell))
    )
    counted_word = event_setting or event_word(n_samples_of_word, event) or "1"
    outcome_without_times = find_lacking_times(table, time, event, counted_word)
    if outcome_without_times is None:
        return
    outcome_text = "with the event" if outcome_without_times.with_event else "without the event"
    message = (
        f"no time for {outcome_without_times.n_blank} of the "
        f"{counted(outcome_without_times.n_samples, 'sample')} {outcome_text} "
        f"(column '{event}'), who would all be left out; "
    )
    second_column = outcome_without_times.columns[0] if outcome_without_times.columns else "COLUMN"
    label = flow_yaml({"label": {"time": [time, second_column], "event": event}})
    label = label[1:-1]  # without the outer braces
    if outcome_without_times.columns:
        message += f"'{second_column}' has their times: write {label}"
    else:
        message += f"add the times of their last follow-up as a COLUMN, and write {label}"
    yield Problem(f"{file}, column '{time}'", message, code="times_of_one_outcome", key="label")


def _check_marks_of_times(
    table: pd.DataFrame, location: str, time: str, event: str
) -> Iterator[Problem]:
    """Yield an error for times with a plus sign or a unit, or with their units in a column."""
    marked_times = [
        (match, str(cell).strip())
        for cell in table[time]
        if not is_number(str(cell)) and (match := MARKED_TIME.fullmatch(str(cell)))
    ]
    censored_times = [(match["number"], text) for match, text in marked_times if match["plus"]]
    with_unit = [(match["number"], text) for match, text in marked_times if unit_of(match["unit"])]
    if censored_times:  # as R prints them
        number, text = censored_times[0]
        message = (
            f"{counted(len(censored_times), 'time')} with a plus sign, such as '{text}', censored; "
            f"write {number} there, and the word for censored in column '{event}'"
        )
        yield Problem(location, message, code="times_with_plus")
    elif with_unit:
        number, text = with_unit[0]
        message = (
            f"{counted(len(with_unit), 'time')} with a unit, such as '{text}'; write {number} "
            "there, and all times in one unit"
        )
        yield Problem(location, message, code="times_with_unit")
    elif (units := units_of_times(table, time)) and len(units[1]) > 1:
        column, n_samples_of_unit = units
        message = (
            f"times in several units: column '{column}' has {word_counts_text(n_samples_of_unit)}; "
            "bring all times to one unit, and take that column out"
        )
        yield Problem(location, message, code="mixed_units")


MAX_ZERO_SHARE = 0.05
"""Share of the samples up to which times of 0 are early ones, rounded; more may be unknown ones."""


def check_zero_times(
    table: pd.DataFrame, file: str, columns: tuple[str, str], event_setting: str | None
) -> Iterator[Problem]:
    """Yield a note on times that are 0, a warning if they are many.

    The parameters are those of `check_event_coding`.
    """
    time, event = columns
    if not {time, event} <= set(table.columns):
        return
    events_at_zero = [
        is_event(str(cell), event_setting or "1")
        for text, cell in zip(map(str, table[time]), table[event], strict=True)
        if is_number(text) and float(text) == 0 and not is_missing(str(cell))
    ]
    if events_at_zero:
        n_events = sum(events_at_zero)
        part = (
            f"{n_events} with the event, counted as the first"
            if n_events
            else "without the event, at risk at no event"
        )
        message = (
            f"{counted(len(events_at_zero), 'time')} of 0 ({part}); leave a time blank if it is "
            "unknown"
        )
        is_frequent = len(events_at_zero) > MAX_ZERO_SHARE * len(table)
        level: Literal["note", "warning"] = "warning" if is_frequent else "note"
        yield Problem(f"{file}, column '{time}'", message, level, code="zero_times")


def check_event_coding(
    table: pd.DataFrame, file: str, columns: tuple[str, str], event_setting: str | None, key: str
) -> Iterator[Problem]:
    """Yield a warning if the counted word seems to be the absence of the event.

    file: file of the table.
    columns (time, event).
    event_setting: word of the event; None is 1.
    key: setting that names the word.
    """
    time, event = columns
    if not {time, event} <= set(table.columns):
        return
    n_samples_of_word = Counter(
        str(cell).strip() for cell in table[event] if not is_missing(str(cell))
    )
    expected_word = event_by_name(n_samples_of_word, event, rank_sum_of_times(table, time, event))
    counted_words = [cell for cell in n_samples_of_word if is_event(cell, event_setting or "1")]
    if expected_word is None or len(counted_words) != 1 or expected_word == counted_words[0]:
        return
    yield Problem(
        f"{file}, column '{event}'",
        _reversal_message(event, n_samples_of_word, counted_words[0], expected_word, key),
        "warning",
        code="event_reversed",
        key=key,
    )


def _reversal_message(
    event: str,
    n_samples_of_word: Mapping[str, int],
    counted_word: str,
    expected_word: str,
    key: str,
) -> str:
    """Return the warning that the event is probably the other word."""
    n_chosen = (
        f"{n_samples_of_word[counted_word]} of {counted(sum(n_samples_of_word.values()), 'sample')}"
    )
    section, _, name = key.rpartition(".")
    setting = flow_yaml({name: expected_word})
    if section == "data":
        setting = f"data: {setting}"
    if counted_word.lower() in YES_WORDS:
        reason = f"by its name '{counted_word}' is a time without the event"
    else:
        reason = f"'{expected_word}' sounds like the event"
    return (
        f"'{counted_word}' counts as the event ({n_chosen}), but {reason}; if so, write "
        f"{setting}, else give the column another name"
    )


UNLABELLED_KEY = "data.unlabelled"
MAX_BLANK_SHARE = 1 / 3  # share of the samples that may lack a label
MIN_SAMPLES = 3  # samples with a label, and without one, to associate blank labels
MAX_GROUP_VALUES = 10  # different values of a column that groups samples
MIN_ASSOCIATION = 0.8  # correlation of a blank label with the values of another column, as 0 and 1
MIN_ARRANGEMENTS_PER_COLUMN = 1000
"""Number of ways to choose the samples with a blank label, for each column that is tested, from
which on an association is no chance."""


def find_unlabelled_samples(
    table: TextTable,
    file: str,
    label: str,
    *,
    classes: Sequence[str],
    words_are_classes: bool,
    leave_out: bool,
    problems: list[Problem],
    setting: str = UNLABELLED_KEY,
) -> dict[str, str]:
    """Return the samples without a label, {name: reason}, and append a problem.

    It is an error if they are more than a third, or if blanks are associated with another column,
    unless `leave_out` is true by the setting named `setting`. A class that is called NA or null
    must be in `classes`; words_are_classes: whether the kind of outcome has classes.
    """
    cells = list(map(str, table.cells[label]))
    is_blank = np.array([is_missing(cell) and cell not in classes for cell in cells], dtype=bool)
    blank_rows = np.flatnonzero(is_blank).tolist()
    blank_samples = [str(table.cells.index[row]) for row in blank_rows]
    if blank_rows:
        association_text = _describe_association(table.cells, label, is_blank)
        are_suspicious = len(blank_rows) > MAX_BLANK_SHARE * len(cells) or bool(association_text)
        # Without any label another error says more.
        is_error = are_suspicious and not leave_out and len(blank_rows) < len(cells)
        blank_words = {cells[row].strip() for row in blank_rows}
        first_word = cells[blank_rows[0]]
        message = (
            f"no label{f' ({first_word!r})' if first_word else ''} for {listing(blank_samples)}"
            f"{'' if is_error else '; left out of the study'} ({len(blank_rows)} of {len(cells)})"
        )
        message += association_text and f"; {association_text}"
        if words_are_classes and len(blank_words) == 1 and first_word.strip():
            message += _word_as_class_advice(
                first_word.strip(), len(blank_rows) / len(cells), cells, is_blank
            )
        if is_error:
            message += (
                f"; fill the labels in, or to leave these samples out set {setting}: leave_out"
            )
        label_location = f"{file}, line {table.lines[blank_rows[0]]}, column '{label}'"
        code = "many_labels_missing" if is_error else "labels_missing"
        level: Literal["error", "warning"] = "error" if is_error else "warning"
        problems.append(Problem(label_location, message, level, code=code, key=setting))
    return dict.fromkeys(blank_samples, f"no label in column '{label}'")


def _word_as_class_advice(word: str, share: float, cells: Sequence[str], is_blank: Array) -> str:
    """Return the setting that takes a word for a class; '' unless it is null or frequent.

    word: word of the labels that count as blank. share: its share of the samples. cells: label of
    each sample. is_blank (n,) bool: whether it counts as blank.
    """
    if word.lower() != "null" and share <= MAX_BLANK_SHARE:
        return ""
    other_classes = sorted({cells[row] for row in np.flatnonzero(~is_blank).tolist()})
    if not 0 < len(other_classes) < MAX_STUDY_CLASSES:
        return ""
    return f"; if '{word}' is a class, write data: {flow_yaml({'classes': [*other_classes, word]})}"


def _describe_association(table: pd.DataFrame, label: str, is_blank: Array) -> str:
    """Return the values of another column that blank labels go with, as a phrase; '' for none.

    is_blank (n,) bool: samples without a label.
    """
    other_columns = [str(name) for name in table.columns if name != label]
    n_blank = int(is_blank.sum())
    n_samples = len(is_blank)
    too_few = min(n_blank, n_samples - n_blank) < MIN_SAMPLES
    if too_few or comb(n_samples, n_blank) < MIN_ARRANGEMENTS_PER_COLUMN * len(other_columns):
        return ""
    strongest = 0.0
    sentence = ""
    for name in dict.fromkeys(other_columns):
        if other_columns.count(name) > 1:
            continue
        values = np.array([str(cell).strip() for cell in table[name]], dtype=object)
        has_no_value = np.array([is_missing(value) for value in values], dtype=bool)
        if np.array_equal(has_no_value, ~is_blank):
            return f"column '{name}' has a value for these samples alone and may belong to it"
        association, groups = _blank_association(np.where(has_no_value, "", values), is_blank)
        if association > max(strongest, MIN_ASSOCIATION):
            groups_text = listing(group or "blank" for group in groups)
            strongest = association
            sentence = f"they go together with {groups_text} in column '{name}'"
    return sentence


def _blank_association(values: Array, is_blank: Array) -> tuple[float, list[str]]:
    """Return the correlation of blank labels with values of a column, and these values.

    values (n,) str; most samples of the returned ones lack a label. is_blank (n,) bool.
    """
    groups = sorted(set(values.tolist()))
    if not 1 < len(groups) <= MAX_GROUP_VALUES:
        return 0.0, []
    blank_groups = [
        group for group in groups if 2 * is_blank[values == group].sum() > (values == group).sum()
    ]
    in_blank_group = np.isin(values, blank_groups)
    if in_blank_group.all() or not in_blank_group.any():
        return 0.0, []
    return float(np.corrcoef(in_blank_group, is_blank)[0, 1]), blank_groups
