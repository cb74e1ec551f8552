"""How well a locked model does on samples that had no part in any choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.selection.assess import several
from genesig.selection.assess.calibration import calibration_line
from genesig.selection.assess.clusters import (
    area_interval,
    explained_interval,
    group_numbers,
    mean_interval,
    mean_of_shares_interval,
    positive_mean_interval,
    share_interval,
)
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


def scores_table(
    rows: Iterable[Row], group_count: Callable[[str], int] | None = None
) -> pd.DataFrame:
    """Return every measure with its 95 % interval; empty where the samples do not define it.

    Groups of samples are taken as independent, or samples if each is a group of its own; and the
    model as given: the intervals are for this model in samples like these, unlike those of the
    double cross-validation, which are for the procedure. `group_count` gives the number of groups
    of a measure, for the column ``groups``. What follows is for samples; `assess.clusters` has the
    same for groups.

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

    records = [(name, value, *limits, n) for name, value, limits, n in rows]
    table = pd.DataFrame(records, columns=["measure", "value", "low", "high", "samples"])
    if group_count is None:
        return table
    return table.assign(groups=[group_count(name) for name in table["measure"]])


def two_classes(
    y: Array, f: Array, cut: float, group: Sequence[str] | Array | None = None
) -> Iterator[Row]:
    """Yield the measures of y = ±1 (n,) and scores, above the cut positive.

    `group` (n,) names the group of each sample, such as its patient.
    """
    number = group_numbers(group)
    yield from _of_classes(y, f - cut, number)
    yield from _of_both(y, f, number)


def numbers(y: Array, f: Array, group: Sequence[str] | Array | None = None) -> Iterator[Row]:
    """Yield the measures of numbers y (n,) and predictions f (n,), see `two_classes` for groups."""
    number = group_numbers(group)
    yield from _of_numbers(y, f, number)
    yield from _of_both(y, f, number)


def several_classes(
    y: Array,
    f: Array,
    classes: Sequence[str],
    p: Array | None = None,
    mix: Sequence[float] | None = None,
    group: Sequence[str] | Array | None = None,
) -> Iterator[Row]:
    """Yield the measures of numbers of classes y (n,) and a score for each, (n, T).

    With probabilities p (n, T) for classes of the shares `mix` their calibration follows. See
    `two_classes` for groups.
    """
    number = group_numbers(group)
    area, *limits = held_out_area(one_test_set(y, f), several.sides(y, f))
    if number is not None:
        limits = [*area_interval(y, number, several.sides(y, f))]
    yield "auc", area, (limits[0], limits[1]), len(y)
    losses = several.wrong(y, f).astype(float)
    hits = {name: 1 - losses[y == c] for c, name in enumerate(classes)}
    sizes = [len(each) for each in hits.values()]
    shares = [float(np.mean(each)) if len(each) else np.nan for each in hits.values()]
    errors = [1 - share for share in shares]
    balanced = several.balanced_error(y, f, len(classes))
    yield "balanced_error", balanced, _balanced_interval(y, losses, errors, sizes, number), len(y)
    error = float(np.mean(losses))
    yield "misclassification", error, _share_interval(error, losses, number), len(y)
    for c, (name, share) in enumerate(zip(classes, shares, strict=True)):
        members = _members(number, y == c)
        yield f"sensitivity of {name}", share, _share_interval(share, hits[name], members), sizes[c]
    if p is not None and mix is not None:
        slope, limits_of_slope = several.calibration_slope(y, p, np.array(mix), number)
        yield "calibration_slope", slope, limits_of_slope, len(y)
        called = np.take_along_axis(p, f.argmax(axis=1)[:, None], axis=1)
        yield "probability_of_called", float(called.mean()), NOTHING, len(y)


def _of_classes(y: Array, f: Array, group: Array | None) -> Iterator[Row]:
    area, *limits = delong(y, f)
    if group is not None:
        limits = [*area_interval(y, group, [(y > 0, f)])]
    yield "auc", auc(y, f), (limits[0], limits[1]) if np.isfinite(area) else NOTHING, len(y)
    losses = wrong(y, f).astype(float)
    sizes = [int((y == c).sum()) for c in (-1.0, 1.0)]
    errors = [misclassification(y[y == c], f[y == c]) for c in (-1.0, 1.0)]
    interval = _balanced_interval(y, losses, errors, sizes, group)
    yield "balanced_error", balanced_error(y, f), interval, len(y)
    error = float(np.mean(losses))
    yield "misclassification", error, _share_interval(error, losses, group), len(y)
    for name, c, wrongly in zip(("specificity", "sensitivity"), (-1.0, 1.0), errors, strict=True):
        hits, members = 1 - losses[y == c], _members(group, y == c)
        yield name, 1 - wrongly, _share_interval(1 - wrongly, hits, members), len(hits)


def _share_interval(share: float, hits: Array, group: Array | None) -> Interval:
    """Return the interval of a share, the mean of hits (n,) of 0 and 1."""
    return wilson(share, len(hits)) if group is None else share_interval(hits, group)


def _members(group: Array | None, inside: Array) -> Array | None:
    return None if group is None else group[inside]


def _balanced_interval(
    y: Array, losses: Array, errors: Sequence[float], sizes: Sequence[int], group: Array | None
) -> Interval:
    """Return the interval of the mean of the classes' error shares; none without every class."""
    if not min(sizes):
        return NOTHING
    if group is not None:
        return mean_of_shares_interval(losses, y, group)
    return _inside(mean_of_shares(errors, sizes))


def _of_numbers(y: Array, f: Array, group: Array | None) -> Iterator[Row]:
    error, n = relative_squared_error(y, f), len(y)
    if group is not None:
        yield "r2", 1 - error, explained_interval(y, f, group), n
        return
    loss, deviation = np.square(y - f), np.square(y - y.mean())
    rest = deviation.sum() - n / max(n - 1, 1) * deviation  # of the others around their own mean
    low, high = NOTHING
    if (rest > 0).all():
        left = (loss.sum() - loss) / rest
        low, high = mean_t(error + (n - 1) * (left.mean() - left))
    yield "r2", 1 - error, (1 - high, float(np.minimum(1.0, 1 - low))), n


def _of_both(y: Array, f: Array, group: Array | None) -> Iterator[Row]:
    losses = np.square(y - f)
    if group is None:
        intervals = positive_mean_t(losses), mean_t(f - y)
    else:
        intervals = positive_mean_interval(losses, group), mean_interval(f - y, group)
    yield "squared_error", squared_error(y, f), intervals[0], len(y)
    yield "mean_difference", float(np.mean(f - y)), intervals[1], len(y)
    line = calibration_line(y, f, group)
    yield "calibration_intercept", line.intercept, line.intercept_interval, len(y)
    yield "calibration_slope", line.slope, line.slope_interval, len(y)


def one_test_set(y: Array, f: Array) -> HeldOut:
    """Return the record of samples (n,) that one model scored at once."""
    at_once = np.zeros(len(y), dtype=np.int64)
    return HeldOut(y, np.arange(len(y)), at_once, at_once, at_once, f, 0.0)


def _inside(limits: Interval) -> Interval:
    low, high = np.clip(limits, 0.0, 1.0)
    return float(low), float(high)
