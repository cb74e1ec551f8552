"""RMA: background, quantiles of the training samples, and probe sets by median polish.

`Normaliser` in `normalise.py` explains the class variables `kind` and `genes` of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.gene_filters import number_sets, sets_by_size
from genesig.data.steps.transforms import LearnedStep, RowWiseStep, average_ranks
from genesig.errors import GenesigError

MAX_POLISH_ITERATIONS = 10
POLISH_TOLERANCE = 0.01  # relative change of the sum of absolute residuals at which polish stops
MAX_POLISHED_CELLS = 2**21  # at once, so that the memory does not grow with the study


@dataclass(frozen=True, eq=False)
class MedianPolish:
    """``median over the probes i of a set of (log2 x_i - effect_i)``.

    The effects are those of Tukey's median polish of the training arrays, probes × arrays, set
    by set. For a training array this is its polished value, up to the tolerance of the polish
    (see `median_polish`); a new array is summarised without any other array.

    Notes
    -----
    R. A. Irizarry et al. (2003), Nucleic Acids Res. 31:e15. Stored effects for single arrays:
    D. Kostka and R. Spang (2008), PLoS Comput. Biol. 4:e22.
    """

    effects: Array  # (n_probes,) float: log2 units; the median over a set is 0
    sets: Array  # (n_probes,) int: number of each probe's set
    kind: ClassVar[Literal["fold"]] = "fold"

    @property
    def genes(self) -> Array:
        """The first probe of each set, whose name the set has."""
        return np.unique(self.sets, return_index=True)[1]

    @classmethod
    def fit(cls, X: Array, *, by: Sequence[str] | None) -> MedianPolish:
        """Polish intensities, not logged; `by` names each column's set, None: each its own."""
        sets = number_sets("median_polish", by, X.shape[1])
        _, effects = median_polish(_log2(X), sets)
        return cls(effects, sets)

    def transform(self, X: Array) -> Array:
        """Return the median of each set after subtraction of the effects."""
        residual = _log2(X) - self.effects
        summary = np.empty((len(X), int(self.sets.max(initial=-1)) + 1))
        for set_numbers, columns in sets_by_size(self.sets):
            summary[:, set_numbers] = _median(residual[:, columns], axis=2)
        return summary


def median_polish(Y: Array, sets: Array) -> tuple[Array, Array]:
    """Return array values and probe effects of ``y = value + effect + residual``, by probe set.

    Medians of probes and of arrays are taken off in turn, at most ten times or until the sum of
    the absolute residuals changes by less than 1 %.

    Y (n_arrays, n_probes) float, log2 units.
    sets (n_probes,) int.

    Returns values (n_arrays, n_sets) float; effects (n_probes,) float.

    Source: J. W. Tukey (1977), Exploratory Data Analysis, chapter 11; steps and stopping as in
    affy.
    """
    values = np.empty((len(Y), int(sets.max(initial=-1)) + 1))
    effects = np.empty(Y.shape[1])
    for set_numbers, columns in sets_by_size(sets):  # columns (m, size) of m sets of one size
        sets_per_chunk = max(1, MAX_POLISHED_CELLS // (len(Y) * columns.shape[1]))
        for start in range(0, len(set_numbers), sets_per_chunk):
            chunk = columns[start : start + sets_per_chunk]
            tables = np.moveaxis(Y[:, chunk], 0, -1).copy()
            polished, effects[chunk] = _polish(tables)
            values[:, set_numbers[start : start + sets_per_chunk]] = polished.T
    return values, effects


def _polish(tables: Array) -> tuple[Array, Array]:
    """Return values (n_sets, n_arrays) and effects (n_sets, n_probes) of tables.

    `tables` (n_sets, n_probes, n_arrays) become residuals in place. After each iteration only the
    sets whose residuals still change are polished further.
    """
    n_sets, n_probes, n_arrays = tables.shape
    set_level = np.zeros(n_sets)
    probe_effects = np.zeros((n_sets, n_probes))
    array_effects = np.zeros((n_sets, n_arrays))
    previous_total = np.zeros(n_sets)
    active = np.arange(n_sets)  # numbers of the sets in `tables`
    for _ in range(MAX_POLISH_ITERATIONS):
        probe_medians = _median(tables, axis=2)
        tables -= probe_medians[:, :, None]
        probe_effects[active] += probe_medians
        _move_median_to_level(set_level, array_effects, active)
        array_medians = _median(tables, axis=1)
        tables -= array_medians[:, None, :]
        array_effects[active] += array_medians
        _move_median_to_level(set_level, probe_effects, active)
        total = np.abs(tables).sum(axis=(1, 2))
        ratio = np.divide(previous_total, total, out=np.ones_like(total), where=total > 0)
        is_changing = np.abs(1 - ratio) >= POLISH_TOLERANCE
        active = active[is_changing]
        tables = tables[is_changing]
        previous_total = total[is_changing]
        if not len(active):
            break
    return set_level[:, None] + array_effects, probe_effects


def _move_median_to_level(set_level: Array, effects: Array, active: Array) -> None:
    """Move the median of the effects (n_sets, m) of the active sets to the level of the set."""
    shift = _median(effects[active], axis=1)
    effects[active] -= shift[:, None]
    set_level[active] += shift


def _median(values: Array, axis: int) -> Array:
    """Return medians along an axis, on short axes quicker than numpy, which searches for NaN."""
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)
    n = values.shape[axis]
    upper = ordered[..., n // 2]
    return np.asarray(upper if n % 2 else (ordered[..., n // 2 - 1] + upper) / 2)


def _log2(X: Array) -> Array:
    """Return log2 of intensities; raise if one is not positive."""
    if X.min(initial=1) <= 0:
        raise GenesigError(
            f"normalise.folds: median_polish takes logarithms and needs positive intensities, "
            f"found {X.min():g}; put rma_background into normalise.samples"
        )
    return np.asarray(np.log2(X))


N_GRID_POINTS = 2**14
ROOT_TWO_PI = np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class RmaBackground(RowWiseStep):
    """``E(signal | x)`` where x = signal + noise, signal exponential, noise normal.

    With a = x - mu - alpha sigma² the expectation is ``a + sigma phi(a/sigma) / Phi(a/sigma)``,
    always positive. Estimated for each array by itself: mu is the mode of its intensities below
    their mode, sigma² twice the mean square below mu, 1 / alpha the mode of the distances above mu.
    An array with fewer than two different values on one side of mu stays as it is; no real array
    is so small or so even.

    Notes
    -----
    R. A. Irizarry et al. (2003), Biostatistics 4:249; B. M. Bolstad (2004), thesis, section 2.2.
    The same numbers as affy's ``rma`` (``bgversion=2``).
    """

    def transform(self, X: Array) -> Array:
        """Correct each row."""
        corrected = np.empty(X.shape)
        for row, values in enumerate(X):
            corrected[row] = _expected_signal(values)
        return corrected


def _expected_signal(values: Array) -> Array:
    """Return E(signal | x) of the intensities x (n,) of one array (see `RmaBackground`)."""
    from scipy.special import ndtr  # here, because every job imports this module

    parameters = background_parameters(values)
    if parameters is None:
        return values
    alpha, mu, sigma = parameters
    shifted = values - mu - alpha * sigma**2
    standardised = shifted / sigma
    # Below -35 Phi has no digits left: the mean is computed as a continued fraction there.
    is_extreme = standardised < -35
    ordinary = np.where(is_extreme, 0, standardised)
    extreme = np.where(is_extreme, standardised, -35)
    density = np.exp(-(ordinary**2) / 2) / ROOT_TWO_PI
    extreme_mean = sigma / (-extreme + 2 / (-extreme + 3 / -extreme))
    return np.asarray(
        np.where(is_extreme, extreme_mean, shifted + sigma * density / ndtr(ordinary))
    )


def background_parameters(values: Array) -> tuple[float, float, float] | None:
    """Return (alpha, mu, sigma) of the intensities of one microarray (see `RmaBackground`).

    None if the values are too few, or too many of them are equal.
    """
    values = np.sort(values)
    values_below_mode = (
        values[: np.searchsorted(values, _mode(values))] if _varies(values) else values[:0]
    )
    if not _varies(values_below_mode):
        return None
    mu = _mode(values_below_mode)
    noise_values = values[: np.searchsorted(values, mu)]
    above = values[np.searchsorted(values, mu, side="right") :] - mu
    if len(noise_values) < 2 or not _varies(above):
        return None
    sigma = float(np.sqrt(2 * np.sum((noise_values - mu) ** 2) / (len(noise_values) - 1)))
    signal_mean = _mode(above)
    return (1 / signal_mean, mu, sigma) if min(signal_mean, sigma) > 0 else None


def _varies(ordered: Array) -> bool:
    """Tell whether ordered values differ."""
    return len(ordered) > 1 and bool(ordered[0] < ordered[-1])


def _mode(values: Array) -> float:
    """Return the mode of sorted values: the maximum of a kernel density estimate.

    Epanechnikov kernel on `N_GRID_POINTS` points. Each value's mass goes to its two neighbours on a
    grid twice as fine as needed, and the convolution is a Fourier transform, as in affy.
    """
    width = _bandwidth(values)
    # As R's density: it is read up to 3 bandwidths beyond the values, and its grid goes 4 further,
    # so that the ends of the Fourier transform do not meet.
    grid_start = values[0] - 7 * width
    grid_end = values[-1] + 7 * width
    offsets = np.arange(N_GRID_POINTS + 1) / (2 * N_GRID_POINTS - 1) * 2 * (grid_end - grid_start)
    half_width = np.sqrt(5.0) * width
    kernel = np.where(
        offsets < half_width, 0.75 / half_width * (1 - (offsets / half_width) ** 2), 0
    )
    # The convolution is circular: the kernel's left side follows its right side.
    density = _smoothed_mass(
        _binned_mass(values, grid_start, grid_end), np.r_[kernel, kernel[-2:0:-1]]
    )
    grid = np.arange(N_GRID_POINTS) / (N_GRID_POINTS - 1)
    points = grid * (grid_end - grid_start - 8 * width) + grid_start + 4 * width
    return float(
        points[np.argmax(np.interp(points, grid * (grid_end - grid_start) + grid_start, density))]
    )


def _smoothed_mass(mass: Array, kernel: Array) -> Array:
    """Return the convolution of masses on the grid with a kernel."""
    spectrum = np.fft.rfft(mass, 2 * N_GRID_POINTS) * np.conj(np.fft.rfft(kernel))
    return np.asarray(np.fft.irfft(spectrum, 2 * N_GRID_POINTS)[:N_GRID_POINTS])


def _binned_mass(values: Array, low: float, high: float) -> Array:
    """Return the mass at each point of a grid from `low` to `high`; two points share a value."""
    grid_position = (values - low) / ((high - low) / (N_GRID_POINTS - 1))
    left_point = np.clip(np.floor(grid_position).astype(np.int64), 0, N_GRID_POINTS - 2)
    share = grid_position - left_point
    mass = np.bincount(left_point, 1 - share, N_GRID_POINTS) + np.bincount(
        left_point + 1, share, N_GRID_POINTS
    )
    return np.asarray(mass / len(values))


def _bandwidth(values: Array) -> float:
    """Return the bandwidth by Silverman's rule, for values that are not all the same."""
    deviation = values.std(ddof=1)
    lower_quartile, upper_quartile = np.quantile(values, (0.25, 0.75))
    spread = min(deviation, (upper_quartile - lower_quartile) / 1.34) or deviation
    return float(0.9 * spread * len(values) ** -0.2)


@dataclass(frozen=True, eq=False)
class Quantile(LearnedStep):
    """Give each sample the mean distribution of the training samples.

    ``target[i] = mean over training samples of their i-th smallest value``; a value of (average)
    rank r becomes the target at r, or the mean of two targets if r is halfway between ranks.

    Notes
    -----
    B. M. Bolstad et al. (2003), Bioinformatics 19:185. Ties as in limma's normalizeQuantiles.
    """

    target: Array  # (n_genes,) float, growing

    @classmethod
    def fit(cls, X: Array) -> Quantile:
        """Average the sorted rows."""
        return cls(np.sort(X, axis=1).mean(axis=0))

    def transform(self, X: Array) -> Array:
        """Look the ranks of each row up in the target."""
        doubled_ranks = (2 * average_ranks(X)).astype(np.int64)  # average ranks are whole or half
        lower = self.target[doubled_ranks // 2 - 1]
        upper = self.target[(doubled_ranks + 1) // 2 - 1]
        return np.asarray((lower + upper) / 2)
