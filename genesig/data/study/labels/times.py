"""Times and events of any sample table: joined columns, blanks of one outcome, reversed codes."""

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


def with_joined_times(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return a sample table whose first column of times has the times of the others in its blanks.

    Nothing is changed where one of the columns is absent or occurs twice.
    """
    headers = list(map(str, table.columns))
    if len(columns) < 2 or any(headers.count(column) != 1 for column in columns):
        return table
    cells = zip(*(map(str, table[column]) for column in columns), strict=True)
    joined = table.assign(**{columns[0]: [_first_time(row) for row in cells]})
    joined.attrs = dict(table.attrs)
    return joined


def _first_time(cells: Sequence[str]) -> str:
    """Return the first cell that has a number, else the first word that may be a slip."""
    answers = [cell for cell in cells if not is_unknown(cell)]
    return next(filter(is_number, answers), answers[0] if answers else "")


def check_blank_times(
    table: pd.DataFrame, file: str, time: str, event: str, word: str | None
) -> Iterator[Problem]:
    """Yield that a column has times of one outcome alone, so that the other would be left out.

    `word` is ``data.event``.
    """
    if not {time, event} <= set(table.columns):
        return
    counts = Counter(str(cell).strip() for cell in table[event] if not is_missing(str(cell)))
    chosen = word or event_word(counts, event) or "1"
    lacking = lacking_times(table, time, event, chosen)
    if lacking is None:
        return
    outcome = "with the event" if lacking.with_event else "without the event"
    message = (
        f"no time for {lacking.n_blank} of the {counted(lacking.n_samples, 'sample')} {outcome} "
        f"(column '{event}'), who would all be left out; "
    )
    second = lacking.columns[0] if lacking.columns else "COLUMN"
    label = flow_yaml({"label": {"time": [time, second], "event": event}})[1:-1]
    if lacking.columns:
        message += f"'{second}' has their times: write {label}"
    else:
        message += f"add the times of their last follow-up as a COLUMN, and write {label}"
    yield Problem(f"{file}, column '{time}'", message, "error", "times_of_one_outcome", "label")


def check_event_coding(
    table: pd.DataFrame, file: str, columns: tuple[str, str], word: str | None, key: str
) -> Iterator[Problem]:
    """Yield that the word counted as the event is the other one, by the column's name or words.

    Parameters
    ----------
    table : DataFrame of strings
    file : str
        Its file.
    columns : (time, event)
    word : str or None
        Word of the event; None is 1.
    key : str
        Setting that names the word.
    """
    time, event = columns
    if not {time, event} <= set(table.columns):
        return
    counts = Counter(str(cell).strip() for cell in table[event] if not is_missing(str(cell)))
    expected = event_by_name(counts, event, rank_sum_of_times(table, time, event))
    chosen = [cell for cell in counts if happened(cell, word or "1")]
    if expected is None or len(chosen) != 1 or expected == chosen[0]:
        return
    yield Problem(
        f"{file}, column '{event}'",
        _reversed(event, counts, chosen[0], expected, key),
        "warning",
        "event_reversed",
        key,
    )


def _reversed(event: str, counts: Mapping[str, int], chosen: str, expected: str, key: str) -> str:
    n_chosen = f"{counts[chosen]} of {counted(sum(counts.values()), 'sample')}"
    section = key.rpartition(".")
    setting = flow_yaml({section[2]: expected})
    if section[0] == "data":
        setting = f"data: {setting}"
    if chosen.lower() in YES_WORDS:
        says = f"by its name '{chosen}' is a time without the event"
    else:
        says = f"'{expected}' sounds like the event"
    return (
        f"'{chosen}' counts as the event ({n_chosen}), but {says}; if so, write {setting}, else "
        "give the column another name"
    )
