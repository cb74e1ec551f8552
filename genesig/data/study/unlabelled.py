"""Samples without a label: a few are left out, many or those of one kind stop the study."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.study.labels.record import line
from genesig.errors import Problem
from genesig.words import flow_yaml, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

KEY = "data.unlabelled"
MOST_BLANK = 1 / 3
"""Share of the samples that may lack a label."""
MIN_SAMPLES = 3
"""With a label and without one, from which on blanks can go together with another column."""
MAX_VALUES = 10
"""Different values of a column that groups samples."""
MIN_ASSOCIATION = 0.8
"""Correlation of a blank label with the values of another column, as 0 and 1."""
MIN_WAYS = 1000
"""Ways to leave the labels of so many samples blank, for each column that is looked at."""


def unlabelled_samples(
    table: pd.DataFrame,
    place: str,
    label: str,
    *,
    classes: Sequence[str],
    words_are_classes: bool,
    leave_out: bool,
    problems: list[Problem],
    key: str = KEY,
) -> dict[str, str]:
    """Return the samples without a label and the reason; say so.

    An error if they are more than a third, or if blanks go together with another column, unless
    `leave_out` is asked for by the setting `key`. A class that is called NA or null must be in
    `classes`.
    """
    cells = list(map(str, table[label]))
    blank = np.array([is_missing(cell) and cell not in classes for cell in cells], dtype=bool)
    rows = np.flatnonzero(blank).tolist()
    names = [str(table.index[row]) for row in rows]
    if rows:
        companion = _companion(table, label, blank)
        stops = not leave_out and len(rows) < len(cells)
        stops = stops and (len(rows) > MOST_BLANK * len(cells) or bool(companion))
        words = {cells[row].strip() for row in rows}
        word = cells[rows[0]]
        message = (
            f"no label{f' ({word!r})' if word else ''} for {listing(names)}"
            f"{'' if stops else '; left out of the study'} ({len(rows)} of {len(cells)})"
        )
        message += companion and f"; {companion}"
        if words_are_classes and len(words) == 1 and word.strip():
            message += _as_class(word.strip(), len(rows) / len(cells), cells, blank)
        if stops:
            message += f"; fill the labels in, or to leave these samples out set {key}: leave_out"
        at = f"{place}, line {line(table, rows[0])}, column '{label}'"
        code = "many_labels_missing" if stops else "labels_missing"
        level: Literal["error", "warning"] = "error" if stops else "warning"
        problems.append(Problem(at, message, level, code=code, key=key))
    return dict.fromkeys(names, f"no label in column '{label}'")


def _as_class(word: str, share: float, cells: Sequence[str], blank: Array) -> str:
    """Return the setting that takes a word for a class; '' unless it is null or frequent."""
    if word.lower() != "null" and share <= MOST_BLANK:
        return ""
    others = sorted({cell for cell, is_blank in zip(cells, blank, strict=True) if not is_blank})
    if not 0 < len(others) < 2 * MAX_VALUES:
        return ""
    return f"; if '{word}' is a class, write data: {flow_yaml({'classes': [*others, word]})}"


def _companion(table: pd.DataFrame, label: str, blank: Array) -> str:
    """Say with which values of another column blank labels go together; '' for none."""
    others = [str(name) for name in table.columns if name != label]
    n_blank = int(blank.sum())
    n_samples = len(blank)
    few = min(n_blank, n_samples - n_blank) < MIN_SAMPLES
    if few or comb(n_samples, n_blank) < MIN_WAYS * len(others):
        return ""
    strongest = 0.0
    sentence = ""
    for name in dict.fromkeys(others):
        if others.count(name) > 1:
            continue
        values = np.array([str(cell).strip() for cell in table[name]], dtype=object)
        missing = np.array([is_missing(value) for value in values], dtype=bool)
        if np.array_equal(missing, ~blank):
            return f"column '{name}' has a value for these samples alone and may belong to it"
        association, groups = _association(np.where(missing, "", values), blank)
        if association > max(strongest, MIN_ASSOCIATION):
            found = listing(group or "blank" for group in groups)
            strongest = association
            sentence = f"they go together with {found} in column '{name}'"
    return sentence


def _association(values: Array, blank: Array) -> tuple[float, list[str]]:
    """Return how far blank labels are those of some values, 0 to 1, and these values."""
    groups = sorted(set(values.tolist()))
    if not 1 < len(groups) <= MAX_VALUES:
        return 0.0, []
    mostly_blank = [
        group for group in groups if 2 * blank[values == group].sum() > (values == group).sum()
    ]
    expected = np.isin(values, mostly_blank)
    if expected.all() or not expected.any():
        return 0.0, []
    return float(np.corrcoef(expected, blank)[0, 1]), mostly_blank
