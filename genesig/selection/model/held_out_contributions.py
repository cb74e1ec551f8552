"""The contribution of each gene and covariate to the held-out score of each sample of a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import Steps
from genesig.response.design import SEVERAL_CLASSES
from genesig.results import Dataset, Fits, Splits
from genesig.selection.linear.training_sets import PreparedStudy, TrainingSet


@dataclass(frozen=True, eq=False)
class HeldOutContributions:
    """Terms of the mean held-out scores of n samples: p genes, then q covariates.

    A term is weight * (value - training mean), as in `contributions.Contributions` of the final
    model, averaged over the models that left the sample out. With several classes the
    score is the margin of the sample's class over the largest of the others.
    """

    genes: Array  # (p,) int: numbers of the genes with a weight in any fit, ascending
    covariates: tuple[str, ...]  # (q,) columns of the sample table
    terms: Array  # (n, p + q): with `intercepts` they sum to the mean scores
    intercepts: Array  # (n,) mean score of a sample with the training means
    n_tested: Array  # (n,) int: number of models that left the sample out; if 0, all terms are 0


def held_out_contributions(
    dataset: Dataset, splits: Splits, observed: Fits, fold_steps: Steps
) -> HeldOutContributions:
    """Return the contributions to the held-out scores of the chosen lists.

    dataset: after the row-wise steps. observed: fits of all outer splits with the observed labels.
    fold_steps: ``normalise.folds`` of the config; the steps are fitted again to each training set.
    """
    chosen = observed.with_chosen()
    fit_of_split = {str(name): fit for fit, name in enumerate(chosen.split)}
    genes = np.unique(np.concatenate([chosen.chosen_coef(fit)[0] for fit in range(len(chosen))]))
    covariates = dataset.design.covariates
    # Term number of each covariate column of a model: a category has several columns but one term.
    covariate_terms = len(genes) + np.repeat(
        np.arange(len(covariates)), [len(covariate.names) for covariate in covariates]
    )
    n = len(dataset.samples)
    terms = np.zeros((n, len(genes) + len(covariates)))
    intercepts = np.zeros(n)
    n_tested = np.zeros(n, dtype=np.int64)
    study = PreparedStudy(dataset, splits, fold_steps)
    training_sets = study.make_training_sets(splits.outer)
    for matrix in study.group_by_matrix(training_sets, len(training_sets)):
        for training_set in matrix.training_sets:
            fit = fit_of_split[training_set.split]
            list_genes = chosen.chosen_coef(fit)[0]
            columns = np.searchsorted(matrix.genes, list_genes)
            fit_terms, fit_intercepts = _terms_of_fit(
                matrix.X[:, columns], training_set, chosen, fit
            )
            term_numbers = np.concatenate([np.searchsorted(genes, list_genes), covariate_terms])
            test = training_set.test
            # Several columns of one covariate add up in its term.
            np.add.at(terms, np.ix_(test, term_numbers), fit_terms)
            intercepts[test] += fit_intercepts
            n_tested[test] += 1
    n_models = np.maximum(n_tested, 1)  # divides the sums; 1 instead of 0
    return HeldOutContributions(
        genes=genes,
        covariates=tuple(covariate.column for covariate in covariates),
        terms=terms / n_models[:, None],
        intercepts=intercepts / n_models,
        n_tested=n_tested,
    )


def _terms_of_fit(
    X: Array, training_set: TrainingSet, chosen: Fits, fit: int
) -> tuple[Array, Array]:
    """Return terms (n_test, p + c) and intercepts (n_test,) of the test samples of one fit.

    X (n, p): normalised genes of the chosen list. c: columns of the covariates in a model. chosen:
    of `Fits.with_chosen`, whose last list is the chosen one.
    """
    test = training_set.test
    values = X[test]
    means = X[training_set.train].mean(axis=0)
    score_intercepts = np.atleast_1d(chosen.intercept[fit, -1] - chosen.threshold[fit])
    n_scores = len(score_intercepts)
    weights = chosen.chosen_coef(fit)[1].reshape(X.shape[1], n_scores)
    if chosen.covariates is not None:
        covariate_means = chosen.covariates.mean[fit]
        C = training_set.test_covariates()
        values = np.column_stack([values, np.where(np.isnan(C), covariate_means, C)])
        means = np.append(means, covariate_means)
        gamma = chosen.covariates.gamma[fit, -1]  # weights of the covariates
        weights = np.concatenate([weights, gamma.reshape(len(covariate_means), n_scores)])
    score_weights = np.ones((len(test), 1))  # (n_test, T): explained score = Σ_T weight * score
    if training_set.kind == SEVERAL_CLASSES:
        score_weights = _margin_weights(chosen.test_scores(fit)[1][:, -1], training_set.y[test])
    intercepts = score_weights @ (score_intercepts + means @ weights)
    return (values - means) * (score_weights @ weights.T), intercepts


def _margin_weights(scores: Array, y: Array) -> Array:
    """Return weights (n, T) whose weighted sum of scores is the margin of each sample's class.

    They are 1 for its class y (n,), -1 for the largest of the other scores, and else 0.
    """
    rows = np.arange(len(y))
    class_number = y.astype(np.int64)
    other_scores = scores.copy()
    other_scores[rows, class_number] = -np.inf
    weights = np.zeros(scores.shape)
    weights[rows, class_number] = 1.0
    weights[rows, other_scores.argmax(axis=1)] = -1.0
    return weights
