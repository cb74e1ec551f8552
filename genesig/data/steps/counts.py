"""RNA-seq counts on the scale of arrays: brought to one depth, their variance stabilised."""

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


TRIMMED_RATIOS = 0.3
TRIMMED_LEVELS = 0.05
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
    total = float(x[known].sum())
    other = float(reference[known].sum())
    both = known & (np.nan_to_num(x) > 0) & (reference > 0)
    one = x[both] / total
    two = reference[both] / other
    M = np.log2(one / two)
    A = np.log2(one * two) / 2
    if not len(M) or np.abs(M).max() < SAME:
        return total
    variance = (1 - one) / x[both] + (1 - two) / reference[both]
    kept = _middle(M, TRIMMED_RATIOS) & _middle(A, TRIMMED_LEVELS) & (variance > 0)
    if not kept.any():
        return total
    weight = 1 / variance[kept]
    return float(total * 2 ** ((weight * M[kept]).sum() / weight.sum()))


def _middle(values: Array, share: float) -> Array:
    ranks = average_ranks(values[None])[0]
    cut = int(share * len(values))
    return np.asarray((ranks >= cut + 1) & (ranks <= len(values) - cut))


MOST_GENES = 1000
LEAST_MEAN = 5.0
"""The trend is fitted to so many genes, evenly by level, of at least this mean."""
LEAST = 1e-8
CREDIBLE = 1e-6
"""Smallest dispersion that is looked for; smallest that the trend is fitted to."""
LEAST_EXPECTED = 0.5
"""Smallest count that is expected in a sample."""
COARSE = 24
FINE = 30
"""Places where the likelihood of a dispersion is computed, first and around the best."""
PLAUSIBLE = (1e-4, 15.0)
"""How many times the trend a dispersion may be to be fitted to it."""
ROUNDS = 11
CLOSE = 1e-6
"""Most fits of the trend; sum of the squared changes of log coefficients at which to stop."""
TRIMMED = 0.001


@dataclass(frozen=True, eq=False)
class Vst:
    """``log2((1 + a1 + 2 a0 q + 2 sqrt(a0 q (1 + a1 + a0 q))) / (4 a0))``, q = x/s.

    The variance of a count of mean m is m + (a0 + a1/m) m²; the integral of one over its root is
    this. Large values are those of log2 q. The trend a0 + a1/m is that of the training samples;
    where none with a0, a1 > 0 fits, all genes have one dispersion (a1 = 0).

    Attributes
    ----------
    method, reference, typical, means
        Of the size factors s, see `SizeFactors`.
    a0, a1 : float

    Notes
    -----
    S. Anders & W. Huber (2010), Genome Biol. 11:R106; numbers as ``vst`` of DESeq2 (M. I. Love et
    al. 2014, Genome Biol. 15:550), without a design, its parametric trend.
    """

    method: str
    reference: Array
    typical: float
    means: Array
    a0: float
    a1: float
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array, *, method: str) -> Vst:
        """Find size factors and the trend of the dispersions in counts (n_train, n_genes)."""
        X = X[np.argsort(X.sum(axis=1))]  # a search ends elsewhere where sums are rounded otherwise
        step = cls(**fit_depth(X, method), a0=LEAST, a1=0.0)
        genes = _spread_by_level(step.means)
        factors = size_factors(X, step)
        found = dispersions(X[:, genes], factors)
        return cls(**{**vars(step), **trend(step.means[genes], found)})

    def transform(self, X: Array) -> Array:
        """Bring each row to one depth, and stabilise its variance."""
        q = at_one_depth(X, self)
        a0 = self.a0
        a1 = self.a1
        root = np.sqrt(a0 * q * (1 + a1 + a0 * q))
        return np.asarray(np.log2((1 + a1 + 2 * a0 * q + 2 * root) / (4 * a0)))


def _spread_by_level(means: Array) -> Array:
    """Return up to `MOST_GENES` genes, evenly by their rank among those with enough reads."""
    genes = np.flatnonzero(means > LEAST_MEAN)
    genes = genes if len(genes) else np.flatnonzero(means > 0)
    # Equal but for rounding is equal: which of two genes is taken must not hang on rows' order.
    genes = genes[np.argsort(np.round(np.log(means[genes]), 9), kind="stable")]
    places = np.linspace(0, len(genes) - 1, min(len(genes), MOST_GENES))
    return np.asarray(genes[np.round(places).astype(int)])


def dispersions(X: Array, factors: Array) -> Array:
    """Return the dispersion of each gene, (n_genes,), of counts (n, n_genes) of one mean a gene.

    It maximises the likelihood of the negative binomial with mean ``s_i`` times the gene's mean
    and variance m + a m², adjusted for the estimated mean: less half the logarithm of
    ``sum_i 1/(1/m_i + a)`` (D. R. Cox & N. Reid 1987, J. R. Stat. Soc. B 49:1). A gene that varies
    no more than Poisson's, by its moments, has the least, as in DESeq2, whose search begins there.
    """
    mean = np.maximum(np.outer(factors, (X / factors[:, None]).mean(axis=0)), LEAST_EXPECTED)
    low = np.log(LEAST)
    high = np.log(max(10, len(X)))
    grid = np.linspace(low, high, COARSE)
    at = np.argmax([_likelihood(X, mean, np.full(X.shape[1], a)) for a in grid], axis=0)
    left = grid[np.maximum(at - 1, 0)]
    right = grid[np.minimum(at + 1, COARSE - 1)]
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(FINE):
        one = right - golden * (right - left)
        two = left + golden * (right - left)
        lower = _likelihood(X, mean, one) < _likelihood(X, mean, two)
        left = np.where(lower, one, left)
        right = np.where(lower, right, two)
    return np.where(
        _by_moments(X / factors[:, None], factors) > LEAST, np.exp((left + right) / 2), LEAST
    )


def _by_moments(Y: Array, factors: Array) -> Array:
    """Return the smaller of two estimates from counts of one depth: of all, and by each sample."""
    mean = Y.mean(axis=0)
    free = max(1, len(Y) - 1)
    level = np.maximum(mean, 1)
    moments = (Y.var(axis=0) * len(Y) / free - (1 / factors).mean() * mean) / mean**2
    rough = (((Y - level) ** 2 - level) / level**2).sum(axis=0) / free
    return np.asarray(np.minimum(rough, moments))


def _likelihood(X: Array, mean: Array, log_dispersion: Array) -> Array:
    """Return the adjusted log likelihood of each gene, but for what the dispersion leaves alone."""
    from scipy.special import gammaln

    a = np.exp(log_dispersion)
    terms = gammaln(X + 1 / a) - gammaln(1 / a) - (X + 1 / a) * np.log1p(mean * a)
    terms += X * log_dispersion
    return np.asarray(terms.sum(axis=0) - np.log((1 / (1 / mean + a)).sum(axis=0)) / 2)


def trend(means: Array, found: Array) -> dict[str, float]:
    """Return a0 and a1 of ``a0 + a1/mean``, fitted to dispersions by a gamma likelihood.

    Again and again without those far off the last trend, as DESeq2 does.
    """
    used = found > CREDIBLE
    means = means[used]
    found = found[used]
    coefs = np.array([0.1, 1.0])
    for _ in range(ROUNDS):
        ratio = found / (coefs[0] + coefs[1] / means)
        good = (ratio > PLAUSIBLE[0]) & (ratio < PLAUSIBLE[1])
        before = coefs
        coefs = _gamma_line(1 / means[good], found[good], coefs)
        if not (coefs > 0).all():
            break
        if (np.log(coefs / before) ** 2).sum() < CLOSE:
            return {"a0": max(LEAST, float(coefs[0])), "a1": float(coefs[1])}
    grown = np.sort(found)
    cut = int(TRIMMED * len(grown))
    return {"a0": float(grown[cut : len(grown) - cut].mean()) if len(grown) else LEAST, "a1": 0.0}


def _gamma_line(x: Array, y: Array, coefs: Array) -> Array:
    """Fit ``y ~ b0 + b1 x`` of gamma errors by weighted least squares; not positive if it fails."""
    failed = np.zeros(2)
    if len(y) < 3 or np.ptp(x) == 0:
        return failed
    for _ in range(50):
        weight = 1 / (coefs[0] + coefs[1] * x)
        design = np.stack([weight, weight * x], axis=1)
        before = coefs
        coefs = np.linalg.lstsq(design, weight * y, rcond=None)[0]
        if not (coefs[0] + coefs[1] * x > 0).all():
            return failed
        if np.allclose(coefs, before, rtol=1e-8, atol=0):
            break
    return coefs
