"""Covariates, for which models are adjusted: columns of the sample table as numbers.

A number may enter as a restricted cubic spline: cubic between its knots, and linear beyond the
outer two, so that models are also adjusted for an effect that rises and falls, or begins late. F.
E. Harrell (2015), Regression modeling strategies, sections 2.4.5 and 2.4.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.words import as_read, is_missing, is_number

KNOT_QUANTILES = {
    3: (0.1, 0.5, 0.9),
    4: (0.05, 0.35, 0.65, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975),
}
"""Quantiles at which the knots of a spline lie, by their number (Harrell 2015, table 2.3)."""
MIN_SAMPLES_OF_FOUR_KNOTS = 100  # samples from which a spline has four knots, not three


def default_n_knots(n_samples: int) -> int:
    """Return the number of knots of a spline of a covariate in a study of `n_samples`."""
    return 4 if n_samples >= MIN_SAMPLES_OF_FOUR_KNOTS else 3


@dataclass(frozen=True)
class Covariate:
    """A column of the sample table."""

    column: str
    # levels of a column of words, in alphabetical order; the first is the reference level. None for
    # a column of numbers.
    levels: tuple[str, ...] | None
    knots: int = 0  # number of knots of the spline of a column of numbers; 0 for a linear effect
    # other words for its values: word in a sample table -> level
    words: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def from_cells(
        cls,
        column: str,
        cells: Iterable[str],
        knots: int = 0,
        words: Mapping[str, str] | None = None,
        *,
        categorical: bool = False,
    ) -> Covariate:
        """Return the covariate of a column, whose cells are numbers if no other word occurs.

        Words that differ only in case, blanks or invisible characters are one level, spelt as most
        of its cells. A column of two distinct numbers has no spline. Numbers that are names, as of
        centres, are levels if `categorical`, in numerical order.
        """
        count_of_cell = Counter(
            cell_text
            for cell_text in cls(column, levels=None, words=words or {}).spelt(cells)
            if not is_missing(cell_text)
        )
        are_numbers = all(map(is_number, count_of_cell))
        if categorical or not are_numbers:
            spelling: dict[str, str] = {}
            for cell in sorted(count_of_cell, key=lambda cell: (-count_of_cell[cell], cell)):
                spelling.setdefault(as_read(cell), cell)
            levels = sorted(spelling.values(), key=float if are_numbers else None)
            return cls(column, tuple(levels), words=words or {})
        knots = knots if len(set(map(float, count_of_cell))) > 2 else 0
        return cls(column, levels=None, knots=knots, words=words or {})

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> Covariate:
        """Return the covariate of a JSON object with the fields of this class."""
        levels = None if notes["levels"] is None else tuple(notes["levels"])
        return cls(notes["column"], levels, notes.get("knots", 0), notes.get("words", {}))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns in the model.

        ``sex: male`` for each further level; ``age``, with ``age'`` and ``age''`` of four knots.
        """
        if self.levels is None:
            return tuple(self.column + "'" * power for power in range(max(1, self.knots - 1)))
        return tuple(f"{self.column}: {level}" for level in self.levels[1:])

    def spelt(self, cells: Iterable[str]) -> list[str]:
        """Return cells spelt as the levels of this covariate; an unknown word stays as it is."""
        word_of_alias = {as_read(word): meaning for word, meaning in self.words.items()}
        level_of_spelling = {as_read(level): level for level in self.levels or ()}
        words = (word_of_alias.get(as_read(cell), cell) for cell in cells)
        return [level_of_spelling.get(as_read(cell), cell) for cell in words]

    def encode(self, cells: Sequence[str]) -> Array:
        """Return (n, 1) numbers, or a column for each further level; NaN where missing.

        An unknown level, which the readers refuse, has 0 in all columns.
        """
        cells = self.spelt(cells)
        missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
        if self.levels is None:
            pairs = zip(cells, missing, strict=True)
            return np.array([np.nan if is_blank else float(cell) for cell, is_blank in pairs])[
                :, None
            ]
        words = np.array(cells, dtype=object)
        indicators = np.column_stack(
            [np.zeros((len(words), 0)), *(words == level for level in self.levels[1:])]
        )
        return np.where(missing[:, None], np.nan, indicators.astype(float))


def encode_covariates(covariates: Iterable[Covariate], table: Any) -> Array:
    """Return the covariates of the rows of a sample table, (n, r): numbers as they are.

    `spline_columns` turns them into the columns of models.
    """
    columns = [
        covariate.encode(table[covariate.column].astype(str).tolist()) for covariate in covariates
    ]
    return np.hstack([np.zeros((len(table), 0)), *columns])


def covariate_names(covariates: Iterable[Covariate]) -> list[str]:
    """Return the names of the covariate columns of models."""
    return [name for covariate in covariates for name in covariate.names]


def knot_counts(covariates: Iterable[Covariate]) -> tuple[int, ...]:
    """Return the number of knots of each column of `encode_covariates`, 0 without a spline."""
    # A covariate of words has a column for each further level.
    counts_by_covariate = (
        (covariate.knots,) if covariate.levels is None else (0,) * len(covariate.names)
        for covariate in covariates
    )
    return tuple(n_knots for counts in counts_by_covariate for n_knots in counts)


def place_knots(C: Array, n_knots_of_columns: Sequence[int]) -> Array:
    """Return the knots of each column, (r, max(counts)), filled with NaN.

    They are `KNOT_QUANTILES` of the known values of the training samples of a model; if two of
    these are equal, quantiles of the distinct values.

    C (n, r) float: columns of `encode_covariates`, of the training samples.
    n_knots_of_columns (r,): number of knots of each column (`knot_counts`).
    """
    knots = np.full((C.shape[1], max(n_knots_of_columns, default=0)), np.nan)
    for column, n_knots in enumerate(n_knots_of_columns):
        values = C[~np.isnan(C[:, column]), column]
        if n_knots and len(values):
            quantiles = np.quantile(values, KNOT_QUANTILES[n_knots])
            if (np.diff(quantiles) <= 0).any():
                quantiles = np.quantile(np.unique(values), KNOT_QUANTILES[n_knots])
            knots[column, :n_knots] = quantiles
        elif n_knots:
            knots[column, :n_knots] = 0.0  # no value is known
    return knots


def spline_columns(C: Array, knots: Array) -> Array:
    r"""Return the covariate columns of models, (n, q): each number, and the terms of its spline.

    With knots :math:`t_1 < \dots < t_K`, for j = 1 to K - 2 in the units of x,

    .. math::
        \left[(x - t_j)_+^3 - \frac{t_K - t_j}{t_K - t_{K-1}} (x - t_{K-1})_+^3
        + \frac{t_{K-1} - t_j}{t_K - t_{K-1}} (x - t_K)_+^3\right] / (t_K - t_1)^2,

    and 0 if the last two knots are equal (Harrell 2015, equation 2.25). NaN where x is missing.

    C (n, r) float. knots (r, K) float: NaN where a column has no more.
    """
    columns = []
    for x, padded_knots in zip(C.T, knots, strict=True):
        known_knots = padded_knots[~np.isnan(padded_knots)]
        columns += [x, *(_spline_column(x, known_knots, knot) for knot in known_knots[:-2])]
    return np.column_stack([np.zeros((len(C), 0)), *columns])


def _spline_column(x: Array, knots: Array, knot: float) -> Array:
    """Return the term of a spline for one of its knots, (n,) (see `spline_columns`)."""
    second_last_knot, last_knot = knots[-2:]
    if last_knot <= second_last_knot:
        return np.where(np.isnan(x), np.nan, 0.0)
    knot_range = last_knot - knots[0]
    term, second_last_term, last_term = (
        np.maximum((x - knot_place) / knot_range, 0.0) ** 3
        for knot_place in (knot, second_last_knot, last_knot)
    )
    ratio = (last_knot - knot) / (last_knot - second_last_knot)
    return np.asarray(knot_range * (term - ratio * second_last_term + (ratio - 1) * last_term))
