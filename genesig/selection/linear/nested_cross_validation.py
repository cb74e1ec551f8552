"""Both stages of the linear protocol on training sets: nested cross-validation and final model.

Stage I (`grid`) chooses tau, lambda and mu by the inner folds, and factors, which multiply the l1
terms of each omic (such as RNA). Stage II (`fit_nested_lists`) selects a list for each mu on the
whole training set and refits these nested lists by ridge. The list at the chosen mu is the chosen
list. `answers` adds the FDR-selected genes and the predictive model.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import redraw_final_split
from genesig.errors import GenesigError, pick
from genesig.results import Fits
from genesig.results.fits import CovariateWeights, GridSearch, covariate_part
from genesig.results.splits import PAIRS_OF_ALL_SAMPLES, PAIRS_OF_TRAINING_SET, HalfSampleStudy
from genesig.selection.linear.answers import NullTails, add_answers, predicts_by_half_samples
from genesig.selection.linear.elastic_nets import NestedModels, fit_nested_lists
from genesig.selection.linear.grid import (
    CHOICE_RULES,
    GridChoice,
    GridIndices,
    calibration_lines,
    first_draws,
    search_grid,
    search_grid_averaged,
)
from genesig.selection.linear.half_samples import (
    add_lasso_lists,
    count_pairs,
    count_pairs_of_half_samples,
)
from genesig.selection.linear.kinds import FITTINGS, outer_elastic_nets
from genesig.selection.linear.omics import (
    ChooseSettings,
    SameFactors,
    candidate_factors,
    group_by_factors,
)
from genesig.selection.linear.training_sets import (
    MAX_MOMENTS,
    NO_HALVES,
    LinearSettings,
    PreparedStudy,
    TrainingSet,
    batch_of,
    permutation_numbers,
)

MAX_TRAINING_SETS = 500  # training sets of one call, so that a long job reports its progress often

log = logging.getLogger(__name__)


def nested_cross_validation(
    study: PreparedStudy,
    settings: LinearSettings,
    half_sample_study: HalfSampleStudy | None = None,
    *,
    labels: str,
    batch: str,
) -> Fits:
    """Return the fits of a batch of outer splits, by observed labels or a range of permutations.

    half_sample_study, optional: numbers of genes that are expected under permuted labels. If it is
        missing or empty, the chosen list of the two stages is the only answer. The same holds under
        permuted labels, unless `predicts_by_half_samples`.
    labels: ``observed`` or ``permuted-FIRST-LAST``.
    batch: ``2of3``: every third split, from the second on.
    """
    if labels != "observed" and not predicts_by_half_samples(settings):
        half_sample_study = None  # no result uses the FDR-selected genes of permuted labels
    training_sets = study.make_training_sets(
        batch_of(study.splits.outer, batch),
        permutation_numbers(labels),
        half_counts=(
            count_pairs(PAIRS_OF_TRAINING_SET, settings) if half_sample_study else NO_HALVES
        ),
    )
    null_tails = NullTails.from_study(half_sample_study, "outer")
    return _fit_training_sets(study, training_sets, settings, null_tails)


def fit_final_model(
    study: PreparedStudy,
    settings: LinearSettings,
    half_sample_study: HalfSampleStudy | None = None,
) -> Fits:
    """Return one fit, to all samples: its error is what the nested cross-validation estimates.

    Several draws of the inner folds (`redraw_final_split`) choose the settings of the two stages
    together, and the line of class probabilities is fitted to all of them. Lists by half-samples,
    ensembles and risks have the first draw alone. The nested cross-validation uses one draw:
    several would multiply its time and leave the error as it is.
    """
    half_counts = count_pairs(PAIRS_OF_ALL_SAMPLES, settings) if half_sample_study else NO_HALVES
    training_sets = study.make_training_sets([study.splits.final], half_counts=half_counts)
    redrawn_sets = study.make_training_sets(redraw_final_split(study.dataset, study.splits))
    return _fit_training_sets(
        study,
        training_sets,
        settings,
        NullTails.from_study(half_sample_study, "final"),
        choose_settings=partial(search_grid_averaged, redrawn_sets),
    )


def fit_half_samples(
    study: PreparedStudy,
    settings: LinearSettings,
    half_sample_study: HalfSampleStudy | None = None,
) -> Fits:
    """Return the fits of the half-subsamples, each fitted as an outer training set is.

    Each half chooses its settings by its own inner folds, so that its list is the one that half as
    many patients would have given. A list of the lasso of equal length is added (see
    `add_lasso_lists`).
    """
    half_counts = count_pairs_of_half_samples(settings) if half_sample_study else NO_HALVES
    return _fit_training_sets(
        study,
        study.make_training_sets(study.splits.subsamples, half_counts=half_counts),
        settings,
        NullTails.from_study(half_sample_study, "half"),
        with_lasso_lists=settings.penalty == "l1",
    )


def _fit_training_sets(
    study: PreparedStudy,
    training_sets: list[TrainingSet],
    settings: LinearSettings,
    null_tails: NullTails | None = None,
    *,
    choose_settings: ChooseSettings = search_grid,
    with_lasso_lists: bool = False,
) -> Fits:
    """Return the fits of training sets in order, with answers if there are `null_tails`.

    choose_settings: stage I. with_lasso_lists: whether to add a list of the lasso to each fit.
    """
    start_time = time.monotonic()
    dataset = study.dataset
    output_shape = FITTINGS[dataset.design.kind].output_shape(dataset.design)
    n_outputs = int(np.prod(output_shape))
    # Each output of a training set has its own paths and scores.
    max_sets = min(MAX_TRAINING_SETS, int(MAX_MOMENTS / max(1, len(dataset.genes)))) // n_outputs
    # Memory holds the choices of all candidates at once, with the scores of their folds.
    batch_size = max(1, max_sets // len(candidate_factors(dataset, settings)))
    fits_of_matrices = [
        Fits.none(  # so that a batch without splits has fits with the shapes of the others
            settings.tau_fractions(),
            settings.lam_grid(),
            np.array(settings.mu, dtype=float),
            pick("linear.list", CHOICE_RULES, settings.list).searched_mu(settings),
            output_shape,
        )
    ]
    n_done = 0
    for matrix in study.group_by_matrix(training_sets, batch_size):
        numbers = []
        fits_of_factors = []
        for same_factors in group_by_factors(matrix, settings, choose_settings):
            fits, same_factors = _fit_short_enough(same_factors, settings)
            if null_tails is not None:
                fits = add_answers(same_factors, fits, settings, null_tails)
            if with_lasso_lists:
                fits = add_lasso_lists(same_factors.outer, fits, matrix.genes, settings)
            if same_factors.factors is not None:
                factors = np.tile(same_factors.factors, (len(fits), 1))
                fits = replace(fits, grid=replace(fits.grid, factors=factors))
            numbers.append(same_factors.numbers)
            fits_of_factors.append(fits)
        # Sets that chose the same factors were fitted together.
        original_order = np.argsort(np.concatenate(numbers))
        fits_of_matrices.append(Fits.concatenate(fits_of_factors).take(original_order))
        n_done += len(original_order)
        log.info("%d of %d fits, %.0f s", n_done, len(training_sets), time.monotonic() - start_time)
    return Fits.concatenate(fits_of_matrices)


def _fit_short_enough(
    same_factors: SameFactors, settings: LinearSettings
) -> tuple[Fits, SameFactors]:
    """Return the fits, each with a list of at most ``signature.most`` genes, and their choices.

    The inner folds, which choose, have fewer samples and often shorter lists than the training set.
    A set whose list is longer, or whose lists all exceed ``linear.longest``, chooses again among
    shorter lists; without a shorter choice its list stays.

    Raises GenesigError: if a training set has no list and no shorter choice.
    """
    training_sets = same_factors.matrix.training_sets
    fits = _fit_choices(same_factors, settings)
    list_sizes = fits.sizes()[np.arange(len(fits)), fits.chosen_lists]
    no_list = np.asarray(np.isnan(fits.gap).all(axis=1))  # all are longer than ``linear.longest``
    shorter_choices = {}
    for fit in np.flatnonzero(no_list | (list_sizes > settings.most)):
        choice = same_factors.choices[fit].shorter()
        if choice is not None:
            shorter_choices[fit] = choice
        elif no_list[fit]:
            permutation = training_sets[fit].permutation
            permutation_text = f", permutation {permutation}" if permutation else ""
            raise GenesigError(
                f"split {training_sets[fit].split}{permutation_text}: every list has more than "
                f"{settings.longest} genes; raise linear.longest or linear.tau_min"
            )
    if not shorter_choices:
        return fits, same_factors
    subset = same_factors.matrix.subset(shorter_choices)
    # `numbers` and `inner`, which no fit uses, stay those of all sets.
    chosen_again = same_factors._replace(
        matrix=subset,
        outer=outer_elastic_nets(subset, settings, same_factors.factors),
        choices=list(shorter_choices.values()),
    )
    shorter_fits, chosen_again = _fit_short_enough(chosen_again, settings)
    order = np.arange(len(fits))
    order[list(shorter_choices)] = len(fits) + np.arange(len(shorter_fits))
    choices = [*same_factors.choices, *chosen_again.choices]
    return (
        Fits.concatenate([fits, shorter_fits]).take(order),
        same_factors._replace(choices=[choices[index] for index in order]),
    )


def _fit_choices(same_factors: SameFactors, settings: LinearSettings) -> Fits:
    """Return stage II at the choices of stage I, with the scores of the test samples."""
    training_sets = same_factors.matrix.training_sets
    outer = same_factors.outer
    choices = same_factors.choices
    tau = settings.tau_fractions()[[choice.indices.tau for choice in choices]]
    lam = settings.lam_grid()[[choice.indices.lam for choice in choices]]
    models = fit_nested_lists(outer, tau, lam, settings)
    kept_indices = _kept_indices(training_sets, models, choices, settings)
    fitting = FITTINGS[training_sets[0].kind]
    crossfitted_scores = [choice.crossfitted_scores for choice in choices]
    calibration = calibration_lines(training_sets, crossfitted_scores)
    # With several classes, `decide` makes models of margins, by which test samples are scored.
    models, threshold = fitting.decide(models, [choice.threshold for choice in choices])
    test_scores = [
        _test_scores(outer.X, training_set, models, fit)
        for fit, training_set in enumerate(training_sets)
    ]
    return Fits(
        split=np.array([training_set.split for training_set in training_sets]),
        permutation=np.array([training_set.permutation for training_set in training_sets]),
        grid=GridSearch(
            tau=settings.tau_fractions(),
            lam=settings.lam_grid(),
            searched=pick("linear.list", CHOICE_RULES, settings.list).searched_mu(settings),
            tau_max=outer.tau_max,
            norm=outer.norm,
            error=np.stack([choice.error for choice in choices]),
            standard_error=np.stack([choice.standard_error for choice in choices]),
            n_genes=np.stack([choice.n_genes for choice in choices]),
            agreement=np.stack([choice.agreement for choice in choices]),
        ),
        mu=np.asarray(settings.mu, dtype=float),
        choice=np.array(kept_indices),
        threshold=threshold,
        indptr=models.indptr,
        indices=same_factors.matrix.genes[models.indices],
        values=models.values,
        intercept=models.intercept,
        gap=models.gap,
        test_indptr=np.cumsum([0, *(len(training_set.test) for training_set in training_sets)]),
        # rows of the labels of the test samples: a permutation moves only the rows of X
        test_rows=np.concatenate([training_set.label_rows for training_set in training_sets]),
        scores=np.concatenate(test_scores),
        covariates=(
            None
            if models.gamma is None or models.covariate_mean is None
            else CovariateWeights(
                gamma=models.gamma,
                mean=models.covariate_mean,
                knots=np.stack([training_set.knots() for training_set in training_sets]),
            )
        ),
        line=calibration.line,
        shrinkage=calibration.shrinkage,
        crossfitted=first_draws(crossfitted_scores) if settings.crossfitted else None,
    )


def _kept_indices(
    training_sets: list[TrainingSet],
    models: NestedModels,
    choices: list[GridChoice],
    settings: LinearSettings,
) -> list[GridIndices]:
    """Return the chosen indices; if the path ended before the chosen list, those of its last list.

    Each fit decides this alone, so that permuted labels are treated as the observed ones are.
    """
    has_list = ~np.isnan(models.gap)
    kept_indices = []
    for fit, choice in enumerate(choices):
        indices = choice.indices
        if has_list[fit].any() and not has_list[fit, indices.mu]:
            log.warning(
                "split %s: the list at mu %g has more than %s genes; the longest kept one serves",
                training_sets[fit].split,
                settings.mu[indices.mu],
                settings.longest,
            )
            indices = indices._replace(mu=int(np.flatnonzero(has_list[fit])[-1]))
        kept_indices.append(indices)
    return kept_indices


def _test_scores(X: Array, training_set: TrainingSet, models: NestedModels, fit: int) -> Array:
    """Return f(x) = intercept + x'b + c'γ of the test samples, (n_test, n_mu); NaN without a list.

    `fit` is the number of the training set in the models. A missing covariate counts as its mean
    over the training samples.
    """
    n_mu = models.intercept.shape[1]
    scores = np.empty((len(training_set.test), n_mu, *models.values.shape[1:]))
    for mu_index in range(n_mu):
        list_number = fit * n_mu + mu_index
        entries = slice(models.indptr[list_number], models.indptr[list_number + 1])
        selected_columns = X[np.ix_(training_set.test, models.indices[entries])]
        scores[:, mu_index] = (
            models.intercept[fit, mu_index] + selected_columns @ models.values[entries]
        )
    if models.gamma is not None and models.covariate_mean is not None:
        C = training_set.test_covariates()
        scores += covariate_part(C, models.covariate_mean[fit], models.gamma[fit])
    scores[:, np.isnan(models.gap[fit])] = np.nan
    return scores
