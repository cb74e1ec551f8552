"""Controls of the study: covariates alone, permuted labels, and all other methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.splits.draw import draw_permutation
from genesig.optim.adjustment import Adjustment
from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import RiskSets
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import ByKind
from genesig.results import CrossValidation, Dataset, Fits, Split, Splits
from genesig.results.fits import join_batches
from genesig.selection.assess.assessment import Assessment, assess, compare_errors, study_errors
from genesig.selection.assess.covariates import (
    COVARIATES,
    COVARIATES_AND_RIDGE,
    Covariates,
    adjust_for_covariates,
    covariate_basis,
)
from genesig.selection.assess.held_out import collect_held_out, read_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS, Headline, HeldOutScores
from genesig.selection.genes.frequency import frequency_curve, selection_counts

if TYPE_CHECKING:
    import pandas as pd

CHOSEN_COLUMN = -1  # column of held-out scores that `Fits.with_chosen` appends
BAND_PERCENTILES = (5, 50, 95)  # percentiles of the permutations that the frequency curve shows

GENESIG = "genesig"  # name of genesig's own models in controls.tsv
FDR_SELECTED = "genesig, FDR-selected genes"  # name of the model of these genes there

DIFFERENCE_COLUMNS = ["difference", "difference_low", "difference_high"]
ASSESSMENT_COLUMNS = [field.name for field in fields(Assessment)]
CONTROL_COLUMNS = ["model", "mu", *ASSESSMENT_COLUMNS, "p_value", *DIFFERENCE_COLUMNS]
ADDED_VALUE_COLUMNS = ["added", "added_low", "added_high"]


def score_covariates(dataset: Dataset, split: Split) -> Array | None:
    """Return the scores of an outer split's test samples by the covariates alone.

    They are (n_test,), or (n_test, T) with several classes. The model is that of the study without
    genes; its threshold is subtracted (see `AssessmentKind.score_covariates`). None in a study
    without covariates.
    """
    if not dataset.design.covariates:  # `Covariates` may hold weights alone, which score nobody
        return None
    covariates = Covariates.from_dataset(dataset)
    y = dataset.response()
    inner_folds = [dataset.rows(fold) for fold in split.inner]
    is_training = np.zeros((len(y), 1 + len(inner_folds)), dtype=bool)
    is_training[dataset.rows(split.train)] = True  # column 0: the outer training set
    for k, fold in enumerate(inner_folds, 1):
        is_training[fold, k] = False
    n_training_sets = is_training.shape[1]
    adjustment = adjust_for_covariates(
        [covariates] * n_training_sets, np.tile(y[:, None], n_training_sets), is_training
    )
    assert adjustment is not None
    kind = ASSESSMENT_KINDS[dataset.design.kind]
    return kind.score_covariates(adjustment, y, is_training, inner_folds)[dataset.rows(split.test)]


def global_test_p(dataset: Dataset, splits: Splits, n_permutations: int) -> float:
    r"""Return the p of the global test that all genes together add to the covariates.

    With R (n, T) the residuals of the model of the covariates alone, P the projection on
    `covariate_basis`, and Z the standardised genes,

    .. math:: S = \|Z' (I - P) R\|_F^2 / \|(I - P) R\|_F^2,

    the score of a common variance of all weights, of which ridge is the estimate; large if many
    genes are associated with the residuals. Its null distribution are the S of the matrices of
    `exchange_residuals`: ``Z*'(I - P) R = Z'W`` with W = (I - P) ((I - P) R)[inverse of π]. So S is
    tr W'(ZZ')W over tr W'W, because W has lost its part in P. Each permutation needs n² numbers,
    however many genes there are.

    NaN without covariates or permutations.

    J. J. Goeman et al. (2004), A global test for groups of genes, Bioinformatics 20:93; and (2005),
    Testing association of a pathway with survival, 21:1950.
    """
    if not dataset.design.covariates or not n_permutations:
        return np.nan
    covariates = Covariates.from_dataset(dataset)
    y = dataset.response()
    all_rows = np.ones((len(dataset.samples), 1), dtype=bool)
    adjustment = adjust_for_covariates([covariates], y[:, None], all_rows)
    assert adjustment is not None
    Q = covariate_basis(dataset)
    R = RESIDUALS[dataset.design.kind](adjustment, y)
    R = R - Q @ (Q.T @ R)
    finite = np.isfinite(dataset.X)
    mean = np.sum(dataset.X, axis=0, where=finite) / np.maximum(finite.sum(axis=0), 1)
    Z = np.where(finite, dataset.X - mean, 0.0)
    sd = Z.std(axis=0)
    Z = Z / np.where(sd > 0, sd, 1.0)
    K = Z @ Z.T  # (n, n), as Z has many more columns than rows
    statistics = []
    for permutation_number in range(n_permutations + 1):  # number 0 leaves all rows in place
        W = R[np.argsort(draw_permutation(dataset, splits, permutation_number))]
        W = W - Q @ (Q.T @ W)
        statistics.append(float(np.sum(W * (K @ W)) / np.sum(np.square(W))))
    return float(np.mean(np.array(statistics) >= statistics[0] * (1 - 1e-12)))


def _number_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the residuals (n, 1) of a number, or of a class coded as a number."""
    return adjustment.root_weights * adjustment.centred(y[:, None])[0]


def _class_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the residuals (n, T) of the codes of several classes."""
    class_shares = shares(
        y[:, None],
        adjustment.root_weights > 0,
        int(y.max()) + 1,
        np.square(adjustment.root_weights),
    )
    codes = coded(y[:, None], class_shares)[:, 0]
    return np.hstack([_number_residuals(adjustment, code) for code in codes.T])


def _martingale_residuals(adjustment: Adjustment, y: Array) -> Array:
    """Return the martingale residuals (n, 1) of Cox's model of the covariates, up to a factor."""
    weighted_rows = np.flatnonzero(adjustment.root_weights[:, 0])
    no_inner_folds: list[Array] = []
    eta = ASSESSMENT_KINDS["survival"].score_covariates(
        adjustment, y, adjustment.root_weights > 0, no_inner_folds
    )[weighted_rows]
    weights = None if adjustment.weights is None else adjustment.weights[weighted_rows, 0]
    risk = RiskSets.from_times(y["time"][weighted_rows], y["event"][weighted_rows], weights=weights)
    residuals = np.zeros((len(y), 1))
    residuals[weighted_rows[risk.order], 0] = -risk.gradient(risk.shares(eta[risk.order]))
    return residuals


RESIDUALS = ByKind(
    {
        "regression": _number_residuals,
        "classification": _number_residuals,
        SEVERAL_CLASSES: _class_residuals,
        "survival": _martingale_residuals,
    }
)
"""Residuals of the model of the covariates alone, by kind of response."""


def null_study(
    observed: CrossValidation, permuted: Sequence[Fits]
) -> tuple[dict[str, Array], dict[str, pd.DataFrame]]:
    """Return the errors under permuted labels, and tables of how often these select each gene.

    permuted: batches, in any order, or none.

    Returns null: see `null_errors`; tables: frequency_curve, null_cv_frequency.
    """
    dataset = observed.dataset
    splits = observed.splits
    fits = observed.fits
    null = join_batches(permuted, splits) if permuted else fits.take(np.arange(0))
    fdr_errors = _fdr_model_errors(dataset, splits, null)
    fits = fits.with_chosen()
    null = null.with_chosen()
    return null_errors(dataset, splits, null) | fdr_errors, {
        "frequency_curve": frequency_curves(dataset, fits, null),
        "null_cv_frequency": null_frequencies(dataset, null),
    }


def null_errors(dataset: Dataset, splits: Splits, permuted: Fits) -> dict[str, Array]:
    """Return null.npz: the nested cross-validation error of every permutation at each mu.

    dict: ``permutation`` (B,), ``mu`` (n_mu,), ``error`` (B, n_mu), and ``size`` (B, n_mu), the
    mean number of selected genes over the splits; NaN if a list was too long to be kept. If the
    fits are `Fits.with_chosen`, the last mu, NaN, is the predictive model.
    """
    permutations, permutation_of_fit = np.unique(permuted.permutation, return_inverse=True)
    shape = (len(permutations), len(permuted.mu))
    null = {"permutation": permutations, "mu": permuted.mu}
    if len(permutations) == 0:
        return {**null, "error": np.empty(shape), "size": np.empty(shape)}
    total_size = np.zeros(shape)
    np.add.at(total_size, permutation_of_fit, permuted.sizes())
    return {
        **null,
        "error": study_errors(
            collect_held_out(dataset, splits, permuted),
            ASSESSMENT_KINDS[dataset.design.kind].headline,
        ),
        "size": total_size / np.bincount(permutation_of_fit)[:, None],
    }


def _fdr_model_errors(dataset: Dataset, splits: Splits, permuted: Fits) -> dict[str, Array]:
    """Return ``fdr_selected`` (B,): errors of the FDR-selected genes' model under permuted labels.

    Empty if the fits lack this model because it takes no part in the predictive model.
    """
    if permuted.answers is None:
        return {}
    errors = null_errors(dataset, splits, permuted.answer("fdr_selected"))["error"]
    return {"fdr_selected": errors[:, 0]}  # the only mu


def p_value(observed: float, null: Array) -> float:
    """Return (1 + #{null <= observed}) / (B + 1), the permutation p-value of an error.

    Never 0: the observed labels are one of the permutations (Phipson and Smyth 2010). Errors
    that differ by rounding alone count as equal. NaN without permutations, and if the error or a
    permuted one is NaN because lists were too long to be kept.
    """
    if len(null) == 0 or np.isnan(observed) or np.isnan(null).any():
        return np.nan
    return float((1 + np.sum(null <= observed + 1e-12)) / (len(null) + 1))


def frequency_curves(dataset: Dataset, observed: Fits, permuted: Fits) -> pd.DataFrame:
    """Return frequency_curve.tsv: the number of genes selected in at least a share of the splits.

    Observed, and the median, 5 % and 95 % points of the permutations (empty without any).
    """
    import pandas as pd

    n = len(observed)
    n_genes = len(dataset.genes)
    curve = frequency_curve(selection_counts(observed, n_genes), n)
    null = frequency_curve(selection_counts(permuted, n_genes), n)
    null = null.reshape(-1, len(observed.mu), n)
    tables = []
    for column in np.flatnonzero(observed.whole):
        has_null = len(null) and permuted.whole[column]
        low, median, high = (
            np.percentile(null[:, column], BAND_PERCENTILES, axis=0)
            if has_null
            else np.full((3, n), np.nan)
        )
        columns = {
            "mu": observed.mu[column],
            "cv_frequency": np.arange(1, n + 1) / n,
            "observed": curve[column],
            "permuted_median": median,
            "permuted_low": low,
            "permuted_high": high,
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def null_frequencies(dataset: Dataset, permuted: Fits) -> pd.DataFrame:
    """Return null_cv_frequency.tsv: how often permuted labels select each gene, at each mu.

    ``cv_frequency`` is the mean over all permutations and splits, ``highest`` the largest share of
    the splits of one permutation; genes that are never selected have no row.
    """
    import pandas as pd

    counts = selection_counts(permuted, len(dataset.genes))
    permutations, n_fits = np.unique(permuted.permutation, return_counts=True)
    n_mu = len(permuted.mu)
    tables = []
    for column, mu in enumerate(permuted.mu if len(permutations) else []):
        permutation_counts = counts[column::n_mu]
        mean = np.asarray(permutation_counts.sum(axis=0)) / n_fits.sum()
        # Every permutation has the same number of fits.
        highest = permutation_counts.max(axis=0).toarray().ravel() / n_fits[0]
        genes = np.flatnonzero(mean)
        columns = {
            "mu": mu,
            "gene": dataset.var.index[genes].astype(str),
            "symbol": dataset.var["symbol"].to_numpy()[genes],
            "cv_frequency": mean[genes],
            "highest": highest[genes],
        }
        tables.append(pd.DataFrame(columns))
    empty = pd.DataFrame(columns=["mu", "gene", "symbol", "cv_frequency", "highest"])
    return pd.concat(tables, ignore_index=True) if tables else empty


def controls_table(
    observed: CrossValidation, null: Mapping[str, Array], predictions: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return controls.tsv: error and AUC of genesig at each mu and of each other method.

    The row of genesig without a mu is the predictive model, the answer of the study. If genes are
    FDR-selected, ``genesig, FDR-selected genes`` is the model of these.

    The error is the balanced error, or 1 - R² for regression, with the interval of `assess`.
    ``p_value`` is that of the permutations at the same mu (see `p_value`); the model of the
    FDR-selected genes has none unless it takes part in the predictive model. ``difference`` is
    the error of another method less that of the predictive model, with its interval over the
    same samples (see `compare_errors`).

    With covariates ``added`` is the error of these alone less that of the predictive model, or of
    ridge on all genes beside them, with its interval. The p of the latter is `global_test_p`.

    null: content of null.npz, see `null_study`. predictions: held-out predictions of other methods,
    with the columns of baselines.tsv.
    """
    import pandas as pd

    dataset = observed.dataset
    splits = observed.splits
    fits = observed.fits
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    chosen = fits.with_chosen()
    predictive = collect_held_out(dataset, splits, chosen)
    rows: list[dict[str, Any]] = [
        {
            "model": GENESIG,
            "mu": mu,
            **asdict(assessment),
            "p_value": p_value(assessment.error, null_errors_at_mu),
        }
        for mu, assessment, null_errors_at_mu in zip(
            chosen.mu, assess(predictive, headline), null["error"].T, strict=True
        )
    ]
    if fits.answers is not None:
        fdr_selected = collect_held_out(dataset, splits, fits.answer("fdr_selected"))
        row = _method_row(FDR_SELECTED, fdr_selected, predictive, headline)
        if "fdr_selected" in null:
            row["p_value"] = p_value(row["error"], null["fdr_selected"])
        rows.append(row)
    other_methods = {
        str(model): read_held_out(dataset, splits, table)
        for predictions_table in predictions
        for model, table in predictions_table.groupby("model", sort=False)
    }
    rows += [
        _method_row(model, scored, predictive, headline) for model, scored in other_methods.items()
    ]
    controls = pd.DataFrame(rows, columns=CONTROL_COLUMNS)
    if COVARIATES not in other_methods:
        return controls
    controls = controls.assign(**dict.fromkeys(ADDED_VALUE_COLUMNS, np.nan))
    is_covariates = controls["model"] == COVARIATES
    is_predictive = (controls["model"] == GENESIG) & controls["mu"].isna()
    controls.loc[is_predictive, ADDED_VALUE_COLUMNS] = controls.loc[
        is_covariates, DIFFERENCE_COLUMNS
    ].to_numpy()
    is_ridge = controls["model"] == COVARIATES_AND_RIDGE
    if is_ridge.any():
        ridge = other_methods[COVARIATES_AND_RIDGE]
        added = compare_errors(other_methods[COVARIATES], ridge, 0, headline).columns("added")
        controls.loc[is_ridge, ADDED_VALUE_COLUMNS] = list(added.values())
        n_permutations = len(null["permutation"])
        controls.loc[is_ridge, "p_value"] = global_test_p(dataset, splits, n_permutations)
    return controls


def _method_row(
    model: str, held_out: HeldOutScores, predictive: HeldOutScores, headline: Headline
) -> dict[str, Any]:
    """Return the row of a method: its assessment, and its difference to the predictive model."""
    (assessment,) = assess(held_out, headline)
    difference = compare_errors(held_out, predictive, CHOSEN_COLUMN, headline)
    return {"model": model, **asdict(assessment), **difference.columns("difference")}
