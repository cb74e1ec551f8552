"""Words of the sample table that may stand for no value, or for one thing written in two ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.steps.scale import missing_codes
from genesig.errors import Problem
from genesig.words import (
    NOTHING,
    UNKNOWN,
    alike,
    as_seen,
    counted,
    flow,
    is_number,
    listing,
    misspelt,
    too,
)

if TYPE_CHECKING:
    import pandas as pd


BY_SIGHT = "upper and lower case, blanks or invisible characters only"
MOST_CLASSES = 20  # more are refused; of columns with a word for each sample no pairs are made


def check_class_words(table: pd.DataFrame, label: str, names: Sequence[str],
                      where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield that a class which the config does not name may be none.

    `names` are the classes. ``-`` beside ``+`` is one; ``none`` or ``-`` beside another word may
    be one, ``?`` or ``-99`` is not.
    """
    if pairs := alike(names):
        same = " and ".join(map(listing, pairs[:3]))
        what = f"the classes {same} differ in {BY_SIGHT}; write them alike"
        yield Problem(f"{where}, column '{label}'", what)
    if 2 < len(names) <= MOST_CLASSES:
        yield from _check_misspelt(table, label, names, where)
    for name in names:
        unknown, nothing = UNKNOWN.fullmatch(name), NOTHING.fullmatch(name)
        if not (unknown or nothing) or (name == "-" and "+" in names):
            continue
        rows = np.flatnonzero(table[label] == name)
        what = f"'{name}' ({counted(len(rows), 'sample')}) is taken for a class; "
        what += "if it says that there is no label, leave these cells blank, "
        what += f"else write data: {flow({'classes': list(names)})}"
        at = f"{where}, line {table.attrs['lines'][rows[0]]}, column '{label}'"
        yield Problem(at, what, "error" if unknown else "warning")


def check_left_out(counts: Mapping[str, int], classes: Sequence[str],
                   at: str) -> Iterator[Problem]:  # fmt: skip
    """Yield that a class which ``data.classes`` leaves out looks like one that it names."""
    seen = {as_seen(name): name for name in classes}
    for name, number in counts.items():
        if as_seen(name) in seen:
            what = f"'{name}' ({counted(number, 'sample')}) is left out by data.classes, but "
            what += f"differs from '{seen[as_seen(name)]}' in {BY_SIGHT}; write them alike, or "
            yield Problem(at, f"{what}quite differently")


def _check_misspelt(table: pd.DataFrame, label: str, names: Sequence[str],
                    where: str) -> Iterator[Problem]:  # fmt: skip
    """Yield that a class may be there by a slip of the keyboard: the rarer one of two."""
    size = table[label].value_counts()
    for pair in combinations(names, 2):
        if misspelt(*pair):
            often, rare = sorted(pair, key=lambda name: -size[name])
            row = int(np.flatnonzero(table[label] == rare)[0])
            what = f"'{rare}' ({counted(int(size[rare]), 'sample')}) is taken for a class beside "
            what += f"'{often}' ({size[often]}); if one of them is misspelt, write them alike; if "
            what += f"both are meant, write data: {flow({'classes': list(names)})}"
            at = f"{where}, line {table.attrs['lines'][row]}, column '{label}'"
            yield Problem(at, what, "warning")


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
        what = f"the label of '{table.index[first]}' is {code:g}, as "
        what += f"{counted(int((y == code).sum()), 'cell')} here; if it says that there is no "
        what += "label, leave it blank"
        at = f"{where}, line {table.attrs['lines'][first]}, column '{label}'"
        yield Problem(at, what, "error" if certain else "warning")


def check_names_alike(table: pd.DataFrame, key: str, column: str, where: str) -> Iterator[Problem]:
    """Yield that one patient, pair or batch may go by two names, and so be torn apart."""
    pairs = alike(map(str, table[column]))
    if pairs:
        one, other = pairs[0][:2]
        row = int(np.argmax(table[column] == other))
        what = f"{key}: '{other}' differs from '{one}' in {BY_SIGHT}"
        what += f"{too(len(pairs) - 1, 'name')}; write them alike, or quite differently"
        at = f"{where}, line {table.attrs['lines'][row]}, column '{column}'"
        yield Problem(at, what, "warning" if key == "data.batch" else "error")
