"""Decide whether samples without a label are left out or stop the study."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import TextTable
from genesig.errors import Problem
from genesig.words import flow_yaml, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

UNLABELLED_KEY = "data.unlabelled"
MAX_BLANK_SHARE = 1 / 3  # share of the samples that may lack a label
MIN_SAMPLES = 3
"""With a label and without one, from which on blanks can go together with another column."""
MAX_GROUP_VALUES = 10  # different values of a column that groups samples
MIN_ASSOCIATION = 0.8  # correlation of a blank label with the values of another column, as 0 and 1
MIN_ARRANGEMENTS_PER_COLUMN = 1000
"""Ways to leave the labels of so many samples blank, for each column that is looked at."""


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
    """Return the samples without a label with the reason, and append a problem.

    It is an error if they are more than a third, or if blanks are associated with another column,
    unless `leave_out` is true by the setting named `setting`. A class that is called NA or null
    must be in `classes`.
    """
    cells = list(map(str, table.cells[label]))
    is_blank = np.array([is_missing(cell) and cell not in classes for cell in cells], dtype=bool)
    blank_rows = np.flatnonzero(is_blank).tolist()
    blank_samples = [str(table.cells.index[row]) for row in blank_rows]
    if blank_rows:
        companion = _describe_association(table.cells, label, is_blank)
        is_error = not leave_out and len(blank_rows) < len(cells)
        is_error = is_error and (len(blank_rows) > MAX_BLANK_SHARE * len(cells) or bool(companion))
        blank_words = {cells[row].strip() for row in blank_rows}
        first_word = cells[blank_rows[0]]
        message = (
            f"no label{f' ({first_word!r})' if first_word else ''} for {listing(blank_samples)}"
            f"{'' if is_error else '; left out of the study'} ({len(blank_rows)} of {len(cells)})"
        )
        message += companion and f"; {companion}"
        if words_are_classes and len(blank_words) == 1 and first_word.strip():
            message += _class_advice(
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


def _class_advice(word: str, share: float, cells: Sequence[str], is_blank: Array) -> str:
    """Return the setting that takes a word for a class; '' unless it is null or frequent."""
    if word.lower() != "null" and share <= MAX_BLANK_SHARE:
        return ""
    other_classes = sorted({cells[row] for row in np.flatnonzero(~is_blank).tolist()})
    if not 0 < len(other_classes) < 2 * MAX_GROUP_VALUES:
        return ""
    return f"; if '{word}' is a class, write data: {flow_yaml({'classes': [*other_classes, word]})}"


def _describe_association(table: pd.DataFrame, label: str, is_blank: Array) -> str:
    """Return the values of another column that blank labels go with, as a phrase; '' for none."""
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
    """Return the correlation of blank labels with mostly blank values, and these values."""
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
