"""From a kind of response that the sample table does not fit to one that it does: lines to paste.

Each is a line of the config, and with all of a message's lines the study is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genesig.data.files.columns import Pair, class_columns, pairs
from genesig.words import flow, is_number, number_fault

if TYPE_CHECKING:
    import pandas as pd


def as_survival(pair: Pair, event: str | None = None) -> str:
    """Write the lines of a study of survival; `event` is the word that ``data.event`` names."""
    word = {} if pair.word is None or event is not None else {"event": pair.word}
    columns = flow({"label": {"time": pair.time, "event": pair.event}})
    return f"write {columns[1:-1]} and data: {flow({'task': 'survival', **word})}"


def as_numbers(table: pd.DataFrame, label: str) -> str:
    """Say what numbers are that are no classes: times to events, or what regression predicts."""
    for pair in pairs(table):
        if pair.time == label:
            return f"these are times, of events in '{pair.event}'; {as_survival(pair)}"
    return f"these are numbers; write data: {flow({'task': 'regression'})}"


def as_classes(table: pd.DataFrame, label: str) -> str:
    """Say that the words of a column are classes; '' where they may be numbers gone wrong."""
    for name, counts in class_columns(table):
        words = not any(map(is_number, counts))
        if name == label and words and all("not a number" in number_fault(cell) for cell in counts):
            return f"; these are classes: write data: {flow({'task': 'classification'})}"
    return ""


def censored(table: pd.DataFrame, label: str) -> Iterator[str]:
    """Yield that numbers are times to events, some of which may not have come."""
    for pair in pairs(table)[:1]:
        if pair.time == label:
            yield f"looks like times of events in '{pair.event}', and where none came it is a " \
                  f"time without one; for survival {as_survival(pair)}"  # fmt: skip


def two_columns(table: pd.DataFrame, event: str | None) -> Iterator[str]:
    """Yield which columns look like time and event, where survival names one column."""
    for pair in pairs(table)[:1]:
        yield f"'{pair.time}' and '{pair.event}' look like it; {as_survival(pair, event)}"


def exchanged(table: pd.DataFrame, columns: Sequence[str], event: str | None) -> Iterator[str]:
    """Yield that the columns of time and event stand in each other's place."""
    for pair in pairs(table):
        if [pair.event, pair.time] == list(columns):
            yield f"time and event look exchanged; {as_survival(pair, event)}"
