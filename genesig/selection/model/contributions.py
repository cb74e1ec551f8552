"""The contribution of each gene to the score of a new sample, and to held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import Steps
from genesig.response.design import SEVERAL_CLASSES
from genesig.results import Dataset, Fits, Splits
from genesig.selection.linear.training_sets import PreparedStudy, TrainingSet
from genesig.selection.model.schema import ModelJson
from genesig.selection.model.shape import covariate_values

if TYPE_CHECKING:
    import pandas as pd

GENE = "gene"
COVARIATE = "covariate"
INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class Contributions:
    """Terms of the linear scores of n samples: p genes and covariates, T scores per sample."""

    samples: Sequence[str]
    classes: Sequence[str] | None  # (T,) class of each score; None if a sample has one score
    kinds: Sequence[str]  # (p,) `GENE` or `COVARIATE`, for each term
    names: Sequence[str]  # (p,) gene or column of a covariate, for each term
    symbols: Sequence[str]  # (p,) symbol of a gene; of a covariate its name
    values: Array  # (n, p) values after the steps of the model
    means: Array  # (p,) means over the training samples
    weights: Array  # (p, T)
    intercepts: Array  # (T,) scores of a sample whose values are the `means`

    def terms(self) -> Array:
        """Return the contributions (n, p, T); with `intercepts` they sum to the scores."""
        return np.asarray((self.values - self.means)[..., None] * self.weights)

    def table(self) -> pd.DataFrame:
        """Return one row for each term of each score, the largest contributions first.

        Columns: sample, class (if a sample has several scores), term, name, symbol, value, mean,
        weight, contribution. The first row of a score is its intercept; its rows sum to the score.
        """
        import pandas as pd

        contributions = self.terms().swapaxes(1, 2)
        n, n_scores, p = contributions.shape
        order = np.argsort(-np.abs(contributions), axis=2, kind="stable")
        # With `order` (n, T, p) as last index these broadcast to one entry per term of each score.
        sample_index = np.arange(n)[:, None, None]
        score_index = np.arange(n_scores)[:, None]

        def in_rows(intercept_entry: object, values: Array) -> Array:
            """Return values (n, T, p) as a column (n T (p + 1),): each score's intercept row first.

            intercept_entry: entry of the intercept rows, the same for all scores or (T,).
            """
            first_entries = np.broadcast_to(np.array(intercept_entry), (n, n_scores))[..., None]
            return np.concatenate([first_entries, values], axis=2).ravel()

        names, symbols, kinds = (
            np.array(texts, dtype=object)[order] for texts in (self.names, self.symbols, self.kinds)
        )
        return pd.DataFrame(
            {
                "sample": np.repeat(np.array(self.samples, dtype=object), n_scores * (p + 1)),
                **(
                    {}
                    if self.classes is None
                    else {"class": np.tile(np.repeat(self.classes, p + 1), n)}
                ),
                "term": in_rows(INTERCEPT, kinds),
                "name": in_rows("", names),
                "symbol": in_rows("", symbols),
                "value": in_rows(np.nan, self.values[sample_index, order]),
                "mean": in_rows(np.nan, self.means[order]),
                "weight": in_rows(np.nan, self.weights[order, score_index]),
                "contribution": in_rows(
                    self.intercepts, contributions[sample_index, score_index, order]
                ),
            }
        )


def contributions_to_scores(
    model: ModelJson,
    model_of_list: ModelJson,
    samples: Sequence[str],
    values: Array,
    sample_table: pd.DataFrame | None,
) -> Contributions:
    """Return the contributions of the genes and covariates of a model to the scores of samples.

    Training means are those of ``training.scale`` and of ``covariates`` in model.json.

    model: the content of model.json. model_of_list: the entry of its ``models`` that is used.
    values (n, n_genes): of the genes of `model_of_list`, in its order, after its learned steps.
    sample_table: as for `covariate_scores`.
    """
    genes = list(model_of_list["genes"])
    intercepts = np.atleast_1d(np.array(model_of_list["intercept"], dtype=float))
    n_scores = len(intercepts)
    weights = np.array(model_of_list["coefficients"], dtype=float).reshape(-1, n_scores)
    scale = model["training"]["scale"]
    mean_of_gene = dict(zip(scale["genes"], scale["means"], strict=True))
    means = np.array([mean_of_gene[gene] for gene in genes], dtype=float)
    covariates = covariate_values(model, sample_table)
    covariate_names: list[str] = []
    if covariates is not None:
        covariate_names = list(model["covariates"]["names"])
        covariate_weights = np.array(model_of_list["covariates"], dtype=float)
        values = np.column_stack([values, covariates])
        means = np.append(means, model["covariates"]["means"])
        weights = np.concatenate([weights, covariate_weights.reshape(-1, n_scores)])
    return Contributions(
        samples=samples,
        classes=model["classes"] if isinstance(model["classes"], list) else None,
        kinds=[GENE] * len(genes) + [COVARIATE] * len(covariate_names),
        names=[*genes, *covariate_names],
        symbols=[*model_of_list["symbols"], *covariate_names],
        values=values,
        means=means,
        weights=weights,
        intercepts=intercepts + means @ weights,
    )


@dataclass(frozen=True, eq=False)
class HeldOutContributions:
    """Terms of the mean held-out scores of n samples: p genes, then q covariates.

    A term is weight * (value - training mean), as in `Contributions` of the final model, averaged
    over the models that left the sample out. With several classes the score is the margin of the
    sample's class over the largest of the others.
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
