"""RMA's background: what an array would show without the light that comes from nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

Array = np.ndarray[Any, Any]

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
    z_near, z_far = np.where(far, 0, z), np.where(far, z, -35)
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
    low, high = values[0] - 7 * width, values[-1] + 7 * width
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
