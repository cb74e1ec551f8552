"""ComBat: batches brought to one mean and one spread, gene by gene, without using the class.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.

`ReferenceBatch` brings a new cohort to the training set; `Combat` brings the batches of a training
set to one another. `BatchCorrection` is `Combat` as a step of a study.
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

SHRINKAGE_TOLERANCE = 1e-4
MAX_SHRINKAGE_ITERATIONS = 1000


def shrink_batch_moments(Z: Array) -> tuple[Array, Array]:
    """Return the shift and the variance of each gene in one batch, shrunken over the genes.

    ``gamma ~ N(mean, tau²)``, ``delta ~ inverse gamma(a, b)`` over the genes, with the moments of
    the batch's means g and variances d. The two conditional expectations are taken in turn::

        gamma = (n tau² g + delta mean) / (n tau² + delta)
        delta = (b + 1/2 sum_i (z_i - gamma)²) / (n / 2 + a - 1)

    until neither changes by more than 1e-4 of itself, at most 1000 times. The rule is that of sva,
    which takes all genes together and divides by the signed value, so that the numbers agree.

    Z (n_samples, n_genes) float, n_samples >= 2: standardised values of the batch; no gene is
        constant.

    Returns gamma, delta (n_genes,) float: g and d if there is one gene, or one variance for all
    genes: nothing to shrink towards.

    Source: W. E. Johnson et al. (2007), Biostatistics 8:118, equations 3.1 and 3.2.
    """
    n = len(Z)
    mean = Z.mean(axis=0)
    variance = Z.var(axis=0, ddof=1)
    if len(mean) < 2 or np.ptp(variance) == 0:
        return mean, variance
    mean_of_means = mean.mean()
    variance_of_means = mean.var(ddof=1)
    mean_variance = variance.mean()
    variance_of_variances = variance.var(ddof=1)
    shape = (2 * variance_of_variances + mean_variance**2) / variance_of_variances
    scale = (mean_variance * variance_of_variances + mean_variance**3) / variance_of_variances
    gamma = mean
    delta = variance
    for _ in range(MAX_SHRINKAGE_ITERATIONS):
        new_gamma = (n * variance_of_means * mean + delta * mean_of_means) / (
            n * variance_of_means + delta
        )
        squares = (n - 1) * variance + n * (mean - new_gamma) ** 2
        new_delta = (scale + squares / 2) / (n / 2 + shape - 1)
        change = max(
            _largest_relative_change(gamma, new_gamma), _largest_relative_change(delta, new_delta)
        )
        gamma = new_gamma
        delta = new_delta
        if change <= SHRINKAGE_TOLERANCE:
            break
    return gamma, delta


def _largest_relative_change(estimate: Array, new_estimate: Array) -> float:
    """Return the largest change of an estimate, relative to its old value."""
    relative_change = np.divide(
        np.abs(new_estimate - estimate), estimate, out=np.zeros_like(estimate), where=estimate != 0
    )
    return float(relative_change.max())


MIN_BATCH_SAMPLES = 5  # smallest number of samples of a new batch
MIN_TRAINING_SAMPLES_OF_BATCH = 2  # training samples of a batch: fewer have no spread


@dataclass(frozen=True, eq=False)
class ReferenceBatch:
    """``x* = (x - mean - scale gamma_b) / sqrt(delta_b) + mean``, the training set untouched.

    ComBat with the training set as reference batch: a new batch b is brought to the training
    set's mean and standard deviation of each gene. gamma_b and delta_b, the batch's shift and
    variance in units of the training set, are shrunken towards those of its other genes. A gene
    constant in the training set or in the batch is left alone.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118; the reference batch: Y. Zhang et al. (2018),
    BMC Bioinformatics 19:262. The class is never in the design (V. Nygaard et al. 2016,
    Biostatistics 17:29). The same numbers as sva's ``ComBat(ref.batch=)``.
    """

    mean: Array  # (n_genes,) float: mean of the training samples
    scale: Array  # (n_genes,) float: standard deviation of the training samples, with ddof=0
    kind: ClassVar[Literal["cohort"]] = "cohort"  # transform needs the samples of a whole batch

    @classmethod
    def fit(cls, X: Array) -> ReferenceBatch:
        """Return the step with mean and standard deviation of each column."""
        return cls(X.mean(axis=0), _column_scale(X))

    def transform(self, X: Array) -> Array:
        """Bring the samples of one batch, at least 5, to the training set.

        Raises GenesigError: there are fewer samples.
        """
        if len(X) < MIN_BATCH_SAMPLES:
            raise GenesigError(
                f"combat: needs a batch of at least {MIN_BATCH_SAMPLES} samples to bring it to the "
                f"training set, found {len(X)}; predict them without it"
            )
        is_adjustable = (self.scale > 0) & (_column_scale(X) > 0)
        adjusted = X.copy()
        mean = self.mean[is_adjustable]
        scale = self.scale[is_adjustable]
        Z = (X[:, is_adjustable] - mean) / scale
        gamma, delta = shrink_batch_moments(Z)
        adjusted[:, is_adjustable] = (Z - gamma) / np.sqrt(delta) * scale + mean
        return adjusted


@dataclass(frozen=True, eq=False)
class Combat:
    """``x* = (x - centre - scale gamma_b) / sqrt(delta_b) + centre``, centre = mean + covariates.

    ComBat inside a training set, its estimates kept for other samples of the same batches.

    Notes
    -----
    W. E. Johnson et al. (2007), Biostatistics 8:118. The same numbers as sva's ``ComBat``.
    """

    # batches with at least two samples; samples of any other batch stay as they are
    batches: tuple[str, ...]
    # (n_genes,) float: mean of the batch means, weighted by their samples, or the mean of the
    # reference batch
    mean: Array
    # (n_genes,) float: pooled standard deviation, or that of the reference batch; 0 for a gene that
    # is constant in a batch, which stays as it is
    scale: Array
    coefficients: Array  # (n_covariates, n_genes) float: effects of the covariates
    gamma: Array  # (n_batches, n_genes) float: shrunken shift of each batch, in units of the scale
    # (n_batches, n_genes) float: shrunken variance of each batch, in units of the squared scale
    delta: Array

    @classmethod
    def fit(
        cls, X: Array, *, batch: Sequence[str], reference: str | None, covariates: Array | None
    ) -> Combat:
        """Estimate the batches' shifts and variances; with one batch there are none.

        X (n_samples, n_genes) float.
        batch (n_samples,) names.
        reference: batch that stays as it is.
        covariates (n_samples, n_covariates) float, or None: what the batches may differ in for a
            reason, such as age; never the class.

        Raises GenesigError: an unknown reference, or covariates that the batches, or one another,
            determine.
        """
        names = _batch_names(batch)
        covariate_columns = _covariate_columns(covariates, len(X))
        batches = tuple(
            sorted(
                batch_name
                for batch_name, n_samples in Counter(names).items()
                if n_samples >= MIN_TRAINING_SAMPLES_OF_BATCH
            )
        )
        in_batch = np.isin(names, batches)
        if not in_batch.all():
            X = X[in_batch]
            names = names[in_batch]
            covariate_columns = covariate_columns[in_batch]
        if reference is not None and reference not in batches:
            suggestion = did_you_mean(reference, batches)
            raise GenesigError(
                f"combat: no sample is of the reference batch '{reference}'{suggestion}"
            )
        if len(batches) < 2:
            return cls._identity(batches, X.shape[1], covariate_columns.shape[1])
        membership = (names[:, None] == np.array(batches, dtype=object)).astype(float)
        design = np.hstack([membership, covariate_columns])
        _check_design(design)
        effects = np.linalg.lstsq(design, X, rcond=None)[0]
        residual = X - design @ effects
        groups = dict(zip(batches, membership.T > 0, strict=True))
        reference_rows = slice(None) if reference is None else groups[reference]
        mean = membership[reference_rows].mean(axis=0) @ effects[: len(batches)]
        scale = np.sqrt(np.mean(residual[reference_rows] ** 2, axis=0))
        scale[np.any([_column_scale(X[members]) == 0 for members in groups.values()], axis=0)] = 0
        fitted = cls(batches, mean, scale, effects[len(batches) :], *_no_adjustment(batches, mean))
        Z = fitted._standardised(X, covariate_columns)
        for index, (name, members) in enumerate(groups.items()):
            if name != reference:
                shift, variance = shrink_batch_moments(Z[members])
                fitted.gamma[index, scale > 0] = shift
                fitted.delta[index, scale > 0] = variance
        return fitted

    def transform(self, X: Array, *, batch: Sequence[str], covariates: Array | None) -> Array:
        """Return adjusted samples of known batches; samples of other batches stay as they are.

        X (n_samples, n_genes) float.
        batch (n_samples,) names.
        covariates: as in `fit`.
        """
        adjusted = X.copy()
        is_adjustable = self.scale > 0
        covariate_columns = _covariate_columns(covariates, len(X))
        Z = self._standardised(X, covariate_columns)
        scale = self.scale[is_adjustable]
        centre = self._centre(covariate_columns)[:, is_adjustable]
        names = _batch_names(batch)
        for name, gamma, delta in zip(self.batches, self.gamma, self.delta, strict=True):
            in_batch = names == name
            if gamma.any():  # the reference batch has none, and keeps its last digit
                values = (Z[in_batch] - gamma[is_adjustable]) / np.sqrt(
                    delta[is_adjustable]
                ) * scale + centre[in_batch]
                adjusted[np.ix_(in_batch, is_adjustable)] = values
        return adjusted

    @classmethod
    def _identity(cls, batches: tuple[str, ...], n_genes: int, n_covariates: int) -> Combat:
        """Return the correction that changes nothing."""
        zeros = np.zeros(n_genes)
        coefficients = np.zeros((n_covariates, n_genes))
        return cls(batches, zeros, zeros, coefficients, *_no_adjustment(batches, zeros))

    def _centre(self, covariate_columns: Array) -> Array:
        """Return the expected value of each cell by its mean and covariates."""
        # Not a matrix product: its rounding would depend on the number of samples.
        centre = np.tile(self.mean, (len(covariate_columns), 1))
        for covariate, slopes in zip(covariate_columns.T, self.coefficients, strict=True):
            centre += covariate[:, None] * slopes
        return centre

    def _standardised(self, X: Array, covariate_columns: Array) -> Array:
        """Return the adjustable genes (n_samples, n_adjustable), standardised."""
        is_adjustable = self.scale > 0
        Z = X - self._centre(covariate_columns)
        Z = Z if is_adjustable.all() else Z[:, is_adjustable]
        return np.asarray(np.divide(Z, self.scale[is_adjustable], out=Z))


def _batch_names(batch: Sequence[str]) -> Array:
    """Return the names of batches as texts."""
    return np.array(list(map(str, batch)), dtype=object)


def _covariate_columns(covariates: Array | None, n_samples: int) -> Array:
    """Return the covariates (n_samples, n_covariates) as float."""
    return np.empty((n_samples, 0)) if covariates is None else np.asarray(covariates, dtype=float)


def _no_adjustment(batches: tuple[str, ...], mean: Array) -> tuple[Array, Array]:
    """Return shifts of 0 and variance factors of 1 for each batch and gene."""
    return np.zeros((len(batches), len(mean))), np.ones((len(batches), len(mean)))


def _column_scale(X: Array) -> Array:
    """Return the standard deviation (ddof=0) of each column, 0 where all its values are the same.

    Rounding of the mean would make it a little more than 0.
    """
    return np.asarray(np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0))


def _check_design(design: Array) -> None:
    """Raise if the design (n, q) of batches and covariates is singular or has too few samples."""
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise GenesigError(
            "combat: the covariates follow from the batches or from one another, so that their "
            "effects cannot be separated; leave one of them out"
        )
    if len(design) <= design.shape[1]:
        raise GenesigError(
            f"combat: {len(design)} samples are too few to estimate {design.shape[1]} means and "
            "covariates; leave covariates out"
        )


UNKNOWN_BATCH = ""  # batch of a sample that no correction is known for


@dataclass(frozen=True, eq=False)
class BatchCorrection:
    """`Combat` with the batch and the covariates from columns of the sample table.

    A sample stays as it is if its batch had fewer than two training samples, or if its batch or a
    covariate is not known.
    """

    columns: Sequence[str]  # the column of the batches, then those of the covariates
    # (column, level) of the covariates that are not numbers; the first level of a column is the
    # reference
    levels: Sequence[Sequence[str]]
    batches: Sequence[str]  # field of the fitted `Combat`, as all that follow
    mean: Array
    scale: Array
    coefficients: Array
    gamma: Array
    delta: Array
    kind: ClassVar[Literal["batch"]] = "batch"
    genes: ClassVar[None] = None

    @classmethod
    def fit(
        cls, X: Array, obs: pd.DataFrame | None, *, batch: str | None, covariates: Sequence[str]
    ) -> BatchCorrection:
        """Estimate the batches' shifts and variances.

        X (n_samples, n_genes) float.
        obs: rows of the sample table, those of `X`.
        batch: column of `obs`.
        covariates: columns of numbers or words; never the class, and nothing that stands for it.

        Raises GenesigError: there is no column of batches; a sample lacks its batch or a number;
            `Combat`'s own.
        """
        if batch is None or obs is None:
            raise GenesigError(
                "normalise.folds: combat needs data.batch, the column that says which samples were "
                "processed together"
            )
        columns = (batch, *covariates)
        known_covariates = [
            Covariate.from_cells(name, map(str, obs[name])) for name in covariates if name in obs
        ]
        levels = [
            [covariate.column, level]
            for covariate in known_covariates
            for level in covariate.levels or ()
        ]
        names, numbers = _batches_and_covariates(obs, columns, levels)
        if UNKNOWN_BATCH in names:
            incomplete = [str(name) for name in obs.index[names == UNKNOWN_BATCH]]
            raise GenesigError(
                f"normalise.folds: combat needs the batch and a value of each covariate of every "
                f"sample ({listing(columns)}), not so for {listing(incomplete)}"
            )
        fitted = Combat.fit(X, batch=names.tolist(), reference=None, covariates=numbers)
        return cls(columns, levels, **vars(fitted))

    def transform(self, X: Array, obs: pd.DataFrame | None = None) -> Array:
        """Correct the samples whose batch is known; `obs` are their rows of the sample table."""
        if obs is None:
            return X
        names, numbers = _batches_and_covariates(obs, self.columns, self.levels)
        return self._combat().transform(X, batch=names.tolist(), covariates=numbers)

    def uncorrected(self, obs: pd.DataFrame | None, n_samples: int) -> Array:
        """Return the mask (n_samples,) of the samples that `transform` does not correct."""
        if obs is None:
            return np.ones(n_samples, dtype=bool)
        names, _ = _batches_and_covariates(obs, self.columns, self.levels)
        return ~np.isin(names, list(map(str, self.batches)))

    def _combat(self) -> Combat:
        """Return the record that adjusts samples."""
        arrays = (self.mean, self.scale, self.coefficients, self.gamma, self.delta)
        return Combat(tuple(map(str, self.batches)), *map(np.asarray, arrays))


def _batches_and_covariates(
    obs: pd.DataFrame, columns: Sequence[str], levels: Sequence[Sequence[str]]
) -> tuple[Array, Array]:
    """Return each sample's batch (n,), and its covariates (n, q).

    columns: column of the batches, then those of the covariates. levels: (column, level) pairs.
    The batch is `UNKNOWN_BATCH` if the batch, a covariate or a column is missing; missing numbers
    are 0.
    """
    words_of_column: dict[str, list[str]] = {str(column): [] for column in columns[1:]}
    for column, level in levels:
        words_of_column[str(column)].append(str(level))
    covariates = [
        Covariate(name, tuple(levels_of_column) or None)
        for name, levels_of_column in words_of_column.items()
    ]
    width = sum(len(covariate.names) for covariate in covariates)
    if any(column not in obs.columns for column in columns):
        return np.full(len(obs), UNKNOWN_BATCH, dtype=object), np.zeros((len(obs), width))
    batches = obs[columns[0]].astype(str).to_numpy(dtype=object)
    codes = [
        _encode_known(covariate, obs[covariate.column].astype(str).tolist())
        for covariate in covariates
    ]
    numbers = np.hstack([np.zeros((len(obs), 0)), *codes])
    blank = np.array([is_missing(batch) for batch in batches]) | np.isnan(numbers).any(axis=1)
    return np.where(blank, UNKNOWN_BATCH, batches), np.where(np.isnan(numbers), 0.0, numbers)


def _encode_known(covariate: Covariate, cells: Sequence[str]) -> Array:
    """Return the columns of a covariate, NaN where its level or number is not known."""
    spelled_cells = covariate.spelt(cells)
    if covariate.levels is None:
        known_cells = [cell if is_number(cell) else "" for cell in spelled_cells]
    else:
        known_cells = [cell if cell in covariate.levels else "" for cell in spelled_cells]
    return covariate.encode(known_cells)
