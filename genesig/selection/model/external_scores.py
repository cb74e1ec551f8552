"""How well a locked model does on samples that had no part in any choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess import several
from genesig.selection.assess.calibration import calibration_line
from genesig.selection.assess.intervals import (
    NOTHING,
    Interval,
    delong,
    mean_of_shares,
    mean_t,
    positive_mean_t,
    wilson,
)
from genesig.selection.assess.kinds.by_class import held_out_area
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.assess.scores import (
    auc,
    balanced_error,
    misclassification,
    relative_squared_error,
    squared_error,
    wrong,
)

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[str, float, Interval, int]


def scores_table(rows: Iterable[Row]) -> pd.DataFrame:
    """Return every measure with its 95 % interval; empty where the samples do not define it.

    Samples are taken as independent and the model as given: the intervals are for this model in
    samples like these, unlike those of the double cross-validation, which are for the procedure.

    ``auc``
        Hull of DeLong's interval and the score interval (`delong`); of several classes the mean
        over them, see `held_out_area`.
    ``balanced_error``
        Mean of the classes' error shares, from their Wilson intervals (`mean_of_shares`).
    ``misclassification``, ``sensitivity``, ``specificity``, ``sensitivity of`` a class
        Wilson. Sensitivity is the share of positive samples called positive; a score of exactly
        the cut is an error for both classes.
    ``r2``
        1 - Σ (y - f)² / Σ (y - ȳ)², ȳ the mean of these samples; t by the jackknife,
        which knows that both sums are of the same samples.
    ``squared_error``, ``mean_difference``
        Means of (y - f)² and of f - y, with t, the first on the scale of its logarithm.
    ``calibration_intercept``, ``calibration_slope``
        See `calibration_line`; of several classes `several.calibration_slope`.
    ``probability_of_called``
        Of several classes the mean probability of the class that each sample is called.

    Of survival see `survival.tables.survival_tables`.
    """
    import pandas as pd

    table = [(name, value, *limits, n) for name, value, limits, n in rows]
    return pd.DataFrame(table, columns=["measure", "value", "low", "high", "samples"])


def two_classes(y: Array, f: Array, cut: float) -> Iterator[Row]:
    """Yield the measures of y = ±1 (n,) and scores, above the cut positive."""
    yield from _of_classes(y, f - cut)
    yield from _of_both(y, f)


def numbers(y: Array, f: Array) -> Iterator[Row]:
    """Yield the measures of numbers y (n,) and what was predicted."""
    yield from _of_numbers(y, f)
    yield from _of_both(y, f)


def several_classes(
    y: Array, f: Array, classes: Sequence[str], p: Array | None = None,
    mix: Sequence[float] | None = None,
) -> Iterator[Row]:  # fmt: skip
    """Yield the measures of numbers of classes y (n,) and a score for each, (n, T).

    With probabilities p (n, T) for classes of the shares `mix` how these are calibrated, too.
    """
    said, T = several.predicted(f), len(classes)
    area, *limits = held_out_area(one_test_set(y, f), several.sides(y, f))
    yield "auc", area, (limits[0], limits[1]), len(y)
    shares = several.sensitivities(y, said, T)
    sizes = [int((y == c).sum()) for c in range(T)]
    both = mean_of_shares([1 - each[0] for each in shares], sizes) if min(sizes) else NOTHING
    yield "balanced_error", several.balanced_error(y, f, T), _inside(both), len(y)
    error = float(np.mean(several.wrong(y, f)))
    yield "misclassification", error, wilson(error, len(y)), len(y)
    for name, (share, low, high), size in zip(classes, shares, sizes, strict=True):
        yield f"sensitivity of {name}", share, (low, high), size
    if p is not None and mix is not None:
        slope, limits_of_slope = several.calibration_slope(y, p, np.array(mix))
        yield "calibration_slope", slope, limits_of_slope, len(y)
        own = np.take_along_axis(p, f.argmax(axis=1)[:, None], axis=1)
        yield "probability_of_called", float(own.mean()), NOTHING, len(y)


def _of_classes(y: Array, f: Array) -> Iterator[Row]:
    area, *limits = delong(y, f)
    yield "auc", auc(y, f), (limits[0], limits[1]) if np.isfinite(area) else NOTHING, len(y)
    shares = [misclassification(y[y == c], f[y == c]) for c in (-1.0, 1.0)]
    sizes = [int((y == c).sum()) for c in (-1.0, 1.0)]
    both = mean_of_shares(shares, sizes) if min(sizes) else NOTHING
    yield "balanced_error", balanced_error(y, f), _inside(both), len(y)
    error = float(np.mean(wrong(y, f)))
    yield "misclassification", error, wilson(error, len(y)), len(y)
    for name, share, size in zip(("specificity", "sensitivity"), shares, sizes, strict=True):
        yield name, 1 - share, wilson(1 - share, size), size


def _of_numbers(y: Array, f: Array) -> Iterator[Row]:
    loss, own, n = np.square(y - f), np.square(y - y.mean()), len(y)
    rest = own.sum() - n / max(n - 1, 1) * own  # of the others around their own mean
    low, high = NOTHING
    if (rest > 0).all():
        left = (loss.sum() - loss) / rest
        low, high = mean_t(relative_squared_error(y, f) + (n - 1) * (left.mean() - left))
    yield "r2", 1 - relative_squared_error(y, f), (1 - high, float(np.minimum(1.0, 1 - low))), n


def _of_both(y: Array, f: Array) -> Iterator[Row]:
    yield "squared_error", squared_error(y, f), positive_mean_t(np.square(y - f)), len(y)
    yield "mean_difference", float(np.mean(f - y)), mean_t(f - y), len(y)
    line = calibration_line(y, f)
    yield "calibration_intercept", line.intercept, line.intercept_interval, len(y)
    yield "calibration_slope", line.slope, line.slope_interval, len(y)


def one_test_set(y: Array, f: Array) -> HeldOut:
    """Return the record of samples (n,) that one model scored at once."""
    at_once = np.zeros(len(y), dtype=np.int64)
    return HeldOut(y, np.arange(len(y)), at_once, at_once, at_once, f, 0.0)


def _inside(limits: Interval) -> Interval:
    low, high = np.clip(limits, 0.0, 1.0)
    return float(low), float(high)
