"""The size of values: whether they look as if logarithms had been taken of them."""

from __future__ import annotations

import numpy as np

from genesig.arrays import Array

# Logarithms to base 2 of 16-bit scanners stay below 16; these bounds leave room.
LOGGED_P99, LOGGED_MAX = 30.0, 50.0
# Logarithms to base 2 of masses' intensities go up to 45, and lie close together: the 99th
# percentile below twice the median. Intensities are spread over powers of ten.
WIDEST_LOG, CLOSE = 45.0, 2.0
# Of the values that are not 0: so many whole ones, and they are counts or shares of counts.
WHOLE = 0.2
# What programs and people write where nothing was measured, and all cells must be numbers.
CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0)
# Steps that take logarithms, or after which the scale is of no account.
LOGARITHMS = {"log2", "log_cpm", "size_factors", "vst", "median_polish", "rank_samples"}
# Steps after which a difference is one of log2.
LOG2 = {"log2", "log_cpm", "size_factors", "vst", "rma_background"}
# Steps that take counts as they are, and those of them that learn from the training samples.
COUNTED = {"log_cpm", "size_factors", "vst"}
LEARNED_DEPTH = {"size_factors", "vst"}


def sizes(X: Array) -> tuple[float, float, float]:
    """Return smallest value, 99th percentile and largest value of those that are not missing."""
    X = X[np.isfinite(X)]
    return float(X.min()), float(np.percentile(X, 99)), float(X.max())


def looks_raw(p99: float, most: float) -> bool:
    """Tell whether values of this size were probably never logged."""
    return p99 > LOGGED_P99 or most > LOGGED_MAX


def never_logged(X: Array) -> bool:
    """Tell whether the finite values of a matrix were probably never logged.

    By their size, but for values up to 45 that lie as close together as logarithms do: those of
    mass spectrometry, cycles of PCR.
    """
    _, p99, most = sizes(X)
    median = float(np.nanmedian(X))
    return looks_raw(p99, most) and not (most <= WIDEST_LOG and p99 < CLOSE * median)


def middle_and_top(X: Array) -> tuple[float, float]:
    """Return the median and the 99th percentile of the values that are not missing.

    Of few values, too, the percentile is one of them, and not the largest.
    """
    X = X[np.isfinite(X)]
    if not X.size:
        return 0.0, 0.0
    return float(np.median(X)), float(np.percentile(X, 99, method="lower"))


def spread_as_raw(median: float, p99: float) -> bool:
    """Tell whether values were probably never logged where any shift and factor is allowed.

    They are large and lie far apart. One value far off does not count, other than in `looks_raw`.
    """
    return p99 > LOGGED_P99 and p99 >= CLOSE * median


def looks_counted(X: Array) -> bool:
    """Tell whether values are counts of reads, be they shared out among genes.

    Some are 0, none is negative, and a fifth of the others are whole; of intensities none is 0,
    however whole, and of rates (TPM) none is whole.
    """
    X = X[np.isfinite(X)]
    some = X[X != 0]
    return bool(len(some) < len(X) and X.min() >= 0 and np.mean(some == np.round(some)) >= WHOLE)


def missing_codes(X: Array) -> tuple[float, ...]:
    """Return the numbers that stand for no value: -9, -99, -999, ..., in place of NA.

    A number is a code if all negative values are codes, or if it occurs ten times and ten times as
    often as any other near it, within 3 and a tenth: among differences of intensities -999 is rare.
    """
    negative = X[X < 0]
    found = [code for code in CODES if (negative == code).any()]
    if np.isin(negative, CODES).all():
        return tuple(found)
    return tuple(code for code in found if _crowded(negative, code))


def _crowded(values: Array, code: float) -> bool:
    times = int((values == code).sum())
    near = values[(np.abs(values - code) <= 3 + abs(code) / 10) & (values != code)]
    most = int(np.unique(near, return_counts=True)[1].max(initial=1))
    return times >= 10 and times >= 10 * most
