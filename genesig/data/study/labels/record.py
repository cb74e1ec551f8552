"""What is asked of the sample table, what each kind answers, and words that may be no value.

Advice is lines of the config: with all of a message's lines the study is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.data.files.columns import class_columns
from genesig.data.files.event_columns import TimeAndEvent, time_event_pairs
from genesig.data.steps.scale import missing_codes
from genesig.errors import Problem
from genesig.words import (
    DOUBTFUL_UNKNOWN,
    UNKNOWN_VALUE,
    as_word,
    counted,
    equal_looking,
    flow_yaml,
    further_text,
    is_misspelt,
    is_number,
    listing,
    number_fault,
)

if TYPE_CHECKING:
    import pandas as pd


Config = dict[str, Any]
Found = Iterator[tuple[str, str] | tuple[str, str, str]]


class Asked(NamedTuple):
    """The sample table with what the config says of its label.

    Attributes
    ----------
    table : DataFrame of strings
        All samples; ``attrs["lines"]`` are their lines in the file.
    where : str
        The file, in messages.
    columns : sequence of str
        Those of the response, the first of which is the label.
    labels : Series of str
        Those of the samples that have one.
    settings : mapping
        The section ``data`` of the config.
    """

    table: pd.DataFrame
    where: str
    columns: Sequence[str]
    labels: pd.Series[str]
    settings: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The column of the label."""
        return self.columns[0]


@dataclass(frozen=True)
class Chosen:
    """The classes, or None; name -> reason of each sample left out; further fields of `Design`."""

    classes: tuple[str, ...] | None = None
    dropped: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Labels:
    """One kind of response, as it is checked.

    Attributes
    ----------
    choose : callable
        What is asked, and the list that problems join, to what is chosen.
    settings : callable
        Resolved config to (key, what is wrong with it) of each setting that does not fit the kind.
    alone : str
        What leave-one-out gives without any signal; not asked of a kind that refuses it.
    named : bool
        Whether there are classes, which another study may name otherwise.
    own : tuple of str
        Keys of the section ``data`` that other kinds may lack.
    held : tuple of str
        Which of ``data.covariates`` and ``data.weights`` are offered.
    columns : tuple of str
        What ``label`` maps to columns; nothing where it is one column.
    one_of_a_group : bool
        Whether the samples of one group must have one response.
    step : float
        Seconds of one fit of a path, beside those of its products; for each of several classes.
    sets : float
        Paths over gene sets of two classes that one of this kind takes as long as.
    defaults : mapping
        Settings of the config that are others than the schema's, where it names none.
    """

    choose: Callable[[Asked, list[Problem]], Chosen]
    settings: Callable[[Config], Found]
    named: bool
    alone: str = ""
    own: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    one_of_a_group: bool = False
    step: float = 0.0
    sets: float = 1.0
    defaults: Config = field(default_factory=dict)
    held: tuple[str, ...] = ()


def line(table: pd.DataFrame, row: int) -> int:
    """Return the line of the file on which a row of the table stands."""
    return int(table.attrs["lines"][row])


def place(table: pd.DataFrame, row: int, column: str, where: str) -> str:
    """Return file, line and column of a cell; of joined studies those of the study's own table."""
    sheet, number, own = table.attrs.get("places", {}).get(row, (where, line(table, row), {}))
    return f"{sheet}, line {number}, column '{own.get(column, column)}'"


def as_survival(pair: TimeAndEvent, event: str | None = None) -> str:
    """Write the lines of a study of survival; `event` is the word that ``data.event`` names."""
    word = {} if pair.word is None or event is not None else {"event": pair.word}
    columns = flow_yaml({"label": pair.label})
    return f"write {columns[1:-1]} and data: {flow_yaml({'task': 'survival', **word})}"


def as_numbers(table: pd.DataFrame, label: str) -> str:
    """Say what numbers are that are no classes: times to events, or what regression predicts."""
    for pair in time_event_pairs(table):
        if pair.time == label:
            return f"these are times, of events in '{pair.event}'; {as_survival(pair)}"
    return f"these are numbers; write data: {flow_yaml({'task': 'regression'})}"


def as_classes(table: pd.DataFrame, label: str) -> str:
    """Say that the words of a column are classes; '' where they may be numbers gone wrong."""
    for name, counts in class_columns(table):
        words = not any(map(is_number, counts))
        if name == label and words and all("not a number" in number_fault(cell) for cell in counts):
            return f"; these are classes: write data: {flow_yaml({'task': 'classification'})}"
    return ""


def censored(table: pd.DataFrame, label: str) -> Iterator[str]:
    """Yield that numbers are times to events, some of which may not have come."""
    for pair in time_event_pairs(table)[:1]:
        if pair.time == label:
            yield (
                f"looks like times of events in '{pair.event}', and where none came it is a "
                f"time without one; for survival {as_survival(pair)}"
            )


def two_columns(table: pd.DataFrame, event: str | None) -> Iterator[str]:
    """Yield which columns look like time and event, where survival names one column."""
    for pair in time_event_pairs(table)[:1]:
        yield f"'{pair.time}' and '{pair.event}' look like it; {as_survival(pair, event)}"


def exchanged(table: pd.DataFrame, columns: Sequence[str], event: str | None) -> Iterator[str]:
    """Yield that the columns of time and event stand in each other's place."""
    for pair in time_event_pairs(table):
        if [pair.event, pair.time] == list(columns):
            yield f"time and event look exchanged; {as_survival(pair, event)}"


BY_DASHES = "dashes or blanks only"
BY_SIGHT = "upper and lower case, blanks or invisible characters only"
MOST_CLASSES = 20  # more are refused; of columns with a word for each sample no pairs are made


def check_class_words(
    table: pd.DataFrame, label: str, names: Sequence[str], where: str
) -> Iterator[Problem]:
    """Yield that a class which the config does not name may be none.

    `names` are the classes. ``-`` beside ``+`` is one; ``none`` or ``-`` beside another word may
    be one, ``?`` or ``-99`` is not.
    """
    if groups := equal_looking(names, as_word):
        same = " and ".join(map(listing, groups[:3]))
        difference = BY_SIGHT if alike(names) else BY_DASHES
        message = f"the classes {same} differ in {difference}; write them alike"
        yield Problem(f"{where}, column '{label}'", message)
    if 2 < len(names) <= MOST_CLASSES:
        yield from _check_misspelt(table, label, names, where)
    for name in names:
        unknown = UNKNOWN.fullmatch(name)
        nothing = NOTHING.fullmatch(name)
        if not (unknown or nothing) or (name == "-" and "+" in names):
            continue
        rows = np.flatnonzero(table[label] == name)
        message = (
            f"'{name}' ({counted(len(rows), 'sample')}) is taken for a class; "
            "if it says that there is no label, leave these cells blank, "
            f"else write data: {flow({'classes': list(names)})}"
        )
        at = f"{where}, line {table.attrs['lines'][rows[0]]}, column '{label}'"
        yield Problem(at, message, "error" if unknown else "warning")


def check_left_out(counts: Mapping[str, int], classes: Sequence[str], at: str) -> Iterator[Problem]:
    """Yield that a class which ``data.classes`` leaves out looks like one that it names."""
    class_of_word = {as_word(name): name for name in classes}
    for name, number in counts.items():
        if as_word(name) in class_of_word:
            similar = class_of_word[as_word(name)]
            difference = BY_SIGHT if alike([name, similar]) else BY_DASHES
            message = (
                f"'{name}' ({counted(number, 'sample')}) is left out by data.classes, but "
                f"differs from '{similar}' in {difference}; write them alike, or "
                "quite differently"
            )
            yield Problem(at, message)


def _check_misspelt(
    table: pd.DataFrame, label: str, names: Sequence[str], where: str
) -> Iterator[Problem]:
    """Yield that a class may be there by a slip of the keyboard: the rarer one of two."""
    size = table[label].value_counts()
    for pair in combinations(names, 2):
        if is_misspelt(*pair):
            often, rare = sorted(pair, key=lambda name: -size[name])
            row = int(np.flatnonzero(table[label] == rare)[0])
            message = (
                f"'{rare}' ({counted(int(size[rare]), 'sample')}) is taken for a class beside "
                f"'{often}' ({size[often]}); if one of them is misspelt, write them alike; if "
                f"both are meant, write data: {flow({'classes': list(names)})}"
            )
            at = f"{where}, line {table.attrs['lines'][row]}, column '{label}'"
            yield Problem(at, message, "warning")


def check_codes(table: pd.DataFrame, label: str, where: str) -> Iterator[Problem]:
    """Yield that a number to be predicted, such as -99, may stand for none.

    It cannot be meant where it lies below all others by more than they differ.
    """
    rows = [row for row, cell in enumerate(table[label]) if is_number(cell)]
    y = np.array([float(table[label].iloc[row]) for row in rows])
    for code in missing_codes(y):
        others = y[y != code]
        first = rows[int(np.argmax(y == code))]
        certain = len(others) > 0 and code < 2 * others.min() - others.max()
        message = (
            f"the label of '{table.index[first]}' is {code:g}, as "
            f"{counted(int((y == code).sum()), 'cell')} here; if it says that there is no "
            "label, leave it blank"
        )
        at = f"{where}, line {table.attrs['lines'][first]}, column '{label}'"
        yield Problem(at, message, "error" if certain else "warning")


def check_names_alike(table: pd.DataFrame, key: str, column: str, where: str) -> Iterator[Problem]:
    """Yield that one patient, pair or batch may go by two names, and so be torn apart."""
    pairs = alike(map(str, table[column]))
    if pairs:
        one, other = pairs[0][:2]
        row = int(np.argmax(table[column] == other))
        message = (
            f"{key}: '{other}' differs from '{one}' in {BY_SIGHT}"
            f"{too(len(pairs) - 1, 'name')}; write them alike, or quite differently"
        )
        at = f"{where}, line {table.attrs['lines'][row]}, column '{column}'"
        yield Problem(at, message, "warning" if key == "data.batch" else "error")
