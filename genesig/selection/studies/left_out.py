"""What a signature trained elsewhere does in each study, and what it may do in the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.response.known import ByKind
from genesig.results import Dataset
from genesig.selection.assess.clusters import area_interval, group_numbers, order_interval
from genesig.selection.assess.intervals import LEVEL, Z, delong, hull, newcombe
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.several import sides
from genesig.selection.assess.survival import harrell
from genesig.selection.studies.meta_analysis import next_study, study_names, together

if TYPE_CHECKING:
    import pandas as pd

STUDY = "study"
MEAN = "mean"
NEXT = "next study"
"""What a row is about."""


class Reached(NamedTuple):
    """A measure in one study, with its 95 % interval; ``pairs`` is what it is a share of."""

    value: float
    low: float
    high: float
    pairs: float


def studies_table(dataset: Dataset, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return studies.tsv: the measure of each study by models that had seen none of its samples.

    Each study has a row, then comes the random-effects ``mean`` over them, and the interval in
    which that of the ``next study`` lies (see `next_study`), on the scale of `MEASURED`. Columns:
    row, study, samples, measure, value, low, high; error, the balanced error where there are
    classes; genes of it, how many of them another study ``lost``; ``apart``, 1 where it lies beyond
    what the other studies let expect of one of its size; i2 and tau of the row ``mean``. The rows
    of several repeats are averaged. The next study has no value.

    Parameters
    ----------
    dataset : Dataset
        Of several studies.
    predictions : DataFrame
        predictions.tsv.
    """
    import pandas as pd

    names = study_names(dataset)
    name, measure, there, back = MEASURED[dataset.design.kind]
    flow = {one["name"]: one for one in dataset.provenance.get("studies", ())}
    rows = []
    points = []
    for study in names:
        y, f, error, group = _of_study(dataset, predictions, study)
        found = measure(y, f, group)
        points.append(there(found))
        rows.append(
            {
                "row": STUDY,
                "study": study,
                "samples": len(y),
                "measure": name,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "error": error,
                **{key: flow.get(study, {}).get(key) for key in ("measured", "genes", "lost")},
            }
        )
    value, variance = np.array(points).T[:, :, None]
    for row, away in zip(rows, _apart(value[:, 0], variance[:, 0]), strict=True):
        row["apart"] = int(away)
    all_ = together(value, variance)
    known = {"measure": name, "samples": len(dataset.samples)}
    mean, low, high = (back(float(x[0])) for x in (all_.mean, all_.low, all_.high))
    rows.append(
        {
            "row": MEAN,
            **known,
            "value": mean,
            "low": low,
            "high": high,
            "i2": float(all_.i2[0]),
            "tau": float(np.sqrt(all_.tau2[0])),
        }
    )
    low, high = map(back, next_study(value[:, 0], variance[:, 0]))
    rows.append({"row": NEXT, "measure": name, "low": low, "high": high})
    return pd.DataFrame(rows).astype({key: "Int64" for key in WHOLE})


def _apart(value: Array, variance: Array) -> Array:
    """Tell which studies lie outside of where the others say that a further one lies, (K,).

    Of K that do not differ, one is told apart by chance in 5 % (Bonferroni). The spread of the
    others is taken as known: where all differ, it is more (3 to 8 studies, variances of .1 to .3 on
    the logit scale: 9 to 11 % at tau .3, 28 to 48 % at tau 1).
    """
    from scipy.special import ndtri

    out = np.zeros(len(value), dtype=bool)
    beyond = -ndtri((1 - LEVEL) / 2 / len(value))
    for k in range(len(value)):
        rest = np.arange(len(value)) != k
        others = together(value[rest, None], variance[rest, None])
        spread = others.tau2[0] + others.error[0] ** 2 + variance[k]
        out[k] = rest.sum() > 1 and np.abs(value[k] - others.mean[0]) > beyond * np.sqrt(spread)
    return out


WHOLE = ("apart", "samples", "measured", "genes", "lost")


def _of_study(
    dataset: Dataset, predictions: pd.DataFrame, study: str
) -> tuple[Array, Array, float, Array | None]:
    """Return y, mean score of each held-out sample of a study, the balanced error there, groups.

    Groups are numbers (n,), or None if every sample is a group of its own.
    """
    kind = ASSESSED[dataset.design.kind]
    place = dataset.batches()
    own = {
        name
        for name, of in zip(dataset.samples, [] if place is None else place, strict=True)
        if of == study
    }
    chosen = predictions[predictions["mu"].isna() & predictions["sample"].astype(str).isin(own)]
    rows = dataset.rows([str(name) for name in chosen["sample"]])
    scores = kind.scores(chosen, dataset.design.classes)
    at, number = np.unique(rows, return_inverse=True)
    times = np.bincount(number)
    columns = scores if scores.ndim > 1 else scores[:, None]
    mean = np.stack([np.bincount(number, weights=c) / times for c in columns.T], axis=1)
    f = mean if scores.ndim > 1 else mean[:, 0]
    y = dataset.response()[at]
    errors = dict(zip(kind.errors, kind.of_split(y, f), strict=True))
    groups = dataset.groups()
    group = None if groups is None else group_numbers(groups[at])
    return y, f, errors.get("balanced_error", np.nan), group


def _area(y: Array, f: Array, group: Array | None) -> Reached:
    value, *limits = delong(y, f)
    if group is not None:
        limits = [*area_interval(y, group, [(y > 0, f)])]
    return Reached(value, limits[0], limits[1], float((y > 0).sum() * (y < 0).sum()))


def _areas(y: Array, f: Array, group: Array | None) -> Reached:
    """Return the mean AUC of each class against the others; the interval is of their hull.

    If samples come in groups, it is that over groups.
    """
    each = [delong(np.where(y == k, 1.0, -1.0), column) for k, column in enumerate(f.T)]
    value = float(np.mean([one[0] for one in each]))
    sizes = [int((y == k).sum()) for k in range(f.shape[1])]
    pairs = float(min(sizes) * (len(y) - min(sizes)))
    if group is not None:
        return Reached(value, *area_interval(y, group, sides(y, f)), pairs)
    scored = newcombe(value, min(sizes), len(y) - min(sizes))
    return Reached(value, *hull(scored), pairs)


def _concordance(y: Array, f: Array, group: Array | None) -> Reached:
    found = harrell(y["time"], y["event"], f)
    limits = found.interval
    if group is not None:
        events = len(np.unique(group[y["event"]]))
        limits = order_interval(found.value, found.influence, group, events)
    return Reached(found.value, *limits, float(found.pairs.sum() / 2))


def _correlation(y: Array, f: Array, group: Array | None) -> Reached:
    """Return the correlation over the samples, or over the means of the groups."""
    if group is not None:
        size = np.bincount(group)
        y, f = (np.bincount(group, weights=values) / size for values in (y, f))
    n = len(y)
    if n < 4 or np.ptp(f) == 0 or np.ptp(y) == 0:
        return Reached(np.nan, np.nan, np.nan, n)
    z = np.arctanh(np.clip(np.corrcoef(y, f)[0, 1], -1 + 1e-12, 1 - 1e-12))
    half = Z / np.sqrt(n - 3)
    value, low, high = (float(np.tanh(at)) for at in (z, z - half, z + half))
    return Reached(value, low, high, n)


def _logit(found: Reached) -> tuple[float, float]:
    """Return log(A/(1-A)) and its variance, from that half of the interval that lies towards 1/2.

    The other end may be at 0 or 1; a share that is counts as one of half a pair more or less.
    """
    share = (found.value * found.pairs + 0.5) / (found.pairs + 1)
    at = _log_odds(share)
    inner = found.low if share > 0.5 else found.high
    error = abs(at - _log_odds(inner)) / Z if 0 < inner < 1 else np.nan
    return at, error**2 if error > 0 else np.nan


def _log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _atanh(found: Reached) -> tuple[float, float]:
    return float(np.arctanh(found.value)), 1.0 / (found.pairs - 3)


def _share(at: float) -> float:
    return float(1 / (1 + np.exp(-at)))


Scale = Callable[[Reached], tuple[float, float]]
OfStudy = Callable[[Array, Array, Array | None], Reached]
Measured = tuple[str, OfStudy, Scale, Callable[[float], float]]

MEASURED: dict[str, Measured] = ByKind(
    {
        "classification": ("AUC", _area, _logit, _share),
        "several_classes": ("AUC", _areas, _logit, _share),
        "survival": ("C", _concordance, _logit, _share),
        "regression": ("correlation", _correlation, _atanh, lambda at: float(np.tanh(at))),
    }
)
"""Kind of response -> the measure, how it is found in a study, on which scale studies are summed
up, and back from there."""
