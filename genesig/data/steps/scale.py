"""Rules that tell the scale of a matrix from its values: logarithms, counts, intensities."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from genesig.arrays import Array

# Logarithms to base 2 of 16-bit scanners stay below 16; these bounds leave room.
LOGGED_P99 = 30.0
LOGGED_MAX = 50.0
# Share of the genes, those with the largest values, that do not decide about the scale.
LARGEST_GENE_SHARE = 0.05
# Logarithms to base 2 of masses' intensities go up to 45, and lie close together: the 99th
# percentile below twice the median. Intensities are spread over powers of ten.
MAX_LOG_INTENSITY = 45.0
MAX_P99_OVER_MEDIAN = 2.0
# Counts, or shares of counts, if at least this share of the values that are not 0 is whole.
MIN_WHOLE_SHARE = 0.2
# Slope of the log spread of genes on their log mean: amounts have a slope of 1, logarithms of
# amounts one below 0.5.
MIN_RAW_SLOPE = 0.7
MAX_RAW_SLOPE = 1.5
MAX_LOGGED_SLOPE = 0.4
# The slope is that of genes whose mean is at most so many times below the largest.
SIZE_RANGE = 16.0
# Standard deviation of their log2 means that a slope needs.
MIN_SD_OF_SIZES = 0.5
# Number of genes from which on the rules of this file judge a matrix.
MIN_GENES = 10
MIN_STANDARDISED_SAMPLES = 10
# Number of groups of genes by their size.
GROUPS_BY_SIZE = 20
# Spread of the logarithms of a noisy group, relative to those of the larger half of the genes.
NOISE_RATIO = 2.0
# Intensities with at least this share of negative values had a background subtracted.
MIN_NEGATIVE = 0.01
# Relative rounding error of a power of ten.
POWER_ROUNDING = 1e-9
# Limits of the step log2 unless the config sets others.
DEFAULT_FLOOR = 16.0
DEFAULT_CEILING = 65536.0
# Largest shares of values below the floor and above the ceiling at which these limits stay.
MAX_SHARE_BELOW_FLOOR = 0.02
MAX_SHARE_ABOVE_CEILING = 0.001
# Whole numbers from below the second to above the first are counts: no scanner of 16 bits gives
# them.
LARGEST_OF_SCANNER = 65535
SMALLEST_OF_COUNTS = 100
# Zeros are judged if their share of the values lies in this range.
MIN_ZERO_SHARE = 0.02
MAX_ZERO_SHARE = 0.7
# They are measured values if there are values near 0, up to the first, and so many for each zero.
MAX_NEAR_ZERO = 10.0
MIN_NEAR_ZERO_PER_ZERO = 0.1
# A matrix is standardised if this share of its genes is.
MIN_STANDARDISED_SHARE = 0.9
# Largest distance of a standardised gene's mean (or median) from 0, in standard deviations, and of
# its standard deviation from 1; the same if nearly all genes were clipped.
STANDARDISED_TOLERANCE = 0.02
CLIPPED_TOLERANCE = 0.2
# Share of zeros from which on a median of 0 does not show that a gene was centred.
MAX_ZERO_SHARE_IF_CENTRED = 0.25
# Genes that share the largest or the smallest value of a matrix if it was clipped there.
MIN_CLIPPED_GENES = 3
# Numbers that programs and people write for a missing value if every cell must be a number.
MISSING_CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0)
# Code of the warning that values were probably never logged.
NEVER_LOGGED = "never_logged"
# Steps that take logarithms, or after which the scale is of no account.
LOG_STEPS = {"log2", "log_cpm", "size_factors", "vst", "median_polish", "rank_samples"}
# Steps after which a difference is one of log2.
LOG2_STEPS = {"log2", "log_cpm", "size_factors", "vst", "rma_background"}
# Steps that take counts as they are, and those of them that learn from the training samples.
COUNT_STEPS = {"log_cpm", "size_factors", "vst"}
LEARNED_DEPTH_STEPS = {"size_factors", "vst"}


class Sizes(NamedTuple):
    """How large values are; missing ones do not count."""

    smallest: float
    p99: float  # 99th percentile
    largest: float


def sizes(X: Array) -> Sizes:
    """Return the smallest value, the 99th percentile and the largest value of an array.

    Missing values do not count; at least one value must be finite.
    """
    X = X[np.isfinite(X)]
    return Sizes(float(X.min()), float(np.percentile(X, 99)), float(X.max()))


def looks_raw(p99: float, largest: float) -> bool:
    """Tell whether values of this size were probably never logged."""
    return p99 > LOGGED_P99 or largest > LOGGED_MAX


def never_logged(X: Array) -> bool:
    """Tell whether the values of a matrix (n_samples, n_genes) were probably never logged.

    Large values were not logged, unless they lie as close together as logarithms do (mass
    spectrometry, cycles of PCR) or are percentages. Small values were not if the spread of genes
    grows with their size, as for concentrations and rates. A few large values among ratios, of
    which some are negative, say nothing, nor do those of a few rows, such as ages.
    """
    X = without_largest_genes(X)
    _, p99, largest = sizes(X)
    if p99 <= LOGGED_P99 and np.mean(X[np.isfinite(X)] < 0) > MIN_NEGATIVE:
        return False
    median = float(np.nanmedian(X))
    if not looks_raw(p99, largest):
        return spread_grows_with_size(X)
    spans_narrow_range = largest <= MAX_LOG_INTENSITY and p99 < MAX_P99_OVER_MEDIAN * median
    return not (spans_narrow_range or _are_percentages(X, largest))


def without_largest_genes(X: Array) -> Array:
    """Return X (n_samples, n_genes) without the twentieth of the genes with the largest values.

    A row of ages or weights among the genes then does not decide about the scale: of 10 genes one
    is left out, of fewer none.
    """
    if X.shape[1] < MIN_GENES:
        return X
    n_largest = max(1, int(LARGEST_GENE_SHARE * X.shape[1]))
    by_largest_value = np.argsort(np.fmax.reduce(X, axis=0), kind="stable")
    return X[:, by_largest_value[:-n_largest]]


def _are_percentages(X: Array, largest: float) -> bool:
    """Tell whether values are in 0 to 100, most of them at least 1, of like spread in all genes."""
    if np.nanmin(X) < 0 or largest > 100 or float(np.nanmedian(X)) < 1:
        return False
    slope = _slope_of_spread(X)
    return slope is not None and slope < MAX_LOGGED_SLOPE


def spread_grows_with_size(X: Array) -> bool:
    """Tell whether the standard deviation of genes is in proportion to their mean.

    This is true of amounts, and false for their logarithms, log(1 + x) included.
    """
    if np.nanmin(X) < 0:
        return False
    slope = _slope_of_spread(X)
    return slope is not None and MIN_RAW_SLOPE <= slope <= MAX_RAW_SLOPE


def _slope_of_spread(X: Array) -> float | None:
    """Return the slope of log standard deviation on log mean over genes of large mean.

    None if these are fewer than 10, or of nearly one size.
    """
    measured = np.isfinite(X).any(axis=0)
    mean = np.nanmean(X[:, measured], axis=0)
    spread = np.nanstd(X[:, measured], axis=0)
    varies = (mean > 0) & (spread > 0)
    if not varies.any():
        return None
    large = varies & (mean > np.percentile(mean[varies], 99) / SIZE_RANGE)
    log_mean = np.log2(mean[large])
    log_spread = np.log2(spread[large])
    if len(log_mean) < MIN_GENES or log_mean.std() < MIN_SD_OF_SIZES:
        return None
    return float(np.cov(log_mean, log_spread)[0, 1] / log_mean.var(ddof=1))


def noise_level(X: Array) -> float:
    """Return the size below which genes vary mostly by noise: the floor that logarithms need.

    Genes are sorted by size into groups. A group of the smaller half of the genes is noisy if its
    logarithms vary twice as much as those of the larger half. The level is the median size in the
    noisy group whose genes are largest, and at least the first percentile of the values above 0. It
    is this percentile without such a group, or with too few complete genes to group. For
    differences of intensities, some of them negative, it is the median size of the negative values.
    Rounded down to 1, 2 or 5 times a power of ten. Some value of X must be above 0.
    """
    values = X[np.isfinite(X)]
    if np.mean(values < 0) > MIN_NEGATIVE:
        return _round_down(float(np.median(-values[values < 0])))
    level = float(np.percentile(values[values > 0], 1))
    logs = np.log2(np.maximum(X[:, np.isfinite(X).all(axis=0)], level))
    if logs.shape[1] < MIN_GENES * GROUPS_BY_SIZE:
        return _round_down(level)
    size = np.median(logs, axis=0)
    spread = logs.std(axis=0)
    groups = np.array_split(np.argsort(size, kind="stable"), GROUPS_BY_SIZE)
    spreads = np.array([np.median(spread[genes]) for genes in groups])
    is_noisy = spreads > NOISE_RATIO * np.median(spreads[GROUPS_BY_SIZE // 2 :])
    if is_noisy[: GROUPS_BY_SIZE // 2].any():
        highest_noisy = int(np.flatnonzero(is_noisy[: GROUPS_BY_SIZE // 2])[-1])
        level = max(level, float(2.0 ** np.median(size[groups[highest_noisy]])))
    return _round_down(level)


def log2_step(X: Array) -> dict[str, Any]:
    """Return the step log2 with the floor and the ceiling that X (n_samples, n_genes) needs.

    A default stays if it cuts hardly any value (and no 0), or is about as large as the noise.
    """
    step: dict[str, Any] = {"step": "log2"}
    measured = X[np.isfinite(X) & (X != 0)]
    floor = noise_level(X)
    floor_cuts_values = np.mean(measured < DEFAULT_FLOOR) > MAX_SHARE_BELOW_FLOOR or (X == 0).any()
    if floor_cuts_values and not floor / 2 <= DEFAULT_FLOOR <= 2 * floor:
        step["floor"] = int(floor) if floor.is_integer() else floor
    if np.mean(measured > DEFAULT_CEILING) > MAX_SHARE_ABOVE_CEILING:
        # Between 10 and 100 times the largest value: new samples may have larger ones.
        step["ceiling"] = 10 ** int(np.ceil(np.log10(measured.max()) + 1))
    return step


def _round_down(value: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value) + POWER_ROUNDING)
    leading = value / power * (1 + POWER_ROUNDING)
    return float(f"{power * (5 if leading >= 5 else 2 if leading >= 2 else 1):.1g}")


def median_and_p99(X: Array) -> tuple[float, float]:
    """Return the median and the 99th percentile of the values that are not missing.

    The percentile is one of the values and, even of few values, not the largest. 0, 0 without any.
    """
    X = X[np.isfinite(X)]
    if not X.size:
        return 0.0, 0.0
    return float(np.median(X)), float(np.percentile(X, 99, method="lower"))


def spread_as_raw(median: float, p99: float) -> bool:
    """Tell whether values were probably never logged, up to any shift and factor.

    They are large and lie far apart. Unlike in `looks_raw`, a single outlying value has no effect.
    """
    return p99 > LOGGED_P99 and p99 >= MAX_P99_OVER_MEDIAN * median


def looks_counted(X: Array) -> bool:
    """Tell whether values are counts of reads, or counts that were shared among genes.

    No count is negative, and a fifth of those that are not 0 are whole. Some are 0, or all are
    whole and range from near 0 to more than a scanner of 16 bits gives. Many zeros of counts come
    with small counts, unlike the zeros of label-free proteomics. Hardly any rate (TPM) is whole.
    """
    X = X[np.isfinite(X)]
    positive = X[X > 0]
    if not len(positive) or X.min() < 0 or zeros_stand_apart(X):
        return False
    whole_share = float(np.mean(positive == np.round(positive)))
    if len(positive) < len(X):
        return whole_share >= MIN_WHOLE_SHARE
    return whole_share == 1 and X.max() > LARGEST_OF_SCANNER and X.min() < SMALLEST_OF_COUNTS


def zeros_stand_apart(X: Array) -> bool:
    """Tell whether zeros stand for missing values: there are many, and hardly any value near them.

    Values up to 10 are near 0, and counts and rates have enough of these. Logarithms are near 0 if
    they are below half of the first percentile of the values above 0.
    """
    X = X[np.isfinite(X)]
    positive = X[X > 0]
    n_zeros = len(X) - len(positive)
    if (
        not MIN_ZERO_SHARE <= n_zeros / max(1, len(X)) <= MAX_ZERO_SHARE
        or not len(positive)
        or X.min() < 0
    ):
        return False
    percentile_1, percentile_99 = np.percentile(positive, [1, 99])
    is_logged = (
        percentile_99 <= MAX_LOG_INTENSITY
        and percentile_99 < 2 * MAX_P99_OVER_MEDIAN * percentile_1  # which is below the median
    )
    near_zero = positive < percentile_1 / 2 if is_logged else positive <= MAX_NEAR_ZERO
    return bool(np.sum(near_zero) < MIN_NEAR_ZERO_PER_ZERO * n_zeros)


def genes_standardised(X: Array) -> Literal["", "centred", "z-scored"]:
    """Tell whether genes of X (n_samples, n_genes) have mean or median 0, and spread 1.

    Genes with values that were clipped count only if nearly all have some, and then roughly.
    """
    measured = np.isfinite(X).any(axis=0)
    is_clipped, is_symmetric = _clipped_genes(X)
    are_all_clipped = is_symmetric and (measured & ~is_clipped).sum() < MIN_GENES
    judged = measured if are_all_clipped else measured & ~is_clipped
    tolerance = CLIPPED_TOLERANCE if are_all_clipped else STANDARDISED_TOLERANCE
    if len(X) < MIN_STANDARDISED_SAMPLES or judged.sum() < MIN_GENES:
        return ""
    mean = np.nanmean(X[:, judged], axis=0)
    spread = np.nanstd(X[:, judged], axis=0)
    varies = spread > 0
    if varies.sum() < MIN_GENES:
        return ""
    mean = mean[varies]
    spread = spread[varies]
    median = np.nanmedian(X[:, judged], axis=0)[varies]
    # A gene that is off in most samples, or has few numbers of copies, has the median 0, too.
    has_few_zeros = (X[:, judged] == 0).mean(axis=0)[varies] < MAX_ZERO_SHARE_IF_CENTRED
    has_mean_0 = np.abs(mean) < tolerance * spread
    has_median_0 = has_few_zeros & (np.abs(median) < tolerance * spread)
    if max(np.mean(has_mean_0), np.mean(has_median_0)) < MIN_STANDARDISED_SHARE:
        return ""
    # Clipping makes the spread smaller, of all genes alike.
    unit = np.median(spread) if are_all_clipped else 1.0
    # 1/n allows either divisor of the variance.
    has_unit_spread = np.abs(spread / unit - 1) < tolerance + 1 / len(X)
    if np.mean(has_unit_spread) >= MIN_STANDARDISED_SHARE:
        return "z-scored"
    return "" if are_all_clipped else "centred"


def _clipped_genes(X: Array) -> tuple[Array, bool]:
    """Return which genes (d,) have cells at a limit of X, and whether the limits are -c and c.

    The smallest or largest value is a limit if it is not 0 and stands in three genes or more.
    """
    measured = X[np.isfinite(X)]
    smallest = measured.min(initial=0)
    largest = measured.max(initial=0)
    at_limits = [(limit == X).any(axis=0) for limit in (smallest, largest) if limit]
    at_limits = [genes for genes in at_limits if genes.sum() >= MIN_CLIPPED_GENES]
    is_symmetric = len(at_limits) == 2 and bool(np.isclose(-smallest, largest))
    return np.any([np.zeros(X.shape[1], bool), *at_limits], axis=0), is_symmetric


def missing_codes(X: Array) -> tuple[float, ...]:
    """Return the numbers that stand for a missing value in X: -9, -99, -999, ...

    A number of `MISSING_CODES` is a code if X has no negative values but these. Otherwise it must
    occur at least ten times, and ten times as often as any other negative value at a distance of at
    most 3 + |code|/10: among differences of intensities -999 is a value like its neighbours.
    """
    negative = X[X < 0]
    codes = [code for code in MISSING_CODES if (negative == code).any()]
    if np.isin(negative, MISSING_CODES).all():
        return tuple(codes)
    return tuple(code for code in codes if _is_crowded(negative, code))


def _is_crowded(values: Array, code: float) -> bool:
    """Tell whether a code occurs ten times, and ten times as often as any number near it."""
    n_code = int((values == code).sum())
    neighbours = values[(np.abs(values - code) <= 3 + abs(code) / 10) & (values != code)]
    n_most_frequent = int(np.unique(neighbours, return_counts=True)[1].max(initial=1))
    return n_code >= 10 and n_code >= 10 * n_most_frequent
