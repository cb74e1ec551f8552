"""How much of a component's variance goes with a column of the sample table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.words import is_missing, is_number

Array = np.ndarray[Any, Any]

# Numbers with so few values are codes (of a batch, a centre), unless most samples have their own.
_CODES = 10
_FEWEST_LEFT = 2


@dataclass(frozen=True)
class Association:
    """Share of each component's variance that a column explains, and its test.

    Attributes
    ----------
    kind : {"classes", "number"}
        Share is eta² of one-way analysis of variance, or r².
    levels, samples : int
        Classes (2 for a number: its degrees of freedom plus one); samples that have a value.
    share, adjusted : (k,) float
        The second less what chance gives, ``1 - (1 - share)(n - 1)/(n - levels)``, at least 0:
        with it columns of few and of many classes can be compared.
    p : (k,) float
        Of the F test, ``F = (share/(levels - 1)) / ((1 - share)/(n - levels))``.
    """

    kind: str
    levels: int
    samples: int
    share: Array
    adjusted: Array
    p: Array


def association(points: Array, column: Sequence[str], *, number: bool) -> Association | str:
    """Test a column against components, or say in words why it cannot be tested.

    Parameters
    ----------
    points : (n, k) float
        Samples on the components.
    column : (n,) str
        Blank cells and such as NA are left out.
    number : bool
        Whether its values are numbers and mean more than names.
    """
    rows = [row for row, value in enumerate(column) if not is_missing(value)]
    values = [column[row].strip() for row in rows]
    distinct = sorted(set(values))
    if len(distinct) < 2:
        return "one value" if distinct else "no value"
    if not number and len(distinct) == len(values):
        return "a value of its own for each sample"
    levels = 2 if number else len(distinct)
    if len(values) - levels < _FEWEST_LEFT:
        return "too few samples for its values"
    P = points[rows] - points[rows].mean(axis=0)
    share = _r2(P, values) if number else _eta2(P, values, distinct)
    return _tested("number" if number else "classes", share, levels, len(values))


def means_numbers(column: Sequence[str]) -> bool:
    """Tell whether a column holds numbers that are more than codes of a few classes."""
    values = [value for value in column if not is_missing(value)]
    distinct = len(set(values))
    many = distinct > _CODES or 2 * distinct > len(values)
    return many and all(map(is_number, values))


def _eta2(P: Array, values: list[str], distinct: list[str]) -> Array:
    member = np.array(values, dtype=object)[:, None] == np.array(distinct, dtype=object)
    sums = member.T.astype(float) @ P
    between = (sums**2 / member.sum(axis=0)[:, None]).sum(axis=0)
    return _share(between, (P**2).sum(axis=0))


def _r2(P: Array, values: list[str]) -> Array:
    x = np.array(values, dtype=float)
    x = x - x.mean()
    return _share((x @ P) ** 2, (x @ x) * (P**2).sum(axis=0))


def _share(part: Array, whole: Array) -> Array:
    """Divide; a component without variance has no share."""
    known = whole > 0
    return np.where(known, np.clip(part / np.where(known, whole, 1.0), 0, 1), np.nan)


def _tested(kind: str, share: Array, levels: int, samples: int) -> Association:
    from scipy.special import fdtrc

    left = samples - levels
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (share / (levels - 1)) / ((1 - share) / left)
    adjusted = np.maximum(1 - (1 - share) * (samples - 1) / left, 0)
    return Association(kind, levels, samples, share, adjusted, fdtrc(levels - 1, left, F))
