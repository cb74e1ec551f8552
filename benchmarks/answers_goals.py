"""Lines below the tables of answers.py: means over data sets, and goals with their verdicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from answers_rivals import RIVALS

MIN_LEAD = 0.01
"""Goal: the predictive model's mean error is smaller than any other by this difference."""

MAX_LENGTH_RATIO = 0.5
"""Goal: largest number of FDR-selected genes, as a multiple of the list "stable"."""

MIN_STABILITY_RATIOS = {"stable": 1.4, "l1 logistic": 3.0, "l1 logistic, as is": 3.0}
"""Goal: method -> smallest ratio of mean stability, FDR-selected genes to the method."""


def summary(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines below the tables; two methods are compared on the data sets that both have.

    rows: tables of `answers_table.method_table` of all data sets.
    """
    errors = rows.pivot_table(index="data", columns="method", values="error")
    methods = list(rows["method"].unique())
    rows = complete_rows(rows)
    yield (
        f"Means over {len(errors)} data sets ({', '.join(rows['data'].unique())}); difference of "
        "the error to the first, ± 2 standard errors over data sets:"
    )
    for method, method_rows in rows.groupby("method", sort=False):
        list_text = ""
        if method_rows["stability"].notna().any():  # the method selects genes
            list_text = f", genes {method_rows['genes'].median():g} (median)"
            list_text += f", stability {method_rows['stability'].mean():.3f}"
        subset_note = "" if len(method_rows) == len(errors) else f" on {len(method_rows)} of them"
        difference = paired_difference(errors, method, methods[0])
        yield (
            f"  {method}{subset_note}: error {method_rows['error'].mean():.3f} ({difference}), "
            f"AUC {method_rows['auc'].mean():.3f}{list_text}"
        )
    yield from _error_goals(errors, methods)
    yield from _fdr_selected_goals(rows, errors)


def complete_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a stability of 0 instead of NaN for lists that are empty in all halves.

    Methods that select no genes keep NaN.
    """
    selects_genes = rows.groupby("method")["stability"].transform("count") > 0
    return rows.assign(
        stability=rows["stability"].where(rows["stability"].notna() | ~selects_genes, 0.0)
    )


def verdict(is_reached: bool) -> str:
    """Return the verdict on a goal."""
    return "reached" if is_reached else "not reached"


def paired_difference(errors: pd.DataFrame, method: str, reference: str) -> str:
    """Return the mean difference of two methods' errors over the data sets that both have.

    The text has ± two standard errors and counts smaller errors; it is "-" if both are the same
    method. errors: rows = data sets, columns = methods.
    """
    if method == reference:
        return "-"
    differences = (errors[method] - errors[reference]).dropna()
    two_errors = 2 * differences.std(ddof=1) / np.sqrt(len(differences))
    return (
        f"{differences.mean():+.3f} ± {two_errors:.3f}, smaller on {np.sum(differences < -1e-9)} of"
        f" {len(differences)}"
    )


def _error_goals(errors: pd.DataFrame, methods: list[str]) -> Iterator[str]:
    """Yield a line for each goal about errors (data sets × methods)."""
    if "genesig" not in methods:
        return
    complete = errors.dropna(axis=1)  # means over unequal data sets cannot be compared
    rival_errors = complete[
        [method for method in methods if method in RIVALS and method in complete]
    ].mean()
    references = ["stable"] if "stable" in methods else []
    if len(rival_errors):
        references.append(str(rival_errors.idxmin()))
    for reference in references:
        mean_errors = errors[["genesig", reference]].dropna().mean()
        reference_name = "the best single rival" if reference in RIVALS else "the list alone"
        yield (
            f"Error of the predictive model at most that of {reference} ({reference_name}) -"
            f" {MIN_LEAD}: {mean_errors['genesig']:.3f} against {mean_errors[reference]:.3f}"
            f" ({paired_difference(errors, 'genesig', reference)}):"
            f" {verdict(mean_errors['genesig'] <= mean_errors[reference] - MIN_LEAD)}"
        )


def _fdr_selected_goals(rows: pd.DataFrame, errors: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each goal about number and stability of the FDR-selected genes."""
    if "FDR-selected genes" not in errors:
        return
    genes, stability = (
        rows.pivot_table(index="data", columns="method", values=column)
        for column in ("genes", "stability")
    )
    if "stable" in genes:
        lengths = genes[["FDR-selected genes", "stable"]].dropna()
        fdr_length, stable_length = lengths.median()
        yield (
            f"Median length of the FDR-selected genes at most {MAX_LENGTH_RATIO} of stable's:"
            f" {fdr_length:g} against {stable_length:g} (means"
            f" {lengths['FDR-selected genes'].mean():.1f}, {lengths['stable'].mean():.1f}):"
            f" {verdict(fdr_length <= MAX_LENGTH_RATIO * stable_length)}"
        )
    for method, ratio in MIN_STABILITY_RATIOS.items():
        if method not in stability:
            continue
        fdr_value, other_value = stability[["FDR-selected genes", method]].dropna().mean()
        yield (
            f"Mean stability of the FDR-selected genes at least {ratio:g} x that of {method}:"
            f" {fdr_value:.3f} against {other_value:.3f}, {fdr_value / other_value:.2f} x:"
            f" {verdict(fdr_value >= ratio * other_value)}"
        )
    if "genesig" in errors:
        yield (
            "Loss with FDR-selected genes only:"
            f" {paired_difference(errors, 'FDR-selected genes', 'genesig')}"
        )
