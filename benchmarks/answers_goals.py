"""The summary over data sets, and which of the goals are reached."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from answers_rivals import RIVALS

AHEAD = 0.01
"""How much smaller the mean error of the predictive model is to be than any other."""

SHORT = 0.5
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
    rows = agreed(rows)
    yield (
        f"Means over {len(wide)} data sets ({', '.join(rows['data'].unique())}); difference of the "
        "error to the first, ± 2 standard errors over data sets:"
    )
    for method, each in rows.groupby("method", sort=False):
        lists = ""
        if _lists(each):
            lists = f", genes {each['genes'].median():g} (median)"
            lists += f", stability {each['stability'].mean():.3f}"
        some = "" if len(each) == len(wide) else f" on {len(each)} of them"
        apart = paired(wide, method, methods[0])
        yield (
            f"  {method}{some}: error {each['error'].mean():.3f} ({apart}), "
            f"AUC {each['auc'].mean():.3f}{lists}"
        )
    yield from _error(wide, methods)
    yield from _named(rows, wide)


def agreed(rows: pd.DataFrame) -> pd.DataFrame:
    """Let the stability of lists that are empty in all halves, where it is undefined, be 0."""
    chooses = rows.groupby("method")["stability"].transform("count") > 0
    return rows.assign(stability=rows["stability"].where(rows["stability"].notna() | ~chooses, 0.0))


def verdict(reached: bool) -> str:
    """Say it in words."""
    return "reached" if reached else "not reached"


def paired(wide: pd.DataFrame, one: str, other: str) -> str:
    """Say the mean difference of two methods' errors over the data sets that both have."""
    if one == other:
        return "-"
    each = (wide[one] - wide[other]).dropna()
    half = 2 * each.std(ddof=1) / np.sqrt(len(each))
    return f"{each.mean():+.3f} ± {half:.3f}, smaller on {np.sum(each < -1e-9)} of {len(each)}"


def _lists(rows: pd.DataFrame) -> bool:
    return bool(rows["stability"].notna().any())


def _error(wide: pd.DataFrame, methods: list[str]) -> Iterator[str]:
    if "genesig" not in methods:
        return
    whole = wide.dropna(axis=1)  # the mean of some data sets is not that of all
    rivals = whole[[method for method in methods if method in RIVALS and method in whole]].mean()
    against = ["stable"] if "stable" in methods else []
    if len(rivals):
        against.append(str(rivals.idxmin()))
    for other in against:
        both = wide[["genesig", other]].dropna().mean()
        said = "the best single rival" if other in RIVALS else "the list alone"
        yield (
            f"Error of the predictive model at most that of {other} ({said}) - {AHEAD}: "
            f"{both['genesig']:.3f} against {both[other]:.3f} ({paired(wide, 'genesig', other)}): "
            f"{verdict(both['genesig'] <= both[other] - AHEAD)}"
        )


def _named(rows: pd.DataFrame, wide: pd.DataFrame) -> Iterator[str]:
    if "FDR-selected genes" not in wide:
        return
    genes, stability = (
        rows.pivot_table(index="data", columns="method", values=column)
        for column in ("genes", "stability")
    )
    if "stable" in genes:
        both = genes[["FDR-selected genes", "stable"]].dropna()
        own, other = both.median()
        yield (
            f"Median length of the FDR-selected genes at most {SHORT} of stable's: {own:g} against"
            f" {other:g} (means {both['FDR-selected genes'].mean():.1f},"
            f" {both['stable'].mean():.1f}): {verdict(own <= SHORT * other)}"
        )
    for method, times in STABLER.items():
        if method not in stability:
            continue
        own, other = stability[["FDR-selected genes", method]].dropna().mean()
        yield (
            f"Mean stability of the FDR-selected genes at least {times:g} x that of {method}:"
            f" {own:.3f} against {other:.3f}, {own / other:.2f} x: {verdict(own >= times * other)}"
        )
    if "genesig" in wide:
        yield f"Loss with FDR-selected genes only: {paired(wide, 'FDR-selected genes', 'genesig')}"
