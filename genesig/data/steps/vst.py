"""Counts on a scale on which the spread of a gene does not hang on its level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.counts import at_one_depth, fit_depth, size_factors

MOST_GENES, LEAST_MEAN = 1000, 5.0
"""The trend is fitted to so many genes, evenly by level, of at least this mean."""
LEAST, CREDIBLE = 1e-8, 1e-6
"""Smallest dispersion that is looked for; smallest that the trend is fitted to."""
LEAST_EXPECTED = 0.5
"""Smallest count that is expected in a sample."""
COARSE, FINE = 24, 30
"""Places where the likelihood of a dispersion is computed, first and around the best."""
PLAUSIBLE = (1e-4, 15.0)
"""How many times the trend a dispersion may be to be fitted to it."""
ROUNDS, CLOSE = 11, 1e-6
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
        q, a0, a1 = at_one_depth(X, self), self.a0, self.a1
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
    low, high = np.log(LEAST), np.log(max(10, len(X)))
    grid = np.linspace(low, high, COARSE)
    at = np.argmax([_likelihood(X, mean, np.full(X.shape[1], a)) for a in grid], axis=0)
    left, right = grid[np.maximum(at - 1, 0)], grid[np.minimum(at + 1, COARSE - 1)]
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(FINE):
        one, two = right - golden * (right - left), left + golden * (right - left)
        lower = _likelihood(X, mean, one) < _likelihood(X, mean, two)
        left, right = np.where(lower, one, left), np.where(lower, right, two)
    return np.where(
        _by_moments(X / factors[:, None], factors) > LEAST, np.exp((left + right) / 2), LEAST
    )


def _by_moments(Y: Array, factors: Array) -> Array:
    """Return the smaller of two estimates from counts of one depth: of all, and by each sample."""
    mean, free = Y.mean(axis=0), max(1, len(Y) - 1)
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
    means, found = means[used], found[used]
    coefs = np.array([0.1, 1.0])
    for _ in range(ROUNDS):
        ratio = found / (coefs[0] + coefs[1] / means)
        good = (ratio > PLAUSIBLE[0]) & (ratio < PLAUSIBLE[1])
        before, coefs = coefs, _gamma_line(1 / means[good], found[good], coefs)
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
        before, coefs = coefs, np.linalg.lstsq(design, weight * y, rcond=None)[0]
        if not (coefs[0] + coefs[1] * x > 0).all():
            return failed
        if np.allclose(coefs, before, rtol=1e-8, atol=0):
            break
    return coefs
