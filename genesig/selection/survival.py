"""Held-out survival: what each model foretells, how well, and the curves of two groups of risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import learned_steps
from genesig.optim.cox.risk_sets import USUAL, Hazard, RiskSets, baseline_hazard
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.held_out import held_out
from genesig.selection.assess.intervals import Interval
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.survival import (
    Curve,
    auc_at,
    brier_losses,
    censoring,
    explained,
    kaplan_meier,
    mean_over,
    over_sets,
    pooled,
    risk_at,
    risk_groups,
    slope,
    uno,
)
from genesig.selection.linear.tasks import group_by_matrix, make_training_sets

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 500


@dataclass(frozen=True)
class Tested:
    """One test set, with what its training set knows.

    Attributes
    ----------
    rows : (n,) int
        Rows of the data set.
    repeat : int
    y : (n,) of times and events
    f : (n,) float
        Scores less the threshold.
    S : (n, m) float
        Foretold survival at m times.
    losses, reference : (n, m) float
        Terms of the Brier score of S, and of Kaplan and Meier's curve of the training samples.
    lost : Curve
        Censoring of the training samples.
    """

    rows: Array
    repeat: int
    y: Array
    f: Array
    S: Array
    losses: Array
    reference: Array
    lost: Curve


def foretold(
    dataset: Dataset, splits: Splits, fits: Fits, folds: Sequence[dict[str, Any]], at: Array
) -> Iterator[Tested]:
    """Yield every test set of the observed times, by the last list of `fits`: the chosen one.

    The training samples' scores, which the baseline hazard needs, are not kept by a fit; they
    follow from its weights and the steps learned on its training samples.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    fits : Fits
        `Fits.with_chosen` of the observed times.
    folds : list of steps
        ``normalise.folds`` of the config.
    at : (m,) float
        Times.
    """
    place = {str(name): number for number, name in enumerate(fits.split)}
    outer = {split.name: split for split in splits.outer}
    C = dataset.covariates()
    todo = make_training_sets(dataset, splits, splits.outer, [0])
    for X, reference, some in group_by_matrix(
        dataset, todo, learned_steps(folds, dataset), AT_ONCE
    ):
        column = {int(gene): k for k, gene in enumerate(reference.genes)}
        for task in some:
            fit = place[task.split]
            genes, values = fits.coef(fit, len(fits.mu) - 1)
            eta = fits.intercept[fit, -1] + X[:, [column[int(g)] for g in genes]] @ values
            held = np.zeros((len(X), len(fits.mu))) + fits.of_covariates(fit, C)
            eta = eta + held[:, -1] - fits.threshold[fit]
            v = None if task.covariates is None else task.covariates.weights
            yield _tested(
                task.y,
                eta,
                task.train,
                task.test,
                outer[task.split].repeat,
                at,
                task.ties or USUAL,
                v,
            )


def _tested(
    y: Array,
    eta: Array,
    train: Array,
    test: Array,
    repeat: int,
    at: Array,
    ties: str,
    v: Array | None,
) -> Tested:
    known = y[train]
    seen = y[test]
    own = None if v is None else v[train]
    S = hazard_of(known, eta[train], ties, own).survival(eta[test], at)
    lost = censoring(known["time"], known["event"])
    plain = kaplan_meier(known["time"], known["event"]).at(at)[None]
    losses, reference = (
        brier_losses(seen["time"], seen["event"], each, at, lost) for each in (S, plain)
    )
    return Tested(test, repeat, seen, eta[test], S, losses, reference, lost)


def hazard_of(y: Array, eta: Array, ties: str, weights: Array | None = None) -> Hazard:
    """Return the baseline hazard of training samples with scores η and weights, (n,)."""
    if weights is not None:
        kept = weights > 0
        y = y[kept]
        eta = eta[kept]
        weights = weights[kept]

    risk = RiskSets.of(y["time"], y["event"], ties, weights)
    return baseline_hazard(risk, eta[risk.order])


@dataclass(frozen=True)
class Means:
    """Each tested sample once: its response, and means over the repeats.

    Attributes
    ----------
    y, f : (n,)
    S : (n,) float
        Foretold survival at the last of the times.
    losses, reference : (n, m) float
    group : (n,) int or None
        Number of each sample's group, if samples come in groups.
    """

    y: Array
    f: Array
    S: Array
    losses: Array
    reference: Array
    group: Array | None = None


def means(found: Sequence[Tested], y: Array, group: Array | None = None) -> Means:
    """Average what was foretold of each sample over the repeats."""
    rows = np.concatenate([each.rows for each in found])
    known, number = np.unique(rows, return_inverse=True)
    times = np.bincount(number).astype(float)

    def averaged(name: str) -> Array:
        values = np.concatenate([getattr(each, name) for each in found])
        total = np.zeros((len(known), *values.shape[1:]))
        np.add.at(total, number, values)
        return np.asarray((total.T / times).T)

    return Means(
        y[known],
        averaged("f"),
        averaged("S")[:, -1],
        averaged("losses"),
        averaged("reference"),
        None if group is None else group[known],
    )


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
    y = dataset.response()
    horizon = float(dataset.design.horizon or np.nan)
    at = times_to(y, horizon)
    fits = joined(observed, splits).with_chosen()
    found = list(foretold(dataset, splits, fits, folds, at))
    tested = held_out(dataset, splits, fits)
    own = assess(tested, ASSESSED[dataset.design.kind].headline)[-1]
    group = group_numbers(dataset.groups())
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

    mean = means(found, y, group)
    horizon = float(at[-1])
    risk = np.where(mean.f > 0, "high", "low").astype(object)
    rows = [
        ("concordance", *c),
        *_orders(found, horizon, ratio, group),
        *_brier(found, mean, at, ratio, group),
        *_calibrated(mean, horizon),
    ]
    table = pd.DataFrame([(n, v, *limits) for n, v, limits in rows], columns=COLUMNS)
    return {
        "survival": table.assign(horizon=horizon, samples=len(mean.y)),
        "survival_curves": _curves(mean, risk),
        "survival_risk": _risks(mean, horizon),
    }


COLUMNS = ["measure", "value", "low", "high"]


def _orders(
    found: Sequence[Tested], horizon: float, ratio: float, group: Array | None
) -> Iterator[Row]:
    rows = np.unique(np.concatenate([each.rows[each.y["event"]] for each in found]))
    events = len(rows if group is None else np.unique(group[rows]))
    for name, measure in (("uno", uno), ("auc", auc_at)):
        each = [
            (one.rows, one.repeat, measure(one.y["time"], one.y["event"], one.f, one.lost, horizon))
            for one in found
        ]
        total = pooled(each, events, ratio, group)
        yield name, total.value, total.interval


def _brier(
    found: Sequence[Tested], mean: Means, at: Array, ratio: float, group: Array | None
) -> Iterator[Row]:
    """Give both scores and 1 - their ratio; of several test sets the limits are of `over_sets`."""
    own, reference = (mean_over(each, at, mean.group) for each in (mean.losses, mean.reference))
    gained, limits = explained(own, reference, mean.group)
    ends = [own.interval, reference.interval, limits]
    if len(found) > 1:
        rows = [each.rows for each in found]
        B0 = reference.value
        b, b0 = (
            [mean_over(getattr(each, name), at).samples for each in found]
            for name in ("losses", "reference")
        )
        gains = [(y - (1 - gained) * x) / -B0 for x, y in zip(b0, b, strict=True)]
        values = (own.value, B0, gained)
        ends = [
            over_sets(value, rows, terms, ratio, group, models=terms is gains)
            for value, terms in zip(values, (b, b0, gains), strict=True)
        ]
    yield "brier", own.value, ends[0]
    yield "brier_reference", reference.value, ends[1]
    yield "explained", gained, ends[2]


def _calibrated(mean: Means, horizon: float) -> Iterator[Row]:
    time = mean.y["time"]
    event = mean.y["event"]
    risk = risk_at(time, event, mean.S, horizon, mean.group)
    yield "risk_expected", risk.expected, (np.nan, np.nan)
    yield "risk_observed", risk.observed, risk.interval
    yield "slope", *slope(time, event, mean.f, group=mean.group)


def _curves(mean: Means, risk: Array) -> pd.DataFrame:
    """Return survival_curves.tsv: each group's curve from 0 on, with its 95 % limits."""
    import pandas as pd

    tables = []
    for name in ("high", "low"):
        inside = risk == name
        if not inside.any():
            continue
        y = mean.y[inside]
        members = None if mean.group is None else mean.group[inside]
        curve = kaplan_meier(y["time"], y["event"], members)
        low, high = curve.interval()
        start = {"time": 0.0, "at_risk": inside.sum(), "events": 0.0, "survival": 1.0}
        rest = {
            "time": curve.times,
            "at_risk": curve.at_risk,
            "events": curve.events,
            "survival": curve.value,
            "low": low,
            "high": high,
        }
        tables.append(pd.concat([pd.DataFrame([start]), pd.DataFrame(rest)]).assign(group=name))
    table = pd.concat(tables, ignore_index=True)
    counts = dict.fromkeys(("at_risk", "events"), "Int64")
    return table[["group", *(c for c in table.columns if c != "group")]].astype(counts)


def _risks(mean: Means, horizon: float) -> pd.DataFrame:
    """Return survival_risk.tsv: groups of like foretold risk by the horizon, lowest first."""
    import pandas as pd

    groups = risk_groups(mean.y["time"], mean.y["event"], mean.S, horizon, mean.group)
    rows = [(one.samples, one.expected, one.observed, *one.interval) for one in groups]
    return pd.DataFrame(rows, columns=["samples", "expected", "observed", "low", "high"])
