"""What a study holds fixed beside expression: columns of the sample table as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.words import is_missing, is_number

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Covariate:
    """A column of the sample table.

    Attributes
    ----------
    column : str
    levels : tuple of str or None
        Of a column of words, in alphabetical order; the first is what the others are held against.
        None for a column of numbers.
    """

    column: str
    levels: tuple[str, ...] | None

    @classmethod
    def of(cls, column: str, cells: Iterable[str]) -> Covariate:
        """Tell words from numbers: numbers are all that is not missing, or it is words."""
        known = sorted({cell for cell in cells if not is_missing(cell)})
        return cls(column, None if all(map(is_number, known)) else tuple(known))

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Covariate:
        """Read what JSON keeps of one: column and levels."""
        return cls(notes["column"], notes["levels"] and tuple(notes["levels"]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns in the model: ``age``, or ``sex: male`` for each further level."""
        if self.levels is None:
            return (self.column,)
        return tuple(f"{self.column}: {level}" for level in self.levels[1:])

    def encode(self, cells: Sequence[str]) -> Array:
        """Return (n, number of names) numbers: NaN where missing, 0 for a level unheard of."""
        missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
        if self.levels is None:
            pairs = zip(cells, missing, strict=True)
            return np.array([np.nan if out else float(cell) for cell, out in pairs])[:, None]
        given = np.array(cells, dtype=object)
        found = np.column_stack([np.zeros((len(given), 0)), *(given == x for x in self.levels[1:])])
        return np.where(missing[:, None], np.nan, found.astype(float))


def encoded(covariates: Iterable[Covariate], table: Any) -> Array:
    """Return the covariates of the rows of a sample table, (n, q)."""
    parts = [each.encode(table[each.column].astype(str).tolist()) for each in covariates]
    return np.hstack([np.zeros((len(table), 0)), *parts])


def names_of(covariates: Iterable[Covariate]) -> list[str]:
    """Return the names of the columns of `encoded`."""
    return [name for each in covariates for name in each.names]
