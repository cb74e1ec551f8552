"""RMA: background, quantiles of the training samples, and probe sets by median polish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.collapse import by_size, numbered
from genesig.data.steps.sample_wise import average_ranks
from genesig.errors import GenesigError

ITERATIONS = 10
TOLERANCE = 0.01
CELLS = 2**21  # polished together, so that the memory does not grow with the study


@dataclass(frozen=True, eq=False)
class MedianPolish:
    """``median over the probes i of a set of (log2 x_i - effect_i)``.

    The effects are those of Tukey's median polish of the training arrays, probes × arrays, set
    by set. For the training arrays themselves this is their polished value up to the polish's
    own tolerance (see `median_polish`), and for a new array it needs no other one.

    Attributes
    ----------
    effects : (n_probes,) float
        log2 units; the median over a set is 0.
    sets : (n_probes,) int
        Number of each probe's set.

    Notes
    -----
    R. A. Irizarry et al. (2003), Nucleic Acids Res. 31:e15. Stored effects for single arrays:
    D. Kostka and R. Spang (2008), PLoS Comput. Biol. 4:e22.
    """

    effects: Array
    sets: Array
    kind: ClassVar[Literal["fold"]] = "fold"

    @property
    def genes(self) -> Array:
        """The first probe of each set, whose name the set has."""
        return np.unique(self.sets, return_index=True)[1]

    @classmethod
    def fit(cls, X: Array, *, by: Sequence[str] | None) -> MedianPolish:
        """Polish intensities, not logged; `by` names each column's set, None: each its own."""
        sets = numbered("median_polish", by, X.shape[1])
        return cls(median_polish(_log2(X), sets)[1], sets)

    def transform(self, X: Array) -> Array:
        """Take the effects off, and the median of each set."""
        residual = _log2(X) - self.effects
        summary = np.empty((len(X), int(self.sets.max(initial=-1)) + 1))
        for numbers, columns in by_size(self.sets):
            summary[:, numbers] = _median(residual[:, columns], axis=2)
        return summary


def median_polish(Y: Array, sets: Array) -> tuple[Array, Array]:
    """Polish each probe set: ``y = value of the array + effect of the probe + residual``.

    Medians of probes and of arrays are taken off in turn, at most ten times or until the sum of
    the absolute residuals changes by less than 1 %.

    Parameters
    ----------
    Y : (n_arrays, n_probes) float, log2 units
    sets : (n_probes,) int

    Returns
    -------
    values : (n_arrays, n_sets) float
    effects : (n_probes,) float

    Notes
    -----
    J. W. Tukey (1977), Exploratory Data Analysis, chapter 11; steps and stopping as in affy.
    """
    values = np.empty((len(Y), int(sets.max(initial=-1)) + 1))
    effects = np.empty(Y.shape[1])
    for numbers, columns in by_size(sets):
        most = max(1, CELLS // (len(Y) * columns.shape[1]))
        for start in range(0, len(numbers), most):
            chunk = columns[start : start + most]
            tables = np.moveaxis(Y[:, chunk], 0, -1).copy()
            polished, effects[chunk] = _polish(tables)
            values[:, numbers[start : start + most]] = polished.T
    return values, effects


def _polish(tables: Array) -> tuple[Array, Array]:
    """Polish tables (n_sets, n_probes, n_arrays), which are used up."""
    total, probes, arrays = (np.zeros(tables.shape[:1] + s) for s in ((), *_margins(tables)))
    before = np.zeros(len(tables))
    active = np.arange(len(tables))
    for _ in range(ITERATIONS):
        rows = _median(tables, axis=2)
        tables -= rows[:, :, None]
        probes[active] += rows
        _recentre(total, arrays, active)
        columns = _median(tables, axis=1)
        tables -= columns[:, None, :]
        arrays[active] += columns
        _recentre(total, probes, active)
        after = np.abs(tables).sum(axis=(1, 2))
        change = np.divide(before, after, out=np.ones_like(after), where=after > 0)
        going = np.abs(1 - change) >= TOLERANCE
        active = active[going]
        tables = tables[going]
        before = after[going]
        if not len(active):
            break
    return total[:, None] + arrays, probes


def _margins(tables: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tables.shape[1:2], tables.shape[2:]


def _recentre(total: Array, part: Array, active: Array) -> None:
    """Move the median of an effect to the total."""
    shift = _median(part[active], axis=1)
    part[active] -= shift[:, None]
    total[active] += shift


def _median(values: Array, axis: int) -> Array:
    """Take medians without numpy's search for NaN, which costs more than sorting short axes."""
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)
    n = values.shape[axis]
    upper = ordered[..., n // 2]
    return np.asarray(upper if n % 2 else (ordered[..., n // 2 - 1] + upper) / 2)


def _log2(X: Array) -> Array:
    if X.min(initial=1) <= 0:
        raise GenesigError(
            f"normalise.folds: median_polish takes logarithms and needs positive intensities, "
            f"found {X.min():g}; put rma_background into normalise.samples"
        )
    return np.asarray(np.log2(X))


POINTS = 2**14
ROOT_TWO_PI = np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class RmaBackground:
    """``E(signal | x)`` where x = signal + noise, signal exponential, noise normal.

    With a = x - mu - alpha sigma² the expectation is ``a + sigma phi(a/sigma) / Phi(a/sigma)``,
    always positive. Of each array by itself: mu is the mode of its intensities below their mode,
    sigma² twice the mean square below mu, 1 / alpha the mode of the distances above mu. An array
    too small or too even for that (fewer than two different values on one side of mu) is left
    as it is; no real array is.

    Notes
    -----
    R. A. Irizarry et al. (2003), Biostatistics 4:249; B. M. Bolstad (2004), thesis, section 2.2.
    The same numbers as affy's ``rma`` (``bgversion=2``).
    """

    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Correct each row."""
        corrected = np.empty(X.shape)
        for row, values in enumerate(X):
            corrected[row] = _corrected(values)
        return corrected


def _corrected(values: Array) -> Array:
    from scipy.special import ndtr  # here, because every job imports this module

    parameters = background_parameters(values)
    if parameters is None:
        return values
    alpha, mu, sigma = parameters
    a = values - mu - alpha * sigma**2
    z = a / sigma
    far = z < -35  # where Phi has no digits left; the mean beyond z, as a continued fraction
    z_near = np.where(far, 0, z)
    z_far = np.where(far, z, -35)
    density = np.exp(-(z_near**2) / 2) / ROOT_TWO_PI
    tail = sigma / (-z_far + 2 / (-z_far + 3 / -z_far))
    return np.asarray(np.where(far, tail, a + sigma * density / ndtr(z_near)))


def background_parameters(values: Array) -> tuple[float, float, float] | None:
    """Return (alpha, mu, sigma) of one array, or None where they cannot be had."""
    values = np.sort(values)
    below = values[: np.searchsorted(values, _mode(values))] if _varies(values) else values[:0]
    if not _varies(below):
        return None
    mu = _mode(below)
    left = values[: np.searchsorted(values, mu)]
    above = values[np.searchsorted(values, mu, side="right") :] - mu
    if len(left) < 2 or not _varies(above):
        return None
    sigma = float(np.sqrt(2 * np.sum((left - mu) ** 2) / (len(left) - 1)))
    scale = _mode(above)
    return (1 / scale, mu, sigma) if min(scale, sigma) > 0 else None


def _varies(ordered: Array) -> bool:
    return len(ordered) > 1 and bool(ordered[0] < ordered[-1])


def _mode(values: Array) -> float:
    """Return where the density of sorted values is highest.

    Epanechnikov kernel on `POINTS` points, the values shared out between their neighbours on a
    grid twice as fine as needed, the convolution by Fourier transform, as affy does it.
    """
    width = _bandwidth(values)
    low = values[0] - 7 * width
    high = values[-1] + 7 * width
    offsets = np.arange(POINTS + 1) / (2 * POINTS - 1) * 2 * (high - low)
    half = np.sqrt(5.0) * width
    kernel = np.where(offsets < half, 0.75 / half * (1 - (offsets / half) ** 2), 0)
    density = _convolved(_shared_out(values, low, high), np.r_[kernel, kernel[-2:0:-1]])
    grid = np.arange(POINTS) / (POINTS - 1)
    at = grid * (high - low - 8 * width) + low + 4 * width
    return float(at[np.argmax(np.interp(at, grid * (high - low) + low, density))])


def _convolved(mass: Array, kernel: Array) -> Array:
    spectrum = np.fft.rfft(mass, 2 * POINTS) * np.conj(np.fft.rfft(kernel))
    return np.asarray(np.fft.irfft(spectrum, 2 * POINTS)[:POINTS])


def _shared_out(values: Array, low: float, high: float) -> Array:
    """Put each value's mass on the two points of the grid around it."""
    place = (values - low) / ((high - low) / (POINTS - 1))
    left = np.clip(np.floor(place).astype(np.int64), 0, POINTS - 2)
    share = place - left
    mass = np.bincount(left, 1 - share, POINTS) + np.bincount(left + 1, share, POINTS)
    return np.asarray(mass / len(values))


def _bandwidth(values: Array) -> float:
    """Silverman's rule for values that are not all the same."""
    deviation = values.std(ddof=1)
    quartile, upper = np.quantile(values, (0.25, 0.75))
    spread = min(deviation, (upper - quartile) / 1.34) or deviation
    return float(0.9 * spread * len(values) ** -0.2)


@dataclass(frozen=True, eq=False)
class Quantile:
    """Give each sample the mean distribution of the training samples.

    ``target[i] = mean over training samples of their i-th smallest value``; a value of (average)
    rank r becomes target at r, halfway between two where r is.

    Attributes
    ----------
    target : (n_genes,) float, growing

    Notes
    -----
    B. M. Bolstad et al. (2003), Bioinformatics 19:185. Ties as in limma's normalizeQuantiles.
    """

    target: Array
    kind: ClassVar[Literal["fold"]] = "fold"
    genes: ClassVar[None] = None

    @classmethod
    def fit(cls, X: Array) -> Quantile:
        """Average the sorted rows."""
        return cls(np.sort(X, axis=1).mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Look the ranks of each row up in the target."""
        twice = (2 * average_ranks(X)).astype(np.int64)  # average ranks are whole or half
        lower = self.target[twice // 2 - 1]
        upper = self.target[(twice + 1) // 2 - 1]
        return np.asarray((lower + upper) / 2)
