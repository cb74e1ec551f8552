"""The two answers of a training set: FDR-selected genes, and the model that predicts best.

FDR-selected genes have a selection frequency that chance seldom gives (see `frequency`), and a
ridge refit. The predictive model is the model of the chosen list of the two stages.
With the list `BEST` it is the model of the genes at twice the FDR, if their inner error is smaller.
With an ensemble it is the mean with two other models, see `ensemble`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.optim.solution import Path
from genesig.results import Fits
from genesig.results.fits import ANSWERS, covariate_part
from genesig.results.splits import Chance
from genesig.selection.genes.frequency import LOOSE, expected, q_values, ranked
from genesig.selection.linear.ensemble import by_halves, by_strength, mean
from genesig.selection.linear.grid import Surface, class_lines, unseen
from genesig.selection.linear.halves import HalfLists, list_halves
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.kinds.record import Model, Sets
from genesig.selection.linear.path import refitted
from genesig.selection.linear.tasks import LinearSettings, TrainingSet, require_halves

BEST = "best"
FDR = "fdr"
ENSEMBLE = "ensemble"


def predicts_by_half_samples(settings: LinearSettings) -> bool:
    """Return whether the genes that half samples select have a part in the predictive model."""
    return settings.list in (BEST, FDR) or settings.model == ENSEMBLE


class Expected(NamedTuple):
    """E(t) of training sets, and of what trains their folds; (0,) where nothing is known."""

    outer: Array
    inner: Array

    @classmethod
    def of(cls, chance: Chance | None, outer: str) -> Expected | None:
        """Return those of the training sets of outer splits, of ``final`` or of a ``half``."""
        if not chance:
            return None
        inner = {"outer": "inner", "final": "final_inner", "half": "half_inner"}[outer]
        return cls(expected(getattr(chance, outer)), expected(getattr(chance, inner)))


class Trained(NamedTuple):
    """Training sets of tasks, and of what trains their inner folds, one after the other.

    The last two are the same by equal factors of the omics: those that halves see.
    """

    outer: Sets
    inner: Sets
    even_outer: Sets
    even_inner: Sets


class Halved(NamedTuple):
    """Lists of halves of training sets, and of what trains their folds, one after the other."""

    outer: HalfLists
    inner: HalfLists

    @classmethod
    def of(cls, todo: list[TrainingSet], outer: Sets, protocol: LinearSettings) -> Halved:
        """List genes in the halves of the tasks."""
        inside = [
            (k, half) for k, task in enumerate(todo) for half in require_halves(task.inner_halves)
        ]
        return cls(_halved(todo, outer, protocol), list_halves(outer, todo, inside, protocol))


def _halved(todo: list[TrainingSet], outer: Sets, protocol: LinearSettings) -> HalfLists:
    own = [(k, require_halves(task.halves)) for k, task in enumerate(todo)]
    return list_halves(outer, todo, own, protocol)


class Found(NamedTuple):
    """Which of some lists left-out samples prefer: its number, lam, error, cut.

    The last are their scores at the list and lam of other folds, less the cut, see `unseen`.
    """

    number: int
    lam: int
    error: float
    cut: Any
    unseen: Array | None = None


def answer(
    todo: list[TrainingSet],
    surfaces: Sequence[Surface],
    fits: Fits,
    sets: Trained,
    genes: Array,
    protocol: LinearSettings,
    chance: Expected,
) -> Fits:
    """Return the fits with their answers.

    Parameters
    ----------
    todo : list of Task
    surfaces : list of Surface
        At whose choices the fits are.
    fits : Fits
        Those of the two stages.
    sets : Trained
        Where nothing is known by chance of what trains inner folds, lam is that of the surfaces,
        and the chosen list predicts.
    genes : (d,) int
        Numbers in the data set of the columns of the matrix.
    protocol : Protocol
    chance : Expected
    """
    chosen = [_chosen(fits, k, surface, genes) for k, surface in enumerate(surfaces)]
    outer = sets.even_outer
    inner = sets.even_inner
    better = np.full(len(todo), protocol.list == FDR)
    if not len(chance.inner):
        own = _as_chosen(todo, surfaces, outer, protocol, chance)
        predictive = chosen
    else:
        halved = Halved.of(todo, outer, protocol)
        own, loose, error = controlled(todo, outer, inner, protocol, chance, halved)
        if protocol.list == BEST:
            better = error[:, 1] <= [surface.lowest + 1e-12 for surface in surfaces]
        ours = loose if protocol.list == BEST else own
        predictive = [ours[k] if better[k] else chosen[k] for k in range(len(todo))]
        if protocol.model == ENSEMBLE:
            others = _others(todo, sets, protocol, halved)
            predictive = list(map(mean, zip(predictive, *others, strict=True)))
    both = list(zip(predictive, own, strict=True))
    return replace(fits, **_arrays(todo, both, sets.outer.X, genes, fits), controlled=better)


def _arrays(
    todo: list[TrainingSet], both: Sequence[tuple[Model, ...]], X: Array, genes: Array, fits: Fits
) -> dict[str, Any]:
    every = [model for models in both for model in models]
    scores = []
    for fit, (task, models) in enumerate(zip(todo, both, strict=True)):
        found = np.stack([model.scores(X, task.test) for model in models], axis=1)
        if fits.covariate_mean is not None:
            C = task.test_covariates()
            gamma = _weights(models)
            found += covariate_part(C, fits.covariate_mean[fit], gamma)
        scores.append(found)
    held = None if fits.gamma is None else np.stack([_weights(models) for models in both])
    of_answers = [
        class_lines(todo, [m.unseen for m in models]) for models in zip(*both, strict=True)
    ]
    lines = [each.line for each in of_answers if each.line is not None]
    shrinkages = [each.shrinkage for each in of_answers if each.shrinkage is not None]
    return {
        "answer_indptr": np.cumsum([0, *(len(model.genes) for model in every)]),
        "answer_indices": np.concatenate([genes[model.genes] for model in every]),
        "answer_values": np.concatenate([model.values for model in every]),
        "answer_intercept": np.stack([[m.intercept for m in models] for models in both]),
        "answer_scores": np.concatenate(scores),
        "answer_gamma": held,
        "answer_line": np.stack(lines, axis=1) if len(lines) == len(ANSWERS) else None,
        "answer_shrinkage": (
            np.stack(shrinkages, axis=1) if len(shrinkages) == len(ANSWERS) else None
        ),
    }


def _weights(models: Sequence[Model]) -> Array:
    """Return the weights of covariates of some models that have them."""
    return np.stack([model.gamma for model in models if model.gamma is not None])


def _chosen(fits: Fits, fit: int, surface: Surface, genes: Array) -> Model:
    """Return the model of the chosen list of the two stages."""
    at = int(fits.choice[fit, 2])
    cut = fits.threshold[fit]
    indices, values = fits.coef(fit, at)
    return Model(
        np.searchsorted(genes, indices),
        values,
        fits.intercept[fit, at] - cut,
        None if fits.gamma is None else fits.gamma[fit, at],
        surface.unseen,
    )


def controlled(
    todo: list[TrainingSet],
    outer: Sets,
    inner: Sets,
    protocol: LinearSettings,
    chance: Expected,
    halved: Halved,
) -> tuple[list[Model], list[Model], Array]:
    """List genes by selection frequency at two rates of error, and refit them.

    The lists are made anew in each inner fold: these say at which lam a list is refitted, what it
    errs, and where its scores are cut.

    Returns
    -------
    own, loose : list of Model
        At ``signature.fdr``, and at `LOOSE` times that.
    error : (k, 2) float
        Of the inner folds.
    """
    of_folds = listed(halved.inner, protocol, chance.inner)
    scores = _of_folds(todo, inner, of_folds, protocol)
    lam = protocol.lam_grid()
    found = [
        [_found(task, part[:, [m]], protocol) for m in range(2)]
        for task, part in zip(todo, scores, strict=True)
    ]
    lists = listed(halved.outer, protocol, chance.outer)
    own, loose = (
        _refitted(todo, outer, [each[at] for each in lists], [each[at] for each in found], lam)
        for at in range(2)
    )
    return own, loose, np.array([[one.error for one in each] for each in found])


def _of_folds(
    todo: list[TrainingSet], inner: Sets, lists: Sequence[Sequence[Array]], protocol: LinearSettings
) -> list[Array]:
    """Return scores (n_folds, m, n_lam, n, ...) of the m lists of the folds of each task."""
    lam = protocol.lam_grid()
    left = np.hstack([task.validation_masks() for task in todo])
    scores = inner.scores(_supports(lists), lam * inner.norm[:, None], left)
    return np.split(scores, np.cumsum([len(task.inner_folds) for task in todo])[:-1])


def _others(
    todo: list[TrainingSet], sets: Trained, protocol: LinearSettings, halved: Halved
) -> list[list[Model]]:
    """Return the other models of the ensemble, of each task."""
    orders = [
        [by_halves(*each) for each in zip(of.times(), of.weights(), strict=True)] for of in halved
    ]
    strong = [
        [by_strength(of.strength(slice(k, k + 1))[0]) for k in range(len(of.norm))]
        for of in (sets.outer, sets.inner)
    ]
    out = []
    for of_outer, of_folds in (orders, strong):
        scores = _of_folds(todo, sets.inner, of_folds, protocol)
        found = [_found(task, part, protocol) for task, part in zip(todo, scores, strict=True)]
        lists = [each[one.number] for each, one in zip(of_outer, found, strict=True)]
        out.append(_refitted(todo, sets.outer, lists, found, protocol.lam_grid()))
    return out


def listed(found: HalfLists, protocol: LinearSettings, chance: Array) -> list[tuple[Array, Array]]:
    """Return the genes at the two rates of error, ascending, by each list of halves.

    At least ``signature.least`` and at most ``signature.most`` of those that any half lists, or
    ``signature.size`` whatever their q.
    """
    if len(chance) != found.lists + 1:
        raise GenesigError(
            f"chance is that of {len(chance) - 1} lists, and {found.lists} were made: make it"
            " with the same settings"
        )
    return [
        (
            _list(times, strength, protocol.fdr, protocol, chance),
            _list(times, strength, LOOSE * protocol.fdr, protocol, chance),
        )
        for times, strength in zip(found.times(), found.weights(), strict=True)
    ]


def _list(
    times: Array, strength: Array, rate: float, protocol: LinearSettings, chance: Array
) -> Array:
    passing = np.count_nonzero(q_values(times, chance) <= rate)
    number = int(np.clip(passing, protocol.least, max(protocol.least, protocol.most)))
    return np.sort(ranked(times, strength)[: protocol.size or number])


def _as_chosen(
    todo: list[TrainingSet],
    surfaces: Sequence[Surface],
    outer: Sets,
    protocol: LinearSettings,
    chance: Expected,
) -> list[Model]:
    """Return the models of the FDR-selected genes at the lam of the surfaces, not cut."""
    lists = [named for named, _ in listed(_halved(todo, outer, protocol), protocol, chance.outer)]
    found = [Found(0, each.choice[1], np.nan, each.threshold) for each in surfaces]
    return _refitted(todo, outer, lists, found, protocol.lam_grid())


def _supports(lists: Sequence[Sequence[Array]]) -> Path:
    """Return supports, (k, m) lists of features, as fits that a refit takes."""
    shape = len(lists), len(lists[0])
    coefs = [(each, np.ones(len(each))) for row in lists for each in row]
    return Path.of(shape, coefs, np.zeros(shape), np.ones(shape, dtype=np.int64), 0.0)


def _found(task: TrainingSet, scores: Array, protocol: LinearSettings) -> Found:
    """Choose a list and its lam by the inner folds, from scores (n_folds, m, n_lam, n, ...).

    Of equal errors the first list, with the largest lam.
    """
    kind = FITTED[task.kind]
    cut = np.zeros(scores.shape[1:3])
    if protocol.threshold == "midpoint":
        cut = kind.cut(task, scores)

    def best(some: TrainingSet, folds: Array) -> tuple[int, int, float]:
        error = kind.error(some, scores[folds], cut, protocol.criterion)[0]
        least = error.round(12).min(axis=1)
        number = int(np.argmin(least))
        lam = int(np.flatnonzero(error[number].round(12) == least[number])[-1])
        return number, lam, float(error[number, lam])

    turned = kind.cut_turns and protocol.threshold == "midpoint"

    def by_others(rest: TrainingSet, folds: Array) -> tuple[Array, Any]:
        number, lam, _ = best(rest, folds)
        cut_by_others = kind.cut(rest, scores[folds]) if turned else cut
        return scores[:, number, lam], cut_by_others[number, lam]

    number, lam, error = best(task, np.arange(len(scores)))
    return Found(number, lam, error, cut[number, lam], unseen(task, by_others))


def _refitted(
    todo: list[TrainingSet], outer: Sets, lists: list[Array], found: list[Found], lam: Array
) -> list[Model]:
    plain = refitted(outer, _supports([[each] for each in lists]), lam[[f.lam for f in found]])
    decided, cut = FITTED[todo[0].kind].decide(plain, [each.cut for each in found])
    return [
        Model(
            decided.indices[slice(*decided.indptr[k:][:2])],
            decided.values[slice(*decided.indptr[k:][:2])],
            decided.intercept[k, 0] - cut[k],
            None if decided.gamma is None else decided.gamma[k, 0],
            each.unseen,
        )
        for k, each in enumerate(found)
    ]
