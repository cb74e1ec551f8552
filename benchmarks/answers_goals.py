"""The summary over data sets, and which of the goals are reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from answers_rivals import RIVALS

AHEAD = 0.01
"""How much smaller the mean error of the predictive model is to be than any other."""

MAX_LENGTH_RATIO = 0.5
"""Length of the list of FDR-selected genes, in units of that of stable's."""

STABLER = {"stable": 1.4, "l1 logistic": 3.0, "l1 logistic, as is": 3.0}
"""What their mean stability is multiplied by, at least, in that of the FDR-selected genes."""


def summary(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines below the tables.

    Parameters
    ----------
    rows : DataFrame
        As `answers_table.table` makes them, of all data sets. Two methods are compared on those
        that both have.
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
    """Let the stability of lists that are empty in all halves, where it is undefined, be 0."""
    chooses = rows.groupby("method")["stability"].transform("count") > 0
    return rows.assign(stability=rows["stability"].where(rows["stability"].notna() | ~chooses, 0.0))


def verdict(reached: bool) -> str:
    """Say it in words."""
    return "reached" if reached else "not reached"


def paired_difference(wide: pd.DataFrame, method: str, reference: str) -> str:
    """Say the mean difference of two methods' errors over the data sets that both have."""
    if method == reference:
        return "-"
    differences = (wide[method] - wide[reference]).dropna()
    half = 2 * differences.std(ddof=1) / np.sqrt(len(differences))
    return (
        f"{differences.mean():+.3f} ± {half:.3f}, smaller on {np.sum(differences < -1e-9)} of"
        f" {len(differences)}"
    )


def _has_lists(rows: pd.DataFrame) -> bool:
    return bool(rows["stability"].notna().any())


def _error_goals(wide: pd.DataFrame, methods: list[str]) -> Iterator[str]:
    if "genesig" not in methods:
        return
    complete = wide.dropna(axis=1)  # the mean of some data sets is not that of all
    rivals = complete[
        [method for method in methods if method in RIVALS and method in complete]
    ].mean()
    against = ["stable"] if "stable" in methods else []
    if len(rivals):
        against.append(str(rivals.idxmin()))
    for reference in against:
        mean_errors = wide[["genesig", reference]].dropna().mean()
        reference_name = "the best single rival" if reference in RIVALS else "the list alone"
        yield (
            f"Error of the predictive model at most that of {reference} ({reference_name}) -"
            f" {AHEAD}: {mean_errors['genesig']:.3f} against {mean_errors[reference]:.3f}"
            f" ({paired_difference(wide, 'genesig', reference)}):"
            f" {verdict(mean_errors['genesig'] <= mean_errors[reference] - AHEAD)}"
        )


def _fdr_selected_goals(rows: pd.DataFrame, wide: pd.DataFrame) -> Iterator[str]:
    if "FDR-selected genes" not in wide:
        return
    genes, stability = (
        rows.pivot_table(index="data", columns="method", values=column)
        for column in ("genes", "stability")
    )
    if "stable" in genes:
        lengths = genes[["FDR-selected genes", "stable"]].dropna()
        fdr_length, other_value = lengths.median()
        yield (
            f"Median length of the FDR-selected genes at most {MAX_LENGTH_RATIO} of stable's:"
            f" {fdr_length:g} against {other_value:g} (means"
            f" {lengths['FDR-selected genes'].mean():.1f}, {lengths['stable'].mean():.1f}):"
            f" {verdict(fdr_length <= MAX_LENGTH_RATIO * other_value)}"
        )
    for method, times in STABLER.items():
        if method not in stability:
            continue
        fdr_length, other_value = stability[["FDR-selected genes", method]].dropna().mean()
        yield (
            f"Mean stability of the FDR-selected genes at least {times:g} x that of {method}:"
            f" {fdr_length:.3f} against {other_value:.3f}, {fdr_length / other_value:.2f} x:"
            f" {verdict(fdr_length >= times * other_value)}"
        )
    if "genesig" in wide:
        yield (
            "Loss with FDR-selected genes only:"
            f" {paired_difference(wide, 'FDR-selected genes', 'genesig')}"
        )
