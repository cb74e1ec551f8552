"""Two models of a training set: that of the FDR-selected genes, and the predictive model.

FDR-selected genes have a selection frequency in half-samples that permuted labels seldom give (see
`frequency`); they are refitted by ridge. The predictive model is that of the chosen list: the inner
folds choose the settings in stage I, and stage II selects the genes on the whole training set. With
the list `BEST_LIST` it is the model of the genes at twice the FDR (the looser FDR), if their inner
error is no larger. With an ensemble it is the mean of three linear models, which is a linear model
itself: of that list; of the genes with the highest selection frequency; of the genes that are, each
alone, most associated with the outcome. They select genes in different ways, so that their errors
may differ. All are refitted by ridge. The inner folds choose the length of the last two lists, and
their lambda.

Genes are columns of the matrix, whose numbers in the data set are `NormalisedMatrix.genes`. k
counts training sets, m lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.errors import GenesigError
from genesig.results import Fits
from genesig.results.fits import ANSWERS, Answers, covariate_part
from genesig.results.splits import HalfSampleStudy
from genesig.selection.genes.frequency import (
    PREDICTIVE_FDR_FACTOR,
    expected_tails,
    rank_genes,
    round_sizes,
    selection_q,
)
from genesig.selection.linear.elastic_nets import (
    ElasticNets,
    LinearModel,
    lists_as_path,
    refit_by_ridge,
)
from genesig.selection.linear.grid import (
    ERROR_DIGITS,
    GridChoice,
    calibration_lines,
    crossfit,
    first_draws,
    stack_or_none,
)
from genesig.selection.linear.half_samples import HalfSampleLists, select_half_samples
from genesig.selection.linear.kinds import FITTINGS, score_thresholds
from genesig.selection.linear.omics import SameFactors, outer_and_inner_nets
from genesig.selection.linear.training_sets import (
    LIST_LENGTHS,
    LinearSettings,
    NormalisedMatrix,
    TrainingSet,
)


def first_genes(genes: Array) -> tuple[Array, ...]:
    """Return the first genes of an order: lists of up to each of `LIST_LENGTHS`, ascending."""
    return tuple(np.sort(genes[:length]) for length in LIST_LENGTHS)


def by_gradient(gradient: Array) -> tuple[Array, ...]:
    """Return `first_genes` by falling size of the gradient (d,), without genes of size 0."""
    order = np.argsort(-round_sizes(gradient), kind="stable")
    return first_genes(order[: np.count_nonzero(gradient)])


def mean_model(models: Sequence[LinearModel]) -> LinearModel:
    """Return the linear model whose scores are the mean of the scores of some models.

    All are refits of one training set in one unit, each less its threshold: a score of 0 is halfway
    between the classes for each, and so for the mean. Lists by half-samples have one draw of the
    inner folds, so that the mean has the first draw alone.
    """
    first = first_draws([model.crossfitted_scores for model in models])
    genes = np.unique(np.concatenate([model.genes for model in models]))
    values = np.zeros((len(genes), *models[0].values.shape[1:]))
    for model in models:
        values[np.searchsorted(genes, model.genes)] += model.values / len(models)
    return replace(
        models[0],
        genes=genes,
        values=values,
        intercept=sum(model.intercept for model in models) / len(models),
        gamma=_mean_or_none([model.gamma for model in models]),
        crossfitted_scores=None if first is None else first.mean(axis=0, keepdims=True),
    )


def _mean_or_none(arrays: Sequence[Array | None]) -> Array | None:
    """Return the mean of arrays; None if any of them is None."""
    stacked = stack_or_none(arrays)
    return None if stacked is None else np.asarray(stacked.mean(axis=0))


BEST_LIST = "best"
"""Setting ``linear.list``: the list of the two stages, or at the looser FDR if it is no worse."""
FDR_LIST = "fdr"  # setting ``linear.list``: the FDR-selected genes
ENSEMBLE_MODEL = "ensemble"  # setting ``linear.model``: the mean of three models

TIE_TOLERANCE = 1e-12
"""Difference of validation errors that counts as none; at a tie half-samples decide the list."""


def predicts_by_half_samples(settings: LinearSettings) -> bool:
    """Return whether the predictive model may depend on half-sample lists."""
    return settings.list in (BEST_LIST, FDR_LIST) or settings.model == ENSEMBLE_MODEL


class NullTails(NamedTuple):
    """Expected number of genes in at least t half-sample lists, t = 0 ... T, by permuted labels."""

    outer: Array  # (T + 1,) float: for T lists of a training set
    inner: Array
    """(T' + 1,) float: for T' lists of the rows that train an inner fold; (0,) if not studied."""

    @classmethod
    def from_study(cls, study: HalfSampleStudy | None, level: str) -> NullTails | None:
        """Return the tails for ``outer`` splits, the ``final`` model or ``half`` of the samples.

        None without a study, or if the study has no permutations.
        """
        if not study:
            return None
        inner_level = {"outer": "inner", "final": "final_inner", "half": "half_inner"}[level]
        return cls(
            expected_tails(getattr(study, level)), expected_tails(getattr(study, inner_level))
        )


class AnswerNets(NamedTuple):
    """Elastic nets of training sets and of their inner folds, from which the answers are fitted.

    Half-samples select by equal penalty factors of the omics, for which their FDR is estimated; the
    partners of an ensemble are refitted by the chosen factors.
    """

    outer: ElasticNets  # training sets, by the chosen penalty factors
    inner: ElasticNets  # training sets of their inner folds, by the chosen factors
    equal_outer: ElasticNets  # training sets, by equal factors
    equal_inner: ElasticNets  # training sets of their inner folds, by equal factors

    @classmethod
    def from_factors(cls, same_factors: SameFactors, settings: LinearSettings) -> AnswerNets:
        """Add the elastic nets with equal factors to those with the chosen ones."""
        chosen_nets = same_factors.outer, same_factors.inner
        if same_factors.factors is None or (same_factors.factors == 1).all():
            return cls(*chosen_nets, *chosen_nets)
        return cls(*chosen_nets, *outer_and_inner_nets(same_factors.matrix, settings))


class HalfSelection(NamedTuple):
    """Half-sample lists of training sets, and of the training sets of their inner folds."""

    outer: HalfSampleLists  # lists of each training set
    inner: HalfSampleLists  # lists of the rows that train each inner fold, folds of a set in a row

    @classmethod
    def from_training_sets(
        cls, training_sets: list[TrainingSet], outer: ElasticNets, settings: LinearSettings
    ) -> HalfSelection:
        """Select genes in the halves of the training sets and of their folds."""
        fold_halves = [
            (number, masks)
            for number, training_set in enumerate(training_sets)
            for masks in training_set.inner_halves
        ]
        return cls(
            _select_halves(training_sets, outer, settings),
            select_half_samples(outer, training_sets, fold_halves, settings),
        )


def _select_halves(
    training_sets: list[TrainingSet], outer: ElasticNets, settings: LinearSettings
) -> HalfSampleLists:
    """Return the half-sample lists of training sets."""
    halves = [(number, training_set.halves) for number, training_set in enumerate(training_sets)]
    return select_half_samples(outer, training_sets, halves, settings)


class BestList(NamedTuple):
    """The list of a training set, and its lambda, with the smallest error of the inner folds."""

    list_index: int  # index among the candidate lists
    lam_index: int  # index in `LinearSettings.lam_grid`
    error: float  # validation error of the inner folds
    threshold: Any  # threshold of its scores; a matrix of class means for several classes
    crossfitted_scores: Array | None = None
    """(1, n, ...) float: of training samples by the one draw of the folds, see `crossfit`."""


def add_answers(
    same_factors: SameFactors,
    fits: Fits,
    settings: LinearSettings,
    null_tails: NullTails,
) -> Fits:
    """Return the fits with the predictive model and the model of the FDR-selected genes.

    Without null tails for the inner folds, the chosen list predicts, and the FDR-selected genes are
    refitted at the lambda of that list.

    same_factors: training sets and their choices. fits: those of the two stages, in that order.
    """
    training_sets = same_factors.matrix.training_sets
    genes = same_factors.matrix.genes
    choices = same_factors.choices
    nets = AnswerNets.from_factors(same_factors, settings)
    chosen = [_chosen_model(fits, number, choice, genes) for number, choice in enumerate(choices)]
    predictive = chosen
    uses_half_samples = np.full(len(training_sets), settings.list == FDR_LIST)
    if not len(null_tails.inner):
        fdr_selected = _fit_at_chosen_lambda(
            training_sets, choices, nets.equal_outer, settings, null_tails
        )
    else:
        half_selection = HalfSelection.from_training_sets(training_sets, nets.equal_outer, settings)
        fdr_selected, loose, loose_errors = fit_fdr_selected(
            training_sets, nets.equal_outer, nets.equal_inner, settings, null_tails, half_selection
        )
        by_half_samples = fdr_selected
        if settings.list == BEST_LIST:
            by_half_samples = loose
            chosen_errors = np.array([choice.chosen_error for choice in choices])
            uses_half_samples = loose_errors <= chosen_errors + TIE_TOLERANCE
        predictive = [
            half_sample_model if is_used else chosen_model
            for half_sample_model, chosen_model, is_used in zip(
                by_half_samples, chosen, uses_half_samples, strict=True
            )
        ]
        if settings.model == ENSEMBLE_MODEL:
            partners = _ensemble_partners(training_sets, nets, settings, half_selection)
            predictive = list(map(mean_model, zip(predictive, *partners, strict=True)))
    models = list(zip(predictive, fdr_selected, strict=True))
    return replace(fits, answers=_answers(same_factors.matrix, models, fits, uses_half_samples))


def _answers(
    matrix: NormalisedMatrix,
    models: Sequence[tuple[LinearModel, ...]],
    fits: Fits,
    uses_half_samples: Array,
) -> Answers:
    """Return the record of the two models of each training set, in the order of `ANSWERS`.

    uses_half_samples (k,) bool: whether the predictive model is that of a list by selection
    frequency.
    """
    training_sets = matrix.training_sets
    all_models = [model for pair in models for model in pair]
    scores = []
    for fit, (training_set, pair) in enumerate(zip(training_sets, models, strict=True)):
        pair_scores = np.stack(
            [model.scores(matrix.X, training_set.test) for model in pair], axis=1
        )
        if fits.covariates is not None:
            C = training_set.test_covariates()
            pair_scores += covariate_part(C, fits.covariates.mean[fit], _stack_gamma(pair))
        scores.append(pair_scores)
    answer_lines = [
        calibration_lines(training_sets, [model.crossfitted_scores for model in answer_models])
        for answer_models in zip(*models, strict=True)
    ]
    crossfitted = None
    if fits.crossfitted is not None:
        scores_of_models = first_draws([model.crossfitted_scores for model in all_models])
        if scores_of_models is not None:
            crossfitted = scores_of_models.reshape(len(models), len(ANSWERS), -1)
    return Answers(
        indptr=np.cumsum([0, *(len(model.genes) for model in all_models)]),
        indices=np.concatenate([matrix.genes[model.genes] for model in all_models]),
        values=np.concatenate([model.values for model in all_models]),
        intercept=np.stack([[model.intercept for model in pair] for pair in models]),
        scores=np.concatenate(scores),
        controlled=uses_half_samples,
        gamma=(
            None if fits.covariates is None else np.stack([_stack_gamma(pair) for pair in models])
        ),
        line=stack_or_none([lines.line for lines in answer_lines], axis=1),
        shrinkage=stack_or_none([lines.shrinkage for lines in answer_lines], axis=1),
        crossfitted=crossfitted,
    )


def _stack_gamma(models: Sequence[LinearModel]) -> Array:
    """Return the weights of the covariates of models that have covariates."""
    return np.stack([model.gamma for model in models if model.gamma is not None])


def _chosen_model(fits: Fits, fit: int, choice: GridChoice, genes: Array) -> LinearModel:
    """Return the model of the list that the two stages choose.

    genes (d,) int: ascending numbers in the data set of the columns, among them all of the list.
    """
    list_index = int(fits.chosen_lists[fit])
    indices, values = fits.coef(fit, list_index)
    return LinearModel(
        genes=np.searchsorted(genes, indices),
        values=values,
        intercept=fits.intercept[fit, list_index] - fits.threshold[fit],
        gamma=None if fits.covariates is None else fits.covariates.gamma[fit, list_index],
        crossfitted_scores=choice.crossfitted_scores,
    )


def fit_fdr_selected(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    inner: ElasticNets,
    settings: LinearSettings,
    null_tails: NullTails,
    half_selection: HalfSelection,
) -> tuple[list[LinearModel], list[LinearModel], Array]:
    """Return the refits of the genes at two FDRs of their selection frequency.

    The inner folds select genes in the same way. Their validation samples choose lambda, and give
    the error and the threshold.

    Returns fdr_selected, loose: at ``signature.fdr``, and at `PREDICTIVE_FDR_FACTOR` times that;
    loose_errors (k,) float: validation error of the lists at the looser FDR.
    """
    fold_lists = fdr_lists(half_selection.inner, settings, null_tails.inner)
    scores = _validation_scores(training_sets, inner, fold_lists, settings)
    training_lists = fdr_lists(half_selection.outer, settings, null_tails.outer)
    models = []
    for fdr_index, lists in enumerate(zip(*training_lists, strict=True)):
        best = [
            _best_list(training_set, set_scores[:, [fdr_index]], settings)
            for training_set, set_scores in zip(training_sets, scores, strict=True)
        ]
        models.append(_refit_lists(training_sets, outer, lists, best, settings.lam_grid()))
    fdr_selected, loose = models
    loose_errors = np.array([best_list.error for best_list in best])  # of the last round
    return fdr_selected, loose, loose_errors


def _validation_scores(
    training_sets: list[TrainingSet],
    inner: ElasticNets,
    fold_lists: Sequence[Sequence[Array]],
    settings: LinearSettings,
) -> list[Array]:
    """Return the scores (n_folds, m, n_lam, n, ...) of each training set by its folds' m lists."""
    validation_masks = np.hstack(
        [training_set.validation_masks() for training_set in training_sets]
    )
    # `ridge_scores` takes an absolute lambda, `refit_by_ridge` one in units of the norm.
    absolute_lam = settings.lam_grid() * inner.norm[:, None]
    scores = inner.ridge_scores(lists_as_path(fold_lists), absolute_lam, validation_masks)
    n_folds = [len(training_set.inner_folds) for training_set in training_sets]
    return np.split(scores, np.cumsum(n_folds)[:-1])


def _ensemble_partners(
    training_sets: list[TrainingSet],
    nets: AnswerNets,
    settings: LinearSettings,
    half_selection: HalfSelection,
) -> list[list[LinearModel]]:
    """Return the two partners of the chosen model: by selection frequency, and by gradient.

    The inner folds choose the length of each list and its lambda.
    """
    frequency_lists = [
        [
            first_genes(rank_genes(counts, weight_sums))
            for counts, weight_sums in zip(lists.counts(), lists.weight_sums(), strict=True)
        ]
        for lists in half_selection
    ]
    gradient_lists = [
        [
            by_gradient(elastic_nets.null_gradient(number))
            for number in range(len(elastic_nets.norm))
        ]
        for elastic_nets in (nets.outer, nets.inner)
    ]
    partners = []
    for training_lists, fold_lists in (frequency_lists, gradient_lists):
        scores = _validation_scores(training_sets, nets.inner, fold_lists, settings)
        best = [
            _best_list(training_set, set_scores, settings)
            for training_set, set_scores in zip(training_sets, scores, strict=True)
        ]
        lists = [
            lists_of_set[best_list.list_index]
            for lists_of_set, best_list in zip(training_lists, best, strict=True)
        ]
        partners.append(_refit_lists(training_sets, nets.outer, lists, best, settings.lam_grid()))
    return partners


def fdr_lists(
    lists: HalfSampleLists, settings: LinearSettings, expectation: Array
) -> list[tuple[Array, Array]]:
    """Return the genes at ``signature.fdr`` and at the looser FDR, ascending, of each set.

    expectation (T + 1,) float: a field of `NullTails`.

    Raises GenesigError: if it is the expectation of another number of lists.
    """
    if len(expectation) != lists.n_lists + 1:
        raise GenesigError(
            f"half-sample lists: {len(expectation) - 1} of a training set under permuted labels,"
            f" {lists.n_lists} here; run both with the same settings"
        )
    loose_fdr = PREDICTIVE_FDR_FACTOR * settings.fdr
    return [
        (
            _genes_at_fdr(counts, weight_sums, settings.fdr, settings, expectation),
            _genes_at_fdr(counts, weight_sums, loose_fdr, settings, expectation),
        )
        for counts, weight_sums in zip(lists.counts(), lists.weight_sums(), strict=True)
    ]


def _genes_at_fdr(
    counts: Array, weight_sums: Array, fdr: float, settings: LinearSettings, expectation: Array
) -> Array:
    """Return the genes with q at most `fdr`, ascending; q is the estimated FDR (`selection_q`).

    If fewer than ``signature.least`` have such a q, the next genes in rank are added. There are at
    most ``signature.most``; or ``signature.size`` whatever their q. Only genes in lists count.
    """
    n_passing = np.count_nonzero(selection_q(counts, expectation) <= fdr)
    n_genes = int(np.clip(n_passing, settings.least, max(settings.least, settings.most)))
    return np.sort(rank_genes(counts, weight_sums)[: settings.size or n_genes])


def _fit_at_chosen_lambda(
    training_sets: list[TrainingSet],
    choices: Sequence[GridChoice],
    outer: ElasticNets,
    settings: LinearSettings,
    null_tails: NullTails,
) -> list[LinearModel]:
    """Return the models of the FDR-selected genes at the lambda and threshold of the choices."""
    selected = fdr_lists(_select_halves(training_sets, outer, settings), settings, null_tails.outer)
    # Each set has one list, number 0, whose error is not computed, because nothing is chosen.
    best = [
        BestList(0, choice.indices.lam, error=np.nan, threshold=choice.threshold)
        for choice in choices
    ]
    lists = [fdr_genes for fdr_genes, _ in selected]
    return _refit_lists(training_sets, outer, lists, best, settings.lam_grid())


def _best_list(training_set: TrainingSet, scores: Array, settings: LinearSettings) -> BestList:
    """Return the list and lambda with the smallest validation error.

    Ties go to the first list, then to the largest lambda.

    scores (n_folds, m, n_lam, n, ...) float: of all samples, by each fold's refits of m lists.
    """
    fitting = FITTINGS[training_set.kind]
    thresholds = score_thresholds(training_set, scores, settings)

    def smallest_error(fold_set: TrainingSet, fold_numbers: Array) -> tuple[int, int, float]:
        error, _ = fitting.validation_error(
            fold_set, scores[fold_numbers], thresholds, settings.criterion
        )
        rounded_error = error.round(ERROR_DIGITS)
        smallest = rounded_error.min(axis=1)
        list_index = int(np.argmin(smallest))
        lam_index = int(np.flatnonzero(rounded_error[list_index] == smallest[list_index])[-1])
        return list_index, lam_index, float(error[list_index, lam_index])

    def choose_by_folds(fold_set: TrainingSet, fold_numbers: Array) -> tuple[Array, Any]:
        """Return the scores of all folds at the choice of these folds alone, and its threshold."""
        list_index, lam_index, _ = smallest_error(fold_set, fold_numbers)
        fold_thresholds = thresholds
        if fitting.rotates_scores:  # several classes: their thresholds are class means of scores
            # Class means of all folds would bring the labels of a sample into its own score.
            fold_thresholds = score_thresholds(fold_set, scores[fold_numbers], settings)
        return scores[:, list_index, lam_index], fold_thresholds[list_index, lam_index]

    list_index, lam_index, error = smallest_error(training_set, np.arange(len(scores)))
    threshold = thresholds[list_index, lam_index]
    chosen = (scores[:, list_index, lam_index], threshold)
    crossfitted_scores = stack_or_none([crossfit(training_set, chosen, choose_by_folds)])
    return BestList(list_index, lam_index, error, threshold, crossfitted_scores)


def _refit_lists(
    training_sets: list[TrainingSet],
    outer: ElasticNets,
    lists: Sequence[Array],
    best: Sequence[BestList],
    lam: Array,
) -> list[LinearModel]:
    """Return the ridge model of one list of each training set, less its threshold."""
    set_lam = lam[[best_list.lam_index for best_list in best]]
    ridge_models = refit_by_ridge(outer, lists_as_path([[genes] for genes in lists]), set_lam)
    fitting = FITTINGS[training_sets[0].kind]
    # Several classes: models of the margins to the class means, less 0; else the same models.
    models, thresholds = fitting.decide(ridge_models, [best_list.threshold for best_list in best])
    linear_models = []
    for number, best_list in enumerate(best):
        entries = row_entries(models.indptr, number)
        linear_models.append(
            LinearModel(
                genes=models.indices[entries],
                values=models.values[entries],
                intercept=models.intercept[number, 0] - thresholds[number],
                gamma=None if models.gamma is None else models.gamma[number, 0],
                crossfitted_scores=best_list.crossfitted_scores,
            )
        )
    return linear_models
