"""Columns of a sample table that say which samples are of one patient, by their name or values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.data.files.columns import cells_of, is_covariate
from genesig.words import is_number

if TYPE_CHECKING:
    import pandas as pd

PATIENT_WORDS = "patient|subject|donor|individual|animal|participant|person"
ID_WORDS = "id|ids|no|nr|num|number|code|identifier|name|barcode"
PATIENT_COLUMN = re.compile(
    rf"({PATIENT_WORDS})s?|.*({PATIENT_WORDS}|case|mouse)s?({ID_WORDS})|recordid"
)
"""Matches a column's whole name without blanks and punctuation: 'Patient ID', not 'patient age'."""
MIN_UNITS = 6  # values of a column of patients; of fewer it may be another name of the classes
MAX_UNIT_SIZE = 5
"""Largest mean number of samples of a patient, unless all patients have the same number; conditions
of an experiment have more samples."""
MAX_CHANCE = 1e-4  # probability of one response in each value, up to which that is no chance
MAX_CHANCE_OF_EQUAL_SIZE = 1e-2
"""The same if all values have the same number of samples, as conditions seldom have."""


def names_patients(column: str) -> bool:
    """Tell whether a column is called as patients are: 'Patient ID' is, 'patient age' is not."""
    return PATIENT_COLUMN.fullmatch(re.sub(r"[\W_]+", "", column).casefold()) is not None


def find_patient_column(table: pd.DataFrame, class_names: Iterable[str]) -> str | None:
    """Return the column of patients with several samples, if a table has it.

    It is called as patients are. Else its values have one class each in a column of `class_names`,
    far more often than by chance, and none is a number, such as a time; of several such columns it
    is the one with most values. All its cells are filled in, and its values repeat.
    """
    candidates = [
        name for name in map(str, table.columns) if not is_covariate(name) and _repeats(table, name)
    ]
    named_column = next(filter(names_patients, candidates), None)
    if named_column is not None:
        return named_column
    class_names = list(class_names)
    recognised_columns = [
        name
        for name in candidates
        if not any(map(is_number, cells_of(table, name)))
        and any(_has_one_class_each(table, name, class_name) for class_name in class_names)
    ]
    return max(recognised_columns, key=lambda name: len(set(table[name])), default=None)


def varies_within(table: pd.DataFrame, name: str, unit_column: str) -> bool:
    """Tell whether samples of one value of the unit column (patient) differ in column `name`."""
    units = table[unit_column]
    return len({*zip(units, table[name], strict=True)}) > len(set(units))


def _repeats(table: pd.DataFrame, name: str) -> bool:
    """Tell whether a column without blanks has `MIN_UNITS` values or more, few samples each."""
    n_values = len(set(cells_of(table, name)))
    return (
        len(cells_of(table, name)) == len(table)
        and MIN_UNITS <= n_values < len(table) <= MAX_UNIT_SIZE * n_values
    )


def _has_one_class_each(table: pd.DataFrame, name: str, class_name: str) -> bool:
    """Tell whether values of a column have one class each, far more often than by chance."""
    if name == class_name or varies_within(table, class_name, name):
        return False
    sizes = table.groupby(name).size().tolist()
    limit = MAX_CHANCE_OF_EQUAL_SIZE if len(set(sizes)) == 1 else MAX_CHANCE
    repeated_sizes = [size for size in sizes if size > 1]
    return chance_of_one_response(repeated_sizes, list(map(str, table[class_name]))) < limit


def chance_of_one_response(repeated_sizes: Sequence[int], response_texts: Sequence[str]) -> float:
    """Return the probability that permuted responses are equal within each value of a column.

    It is the product of Σ_c C(n_c, s)/C(n, s) over the values, s samples each, n_c of n samples
    having response c.

    repeated_sizes: number of samples of each value that occurs more than once.
    response_texts (n,) of str: response of each sample, in any order.
    """
    counts = np.array(list(Counter(response_texts).values()), float)
    n_samples = len(response_texts)
    log_chance = 0.0
    for size in repeated_sizes:
        drawn_samples = np.arange(size)
        shares = np.clip(counts[:, None] - drawn_samples, 0, None) / (n_samples - drawn_samples)
        log_chance += float(np.log(max(shares.prod(axis=1).sum(), 1e-300)))  # no log of 0
    return float(np.exp(log_chance))
