"""Columns of the sample table that describe patients, and not merely name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.response.covariates import Covariate
from genesig.results import Dataset
from genesig.words import is_missing, is_number

Array = np.ndarray[Any, Any]

MOST_COLUMNS = 12
MOST_LEVELS = 6
"""Different values, up to which numbers are codes and words are listed."""


@dataclass(frozen=True)
class Trait:
    """One column of the sample table.

    Attributes
    ----------
    name : str
    cells : (n,) str
        Empty where missing.
    numbers : (n,) float or None
        NaN where missing; None for words.
    """

    name: str
    cells: Array
    numbers: Array | None

    @property
    def known(self) -> Array:
        """Return which samples have a value, (n,)."""
        return np.asarray(self.cells != "")

    @property
    def levels(self) -> list[str]:
        """Return the words, in the order of numbers where all are."""
        found = sorted(set(self.cells[self.known].tolist()))
        return sorted(found, key=float) if all(map(is_number, found)) else found


def trait(name: str, column: Sequence[str]) -> Trait:
    """Return a column: numbers where all are and more than `MOST_LEVELS` differ, else words."""
    cells = np.array(["" if is_missing(cell) else cell.strip() for cell in column], dtype=object)
    numeric = Covariate.of(name, cells).levels is None
    values = np.array([float(cell) if cell and numeric else np.nan for cell in cells])
    many = len(np.unique(values[~np.isnan(values)])) > MOST_LEVELS
    return Trait(name, cells, values if many else None)


def traits(dataset: Dataset) -> tuple[list[Trait], dict[str, str]]:
    """Return the columns that describe samples, and why each other one does not.

    Covariates and batches come first, then the order of the table. Columns of the response, its
    weights, and columns that name samples, patients or pairs are none.
    """
    design = dataset.design
    first = [each.column for each in design.covariates]
    first += [] if design.batch is None else [design.batch]
    taken = {design.label, design.event, design.weights}
    found: list[Trait] = []
    others: dict[str, str] = {}
    for name in dict.fromkeys([*first, *map(str, dataset.obs.columns)]):
        if name in taken:
            continue
        one = trait(str(name), dataset.obs[name].astype(str).tolist())
        why = _undescribed(one, name in (design.group, design.pair) and name != design.batch)
        if why is None and len(found) == MOST_COLUMNS:
            why = f"after the first {MOST_COLUMNS}"
        if why is None:
            found.append(one)
        else:
            others[str(name)] = why
    return found, others


def _undescribed(one: Trait, names: bool) -> str | None:
    """Tell why a column describes nothing; `names` is whether it names patients or pairs."""
    different, known = len(set(one.cells[one.known])), int(one.known.sum())
    if different < 2:
        return "one value" if different else "no value"
    if one.numbers is None or names:
        few = different <= MOST_LEVELS or (not names and 4 * different <= known)
        return None if few else "names samples or patients"
    counted = different == known and np.ptp(one.numbers[one.known]) == known - 1
    return "numbers samples or patients" if counted else None
