"""Every predictor side by side on the same splits, and what permuted labels give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import joined
from genesig.selection.assess.added_value import global_test_p
from genesig.selection.assess.assessment import assess, difference, study_errors
from genesig.selection.assess.covariates import COVARIATES, COVARIATES_AND_RIDGE
from genesig.selection.assess.held_out import arrange, held_out
from genesig.selection.assess.kinds.known import ASSESSED
from genesig.selection.assess.kinds.record import Headline, HeldOut
from genesig.selection.genes.frequency import frequency_curve, selection_counts

if TYPE_CHECKING:
    import pandas as pd

BAND = (5, 50, 95)
"""Percentiles of the permutations that the frequency curve shows."""


def null_study(
    dataset: Dataset, splits: Splits, observed: Sequence[Fits], permuted: Sequence[Fits]
) -> tuple[dict[str, Array], dict[str, pd.DataFrame]]:
    """Return the errors under permuted labels, and tables of what these select.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    splits : Splits
    observed, permuted : list of Fits
        Batches, in any order; `permuted` may be empty.

    Returns
    -------
    null : dict of arrays
        See `null_errors`.
    tables : dict of DataFrame
        frequency_curve, null_cv_frequency.
    """
    fits = joined(observed, splits)
    null = joined(permuted, splits) if permuted else fits.take(np.arange(0))
    fdr_errors = _fdr_model_errors(dataset, splits, null)
    fits = fits.with_chosen()
    null = null.with_chosen()
    return null_errors(dataset, splits, null) | fdr_errors, {
        "frequency_curve": frequency_curves(dataset, fits, null),
        "null_cv_frequency": null_frequencies(dataset, null),
    }


def null_errors(dataset: Dataset, splits: Splits, permuted: Fits) -> dict[str, Array]:
    """Return null.npz: the double-CV error of every permutation, by the rule of the observed one.

    Returns
    -------
    dict
        ``permutation`` (B,), ``mu`` (n_mu,), ``error`` (B, n_mu), and ``size`` (B, n_mu), the
        mean number of selected genes over the splits; NaN where a list was too long to be kept.
        The last mu, NaN, is the answer.
    """
    number, group = np.unique(permuted.permutation, return_inverse=True)
    shape = (len(number), len(permuted.mu))
    null = {"permutation": number, "mu": permuted.mu}
    if len(number) == 0:
        return {**null, "error": np.empty(shape), "size": np.empty(shape)}
    size = np.zeros(shape)
    np.add.at(size, group, permuted.sizes())
    return {
        **null,
        "error": study_errors(
            held_out(dataset, splits, permuted), ASSESSED[dataset.design.kind].headline
        ),
        "size": size / np.bincount(group)[:, None],
    }


def _fdr_model_errors(dataset: Dataset, splits: Splits, permuted: Fits) -> dict[str, Array]:
    """Return ``fdr_selected`` (B,): errors of the FDR-selected genes' model under permuted labels.

    Empty where the fits lack it, as where it has no part in the predictive model.
    """
    if permuted.answer_indptr is None:
        return {}
    return {
        "fdr_selected": null_errors(dataset, splits, permuted.answer("fdr_selected"))["error"][:, 0]
    }


def p_value(observed: float, null: Array) -> float:
    """(1 + #{null <= observed}) / (B + 1), for an error, of which small values are good.

    Never 0: the observed labels are one of the permutations (Phipson and Smyth 2010). Errors
    that differ by rounding alone count as equal. NaN without permutations, and where lists of one
    were too long to be kept.
    """
    if len(null) == 0 or np.isnan(observed) or np.isnan(null).any():
        return np.nan
    return float((1 + np.sum(null <= observed + 1e-12)) / (len(null) + 1))


def frequency_curves(dataset: Dataset, observed: Fits, permuted: Fits) -> pd.DataFrame:
    """Return frequency_curve.tsv: genes selected in at least a share f of the outer splits.

    Observed, and median and 5 and 95 % points over the permutations (empty without any).
    """
    import pandas as pd

    n, n_genes = len(observed), len(dataset.genes)
    curve = frequency_curve(selection_counts(observed, n_genes), n)
    null = frequency_curve(selection_counts(permuted, n_genes), n)
    null = null.reshape(-1, len(observed.mu), n)
    tables = []
    for at in np.flatnonzero(observed.whole):
        mu, known = observed.mu[at], len(null) and permuted.whole[at]
        low, median, high = (
            np.percentile(null[:, at], BAND, axis=0) if known else np.full((3, n), np.nan)
        )
        columns = {
            "mu": mu,
            "cv_frequency": np.arange(1, n + 1) / n,
            "observed": curve[at],
            "permuted_median": median,
            "permuted_low": low,
            "permuted_high": high,
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def null_frequencies(dataset: Dataset, permuted: Fits) -> pd.DataFrame:
    """Return null_cv_frequency.tsv: how often permuted labels select each gene, at each mu.

    ``frequency`` is the mean over all permutations and splits, ``highest`` the largest share of
    the splits of one permutation; genes that are never selected have no row.
    """
    import pandas as pd

    counts = selection_counts(permuted, len(dataset.genes))
    numbers, n_fits = np.unique(permuted.permutation, return_counts=True)
    n_mu = len(permuted.mu)
    tables = []
    for at, mu in enumerate(permuted.mu if len(numbers) else []):
        each = counts[at::n_mu]
        mean = np.asarray(each.sum(axis=0)) / n_fits.sum()
        highest = each.max(axis=0).toarray().ravel() / n_fits[0]
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


FDR_SELECTED = "genesig, FDR-selected genes"


COLUMNS = [
    "model", "mu", "error", "low", "high", "auc", "auc_low", "auc_high", "p_value",
    "difference", "difference_low", "difference_high",
]  # fmt: skip


ADDED = ["added", "added_low", "added_high"]


def controls_table(
    dataset: Dataset,
    splits: Splits,
    observed: Sequence[Fits],
    null: Mapping[str, Array],
    others: Sequence[pd.DataFrame],
) -> pd.DataFrame:
    """Return controls.tsv: error and AUC of genesig at each mu and of each other predictor.

    The row of genesig without a mu is that of the predictive model: the answer. If genes are
    FDR-selected, ``genesig, FDR-selected genes`` is the model of these.

    The error is the balanced error, or 1 - R² for regression, with the interval of `assess`; the
    p-value is that of the permutations at the same mu (see `p_value`); the model of the
    FDR-selected genes has none unless it takes part in the predictive model. ``difference`` is
    the error of another predictor less that of the chosen lists, with its interval over the same
    samples (see `difference`). `others` have the columns of baselines.tsv.

    With covariates ``added`` is the error of these alone less that of the answer, or of ridge on
    all genes beside them, with its interval; and the p of the latter is that of `global_test_p`.
    """
    import pandas as pd

    kind = ASSESSED[dataset.design.kind]
    headline = kind.headline
    fits = joined(observed, splits)
    chosen = fits.with_chosen()
    predictive = held_out(dataset, splits, chosen)
    rows: list[tuple[Any, ...]] = []
    for column, assessment in enumerate(assess(predictive, headline)):
        p = p_value(assessment.error, null["error"][:, column])
        rows.append(("genesig", chosen.mu[column], *vars(assessment).values(), p, *[np.nan] * 3))
    if fits.answer_indptr is not None:
        fdr_selected = held_out(dataset, splits, fits.answer("fdr_selected"))
        (assessment,) = assess(fdr_selected, headline)
        p = p_value(assessment.error, null["fdr_selected"]) if "fdr_selected" in null else np.nan
        apart = difference(fdr_selected, predictive, -1, headline)[2:]
        rows.append((FDR_SELECTED, np.nan, *vars(assessment).values(), p, *apart))
    split_number = {split.name: number for number, split in enumerate(splits.outer)}
    others_by_model = [pair for table in others for pair in table.groupby("model", sort=False)]
    compared: dict[str, HeldOut] = {"genesig": predictive}
    for name, table in others_by_model:
        sample = dataset.rows(table["sample"].tolist())
        split = table["split"].map(split_number).to_numpy()
        scores = kind.scores(table, dataset.design.classes)[:, None]
        cut = np.zeros(len(sample), dtype=np.int64)
        other = arrange(dataset, splits, sample, split, scores, cut)
        compared[str(name)] = other
        (assessment,) = assess(other, headline)
        apart = difference(other, predictive, -1, headline)[2:]
        rows.append((name, np.nan, *vars(assessment).values(), np.nan, *apart))
    controls = pd.DataFrame(rows, columns=COLUMNS)
    if COVARIATES in compared:
        p = global_test_p(dataset, splits, len(null["permutation"]))
        controls = _with_added(controls, compared, headline, p)
    return controls


def _with_added(
    table: pd.DataFrame, seen: Mapping[str, HeldOut], headline: Headline, p: float
) -> pd.DataFrame:  # fmt: skip
    """Add what the answer, and ridge on all genes, err less than the covariates alone."""
    table = table.assign(**dict.fromkeys(ADDED, np.nan))
    for name in ("genesig", COVARIATES_AND_RIDGE):
        if name in seen:
            row = (table["model"] == name) & table["mu"].isna()
            table.loc[row, ADDED] = difference(seen[COVARIATES], seen[name], -1, headline)[2:]
    table.loc[table["model"] == COVARIATES_AND_RIDGE, "p_value"] = p
    return table
