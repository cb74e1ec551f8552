"""The two answers of a training set: FDR-selected genes, and the model that predicts best.

FDR-selected genes have a selection frequency that chance seldom gives (see `frequency`), and a
ridge refit. The predictive model is the model of the chosen list of the two stages.
With the list `BEST_LIST` it is the model of the genes at twice the FDR, if their inner error is smaller.
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
from genesig.selection.linear.ensemble import by_frequency, by_gradient, mean_model
from genesig.selection.linear.grid import GridChoice, class_lines, crossfit
from genesig.selection.linear.halves import HalfSampleLists, select_half_samples
from genesig.selection.linear.kinds.known import FITTINGS
from genesig.selection.linear.kinds.record import LinearModel, ElasticNets
from genesig.selection.linear.path import refit_by_ridge
from genesig.selection.linear.tasks import LinearSettings, TrainingSet, require_halves

BEST_LIST = "best"
FDR_LIST = "fdr"
ENSEMBLE_MODEL = "ensemble"


def predicts_by_half_samples(settings: LinearSettings) -> bool:
    """Return whether the genes that half samples select have a part in the predictive model."""
    return settings.list in (BEST_LIST, FDR_LIST) or settings.model == ENSEMBLE_MODEL


class NullTails(NamedTuple):
    """E(t) of training sets, and of what trains their folds; (0,) where nothing is known."""

    outer: Array
    inner: Array

    @classmethod
    def of(cls, half_sample_study: Chance | None, level: str) -> NullTails | None:
        """Return those of the training sets of outer splits, of ``final`` or of a ``half``."""
        if not half_sample_study:
            return None
        inner_level = {"outer": "inner", "final": "final_inner", "half": "half_inner"}[level]
        return cls(
            expected(getattr(half_sample_study, level)),
            expected(getattr(half_sample_study, inner_level)),
        )


class AnswerNets(NamedTuple):
    """Training sets of tasks, and of what trains their inner folds, one after the other.

    The last two are the same by equal factors of the omics: those that halves see.
    """

    outer: ElasticNets
    inner: ElasticNets
    even_outer: ElasticNets
    even_inner: ElasticNets


class HalfSelection(NamedTuple):
    """Lists of halves of training sets, and of what trains their folds, one after the other."""

    outer: HalfSampleLists
    inner: HalfSampleLists

    @classmethod
    def of(
        cls, training_sets: list[TrainingSet], outer: ElasticNets, settings: LinearSettings
    ) -> HalfSelection:
        """List genes in the halves of the tasks."""
        fold_halves = [
            (number, half)
            for number, training_set in enumerate(training_sets)
            for half in require_halves(training_set.inner_halves)
        ]
        return cls(
            _select_halves(training_sets, outer, settings),
            select_half_samples(outer, training_sets, fold_halves, settings),
        )


def _select_halves(
    training_sets: list[TrainingSet], outer: ElasticNets, settings: LinearSettings
) -> HalfSampleLists:
    training_halves = [
        (number, require_halves(training_set.halves))
        for number, training_set in enumerate(training_sets)
    ]
    return select_half_samples(outer, training_sets, training_halves, settings)


class BestList(NamedTuple):
    """Which of some lists left-out samples prefer: its number, lam, error, cut.

    The last are their scores at the list and lam of other folds, less the cut, see `unseen`.
    """

    number: int
    lam: int
    error: float
    cut: Any
    crossfit: Array | None = None


def add_answers(
    training_sets: list[TrainingSet],
    choices: Sequence[GridChoice],
    fits: Fits,
    nets: AnswerNets,
    genes: Array,
    settings: LinearSettings,
    null_tails: NullTails,
) -> Fits:
    """Return the fits with their answers.

    Parameters
    ----------
    training_sets : list of Task
    choices : list of Surface
        At whose choices the fits are.
    fits : Fits
        Those of the two stages.
    nets : Trained
        Where nothing is known by chance of what trains inner folds, lam is that of the surfaces,
        and the chosen list predicts.
    genes : (d,) int
        Numbers in the data set of the columns of the matrix.
    settings : Protocol
    null_tails : Expected
    """
    chosen_models = [
        _chosen_model(fits, number, choice, genes) for number, choice in enumerate(choices)
    ]
    outer = nets.even_outer
    inner = nets.even_inner
    by_half_samples = np.full(len(training_sets), settings.list == FDR_LIST)
    if not len(null_tails.inner):
        fdr_selected = _fdr_selected_at_chosen_lambda(
            training_sets, choices, outer, settings, null_tails
        )
        predictive = chosen_models
    else:
        half_lists = HalfSelection.of(training_sets, outer, settings)
        fdr_selected, loose_models, error = fit_fdr_selected(
            training_sets, outer, inner, settings, null_tails, half_lists
        )
        if settings.list == BEST_LIST:
            by_half_samples = error[:, 1] <= [choice.chosen_error + 1e-12 for choice in choices]
        half_sample_models = loose_models if settings.list == BEST_LIST else fdr_selected
        predictive = [
            half_sample_models[number] if by_half_samples[number] else chosen_models[number]
            for number in range(len(training_sets))
        ]
        if settings.model == ENSEMBLE_MODEL:
            ensemble_partners = _ensemble_partners(training_sets, nets, settings, half_lists)
            predictive = list(map(mean_model, zip(predictive, *ensemble_partners, strict=True)))
    answer_models = list(zip(predictive, fdr_selected, strict=True))
    return replace(
        fits,
        **_answer_arrays(training_sets, answer_models, nets.outer.X, genes, fits),
        controlled=by_half_samples,
    )


def _answer_arrays(
    training_sets: list[TrainingSet],
    answer_models: Sequence[tuple[LinearModel, ...]],
    X: Array,
    genes: Array,
    fits: Fits,
) -> dict[str, Any]:
    all_models = [model for models in answer_models for model in models]
    scores = []
    for fit, (training_set, models) in enumerate(zip(training_sets, answer_models, strict=True)):
        answer_scores = np.stack([model.scores(X, training_set.test) for model in models], axis=1)
        if fits.covariate_mean is not None:
            C = training_set.test_covariates()
            gamma = _covariate_weights(models)
            answer_scores += covariate_part(C, fits.covariate_mean[fit], gamma)
        scores.append(answer_scores)
    covariate_weights = (
        None
        if fits.gamma is None
        else np.stack([_covariate_weights(models) for models in answer_models])
    )
    lines_of_answers = [
        class_lines(training_sets, [m.crossfitted_scores for m in models])
        for models in zip(*answer_models, strict=True)
    ]
    lines = [
        class_lines_of_answer.line
        for class_lines_of_answer in lines_of_answers
        if class_lines_of_answer.line is not None
    ]
    shrinkages = [
        class_lines_of_answer.shrinkage
        for class_lines_of_answer in lines_of_answers
        if class_lines_of_answer.shrinkage is not None
    ]
    return {
        "answer_indptr": np.cumsum([0, *(len(model.genes) for model in all_models)]),
        "answer_indices": np.concatenate([genes[model.genes] for model in all_models]),
        "answer_values": np.concatenate([model.values for model in all_models]),
        "answer_intercept": np.stack([[m.intercept for m in models] for models in answer_models]),
        "answer_scores": np.concatenate(scores),
        "answer_gamma": covariate_weights,
        "answer_line": np.stack(lines, axis=1) if len(lines) == len(ANSWERS) else None,
        "answer_shrinkage": (
            np.stack(shrinkages, axis=1) if len(shrinkages) == len(ANSWERS) else None
        ),
    }


def _covariate_weights(models: Sequence[LinearModel]) -> Array:
    """Return the weights of covariates of some models that have them."""
    return np.stack([model.gamma for model in models if model.gamma is not None])


def _chosen_model(fits: Fits, fit: int, choice: GridChoice, genes: Array) -> LinearModel:
    """Return the model of the chosen list of the two stages."""
    list_index = int(fits.choice[fit, 2])
    threshold = fits.threshold[fit]
    indices, values = fits.coef(fit, list_index)
    return LinearModel(
        np.searchsorted(genes, indices),
        values,
        fits.intercept[fit, list_index] - threshold,
        None if fits.gamma is None else fits.gamma[fit, list_index],
        choice.crossfitted_scores,
    )


def fit_fdr_selected(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
    null_tails: NullTails,
    half_lists: HalfSelection,
) -> tuple[list[LinearModel], list[LinearModel], Array]:
    """List genes by selection frequency at two rates of error, and refit them.

    The lists are made anew in each inner fold: these say at which lam a list is refitted, what it
    errs, and where its scores are cut.

    Returns
    -------
    fdr_selected, loose_models : list of Model
        At ``signature.fdr``, and at `LOOSE` times that.
    error : (k, 2) float
        Of the inner folds.
    """
    fold_lists = fdr_lists(half_lists.inner, settings, null_tails.inner)
    list_scores = _fold_scores(training_sets, inner, fold_lists, settings)
    lam = settings.lam_grid()
    best_lists = [
        [_best_list(training_set, fold_scores[:, [rate]], settings) for rate in range(2)]
        for training_set, fold_scores in zip(training_sets, list_scores, strict=True)
    ]
    training_lists = fdr_lists(half_lists.outer, settings, null_tails.outer)
    fdr_selected, loose_models = (
        _refit_models(
            training_sets,
            outer,
            [pair[rate_index] for pair in training_lists],
            [pair[rate_index] for pair in best_lists],
            lam,
        )
        for rate_index in range(2)
    )
    return (
        fdr_selected,
        loose_models,
        np.array([[best.error for best in pair] for pair in best_lists]),
    )


def _fold_scores(
    training_sets: list[TrainingSet],
    inner: ElasticNets,
    lists: Sequence[Sequence[Array]],
    settings: LinearSettings,
) -> list[Array]:
    """Return scores (n_folds, m, n_lam, n, ...) of the m lists of the folds of each task."""
    lam = settings.lam_grid()
    validation_masks = np.hstack(
        [training_set.validation_masks() for training_set in training_sets]
    )
    scores = inner.ridge_scores(_lists_as_path(lists), lam * inner.norm[:, None], validation_masks)
    return np.split(
        scores, np.cumsum([len(training_set.inner_folds) for training_set in training_sets])[:-1]
    )


def _ensemble_partners(
    training_sets: list[TrainingSet],
    nets: AnswerNets,
    settings: LinearSettings,
    half_lists: HalfSelection,
) -> list[list[LinearModel]]:
    """Return the other models of the ensemble, of each task."""
    frequency_lists = [
        [
            by_frequency(*counts_and_weights)
            for counts_and_weights in zip(source.times(), source.weights(), strict=True)
        ]
        for source in half_lists
    ]
    gradient_lists = [
        [by_gradient(source.null_gradient(slice(k, k + 1))[0]) for k in range(len(source.norm))]
        for source in (nets.outer, nets.inner)
    ]
    partners = []
    for outer_lists, fold_lists in (frequency_lists, gradient_lists):
        list_scores = _fold_scores(training_sets, nets.inner, fold_lists, settings)
        best_lists = [
            _best_list(training_set, fold_scores, settings)
            for training_set, fold_scores in zip(training_sets, list_scores, strict=True)
        ]
        chosen_lists = [
            counts_and_weights[one.number]
            for counts_and_weights, one in zip(outer_lists, best_lists, strict=True)
        ]
        partners.append(
            _refit_models(training_sets, nets.outer, chosen_lists, best_lists, settings.lam_grid())
        )
    return partners


def fdr_lists(
    half_lists: HalfSampleLists, settings: LinearSettings, null_tails: Array
) -> list[tuple[Array, Array]]:
    """Return the genes at the two rates of error, ascending, by each list of halves.

    At least ``signature.least`` and at most ``signature.most`` of those that any half lists, or
    ``signature.size`` whatever their q.
    """
    if len(null_tails) != half_lists.lists + 1:
        raise GenesigError(
            f"chance is that of {len(null_tails) - 1} lists, and {half_lists.lists} were made: make it"
            " with the same settings"
        )
    return [
        (
            _genes_at_fdr(counts, weight_sums, settings.fdr, settings, null_tails),
            _genes_at_fdr(counts, weight_sums, LOOSE * settings.fdr, settings, null_tails),
        )
        for counts, weight_sums in zip(half_lists.times(), half_lists.weights(), strict=True)
    ]


def _genes_at_fdr(
    counts: Array, weight_sums: Array, rate: float, settings: LinearSettings, null_tails: Array
) -> Array:
    passing = np.count_nonzero(q_values(counts, null_tails) <= rate)
    n_genes = int(np.clip(passing, settings.least, max(settings.least, settings.most)))
    return np.sort(ranked(counts, weight_sums)[: settings.size or n_genes])


def _fdr_selected_at_chosen_lambda(
    training_sets: list[TrainingSet],
    choices: Sequence[GridChoice],
    outer: ElasticNets,
    settings: LinearSettings,
    null_tails: NullTails,
) -> list[LinearModel]:
    """Return the models of the FDR-selected genes at the lam of the surfaces, not cut."""
    training_lists = [
        fdr_genes
        for fdr_genes, _ in fdr_lists(
            _select_halves(training_sets, outer, settings), settings, null_tails.outer
        )
    ]
    best_lists = [BestList(0, choice.choice[1], np.nan, choice.threshold) for choice in choices]
    return _refit_models(training_sets, outer, training_lists, best_lists, settings.lam_grid())


def _lists_as_path(lists: Sequence[Sequence[Array]]) -> Path:
    """Return supports, (k, m) lists of features, as fits that a refit takes."""
    shape = len(lists), len(lists[0])
    coefs = [(genes, np.ones(len(genes))) for row in lists for genes in row]
    return Path.of(shape, coefs, np.zeros(shape), np.ones(shape, dtype=np.int64), 0.0)


def _best_list(training_set: TrainingSet, scores: Array, settings: LinearSettings) -> BestList:
    """Choose a list and its lam by the inner folds, from scores (n_folds, m, n_lam, n, ...).

    Of equal errors the first list, with the largest lam.
    """
    kind = FITTINGS[training_set.kind]
    thresholds = np.zeros(scores.shape[1:3])
    if settings.threshold == "midpoint":
        thresholds = kind.thresholds(training_set, scores)

    def best(fold_set: TrainingSet, folds: Array) -> tuple[int, int, float]:
        error = kind.validation_error(fold_set, scores[folds], thresholds, settings.criterion)[0]
        smallest = error.round(12).min(axis=1)
        list_index = int(np.argmin(smallest))
        lam_index = int(np.flatnonzero(error[list_index].round(12) == smallest[list_index])[-1])
        return list_index, lam_index, float(error[list_index, lam_index])

    rotated = kind.rotates_scores and settings.threshold == "midpoint"

    def by_others(other_folds_set: TrainingSet, folds: Array) -> tuple[Array, Any]:
        list_index, lam_index, _ = best(other_folds_set, folds)
        thresholds_by_others = (
            kind.thresholds(other_folds_set, scores[folds]) if rotated else thresholds
        )
        return scores[:, list_index, lam_index], thresholds_by_others[list_index, lam_index]

    list_index, lam_index, error = best(training_set, np.arange(len(scores)))
    return BestList(
        list_index,
        lam_index,
        error,
        thresholds[list_index, lam_index],
        crossfit(training_set, by_others),
    )


def _refit_models(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    lists: list[Array],
    best_lists: list[BestList],
    lam: Array,
) -> list[LinearModel]:
    models = refit_by_ridge(
        outer, _lists_as_path([[best] for best in lists]), lam[[f.lam for f in best_lists]]
    )
    decided, thresholds = FITTINGS[training_sets[0].kind].decide(
        models, [best.threshold for best in best_lists]
    )
    return [
        LinearModel(
            decided.indices[slice(*decided.indptr[number:][:2])],
            decided.values[slice(*decided.indptr[number:][:2])],
            decided.intercept[number, 0] - thresholds[number],
            None if decided.gamma is None else decided.gamma[number, 0],
            best.crossfitted_scores,
        )
        for number, best in enumerate(best_lists)
    ]
