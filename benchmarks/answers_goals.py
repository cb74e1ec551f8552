"""The summary over data sets, and which of the goals are reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from answers_rivals import RIVALS

AHEAD = 0.01
"""Goal: the mean error of the predictive model is smaller than any other by this difference."""

MAX_LENGTH_RATIO = 0.5
"""Goal: largest length of the FDR-selected genes, as a multiple of the list "stable"."""

STABLER = {"stable": 1.4, "l1 logistic": 3.0, "l1 logistic, as is": 3.0}
"""Goal: method -> smallest ratio of the mean stability of the FDR-selected genes to its own."""


def summary(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines below the tables.

    Parameters
    ----------
    rows : DataFrame
        As `answers_table.table` makes them, of all data sets. Two methods are compared on the data
        sets that both have.
    """
    wide = rows.pivot_table(index="data", columns="method", values="error")
    methods = list(rows["method"].unique())
    rows = complete_rows(rows)
    yield (
        f"Means over {len(wide)} data sets ({', '.join(rows['data'].unique())}); difference of the "
        "error to the first, ± 2 standard errors over data sets:"
    )
    for method, method_rows in rows.groupby("method", sort=False):
        lists = ""
        if _has_lists(method_rows):
            lists = f", genes {method_rows['genes'].median():g} (median)"
            lists += f", stability {method_rows['stability'].mean():.3f}"
        subset_note = "" if len(method_rows) == len(wide) else f" on {len(method_rows)} of them"
        difference = paired_difference(wide, method, methods[0])
        yield (
            f"  {method}{subset_note}: error {method_rows['error'].mean():.3f} ({difference}), "
            f"AUC {method_rows['auc'].mean():.3f}{lists}"
        )
    yield from _error_goals(wide, methods)
    yield from _fdr_selected_goals(rows, wide)


def complete_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a stability of 0 for lists that are empty in all halves, not NaN.

    Methods without lists keep NaN.
    """
    chooses = rows.groupby("method")["stability"].transform("count") > 0
    return rows.assign(stability=rows["stability"].where(rows["stability"].notna() | ~chooses, 0.0))


def verdict(reached: bool) -> str:
    """Return the word for a goal that is, or is not, reached."""
    return "reached" if reached else "not reached"


def paired_difference(wide: pd.DataFrame, method: str, reference: str) -> str:
    """Return the mean difference of two methods' errors over the data sets that both have.

    The text has ± two standard errors and counts smaller errors; "-" for a method and itself. wide:
    errors, index = data sets, columns = methods.
    """
    if method == reference:
        return "-"
    differences = (wide[method] - wide[reference]).dropna()
    half = 2 * differences.std(ddof=1) / np.sqrt(len(differences))
    return (
        f"{differences.mean():+.3f} ± {half:.3f}, smaller on {np.sum(differences < -1e-9)} of"
        f" {len(differences)}"
    )


def _has_lists(rows: pd.DataFrame) -> bool:
    """Tell whether a method's rows have a stability, as methods that select genes do."""
    return bool(rows["stability"].notna().any())


def _error_goals(wide: pd.DataFrame, methods: list[str]) -> Iterator[str]:
    """Yield a line for each goal about errors; wide: as for `paired_difference`."""
    if "genesig" not in methods:
        return
    complete = wide.dropna(axis=1)  # means over different data sets cannot be compared
    rival_errors = complete[
        [method for method in methods if method in RIVALS and method in complete]
    ].mean()
    references = ["stable"] if "stable" in methods else []
    if len(rival_errors):
        references.append(str(rival_errors.idxmin()))
    for reference in references:
        mean_errors = wide[["genesig", reference]].dropna().mean()
        reference_name = "the best single rival" if reference in RIVALS else "the list alone"
        yield (
            f"Error of the predictive model at most that of {reference} ({reference_name}) -"
            f" {AHEAD}: {mean_errors['genesig']:.3f} against {mean_errors[reference]:.3f}"
            f" ({paired_difference(wide, 'genesig', reference)}):"
            f" {verdict(mean_errors['genesig'] <= mean_errors[reference] - AHEAD)}"
        )


def _fdr_selected_goals(rows: pd.DataFrame, wide: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each goal about length and stability of the FDR-selected genes."""
    if "FDR-selected genes" not in wide:
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
    for method, times in STABLER.items():
        if method not in stability:
            continue
        fdr_value, other_value = stability[["FDR-selected genes", method]].dropna().mean()
        yield (
            f"Mean stability of the FDR-selected genes at least {times:g} x that of {method}:"
            f" {fdr_value:.3f} against {other_value:.3f}, {fdr_value / other_value:.2f} x:"
            f" {verdict(fdr_value >= times * other_value)}"
        )
    if "genesig" in wide:
        yield (
            "Loss with FDR-selected genes only:"
            f" {paired_difference(wide, 'FDR-selected genes', 'genesig')}"
        )
