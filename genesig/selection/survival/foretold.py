"""What each model of the double loop foretells of the samples that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.data.steps.normalise import bound
from genesig.optim.cox.hazard import Hazard, baseline_hazard
from genesig.optim.cox.risk_sets import USUAL, RiskSets
from genesig.results import Dataset, Fits, Splits
from genesig.selection.assess.survival.brier import brier_losses
from genesig.selection.assess.survival.curves import Curve, censoring, kaplan_meier
from genesig.selection.linear.tasks import shared_matrices, tasks

Array = np.ndarray[Any, Any]
COLUMNS = 500


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
    outer, C = {split.name: split for split in splits.outer}, dataset.covariates()
    todo = tasks(dataset, splits, splits.outer, [0])
    for X, reference, some in shared_matrices(dataset, todo, bound(folds, dataset), COLUMNS):
        column = {int(gene): k for k, gene in enumerate(reference.genes)}
        for task in some:
            fit = place[task.split]
            genes, values = fits.coef(fit, len(fits.mu) - 1)
            eta = fits.intercept[fit, -1] + X[:, [column[int(g)] for g in genes]] @ values
            held = np.zeros((len(X), len(fits.mu))) + fits.of_covariates(fit, C)
            eta = eta + held[:, -1] - fits.threshold[fit]
            v = None if task.held is None else task.held.weights
            yield _tested(task.y, eta, task.train, task.test, outer[task.split].repeat, at,
                          task.ties or USUAL, v)  # fmt: skip


def _tested(y: Array, eta: Array, train: Array, test: Array, repeat: int, at: Array,
            ties: str, v: Array | None) -> Tested:  # fmt: skip
    known, seen, own = y[train], y[test], None if v is None else v[train]
    S = hazard_of(known, eta[train], ties, own).survival(eta[test], at)
    lost = censoring(known["time"], known["event"])
    plain = kaplan_meier(known["time"], known["event"]).at(at)[None]
    losses, reference = (brier_losses(seen["time"], seen["event"], each, at, lost)
                         for each in (S, plain))  # fmt: skip
    return Tested(test, repeat, seen, eta[test], S, losses, reference, lost)


def hazard_of(y: Array, eta: Array, ties: str, weights: Array | None = None) -> Hazard:
    """Return the baseline hazard of training samples with scores η and weights, (n,)."""
    if weights is not None:
        kept = weights > 0
        y, eta, weights = y[kept], eta[kept], weights[kept]

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
    """

    y: Array
    f: Array
    S: Array
    losses: Array
    reference: Array


def means(found: Sequence[Tested], y: Array) -> Means:
    """Average what was foretold of each sample over the repeats."""
    rows = np.concatenate([each.rows for each in found])
    known, number = np.unique(rows, return_inverse=True)
    times = np.bincount(number).astype(float)

    def averaged(name: str) -> Array:
        values = np.concatenate([getattr(each, name) for each in found])
        total = np.zeros((len(known), *values.shape[1:]))
        np.add.at(total, number, values)
        return np.asarray((total.T / times).T)

    return Means(y[known], averaged("f"), averaged("S")[:, -1], averaged("losses"),
                 averaged("reference"))  # fmt: skip
