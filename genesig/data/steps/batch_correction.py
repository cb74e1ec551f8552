"""ComBat as a step of a study: estimated on training samples, for others of the same batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.data.steps.combat import Combat
from genesig.errors import GenesigError
from genesig.response.covariates import Covariate
from genesig.words import is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
UNKNOWN = ""


@dataclass(frozen=True, eq=False)
class BatchCorrection:
    """`Combat` with the batch and the covariates taken from columns of the sample table.

    A sample stays as it is where its batch had fewer than two training samples, and where its
    batch or a covariate of it is not known.

    Attributes
    ----------
    columns : sequence of str
        The batch's column, then those of the covariates.
    levels : sequence of (column, word)
        Words of the covariates that are no numbers; the first of a column is what the others are
        held against.
    batches, mean, scale, coefficients, gamma, delta
        Of the `Combat` that was fitted.
    """

    columns: Sequence[str]
    levels: Sequence[Sequence[str]]
    batches: Sequence[str]
    mean: Array
    scale: Array
    coefficients: Array
    gamma: Array
    delta: Array
    kind: ClassVar[Literal["batch"]] = "batch"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, about: pd.DataFrame | None, *, batch: str | None,
            covariates: Sequence[str]) -> BatchCorrection:  # fmt: skip
        """Estimate the batches' shifts and variances.

        Parameters
        ----------
        X : (n_samples, n_genes) float
        about : DataFrame
            Rows of the sample table, those of `X`.
        batch : str
            Column of `about`.
        covariates : list of str
            Columns of numbers or words; never the class, and nothing that stands for it.

        Raises
        ------
        GenesigError
            There is no column of batches; a sample lacks its batch or a number; `Combat`'s own.
        """
        if batch is None or about is None:
            raise GenesigError(
                "normalise.folds: combat needs data.batch, the column that says which samples were "
                "processed together"
            )
        columns = (batch, *covariates)
        found = [Covariate.of(name, map(str, about[name])) for name in covariates if name in about]
        levels = [[each.column, level] for each in found for level in each.levels or ()]
        names, numbers = _known(about, columns, levels)
        if UNKNOWN in names:
            lacking = [str(name) for name in about.index[names == UNKNOWN]]
            raise GenesigError(
                f"normalise.folds: combat needs the batch and a value of each covariate of every "
                f"sample ({listing(columns)}), not so for {listing(lacking)}"
            )
        fitted = Combat.fit(X, batch=names.tolist(), reference=None, covariates=numbers)
        return cls(columns, levels, **vars(fitted))

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Correct the samples whose batch is known; `about` are their rows of the sample table."""
        if about is None:
            return X
        names, numbers = _known(about, self.columns, self.levels)
        return self._combat().transform(X, batch=names.tolist(), covariates=numbers)

    def uncorrected(self, about: pd.DataFrame | None, n_samples: int) -> Array:
        """Return the (n_samples,) mask of those that `transform` leaves as they are."""
        if about is None:
            return np.ones(n_samples, dtype=bool)
        return ~np.isin(_known(about, self.columns, self.levels)[0], list(map(str, self.batches)))

    def _combat(self) -> Combat:
        arrays = (self.mean, self.scale, self.coefficients, self.gamma, self.delta)
        return Combat(tuple(map(str, self.batches)), *map(np.asarray, arrays))


def _known(
    about: pd.DataFrame, columns: Sequence[str], levels: Sequence[Sequence[str]]
) -> tuple[Array, Array]:
    """Return each sample's batch, `UNKNOWN` where anything is missing, and its covariates."""
    own: dict[str, list[str]] = {str(column): [] for column in columns[1:]}
    for column, level in levels:
        own[str(column)].append(str(level))
    covariates = [Covariate(name, tuple(words) or None) for name, words in own.items()]
    width = sum(len(each.names) for each in covariates)
    if any(column not in about.columns for column in columns):
        return np.full(len(about), UNKNOWN, dtype=object), np.zeros((len(about), width))
    names = about[columns[0]].astype(str).to_numpy(dtype=object)
    cells = [_values(each, about[each.column].astype(str).tolist()) for each in covariates]
    numbers = np.hstack([np.zeros((len(about), 0)), *cells])
    blank = np.array([is_missing(name) for name in names]) | np.isnan(numbers).any(axis=1)
    return np.where(blank, UNKNOWN, names), np.where(np.isnan(numbers), 0.0, numbers)


def _values(covariate: Covariate, cells: Sequence[str]) -> Array:
    """Return the columns of a covariate, NaN where its word or number is not known."""
    spelt = covariate.spelt(cells)
    known = is_number if covariate.levels is None else set(covariate.levels).__contains__
    return covariate.encode([cell if known(cell) else "" for cell in spelt])
