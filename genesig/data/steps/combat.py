"""ComBat: batches brought to one mean and one spread, gene by gene, the class never looked at.

`ReferenceBatch` brings a new cohort to the training set, `Combat` the batches of a training set to
one another. As a step of a study the latter is `BatchCorrection`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError, did_you_mean
from genesig.response.covariates import Covariate
from genesig.words import is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 1e-4
ITERATIONS = 1000


def shrunken(Z: Array) -> tuple[Array, Array]:
    """Estimate shift and variance of each gene in one batch.

    ``gamma ~ N(mean, tau²)``, ``delta ~ inverse gamma(a, b)`` over the genes, their moments those
    of the batch's own means g and variances d. The two conditional expectations are taken in turn::

        gamma = (n tau² g + delta mean) / (n tau² + delta)
        delta = (b + 1/2 sum_i (z_i - gamma)²) / (n / 2 + a - 1)

    until neither grows by more than 1e-4 of itself: sva's rule, which looks at all genes together
    and at the sign, so that the numbers are the same; and never more than 1000 times.

    Parameters
    ----------
    Z : (n_samples, n_genes) float, n_samples >= 2
        Standardised values of the batch; no gene is constant.

    Returns
    -------
    gamma, delta : (n_genes,) float
        With one gene, or one variance for all, there is nothing to be drawn to: g and d.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118, equations 3.1 and 3.2.
    """
    n = len(Z)
    mean = Z.mean(axis=0)
    variance = Z.var(axis=0, ddof=1)
    if len(mean) < 2 or np.ptp(variance) == 0:
        return mean, variance
    centre = mean.mean()
    tau2 = mean.var(ddof=1)
    m = variance.mean()
    s2 = variance.var(ddof=1)
    a = (2 * s2 + m**2) / s2
    b = (m * s2 + m**3) / s2
    gamma = mean
    delta = variance
    for _ in range(ITERATIONS):
        new_gamma = (n * tau2 * mean + delta * centre) / (n * tau2 + delta)
        squares = (n - 1) * variance + n * (mean - new_gamma) ** 2
        new_delta = (b + squares / 2) / (n / 2 + a - 1)
        change = max(_change(gamma, new_gamma), _change(delta, new_delta))
        gamma = new_gamma
        delta = new_delta
        if change <= TOLERANCE:
            break
    return gamma, delta


def _change(old: Array, new: Array) -> float:
    moved = np.divide(np.abs(new - old), old, out=np.zeros_like(old), where=old != 0)
    return float(moved.max())


FEWEST = 5
FEWEST_IN_TRAINING = 2
"""Training samples of a batch without which it has no spread of its own."""


@dataclass(frozen=True, eq=False)
class ReferenceBatch:
    """``x* = (x - mean - scale gamma_b) / sqrt(delta_b) + mean``, the training set untouched.

    ComBat with the training set as reference batch: a new batch b is brought to the training
    set's mean and standard deviation of each gene. gamma_b and delta_b, the batch's shift and
    variance in units of the training set, are shrunken towards those of its other genes. A gene
    constant in the training set or in the batch is left alone.

    Attributes
    ----------
    mean, scale : (n_genes,) float
        Of the training samples; standard deviation with ddof=0.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118; the reference batch: Y. Zhang et al. (2018),
    BMC Bioinformatics 19:262. The class is never in the design (V. Nygaard et al. 2016,
    Biostatistics 17:29). The same numbers as sva's ``ComBat(ref.batch=)``.
    """

    mean: Array
    scale: Array
    kind: ClassVar[Literal["cohort"]] = "cohort"  # transform needs the samples of a whole batch

    @classmethod
    def fit(cls, X: Array) -> ReferenceBatch:
        """Take mean and standard deviation of each column."""
        return cls(X.mean(axis=0), _scale(X))

    def transform(self, X: Array) -> Array:
        """Bring the samples of one batch, at least 5, to the training set.

        Raises
        ------
        GenesigError
            With fewer samples there is no batch to speak of.
        """
        if len(X) < FEWEST:
            raise GenesigError(
                f"combat: needs a batch of at least {FEWEST} samples to bring it to the training "
                f"set, found {len(X)}; predict them without it"
            )
        used = (self.scale > 0) & (_scale(X) > 0)
        adjusted = X.copy()
        mean = self.mean[used]
        scale = self.scale[used]
        Z = (X[:, used] - mean) / scale
        gamma, delta = shrunken(Z)
        adjusted[:, used] = (Z - gamma) / np.sqrt(delta) * scale + mean
        return adjusted


@dataclass(frozen=True, eq=False)
class Combat:
    """``x* = (x - level - scale gamma_b) / sqrt(delta_b) + level``, level = mean + covariates.

    ComBat inside a training set, its estimates kept for other samples of the same batches.

    Attributes
    ----------
    batches : tuple of str
        Those that had at least two samples; samples of any other one stay as they are.
    mean, scale : (n_genes,) float
        Mean of the batches' means, weighted by their samples, and pooled standard deviation;
        those of the reference batch, where there is one. 0 for the scale of a gene that is
        constant inside a batch: it is left alone.
    coefficients : (n_covariates, n_genes) float
    gamma, delta : (n_batches, n_genes) float
        Shift and variance of each batch in units of the scale, shrunken.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118. The same numbers as sva's ``ComBat``.
    """

    batches: tuple[str, ...]
    mean: Array
    scale: Array
    coefficients: Array
    gamma: Array
    delta: Array

    @classmethod
    def fit(
        cls, X: Array, *, batch: Sequence[str], reference: str | None, covariates: Array | None
    ) -> Combat:
        """Estimate the batches' shifts and variances; with one batch there are none.

        Parameters
        ----------
        X : (n_samples, n_genes) float
        batch : (n_samples,) names
        reference : str or None
            Batch that stays as it is.
        covariates : (n_samples, n_covariates) float, or None
            What the batches may differ in for a reason, such as age; never the class.

        Raises
        ------
        GenesigError
            An unknown reference, or covariates that the batches, or one another, determine.
        """
        names = _names(batch)
        extra = _columns(covariates, len(X))
        batches = tuple(sorted(n for n, k in Counter(names).items() if k >= FEWEST_IN_TRAINING))
        kept = np.isin(names, batches)
        if not kept.all():
            X = X[kept]
            names = names[kept]
            extra = extra[kept]
        if reference is not None and reference not in batches:
            near = did_you_mean(reference, batches)
            raise GenesigError(f"combat: no sample is of the reference batch '{reference}'{near}")
        if len(batches) < 2:
            return cls._nothing(batches, X.shape[1], extra.shape[1])
        member = (names[:, None] == np.array(batches, dtype=object)).astype(float)
        _check_design(np.hstack([member, extra]))
        B = np.linalg.lstsq(np.hstack([member, extra]), X, rcond=None)[0]
        residual = X - np.hstack([member, extra]) @ B
        groups = dict(zip(batches, member.T > 0, strict=True))
        rows = slice(None) if reference is None else groups[reference]
        mean = member[rows].mean(axis=0) @ B[: len(batches)]
        scale = np.sqrt(np.mean(residual[rows] ** 2, axis=0))
        scale[np.any([_scale(X[inside]) == 0 for inside in groups.values()], axis=0)] = 0
        fitted = cls(batches, mean, scale, B[len(batches) :], *_untouched(batches, mean))
        Z = fitted._standardised(X, extra)
        for k, (name, inside) in enumerate(groups.items()):
            if name != reference:
                shift, variance = shrunken(Z[inside])
                fitted.gamma[k, scale > 0] = shift
                fitted.delta[k, scale > 0] = variance
        return fitted

    def transform(self, X: Array, *, batch: Sequence[str], covariates: Array | None) -> Array:
        """Adjust samples of known batches; those of other batches stay as they are.

        Parameters
        ----------
        X : (n_samples, n_genes) float
        batch : (n_samples,) names
        covariates : as in `fit`
        """
        adjusted = X.copy()
        used = self.scale > 0
        extra = _columns(covariates, len(X))
        Z = self._standardised(X, extra)
        scale = self.scale[used]
        level = self._level(extra)[:, used]
        names = _names(batch)
        for name, gamma, delta in zip(self.batches, self.gamma, self.delta, strict=True):
            rows = names == name
            if gamma.any():  # the reference batch has none, and keeps its last digit
                values = (Z[rows] - gamma[used]) / np.sqrt(delta[used]) * scale + level[rows]
                adjusted[np.ix_(rows, used)] = values
        return adjusted

    @classmethod
    def _nothing(cls, batches: tuple[str, ...], n_genes: int, n_covariates: int) -> Combat:
        none = np.zeros(n_genes)
        coefficients = np.zeros((n_covariates, n_genes))
        return cls(batches, none, none, coefficients, *_untouched(batches, none))

    def _level(self, extra: Array) -> Array:
        # Not a matrix product: its sums depend on how many samples stand beside one.
        level = np.tile(self.mean, (len(extra), 1))
        for column, slopes in zip(extra.T, self.coefficients, strict=True):
            level += column[:, None] * slopes
        return level

    def _standardised(self, X: Array, extra: Array) -> Array:
        used = self.scale > 0
        Z = X - self._level(extra)
        Z = Z if used.all() else Z[:, used]
        return np.asarray(np.divide(Z, self.scale[used], out=Z))


def _names(batch: Sequence[str]) -> Array:
    return np.array(list(map(str, batch)), dtype=object)


def _columns(covariates: Array | None, n_samples: int) -> Array:
    return np.empty((n_samples, 0)) if covariates is None else np.asarray(covariates, dtype=float)


def _untouched(batches: tuple[str, ...], mean: Array) -> tuple[Array, Array]:
    return np.zeros((len(batches), len(mean))), np.ones((len(batches), len(mean)))


def _scale(X: Array) -> Array:
    """Return the standard deviation (ddof=0) of each column, 0 where all its values are the same.

    Rounding of the mean would make it a little more than 0.
    """
    return np.asarray(np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0))


def _check_design(design: Array) -> None:
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise GenesigError(
            "combat: the covariates follow from the batches or from one another, so that their "
            "effects cannot be told apart; leave one of them out"
        )
    if len(design) <= design.shape[1]:
        raise GenesigError(
            f"combat: {len(design)} samples are too few to estimate {design.shape[1]} means and "
            "covariates; leave covariates out"
        )


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
    def fit(
        cls, X: Array, about: pd.DataFrame | None, *, batch: str | None, covariates: Sequence[str]
    ) -> BatchCorrection:
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
