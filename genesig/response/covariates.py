"""What a study holds fixed beside expression: columns of the sample table as numbers.

A number may enter as a restricted cubic spline: cubic between its knots, a straight line beyond the
outer two, so that an effect which rises and falls, or sets in late, is held fixed as well.
F. E. Harrell (2015), Regression modeling strategies, sections 2.4.5 and 2.4.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.words import as_seen, is_missing, is_number

QUANTILES = {
    3: (0.1, 0.5, 0.9),
    4: (0.05, 0.35, 0.65, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975),
}
"""Where the knots of a spline are, by their number (Harrell 2015, table 2.3)."""
LARGE = 100
"""Samples of a study from which on a spline has four knots."""


def knots_for(samples: int) -> int:
    """Return how many knots a spline has in a study of so many samples."""
    return 4 if samples >= LARGE else 3


@dataclass(frozen=True)
class Covariate:
    """A column of the sample table.

    Attributes
    ----------
    column : str
    levels : tuple of str or None
        Of a column of words, in alphabetical order; the first is what the others are held against.
        None for a column of numbers.
    knots : int
        Of the spline of a column of numbers; 0 where it enters as a straight line.
    words : mapping
        Other words for its values, as they stand in a sample table -> what they mean.
    """

    column: str
    levels: tuple[str, ...] | None
    knots: int = 0
    words: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def of(
        cls,
        column: str,
        cells: Iterable[str],
        knots: int = 0,
        words: Mapping[str, str] | None = None,
        *,
        categorical: bool = False,
    ) -> Covariate:
        """Tell words from numbers: numbers are all that is not missing, or it is words.

        Words that differ in case, blanks or invisible characters only are one level, spelt as most
        of its cells. Numbers of which there are two are as good as words, and have no spline.
        Numbers that are names, as of centres, are words if `categorical`, in the order of numbers.
        """
        times = Counter(
            c for c in cls(column, None, 0, words or {}).spelt(cells) if not is_missing(c)
        )
        numbers = all(map(is_number, times))
        if categorical or not numbers:
            spelt: dict[str, str] = {}
            for cell in sorted(times, key=lambda cell: (-times[cell], cell)):
                spelt.setdefault(as_seen(cell), cell)
            levels = sorted(spelt.values(), key=float if numbers else None)
            return cls(column, tuple(levels), 0, words or {})
        knots = knots if len(set(map(float, times))) > 2 else 0
        return cls(column, None, knots, words or {})

    @classmethod
    def of_notes(cls, notes: Mapping[str, Any]) -> Covariate:
        """Read what JSON keeps of one: column, levels and number of knots."""
        levels = notes["levels"] and tuple(notes["levels"])
        return cls(notes["column"], levels, notes.get("knots", 0), notes.get("words", {}))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns in the model.

        ``sex: male`` for each further level; ``age``, and ``age'`` and ``age''`` of its spline.
        """
        if self.levels is None:
            return tuple(self.column + "'" * power for power in range(max(1, self.knots - 1)))
        return tuple(f"{self.column}: {level}" for level in self.levels[1:])

    def spelt(self, cells: Iterable[str]) -> list[str]:
        """Return cells in the words of this covariate; one that is none of them stays as it is."""
        meant = {as_seen(word): of for word, of in self.words.items()}
        known = {as_seen(level): level for level in self.levels or ()}
        found = (meant.get(as_seen(cell), cell) for cell in cells)
        return [known.get(as_seen(cell), cell) for cell in found]

    def encode(self, cells: Sequence[str]) -> Array:
        """Return (n, 1) numbers, or a column for each further level; NaN where missing.

        A level unheard of, which the readers refuse, has 0 in all of its columns.
        """
        cells = self.spelt(cells)
        missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
        if self.levels is None:
            pairs = zip(cells, missing, strict=True)
            return np.array([np.nan if out else float(cell) for cell, out in pairs])[:, None]
        given = np.array(cells, dtype=object)
        found = np.column_stack([np.zeros((len(given), 0)), *(given == x for x in self.levels[1:])])
        return np.where(missing[:, None], np.nan, found.astype(float))


def encoded(covariates: Iterable[Covariate], table: Any) -> Array:
    """Return the covariates of the rows of a sample table, (n, r): numbers as they are.

    `splined` makes of them what models have.
    """
    parts = [each.encode(table[each.column].astype(str).tolist()) for each in covariates]
    return np.hstack([np.zeros((len(table), 0)), *parts])


def names_of(covariates: Iterable[Covariate]) -> list[str]:
    """Return the names of the columns that models have."""
    return [name for each in covariates for name in each.names]


def knot_counts(covariates: Iterable[Covariate]) -> tuple[int, ...]:
    """Return the number of knots of each column of `encoded`, 0 where there is no spline."""
    every = (
        (each.knots,) if each.levels is None else (0,) * len(each.names) for each in covariates
    )
    return tuple(knots for one in every for knots in one)


def knots_at(C: Array, counts: Sequence[int]) -> Array:
    """Return the knots of each column, (r, most of `counts`), NaN where it has no more.

    They are the `QUANTILES` of the values that are known; where two of these are the same, of the
    different values. Of samples that train a model, and no others.

    Parameters
    ----------
    C : (n, r) float
        As `encoded` gives it, of these samples.
    counts : r of int
    """
    knots = np.full((C.shape[1], max(counts, default=0)), np.nan)
    for column, number in enumerate(counts):
        values = C[~np.isnan(C[:, column]), column]
        if number and len(values):
            at = np.quantile(values, QUANTILES[number])
            if (np.diff(at) <= 0).any():
                at = np.quantile(np.unique(values), QUANTILES[number])
            knots[column, :number] = at
        elif number:
            knots[column, :number] = 0.0
    return knots


def splined(C: Array, knots: Array) -> Array:
    r"""Return the columns that models have, (n, q): each number, and the rest of its spline.

    With knots :math:`t_1 < \dots < t_K`, for j = 1 to K - 2 in the units of x,

    .. math::
        \left[(x - t_j)_+^3 - \frac{t_K - t_j}{t_K - t_{K-1}} (x - t_{K-1})_+^3
        + \frac{t_{K-1} - t_j}{t_K - t_{K-1}} (x - t_K)_+^3\right] / (t_K - t_1)^2,

    and 0 where the last two knots are one (Harrell 2015, equation 2.25). NaN where x is missing.

    Parameters
    ----------
    C : (n, r) float
    knots : (r, K) float
        NaN where a column has no more.
    """
    parts = []
    for x, row in zip(C.T, knots, strict=True):
        t = row[~np.isnan(row)]
        parts += [x, *(_bend(x, t, at) for at in t[: max(0, len(t) - 2)])]
    return np.column_stack([np.zeros((len(C), 0)), *parts])


def _bend(x: Array, t: Array, at: float) -> Array:
    before, last = t[-2:]
    if last <= before:
        return np.where(np.isnan(x), np.nan, 0.0)
    unit = last - t[0]
    first, second, third = (np.maximum((x - knot) / unit, 0.0) ** 3 for knot in (at, before, last))
    share = (last - at) / (last - before)
    return np.asarray(unit * (first - share * second + (share - 1) * third))
