"""Both stages inside a double cross-validation loop, for observed and for permuted labels."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import redrawn
from genesig.data.steps.normalise import Reference, learned_steps
from genesig.errors import GenesigError, pick
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import covariate_part
from genesig.results.splits import FINAL, TRAINING, Chance
from genesig.selection.linear.answers import (
    Expected,
    Trained,
    answer,
    predicts_by_half_samples,
)
from genesig.selection.linear.grid import (
    RULES,
    Surface,
    class_lines,
    stage_one,
    stage_one_averaged,
)
from genesig.selection.linear.halves import pairs_of, pairs_of_halves, rival_lists
from genesig.selection.linear.kinds.known import FITTED, Steps, outer_sets
from genesig.selection.linear.kinds.record import Sets
from genesig.selection.linear.omics import Choice, alike, candidates
from genesig.selection.linear.path import Lists, stage_two
from genesig.selection.linear.tasks import (
    NO_HALVES,
    LinearSettings,
    TrainingSet,
    batch_of,
    group_by_matrix,
    make_training_sets,
    permutation_numbers,
)

MEMORY = 5e6
"""Numbers that the training sets of one call may hold (means and scales of k × n_features)."""

MOST = 500
"""Training sets of one call, so that a long job says often how far it is."""

log = logging.getLogger(__name__)


def double_loop(
    dataset: Dataset,
    splits: Splits,
    chance: Chance | None = None,
    *,
    labels: str,
    batch: str,
    folds: Steps,
    **linear: Any,
) -> Fits:
    """Fit a batch of the outer splits, under the observed labels or a range of permutations.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    chance : Chance, optional
        Without it, or where it is empty, the chosen list of the two stages is the only answer; and
        under permuted labels, unless `predicts_by_half_samples`.
    labels : str
        ``observed`` or ``permuted-FIRST-LAST``.
    batch : str
        ``2of3``: every third split, from the second on.
    folds : list of dict
        Steps learned on training rows: ``normalise.folds`` of the config.
    **linear
        The config section of this name, see `Protocol`.
    """
    settings = LinearSettings(**linear)
    permutations = permutation_numbers(labels)
    if labels != "observed" and not predicts_by_half_samples(settings):
        chance = None  # nobody reads the model of the FDR-selected genes there
    null_tails = Expected.of(chance, "outer")
    half_counts = pairs_of(TRAINING, settings) if chance else NO_HALVES
    outer_splits = batch_of(splits.outer, batch)
    training_sets = make_training_sets(
        dataset, splits, outer_splits, permutations, half_counts=half_counts
    )
    return _fit(dataset, training_sets, folds, settings, null_tails)


def fit_final(
    dataset: Dataset, splits: Splits, chance: Chance | None = None, *, folds: Steps, **linear: Any
) -> Fits:
    """Run both stages on all samples: the model to be used, whose error the double loop tells.

    Its settings are chosen by several draws of the inner folds (see `redrawn`), those of the double
    loop by one: so many splits and permutations would take as many times as long, and err as much.
    """
    protocol = LinearSettings(**linear)
    known = Expected.of(chance, "final")
    pairs = pairs_of(FINAL, protocol) if chance else NO_HALVES
    todo = make_training_sets(dataset, splits, [splits.final], [0], half_counts=pairs)
    again = make_training_sets(dataset, splits, redrawn(dataset, splits), [0])
    return _fit(dataset, todo, folds, protocol, known, choose=partial(stage_one_averaged, again))


def fit_subsamples(
    dataset: Dataset, splits: Splits, chance: Chance | None = None, *, folds: Steps, **linear: Any
) -> Fits:
    """Run both stages on every half-subsample, as on an outer training set.

    Each half chooses its settings by its own inner folds, so that its list is the one that half as
    many patients would have given. A list of the lasso, as long, goes with it (see `rival_lists`).
    """
    protocol = LinearSettings(**linear)
    known = Expected.of(chance, "half")
    pairs = pairs_of_halves(protocol) if chance else NO_HALVES
    todo = make_training_sets(dataset, splits, splits.subsamples, [0], half_counts=pairs)
    return _fit(dataset, todo, folds, protocol, known, rival=protocol.penalty == "l1")


def _fit(
    dataset: Dataset,
    todo: list[TrainingSet],
    folds: Steps,
    protocol: LinearSettings,
    chance: Expected | None = None,
    *,
    choose: Choice = stage_one,
    rival: bool = False,
) -> Fits:
    tail = FITTED[dataset.design.kind].columns(dataset.design)
    parts = [_none(protocol, tail)]
    done = 0
    start = time.monotonic()
    columns = min(MOST, int(MEMORY / max(1, len(dataset.genes)))) // int(np.prod(tail)) or 1
    steps = learned_steps(folds, dataset)
    factors = candidates(dataset, protocol)
    size = max(1, columns // len(factors))
    for X, reference, some in group_by_matrix(dataset, todo, steps, size):
        describe = partial(outer_sets, X, folds, dataset, reference.genes, protocol)
        order = []
        found = []
        for each in alike(some, describe, choose, protocol, factors):
            fits, surfaces = _fit_within(
                each.todo, each.surfaces, each.outer, each.describe, reference, protocol
            )
            if chance is not None:
                sets = Trained(each.outer, each.inner, *each.even(describe))
                fits = answer(each.todo, surfaces, fits, sets, reference.genes, protocol, chance)
            if rival:
                fits = rival_lists(each.outer, fits, reference.genes, protocol)
            order.append(each.numbers)
            found.append(replace(fits, factors=_rows(each.factors, len(fits))))
        parts.append(Fits.concatenate(found).take(np.argsort(np.concatenate(order))))
        done += len(some)
        log.info("%d of %d fits, %.0f s", done, len(todo), time.monotonic() - start)
    return Fits.concatenate(parts)


def _rows(factors: Array | None, fits: int) -> Array | None:
    return None if factors is None else np.tile(factors, (fits, 1))


def _none(protocol: LinearSettings, tail: tuple[int, ...]) -> Fits:
    searched = pick("linear.list", RULES, protocol.list).mu(protocol)
    mu = np.array(protocol.mu, dtype=float)
    return Fits.none(protocol.tau_fractions(), protocol.lam_grid(), mu, searched, tail)


def _fit_within(
    todo: list[TrainingSet],
    surfaces: list[Surface],
    outer: Sets,
    describe: Callable[[list[TrainingSet]], Sets],
    reference: Reference,
    protocol: LinearSettings,
) -> tuple[Fits, list[Surface]]:
    """Fit at the choices; where the list itself has more genes than `most`, at a shorter choice.

    So too where all are longer than `longest`, and none is kept. The inner folds, which choose,
    have fewer samples, and often shorter lists.
    """
    fits = _fit_together(todo, surfaces, outer, reference, protocol)
    size = fits.sizes()[np.arange(len(todo)), fits.choice[:, 2]]
    none = np.isnan(fits.gap).all(axis=1)
    again = {fit: surfaces[fit].shorter() for fit in np.flatnonzero(none | (size > protocol.most))}
    shorter = {fit: surface for fit, surface in again.items() if surface is not None}
    if lost := [todo[fit] for fit in np.flatnonzero(none) if fit not in shorter]:
        labels = f", permutation {lost[0].permutation}" if lost[0].permutation else ""
        raise GenesigError(
            f"split {lost[0].split}{labels}: every list has more than {protocol.longest} genes; "
            "raise linear.longest or linear.tau_min"
        )
    if not shorter:
        return fits, surfaces
    some = [todo[fit] for fit in shorter]
    rest, last = _fit_within(
        some, list(shorter.values()), describe(some), describe, reference, protocol
    )
    order = np.arange(len(todo))
    order[list(shorter)] = len(todo) + np.arange(len(some))
    every = [*surfaces, *last]
    return Fits.concatenate([fits, rest]).take(order), [every[at] for at in order]


def _fit_together(
    todo: list[TrainingSet],
    surfaces: list[Surface],
    outer: Sets,
    reference: Reference,
    protocol: LinearSettings,
) -> Fits:
    choice = np.array([surface.choice for surface in surfaces])
    lam = protocol.lam_grid()[choice[:, 1]]
    lists = stage_two(outer, protocol.tau_fractions()[choice[:, 0]], lam, protocol)
    choice = _listed(todo, lists, choice, protocol)
    kind = FITTED[todo[0].kind]
    probability_lines = class_lines(todo, [each.unseen for each in surfaces])
    lists, threshold = kind.decide(lists, [each.threshold for each in surfaces])
    scores = [_test_scores(outer.X, task, lists, fit) for fit, task in enumerate(todo)]
    return Fits(
        split=np.array([task.split for task in todo]),
        permutation=np.array([task.permutation for task in todo]),
        tau=protocol.tau_fractions(),
        lam=protocol.lam_grid(),
        mu=np.asarray(protocol.mu, dtype=float),
        searched=pick("linear.list", RULES, protocol.list).mu(protocol),
        tau_max=outer.tau_max,
        norm=outer.norm,
        cv_error=np.stack([surface.error for surface in surfaces]),
        cv_se=np.stack([surface.standard_error for surface in surfaces]),
        cv_size=np.stack([surface.size for surface in surfaces]),
        cv_agreement=np.stack([surface.agreement for surface in surfaces]),
        choice=choice,
        threshold=threshold,
        indptr=lists.indptr,
        indices=reference.genes[lists.indices],
        values=lists.values,
        intercept=lists.intercept,
        gap=lists.gap,
        test_indptr=np.cumsum([0, *(len(task.test) for task in todo)]),
        test_rows=np.concatenate([task.label_rows for task in todo]),
        scores=np.concatenate(scores),
        gamma=lists.gamma,
        covariate_mean=lists.covariate_mean,
        line=probability_lines.line,
        shrinkage=probability_lines.shrinkage,
        knots=_knots(todo) if lists.gamma is not None else None,
    )


def _knots(todo: list[TrainingSet]) -> Array:
    return np.stack([task.knots() for task in todo])


def _listed(
    todo: list[TrainingSet], lists: Lists, choice: Array, protocol: LinearSettings
) -> Array:
    """Return the choices, those of a list too long to be kept replaced by the longest kept one.

    A fit alone decides this, so that a null study takes the same way as the observed one.
    """
    kept = ~np.isnan(lists.gap)
    for fit, (_, _, mu) in enumerate(choice):
        if kept[fit].any() and not kept[fit, mu]:
            choice[fit, 2] = np.flatnonzero(kept[fit])[-1]
            said = "split %s: the list at mu %g has more than %s genes; the longest kept one serves"
            log.warning(said, todo[fit].split, protocol.mu[mu], protocol.longest)
    return choice


def _test_scores(X: Array, task: TrainingSet, lists: Lists, fit: int) -> Array:
    """Return f(x) = intercept + x'b + c'γ of the test samples, (n_test, n_mu); NaN without a list.

    A covariate that is missing counts as the mean of the training samples.
    """
    n_mu = lists.intercept.shape[1]
    scores = np.empty((len(task.test), n_mu, *lists.values.shape[1:]))
    for mu in range(n_mu):
        part = slice(*lists.indptr[fit * n_mu + mu :][:2])
        genes = X[np.ix_(task.test, lists.indices[part])]
        scores[:, mu] = lists.intercept[fit, mu] + genes @ lists.values[part]
    if lists.gamma is not None and lists.covariate_mean is not None:
        C = task.test_covariates()
        scores += covariate_part(C, lists.covariate_mean[fit], lists.gamma[fit])
    scores[:, np.isnan(lists.gap[fit])] = np.nan
    return scores
