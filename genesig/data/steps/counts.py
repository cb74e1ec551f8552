"""RNA-seq counts on the scale of arrays, brought to one depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.sample_wise import average_ranks
from genesig.errors import GenesigError


@dataclass(frozen=True)
class LogCpm:
    """``log2(10^6 x / sum(x) + prior)``: log2 of counts per million of the sample's own library.

    Attributes
    ----------
    prior : float
        In counts per million; values below it become alike.
    """

    prior: float
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Divide each row by its sum and take the logarithm.

        Raises
        ------
        GenesigError
            A count is negative, or a sample has none.
        """
        rows = np.ascontiguousarray(X)  # sums along rows must not depend on the memory layout
        library = rows.sum(axis=1, keepdims=True)
        if rows.min(initial=0) < 0 or not np.all(library > 0):
            fault = f"found {rows.min():g}" if rows.min() < 0 else "one sample has only zeros"
            raise GenesigError(
                f"normalise.samples: log_cpm needs counts, 0 or more and not all 0; {fault}"
            )
        return np.asarray(np.log2(1e6 * rows / library + self.prior))


TRIMMED_RATIOS, TRIMMED_LEVELS = 0.3, 0.05
"""Shares of the genes that TMM leaves out at either end, by ratio and by level."""
SAME = 1e-6
"""Largest log2 ratio of samples that TMM takes for the same."""


@dataclass(frozen=True, eq=False)
class SizeFactors:
    """``log2(x_ij / s_i + prior)``, s the size factor of the sample against a stored reference.

    median_of_ratios: ``s_i = median_j x_ij / g_j`` over the genes with reads in i, g the geometric
    mean of the training samples; only genes with reads in each of them have one.
    tmm: ``s_i = N_i f_i / t`` with the reads N of a sample, its trimmed mean of log ratios to one
    training sample log2 f, and t the geometric mean of N f over the training samples.

    Attributes
    ----------
    method : str
    reference : (n_genes,) float
        log g, NaN where there is none; of tmm the counts of the sample nearest to the others.
    typical : float
        t; 1 for median_of_ratios.
    means : (n_genes,) float
        Mean of ``x/s`` over the training samples, for a gene that a new sample lacks.
    prior : float
        In counts of a sample of size factor 1.

    Notes
    -----
    S. Anders & W. Huber (2010), Genome Biol. 11:R106, as estimateSizeFactors of DESeq2; M. D.
    Robinson & A. Oshlack (2010), Genome Biol. 11:R25, as calcNormFactors of edgeR, both with a
    reference that a new sample does not change.
    """

    method: str
    reference: Array
    typical: float
    means: Array
    prior: float
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, method: str, prior: float) -> SizeFactors:
        """Choose the reference among the rows of X, counts (n_train, n_genes)."""
        return cls(**fit_depth(X, method), prior=prior)

    def transform(self, X: Array) -> Array:
        """Divide each row by its size factor and take the logarithm."""
        return np.asarray(np.log2(at_one_depth(X, self) + self.prior))


def fit_depth(X: Array, method: str) -> dict[str, Any]:
    """Return the fields about depth of a step, from counts (n_train, n_genes).

    Raises
    ------
    GenesigError
        No gene has reads in every sample; these are no counts.
    """
    X = _checked(X)
    typical = 1.0
    if method == "median_of_ratios":
        with np.errstate(divide="ignore"):
            reference = np.log(X).mean(axis=0)
        reference[np.isneginf(reference)] = np.nan
        if np.isnan(reference).all():
            raise GenesigError(
                "normalise.folds: no gene has reads in every training sample, so there is no"
                " median of ratios; set its 'method' to tmm"
            )
    else:
        reference = X[_nearest_to_others(X)]
        typical = float(np.exp(np.log(_size_factors(X, method, reference)).mean()))
    factors = _size_factors(X, method, reference) / typical
    means = (X / factors[:, None]).mean(axis=0)
    return {"method": method, "reference": reference, "typical": typical, "means": means}


def size_factors(X: Array, step: Any) -> Array:
    """Return s, (n,), of counts (n, n_genes); NaN where a gene is not known."""
    reference = np.asarray(step.reference, dtype=float)
    return np.asarray(_size_factors(_checked(X), step.method, reference) / step.typical)


def at_one_depth(X: Array, step: Any) -> Array:
    """``x_ij / s_i``; what is not known becomes the mean of the training samples."""
    with np.errstate(all="ignore"):  # a model from elsewhere may hold any reference
        Y = X / size_factors(X, step)[:, None]
    return np.where(np.isnan(Y), np.asarray(step.means, dtype=float), Y)


def _checked(X: Array) -> Array:
    rows = np.ascontiguousarray(X, dtype=float)  # sums must not depend on the memory layout
    least = float(np.nanmin(rows, initial=0))
    if least < 0 or not (np.nansum(rows, axis=1) > 0).all():
        fault = f"found {least:g}" if least < 0 else "one sample has only zeros"
        raise GenesigError(
            "normalise.folds: size factors need counts, 0 or more and not all 0 in a sample;"
            f" {fault}"
        )
    return rows


def _size_factors(X: Array, method: str, reference: Array) -> Array:
    if method == "tmm":
        return np.array([_effective_library(x, reference) for x in X])
    with np.errstate(divide="ignore"):
        ratios = np.log(X) - reference
    ratios[~np.isfinite(ratios)] = np.nan
    if np.isnan(ratios).all(axis=1).any():
        raise GenesigError(
            "normalise.folds: one sample has no reads in the genes that all training samples have,"
            " so its depth is not known; leave it out, or set the 'method' of the step to tmm"
        )
    return np.asarray(np.exp(np.nanmedian(ratios, axis=1)))


def _nearest_to_others(X: Array) -> int:
    """Return the sample whose upper quartile, as a share of its reads, is nearest to the mean.

    Where most samples have none, the one with the largest sum of square roots, as edgeR does.
    """
    quartile = np.quantile(X[:, X.any(axis=0)], 0.75, axis=1) / X.sum(axis=1)
    if np.median(quartile) < 1e-20:
        return int(np.argmax(np.sqrt(X).sum(axis=1)))
    return int(np.argmin(np.abs(quartile - quartile.mean())))


def _effective_library(x: Array, reference: Array) -> float:
    """Return ``N 2^(sum w M / sum w)`` over the genes that are in the middle by M and by A.

    M is the log2 ratio of the shares of the reads, A their mean log2, 1/w the variance of M by the
    delta method. Genes without reads on either side take no part.
    """
    known = ~np.isnan(x)
    total, other = float(x[known].sum()), float(reference[known].sum())
    both = known & (np.nan_to_num(x) > 0) & (reference > 0)
    one, two = x[both] / total, reference[both] / other
    M, A = np.log2(one / two), np.log2(one * two) / 2
    if not len(M) or np.abs(M).max() < SAME:
        return total
    variance = (1 - one) / x[both] + (1 - two) / reference[both]
    kept = _middle(M, TRIMMED_RATIOS) & _middle(A, TRIMMED_LEVELS) & (variance > 0)
    if not kept.any():
        return total
    weight = 1 / variance[kept]
    return float(total * 2 ** ((weight * M[kept]).sum() / weight.sum()))


def _middle(values: Array, share: float) -> Array:
    ranks, cut = average_ranks(values[None])[0], int(share * len(values))
    return np.asarray((ranks >= cut + 1) & (ranks <= len(values) - cut))
