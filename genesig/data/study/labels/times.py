"""Check times and events of a sample table: joined columns, blanks, reversed codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from genesig.data.files.event_columns import (
    YES_WORDS,
    event_by_name,
    event_word,
    lacking_times,
    rank_sum_of_times,
)
from genesig.errors import Problem
from genesig.response.survival import happened
from genesig.words import counted, flow_yaml, is_missing, is_number, is_unknown

if TYPE_CHECKING:
    import pandas as pd


def join_times(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the sample table with blanks of the first time column filled from the others.

    Nothing is changed if one of the columns is absent or occurs twice.
    """
    headers = list(map(str, table.columns))
    if len(columns) < 2 or any(headers.count(column) != 1 for column in columns):
        return table
    cells = zip(*(map(str, table[column]) for column in columns), strict=True)
    joined = table.assign(**{columns[0]: [_first_time(row) for row in cells]})
    joined.attrs = dict(table.attrs)
    return joined


def _first_time(cells: Sequence[str]) -> str:
    """Return the first cell that is a number, else the first other word that is not missing."""
    answers = [cell for cell in cells if not is_unknown(cell)]
    return next(filter(is_number, answers), answers[0] if answers else "")


def check_blank_times(
    table: pd.DataFrame, file: str, time: str, event: str, event_setting: str | None
) -> Iterator[Problem]:
    """Yield an error if all samples of one outcome lack a time, and would be left out.

    `event_setting` is ``data.event``.
    """
    if not {time, event} <= set(table.columns):
        return
    n_samples_of_word = Counter(
        str(cell).strip() for cell in table[event] if not is_missing(str(cell))
    )
    counted_word = event_setting or event_word(n_samples_of_word, event) or "1"
    outcome_without_times = lacking_times(table, time, event, counted_word)
    if outcome_without_times is None:
        return
    outcome = "with the event" if outcome_without_times.with_event else "without the event"
    message = (
        f"no time for {outcome_without_times.n_blank} of the "
        f"{counted(outcome_without_times.n_samples, 'sample')} {outcome} "
        f"(column '{event}'), who would all be left out; "
    )
    second = outcome_without_times.columns[0] if outcome_without_times.columns else "COLUMN"
    label = flow_yaml({"label": {"time": [time, second], "event": event}})[1:-1]
    if outcome_without_times.columns:
        message += f"'{second}' has their times: write {label}"
    else:
        message += f"add the times of their last follow-up as a COLUMN, and write {label}"
    yield Problem(f"{file}, column '{time}'", message, "error", "times_of_one_outcome", "label")


def check_event_coding(
    table: pd.DataFrame, file: str, columns: tuple[str, str], event_setting: str | None, key: str
) -> Iterator[Problem]:
    """Yield a warning if the counted word seems to be the absence of the event.

    Parameters
    ----------
    table : DataFrame of strings
    file : str
        File of the table.
    columns : (time, event)
    event_setting : str or None
        Word of the event; None is 1.
    key : str
        Setting that names the word.
    """
    time, event = columns
    if not {time, event} <= set(table.columns):
        return
    n_samples_of_word = Counter(
        str(cell).strip() for cell in table[event] if not is_missing(str(cell))
    )
    expected_word = event_by_name(n_samples_of_word, event, rank_sum_of_times(table, time, event))
    counted_words = [cell for cell in n_samples_of_word if happened(cell, event_setting or "1")]
    if expected_word is None or len(counted_words) != 1 or expected_word == counted_words[0]:
        return
    yield Problem(
        f"{file}, column '{event}'",
        _reversal_message(event, n_samples_of_word, counted_words[0], expected_word, key),
        "warning",
        "event_reversed",
        key,
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
    section = key.rpartition(".")
    setting = flow_yaml({section[2]: expected_word})
    if section[0] == "data":
        setting = f"data: {setting}"
    if counted_word.lower() in YES_WORDS:
        reason = f"by its name '{counted_word}' is a time without the event"
    else:
        reason = f"'{expected_word}' sounds like the event"
    return (
        f"'{counted_word}' counts as the event ({n_chosen}), but {reason}; if so, write "
        f"{setting}, else give the column another name"
    )
