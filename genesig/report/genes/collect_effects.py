"""The part of report_data.json about sizes of effects, and which lists hold which gene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.scale import LOG2
from genesig.report.genes.record import Overlap, Volcano
from genesig.report.page.rounding import rounded
from genesig.report.page.thinning import spread
from genesig.selection.genes.univariate import units

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset

Array = np.ndarray[Any, Any]
MOST_FIRST, MOST_OTHERS, MOST_PATTERNS, MOST_NAMES = 500, 600, 20, 200


def effects(dataset: Dataset) -> Array:
    """Return (n_genes,): the difference of the class means, positive less negative class.

    Of several classes the largest class mean less the smallest. For a number, the change of the
    gene with one standard deviation of it, cov(x, y)/sd(y); of survival that number is the
    martingale residual.
    Members of a group are averaged first, as for the tests.
    """
    it, classes = units(dataset), dataset.design.classes
    if classes is not None and len(classes) > 2:
        means = np.stack([it.X[it.y == c].mean(axis=0) for c in range(len(classes))])
        return np.asarray(np.ptp(means, axis=0))
    if classes is not None:
        return np.asarray(it.X[it.y > 0].mean(axis=0) - it.X[it.y < 0].mean(axis=0))
    y = dataset.kind.number(it.y)
    y = y - y.mean()
    return np.asarray((it.X - it.X.mean(axis=0)).T @ y / len(y) / max(float(y.std()), 1e-300))


def volcano(dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float) -> Volcano:
    """Set the effect of each gene beside its p: those of lists, the first ones, some others."""
    table = tables["univariate"]
    genes = table["gene"].astype(str).to_numpy(dtype=object)
    effect = effects(dataset)
    lists = {name: np.isin(genes, list(found)) for name, found in in_lists(tables).items()}
    rank = np.argsort(np.argsort(table["p_value"].to_numpy(), kind="stable"))
    shown = (rank < MOST_FIRST) | np.logical_or.reduce(
        [lists.get(name, rank < 0) for name in ("signature", "nonlinear list")]
    )
    rest = np.flatnonzero(~shown)
    shown[rest[spread(len(rest), MOST_OTHERS)] if len(rest) else []] = True
    picked = table[shown]
    return {
        "genes": genes[shown].tolist(),
        "symbols": [str(s) if s == s and s else g
                    for g, s in zip(genes[shown], picked["symbol"], strict=True)],
        "effect": rounded(effect[shown], 4),
        "p": rounded(picked["p_value"], 4),
        "passes": (picked["q_value"] <= fdr).tolist(),
        "signature": lists["signature"][shown].tolist(),
        "nonlinear": lists["nonlinear list"][shown].tolist() if "nonlinear list" in lists else None,
        "logarithm": _logarithm(dataset),
        "total": len(table),
    }  # fmt: skip


def _logarithm(dataset: Dataset) -> bool:
    """Whether the steps say that the values are log2; by themselves values do not say the base."""
    steps = [*dataset.provenance.get("steps", []), *dataset.provenance.get("summaries", [])]
    names = {one["step"] if isinstance(one, dict) else str(one) for one in steps}
    return bool(names & LOG2)


def in_lists(tables: Mapping[str, pd.DataFrame]) -> dict[str, set[str]]:
    """Return the genes of each list: linear, nonlinear, of gene sets, of as many single tests."""
    signature = set(tables["signature"]["gene"].astype(str))
    found = {"signature": signature}
    if "nonlinear" in tables:
        table = tables["nonlinear"]
        found["nonlinear list"] = set(table.loc[table["in_list"].astype(bool), "gene"].astype(str))
    if "sets_genes" in tables:
        found["gene sets of the final model"] = set(tables["sets_genes"]["gene"].astype(str))
    first = tables["univariate"].sort_values("p_value", kind="stable").head(len(signature))
    found["as many single-gene tests"] = set(first["gene"].astype(str))
    return found


def overlap(tables: Mapping[str, pd.DataFrame]) -> Overlap:
    """Count the genes of each pattern of lists, the most frequent pattern first."""
    lists = {name: genes for name, genes in in_lists(tables).items() if genes}
    pattern = {
        gene: tuple(gene in genes for genes in lists.values())
        for gene in sorted(set().union(*lists.values()))
    }
    counts = Counter(pattern.values())
    ranked = sorted(counts, key=lambda one: (-counts[one], one))[:MOST_PATTERNS]
    return {
        "lists": list(lists),
        "sizes": [len(genes) for genes in lists.values()],
        "patterns": [
            {
                "lists": list(one),
                "count": counts[one],
                "genes": [gene for gene, found in pattern.items() if found == one][:MOST_NAMES],
            }
            for one in ranked
        ],
        "left_out": len(counts) - len(ranked),
    }
