"""RNA-seq counts on the scale of arrays: one sequencing depth, logarithm, stable variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.transforms import LearnedStep, RowWiseStep, average_ranks
from genesig.errors import GenesigError


@dataclass(frozen=True)
class LogCpm(RowWiseStep):
    """``log2(10^6 x / sum(x) + prior)``: log2 of counts per million of the sample's own library."""

    prior: float  # added to the counts per million; it shrinks differences between smaller values

    def transform(self, X: Array) -> Array:
        """Divide each row by its sum and take the logarithm.

        Raises GenesigError: a count is negative, or a sample has none.
        """
        rows = np.ascontiguousarray(X)  # sums along rows must not depend on the memory layout
        library = rows.sum(axis=1, keepdims=True)
        if rows.min(initial=0) < 0 or not np.all(library > 0):
            fault = f"found {rows.min():g}" if rows.min() < 0 else "one sample has only zeros"
            raise GenesigError(
                f"normalise.samples: log_cpm needs counts, 0 or more and not all 0; {fault}"
            )
        return np.asarray(np.log2(1e6 * rows / library + self.prior))


TMM_RATIO_TRIM = 0.3  # share of the genes that TMM leaves out at either end by their ratio
TMM_LEVEL_TRIM = 0.05  # share of the genes that TMM leaves out at either end by their level
MAX_EQUAL_LOG_RATIO = 1e-6  # largest log2 ratio of two samples of equal composition for TMM


@dataclass(frozen=True, eq=False)
class SizeFactors(LearnedStep):
    """``log2(x_ij / s_i + prior)``, s the size factor of the sample against a stored reference.

    median_of_ratios: ``s_i = median_j x_ij / g_j`` over the genes with reads in i, g the geometric
    mean of the training samples; only genes with reads in each of them have one.
    tmm: ``s_i = N_i f_i / t`` with the reads N of a sample, its trimmed mean of log ratios to one
    training sample log2 f, and t the geometric mean of N f over the training samples.

    Notes
    -----
    S. Anders & W. Huber (2010), Genome Biol. 11:R106, as estimateSizeFactors of DESeq2; M. D.
    Robinson & A. Oshlack (2010), Genome Biol. 11:R25, as calcNormFactors of edgeR, both with a
    reference that a new sample does not change.
    """

    method: str
    # (n_genes,) float: log g, NaN where there is none; of tmm the counts of the sample nearest to
    # the others
    reference: Array
    typical: float  # typical size factor t of the training samples; 1 for median_of_ratios
    # (n_genes,) float: mean of `x/s` over the training samples, for a gene that a new sample lacks
    means: Array
    prior: float  # added to the counts of a sample of size factor 1

    @classmethod
    def fit(cls, X: Array, *, method: str, prior: float) -> SizeFactors:
        """Choose the reference among the rows of X, counts (n_train, n_genes)."""
        return cls(**fit_depth(X, method), prior=prior)

    def transform(self, X: Array) -> Array:
        """Divide each row by its size factor and take the logarithm."""
        return np.asarray(np.log2(scale_to_one_depth(X, self) + self.prior))


def fit_depth(X: Array, method: str) -> dict[str, Any]:
    """Return the size-factor fields of `SizeFactors` and `Vst`, from counts (n_train, n_genes).

    Raises GenesigError: no gene has reads in every sample, a sample has no reads, or a value is
        negative.
    """
    X = _checked_counts(X)
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
        reference = X[_choose_reference_sample(X)]
        typical = float(np.exp(np.log(_size_factors(X, method, reference)).mean()))
    factors = _size_factors(X, method, reference) / typical
    means = (X / factors[:, None]).mean(axis=0)
    return {"method": method, "reference": reference, "typical": typical, "means": means}


def size_factors(X: Array, step: Any) -> Array:
    """Return the size factors s (n,) of counts (n, n_genes), which may hold NaN.

    step: a fitted `SizeFactors` or `Vst`, or the same fields from a model file.
    """
    reference = np.asarray(step.reference, dtype=float)
    return np.asarray(_size_factors(_checked_counts(X), step.method, reference) / step.typical)


def scale_to_one_depth(X: Array, step: Any) -> Array:
    """Return ``x_ij / s_i`` (n, n_genes); a missing value becomes the mean of the training samples.

    step: as in `size_factors`.
    """
    with np.errstate(all="ignore"):  # a model from elsewhere may hold any reference
        Y = X / size_factors(X, step)[:, None]
    return np.where(np.isnan(Y), np.asarray(step.means, dtype=float), Y)


def _checked_counts(X: Array) -> Array:
    """Return X (n, n_genes) in row order; raise if a value is negative or a sample has no reads."""
    rows = np.ascontiguousarray(X, dtype=float)  # sums must not depend on the memory layout
    smallest = float(np.nanmin(rows, initial=0))
    if smallest < 0 or not (np.nansum(rows, axis=1) > 0).all():
        fault = f"found {smallest:g}" if smallest < 0 else "one sample has only zeros"
        raise GenesigError(
            "normalise.folds: size factors need counts, 0 or more and not all 0 in a sample;"
            f" {fault}"
        )
    return rows


def _size_factors(X: Array, method: str, reference: Array) -> Array:
    """Return the size factors (n,) before division by their typical value.

    X (n, n_genes): counts. reference (n_genes,): as in `SizeFactors`.
    """
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


def _choose_reference_sample(X: Array) -> int:
    """Return the sample whose upper quartile, as a share of its reads, is nearest to the mean.

    If most upper quartiles are 0, return the sample with the largest sum of square roots, as edgeR
    does.
    """
    quartile = np.quantile(X[:, X.any(axis=0)], 0.75, axis=1) / X.sum(axis=1)
    if np.median(quartile) < 1e-20:
        return int(np.argmax(np.sqrt(X).sum(axis=1)))
    return int(np.argmin(np.abs(quartile - quartile.mean())))


def _effective_library(x: Array, reference: Array) -> float:
    """Return ``N 2^(sum w M / sum w)`` over the genes that are in the middle by M and by A.

    M is the log2 ratio of the shares of the reads, A their mean log2, 1/w the variance of M by the
    delta method. Genes without reads in the sample or in the reference are left out.
    """
    has_count = ~np.isnan(x)
    total = float(x[has_count].sum())
    reference_total = float(reference[has_count].sum())
    expressed_in_both = has_count & (np.nan_to_num(x) > 0) & (reference > 0)
    share = x[expressed_in_both] / total
    reference_share = reference[expressed_in_both] / reference_total
    log_ratio = np.log2(share / reference_share)
    log_level = np.log2(share * reference_share) / 2
    if not len(log_ratio) or np.abs(log_ratio).max() < MAX_EQUAL_LOG_RATIO:
        return total
    variance = (1 - share) / x[expressed_in_both] + (1 - reference_share) / reference[
        expressed_in_both
    ]
    used = (
        _is_middle(log_ratio, TMM_RATIO_TRIM)
        & _is_middle(log_level, TMM_LEVEL_TRIM)
        & (variance > 0)
    )
    if not used.any():
        return total
    weight = 1 / variance[used]
    return float(total * 2 ** ((weight * log_ratio[used]).sum() / weight.sum()))


def _is_middle(values: Array, share: float) -> Array:
    """Return the mask (n,) without the given share of the values at either end."""
    ranks = average_ranks(values[None])[0]
    n_trimmed = int(share * len(values))
    return np.asarray((ranks >= n_trimmed + 1) & (ranks <= len(values) - n_trimmed))


# As in DESeq2, so that the numbers are the same.
MAX_TREND_GENES = 1000  # largest number of genes, evenly by level, to which the trend is fitted
MIN_TREND_MEAN = 5.0  # smallest mean count of such a gene
MIN_DISPERSION = 1e-8  # smallest dispersion that the search considers
MIN_TREND_DISPERSION = 1e-6  # smallest dispersion to which the trend is fitted
MIN_EXPECTED_COUNT = 0.5  # smallest expected count of a gene in a sample
N_GRID_POINTS = 24  # dispersions whose likelihood is computed before the golden-section search
N_GOLDEN_STEPS = 30  # steps of the golden-section search around the best grid point
TREND_RATIO_RANGE = (1e-4, 15.0)  # multiples of the trend outside which dispersions are not fitted
MAX_TREND_FITS = 11  # largest number of fits of the trend
MAX_GAMMA_ITERATIONS = 50  # largest number of steps of weighted least squares in such a fit
TREND_TOLERANCE = 1e-6  # sum of the squared changes of the log coefficients at which fitting stops
MEAN_DISPERSION_TRIM = 0.001  # share left out at either end of the mean dispersion without a trend


@dataclass(frozen=True, eq=False)
class Vst(LearnedStep):
    """``log2((1 + a1 + 2 a0 q + 2 sqrt(a0 q (1 + a1 + a0 q))) / (4 a0))``, q = x/s.

    The variance of a count of mean m is m + (a0 + a1/m) m²; the integral of one over its root is
    this. For large q it approaches log2 q. The trend a0 + a1/m is fitted to the training samples;
    if no trend with a0, a1 > 0 fits, all genes have one dispersion (a1 = 0).

    Notes
    -----
    S. Anders & W. Huber (2010), Genome Biol. 11:R106; numbers as ``vst`` of DESeq2 (M. I. Love et
    al. 2014, Genome Biol. 15:550), without a design, its parametric trend.
    """

    method: str  # field of the size factors s (see `SizeFactors`), as the next three
    reference: Array
    typical: float
    means: Array
    a0: float  # asymptotic dispersion of the trend a0 + a1/m
    a1: float  # Extra-Poisson term of the trend; 0 if no trend fits

    @classmethod
    def fit(cls, X: Array, *, method: str) -> Vst:
        """Find size factors and the trend of the dispersions in counts (n_train, n_genes)."""
        # The search depends on the rounding of sums: a fixed order makes it independent of the
        # rows.
        X = X[np.argsort(X.sum(axis=1))]
        size_factor_step = cls(**fit_depth(X, method), a0=MIN_DISPERSION, a1=0.0)
        genes = _genes_evenly_by_level(size_factor_step.means)
        factors = size_factors(X, size_factor_step)
        gene_dispersions = estimate_dispersions(X[:, genes], factors)
        return cls(
            **{
                **vars(size_factor_step),
                **fit_trend(size_factor_step.means[genes], gene_dispersions),
            }
        )

    def transform(self, X: Array) -> Array:
        """Bring each row to one depth, and stabilise its variance."""
        counts_at_one_depth = scale_to_one_depth(X, self)
        a0 = self.a0
        a1 = self.a1
        root = np.sqrt(a0 * counts_at_one_depth * (1 + a1 + a0 * counts_at_one_depth))
        return np.asarray(np.log2((1 + a1 + 2 * a0 * counts_at_one_depth + 2 * root) / (4 * a0)))


def _genes_evenly_by_level(means: Array) -> Array:
    """Return up to `MAX_TREND_GENES` genes, evenly by their rank among those with enough reads."""
    genes = np.flatnonzero(means > MIN_TREND_MEAN)
    genes = genes if len(genes) else np.flatnonzero(means > 0)
    # Levels are rounded, so that the order of the rows does not decide between two equal genes.
    genes = genes[np.argsort(np.round(np.log(means[genes]), 9), kind="stable")]
    ranks = np.linspace(0, len(genes) - 1, min(len(genes), MAX_TREND_GENES))
    return np.asarray(genes[np.round(ranks).astype(int)])


def estimate_dispersions(X: Array, factors: Array) -> Array:
    """Return the dispersion of each gene, (n_genes,), of counts (n, n_genes) and size factors (n,).

    It maximises the likelihood of the negative binomial with mean ``s_i`` times the gene's mean
    and variance m + a m², adjusted for the estimated mean: less half the logarithm of
    ``sum_i 1/(1/m_i + a)`` (D. R. Cox & N. Reid 1987, J. R. Stat. Soc. B 49:1). A gene that by its
    moments varies no more than a Poisson variable has the smallest dispersion, as in DESeq2, whose
    search begins there.
    """
    mean = np.maximum(np.outer(factors, (X / factors[:, None]).mean(axis=0)), MIN_EXPECTED_COUNT)
    log_min = np.log(MIN_DISPERSION)
    log_max = np.log(max(10, len(X)))
    grid = np.linspace(log_min, log_max, N_GRID_POINTS)
    best_point = np.argmax(
        [_log_likelihood(X, mean, np.full(X.shape[1], log_dispersion)) for log_dispersion in grid],
        axis=0,
    )
    lower_bound = grid[np.maximum(best_point - 1, 0)]
    upper_bound = grid[np.minimum(best_point + 1, N_GRID_POINTS - 1)]
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(N_GOLDEN_STEPS):
        lower_probe = upper_bound - golden * (upper_bound - lower_bound)
        upper_probe = lower_bound + golden * (upper_bound - lower_bound)
        upper_is_better = _log_likelihood(X, mean, lower_probe) < _log_likelihood(
            X, mean, upper_probe
        )
        lower_bound = np.where(upper_is_better, lower_probe, lower_bound)
        upper_bound = np.where(upper_is_better, upper_bound, upper_probe)
    return np.where(
        _moment_dispersions(X / factors[:, None], factors) > MIN_DISPERSION,
        np.exp((lower_bound + upper_bound) / 2),
        MIN_DISPERSION,
    )


def _moment_dispersions(Y: Array, factors: Array) -> Array:
    """Return the smaller of two moment estimates (n_genes,) from counts Y of one depth.

    One comes from the variance over the samples, the other from the squared deviation of each.
    """
    mean = Y.mean(axis=0)
    degrees_of_freedom = max(1, len(Y) - 1)
    level = np.maximum(mean, 1)  # as in DESeq2
    from_variance = (
        Y.var(axis=0) * len(Y) / degrees_of_freedom - (1 / factors).mean() * mean
    ) / mean**2
    from_each_sample = (((Y - level) ** 2 - level) / level**2).sum(axis=0) / degrees_of_freedom
    return np.asarray(np.minimum(from_each_sample, from_variance))


def _log_likelihood(X: Array, mean: Array, log_dispersion: Array) -> Array:
    """Return the adjusted log likelihood (n_genes,), without terms free of the dispersion.

    X, mean (n, n_genes): counts and their expectations. log_dispersion (n_genes,).
    """
    from scipy.special import gammaln

    dispersion = np.exp(log_dispersion)
    terms = (
        gammaln(X + 1 / dispersion)
        - gammaln(1 / dispersion)
        - (X + 1 / dispersion) * np.log1p(mean * dispersion)
    )
    terms += X * log_dispersion
    return np.asarray(terms.sum(axis=0) - np.log((1 / (1 / mean + dispersion)).sum(axis=0)) / 2)


def fit_trend(means: Array, gene_dispersions: Array) -> dict[str, float]:
    """Return a0 and a1 of ``a0 + a1/mean``, fitted to dispersions by a gamma likelihood.

    Each fit leaves out the dispersions far from the trend of the fit before, as DESeq2 does. If no
    trend fits, a1 is 0, and a0 the trimmed mean of the dispersions.
    """
    is_overdispersed = gene_dispersions > MIN_TREND_DISPERSION
    means = means[is_overdispersed]
    gene_dispersions = gene_dispersions[is_overdispersed]
    coefs = np.array([0.1, 1.0])  # (a0, a1), where DESeq2 begins
    for _ in range(MAX_TREND_FITS):
        ratio = gene_dispersions / (coefs[0] + coefs[1] / means)
        near_trend = (ratio > TREND_RATIO_RANGE[0]) & (ratio < TREND_RATIO_RANGE[1])
        previous_coefs = coefs
        coefs = _gamma_line(1 / means[near_trend], gene_dispersions[near_trend], coefs)
        if not (coefs > 0).all():
            break
        if (np.log(coefs / previous_coefs) ** 2).sum() < TREND_TOLERANCE:
            return {"a0": max(MIN_DISPERSION, float(coefs[0])), "a1": float(coefs[1])}
    ascending = np.sort(gene_dispersions)
    n_trimmed = int(MEAN_DISPERSION_TRIM * len(ascending))
    return {
        "a0": float(ascending[n_trimmed : len(ascending) - n_trimmed].mean())
        if len(ascending)
        else MIN_DISPERSION,
        "a1": 0.0,
    }


def _gamma_line(x: Array, y: Array, coefs: Array) -> Array:
    """Return b0, b1 of ``y ~ b0 + b1 x`` with gamma errors; zeros if the fit fails.

    Iterated weighted least squares from `coefs`, which are positive.
    """
    failed = np.zeros(2)
    if len(y) < 3 or np.ptp(x) == 0:
        return failed
    for _ in range(MAX_GAMMA_ITERATIONS):
        weight = 1 / (coefs[0] + coefs[1] * x)
        design = np.stack([weight, weight * x], axis=1)
        previous_coefs = coefs
        coefs = np.linalg.lstsq(design, weight * y, rcond=None)[0]
        if not (coefs[0] + coefs[1] * x > 0).all():
            return failed
        if np.allclose(coefs, previous_coefs, rtol=1e-8, atol=0):
            break
    return coefs
