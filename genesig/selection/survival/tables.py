"""Held-out survival: how well it is ordered and foretold, and the curves of two groups of risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset, Fits, Splits
from genesig.results.joined import joined
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.held_out import held_out
from genesig.selection.assess.intervals import Interval
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.survival.brier import explained, mean_over
from genesig.selection.assess.survival.calibration import risk_at, risk_groups, slope
from genesig.selection.assess.survival.concordance import auc_at, pooled, uno
from genesig.selection.assess.survival.curves import kaplan_meier
from genesig.selection.survival.foretold import Means, Tested, foretold, means

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Row = tuple[str, float, Interval]
TIMES = 50
"""Times up to the horizon over which the Brier score is integrated."""


def survival_tables(
    dataset: Dataset, splits: Splits, observed: Sequence[Fits], *, folds: Any
) -> dict[str, pd.DataFrame]:
    """Return the tables of held-out survival, of the chosen lists.

    ``survival`` has a row for each measure, with its 95 % interval:

    ``concordance``, ``uno``, ``auc``
        Over the pairs that one model has ordered, mean of the repeats: C of Harrell; C of Uno and
        the cumulative/dynamic AUC up to the horizon, weighed by the censoring of the training
        samples.
    ``brier``, ``brier_reference``, ``explained``
        The Brier score, integrated up to the horizon; that of Kaplan and Meier; 1 - their ratio.
    ``risk_expected``, ``risk_observed``
        Mean foretold risk by the horizon, and what Kaplan and Meier found.
    ``slope``
        Of the mean score in a Cox model: 1 where scores are calibrated.

    ``survival_curves`` are the Kaplan-Meier curves of the groups, cut at the median of training
    samples' scores, each sample in the group of its mean over the repeats; ``survival_risk`` holds
    groups of like foretold risk against what happened.
    """
    y, horizon = dataset.response(), float(dataset.design.horizon or np.nan)
    at = times_to(y, horizon)
    fits = joined(observed, splits).with_chosen()
    found = list(foretold(dataset, splits, fits, folds, at))
    tested = held_out(dataset, splits, fits)
    own = assess(tested, ASSESSED[dataset.design.kind].headline)[-1]
    groups = dataset.groups()
    group = None if groups is None else np.unique(groups, return_inverse=True)[1]
    c = 1 - own.error, (1 - own.high, 1 - own.low)
    return told(found, y, at, c, tested.ratio, group)


def times_to(y: Array, horizon: float) -> Array:
    """Return the times, (`TIMES`,), from the first event of y to the horizon."""
    return np.linspace(min(float(y["time"][y["event"]].min()), horizon), horizon, TIMES)


def told(
    found: Sequence[Tested],
    y: Array,
    at: Array,
    c: tuple[float, Interval],
    ratio: float = 0.0,
    group: Array | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the tables of `survival_tables` of what was foretold at times up to the horizon.

    y (n,) are the times and events of all samples, `c` is Harrell's C with its interval; for ratio
    and group see `concordance.pooled`.
    """
    import pandas as pd

    mean, horizon = means(found, y), float(at[-1])
    risk = np.where(mean.f > 0, "high", "low").astype(object)
    rows = [("concordance", *c), *_orders(found, horizon, ratio, group),
            *_brier(mean, at), *_calibrated(mean, horizon)]  # fmt: skip
    table = pd.DataFrame([(n, v, *limits) for n, v, limits in rows], columns=COLUMNS)
    return {
        "survival": table.assign(horizon=horizon, samples=len(mean.y)),
        "survival_curves": _curves(mean.y, risk),
        "survival_risk": _risks(mean, horizon),
    }


COLUMNS = ["measure", "value", "low", "high"]


def _orders(
    found: Sequence[Tested], horizon: float, ratio: float, group: Array | None
) -> Iterator[Row]:
    events = len({row for each in found for row in each.rows[each.y["event"]]})
    for name, measure in (("uno", uno), ("auc", auc_at)):
        each = [(one.rows, one.repeat,
                 measure(one.y["time"], one.y["event"], one.f, one.lost, horizon))
                for one in found]  # fmt: skip
        total = pooled(each, events, ratio, group)
        yield name, total.value, total.interval


def _brier(mean: Means, at: Array) -> Iterator[Row]:
    own, reference = (mean_over(each, at) for each in (mean.losses, mean.reference))
    yield "brier", own.value, own.interval
    yield "brier_reference", reference.value, reference.interval
    yield "explained", *explained(own, reference)


def _calibrated(mean: Means, horizon: float) -> Iterator[Row]:
    time, event = mean.y["time"], mean.y["event"]
    risk = risk_at(time, event, mean.S, horizon)
    yield "risk_expected", risk.expected, (np.nan, np.nan)
    yield "risk_observed", risk.observed, risk.interval
    yield "slope", *slope(time, event, mean.f)


def _curves(y: Array, group: Array) -> pd.DataFrame:
    """Return survival_curves.tsv: each group's curve from 0 on, with its 95 % limits."""
    import pandas as pd

    tables = []
    for name in ("high", "low"):
        inside = group == name
        if not inside.any():
            continue
        curve = kaplan_meier(y["time"][inside], y["event"][inside])
        low, high = curve.interval()
        start = {"time": 0.0, "at_risk": inside.sum(), "events": 0.0, "survival": 1.0}
        rest = {"time": curve.times, "at_risk": curve.at_risk, "events": curve.events,
                "survival": curve.value, "low": low, "high": high}  # fmt: skip
        tables.append(pd.concat([pd.DataFrame([start]), pd.DataFrame(rest)]).assign(group=name))
    table = pd.concat(tables, ignore_index=True)
    counts = dict.fromkeys(("at_risk", "events"), "Int64")
    return table[["group", *(c for c in table.columns if c != "group")]].astype(counts)


def _risks(mean: Means, horizon: float) -> pd.DataFrame:
    """Return survival_risk.tsv: groups of like foretold risk by the horizon, lowest first."""
    import pandas as pd

    groups = risk_groups(mean.y["time"], mean.y["event"], mean.S, horizon)
    rows = [(one.samples, one.expected, one.observed, *one.interval) for one in groups]
    return pd.DataFrame(rows, columns=["samples", "expected", "observed", "low", "high"])
