"""The part of report_data.json about the lists: nesting, frequencies, single-gene tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.report.genes.record import NestedGene, Univariate
from genesig.report.page.record import ListCount
from genesig.report.page.rounding import rounded
from genesig.report.page.rows import at_mu
from genesig.selection.genes.univariate import what_was_tested

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset

MOST_NESTED = 40
MOST_POINTS = 1000
MOST_UNSELECTED = 500


def lists(nested: pd.DataFrame, mu: list[float]) -> list[ListCount]:
    """Count each list, its union over the splits, and what it keeps of the list before."""
    found: list[ListCount] = []
    before: set[str] = set()
    for value in mu:
        rows = nested[at_mu(nested, value)]
        genes = set(rows.loc[_inside(rows), "gene"].astype(str))
        kept = len(before & genes) / len(before) if before and len(rows) else None
        found.append({
            "mu": value,
            "size": len(genes) if len(rows) else None,
            "union": len(rows) or None,
            "kept": rounded(kept, 4) if kept is not None else None,
        })  # fmt: skip
        before = genes
    return found


def _inside(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["in_list"].astype(str).str.lower().isin(["1", "1.0", "true"])


def nested(table: pd.DataFrame, mu: list[float]) -> list[NestedGene]:
    """Return the first genes and their frequency in the chosen lists and at each mu.

    Frequent genes of the chosen lists first, then in the order of their appearance along mu.
    """
    frequency: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    symbol = {str(g): _text(s) for g, s in zip(table["gene"], table["symbol"], strict=True)}
    places = [None, *mu]
    for place, value in enumerate(places):
        rows = table[at_mu(table, value)]
        pairs = zip(rows["gene"], rows["frequency"], _inside(rows), strict=True)
        for gene, f, inside in pairs:
            frequency.setdefault(str(gene), [0.0] * len(places))[place] = float(f)
            if inside:
                first.setdefault(str(gene), place)
    order = sorted(
        frequency, key=lambda g: (first.get(g, len(places)), [-f for f in frequency[g]], g)
    )  # fmt: skip
    return [
        {"gene": g, "symbol": symbol[g] or g, "frequency": rounded(frequency[g], 4)}
        for g in order[:MOST_NESTED]
    ]


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def univariate(dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float) -> Univariate:
    """Set each gene's own p-value beside its selection frequency in the chosen lists."""
    rows = tables["nested_lists"][at_mu(tables["nested_lists"], None)]
    frequency = dict(zip(rows["gene"].astype(str), rows["frequency"], strict=True))
    chosen = set(tables["signature"]["gene"].astype(str))
    table = tables["univariate"].sort_values("p_value", kind="stable").reset_index(drop=True)
    genes = table["gene"].astype(str)
    selected = genes.isin(set(frequency) | chosen)
    shown = (selected | (table.index < MOST_UNSELECTED)) & table["p_value"].notna()
    picked = table[shown].head(MOST_POINTS)
    names = picked["gene"].astype(str)
    below = table["q_value"] <= fdr
    return {
        "genes": names.tolist(),
        "symbols": [_text(s) or g for g, s in zip(names, picked["symbol"], strict=True)],
        "p": rounded(picked["p_value"], 4),
        "frequency": rounded([frequency.get(g, 0.0) for g in names], 4),
        "inside": names.isin(chosen).tolist(),
        "bound": rounded(np.max(table.loc[below, "p_value"]), 4) if below.any() else None,
        "significant": int(below.sum()),
        "both": int((below & genes.isin(chosen)).sum()),
        "total": len(table),
        **what_was_tested(dataset),
    }
