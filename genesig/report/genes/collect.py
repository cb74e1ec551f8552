"""The part of report_data.json about genes: lists, tests, effects, correlations, values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.data.steps.scale import LOG2
from genesig.report.genes.record import (
    Correlation,
    GeneParts,
    Genes,
    Heat,
    Named,
    Strip,
    Tree,
    Univariate,
    Volcano,
)
from genesig.report.page.rounding import MOST_SAMPLES, rounded, spread
from genesig.report.page.tables import at_mu, own_margins, records
from genesig.report.page.words import counted, decimal
from genesig.selection.genes.univariate import units, what_was_tested

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset


Array = np.ndarray[Any, Any]


def tree(rows: Array) -> tuple[list[int], Tree]:
    """Return the order of the rows, and the joints of their tree (average linkage).

    A joint ``[left, right, from_left, from_right, height]`` joins two branches at the places left
    and right, in units of rows of the order, which it meets at these heights.

    Parameters
    ----------
    rows : (n, d) float
        Distances are Euclidean; of standardised genes they order pairs as 1 - r does.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(rows) < 2 or not rows.shape[1]:
        return list(range(len(rows))), []
    joined = linkage(rows, method="average")
    order = leaves_list(joined).tolist()
    place, height = np.empty(2 * len(rows) - 1), np.zeros(2 * len(rows) - 1)
    place[order] = np.arange(len(rows))
    joints = []
    for number, (a, b, level, _) in enumerate(joined, start=len(rows)):
        left, right = sorted((int(a), int(b)), key=lambda node: place[node])
        joints.append([place[left], place[right], height[left], height[right], level])
        place[number], height[number] = (place[left] + place[right]) / 2, level
    return order, rounded(np.array(joints), 5)


def univariate(dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float) -> Univariate:
    """Count the genes that pass by themselves, and those of the signature among them."""
    table, chosen = tables["univariate"], set(tables["signature"]["gene"].astype(str))
    below = table["q_value"] <= fdr
    return {
        "bound": rounded(np.max(table.loc[below, "p_value"]), 4) if below.any() else None,
        "significant": int(below.sum()),
        "both": int((below & table["gene"].astype(str).isin(chosen)).sum()),
        "total": len(table),
        **what_was_tested(dataset),
    }


MOST_FIRST, MOST_OTHERS = 500, 600


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
    """Return the genes of each list: linear and nonlinear."""
    found = {"signature": set(tables["signature"]["gene"].astype(str))}
    if "nonlinear" in tables:
        table = tables["nonlinear"]
        found["nonlinear list"] = set(table.loc[table["in_list"].astype(bool), "gene"].astype(str))
    return found


MOST_CORRELATED = 300
MOST_STRIPS = 60
MOST_HEAT = (100, 1000)


def genes(dataset: Dataset, tables: Mapping[str, pd.DataFrame], fdr: float) -> GeneParts:
    """Collect what is shown of genes."""
    values, signature, blocks = described(dataset), tables["signature"], tables["blocks"]
    blocks = blocks[blocks["block"].notna()]  # those that stand apart have none
    return {
        "univariate": univariate(dataset, tables, fdr),
        "correlation": correlation(values, blocks),
        "strips": strips(values, signature),
        "heat": heat(values, signature, tables["predictions"]),
        "volcano": volcano(values, tables, fdr),
    }


def correlation(dataset: Dataset, blocks: pd.DataFrame) -> Correlation:
    """Pearson's r between the genes of the blocks, in their order."""
    shown = _share(blocks, MOST_CORRELATED)
    r = np.zeros((0, 0))
    if len(shown):
        z = _standardised(dataset, shown["gene"])
        r = np.clip(z.T @ z / len(z), -1, 1)
    return {
        **_names(shown),
        "blocks": [int(value) for value in shown["block"]],
        "layers": [int(value) for value in shown["layer"]],
        "r": r.round(2).tolist(),
        "total": len(blocks),
    }


def _share(blocks: pd.DataFrame, most: int) -> pd.DataFrame:
    """Keep the first genes of each block, in proportion, but its prototype in any case."""
    if len(blocks) <= most:
        return blocks
    size = blocks.groupby("block")["gene"].transform("size")
    rank = blocks.groupby("block").cumcount()
    return blocks[rank < np.maximum(1, size * most // len(blocks))].head(most)


def strips(dataset: Dataset, signature: pd.DataFrame) -> list[Strip]:
    """Return the values of the first genes of the signature."""
    shown, rows = signature.head(MOST_STRIPS), spread(len(dataset.samples), MOST_SAMPLES)
    values = dataset.X[np.ix_(rows, _columns(dataset, shown["gene"]))]
    return [
        {"gene": gene, "symbol": symbol, "values": rounded(values[:, column], 4)}
        for column, (gene, symbol) in enumerate(zip(*_names(shown).values(), strict=True))
    ]


def heat(dataset: Dataset, signature: pd.DataFrame, predictions: pd.DataFrame) -> Heat:
    """Standardised values of the signature, genes and samples that are alike side by side."""
    shown = signature.head(MOST_HEAT[0])
    kept = np.array(spread(len(dataset.samples), MOST_HEAT[1]))
    z = np.zeros((0, len(kept)))
    if len(shown):
        z = _standardised(dataset, shown["gene"])[kept].T
    genes, gene_tree = tree(z)
    columns, sample_tree = tree(z.T)
    order, batches = kept[columns], dataset.batches()
    chosen = predictions[at_mu(predictions, None)]
    chosen = chosen.assign(score=own_margins(chosen, dataset.design.classes))
    means = chosen.groupby("sample")["score"].mean()
    return {
        **_names(shown.iloc[genes]),
        "samples": [dataset.samples[row] for row in order],
        "response": rounded(dataset.plain()[order], 5),
        "batches": None if batches is None else [str(batches[row]) for row in order],
        "score": rounded([means.get(dataset.samples[row], np.nan) for row in order], 4),
        "gene_tree": gene_tree,
        "sample_tree": sample_tree,
        "z": np.clip(z, -4, 4)[genes][:, columns].round(2).tolist(),
        "total": len(signature),
    }


def _names(table: pd.DataFrame) -> Named:
    genes = [str(gene) for gene in table["gene"]]
    symbols = [g if s != s else str(s) for g, s in zip(genes, table["symbol"], strict=True)]
    return {"genes": genes, "symbols": symbols}


def _columns(dataset: Dataset, genes: pd.Series[Any]) -> list[int]:
    place = {gene: column for column, gene in enumerate(dataset.genes)}
    return [place[str(gene)] for gene in genes]


def _standardised(dataset: Dataset, genes: pd.Series[Any]) -> Array:
    x = dataset.X[:, _columns(dataset, genes)]
    x = x - x.mean(axis=0)
    deviation = x.std(axis=0)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return np.asarray(x * scale)


def block_warnings(data: Genes) -> list[str]:
    """Name the blocks that may be one, by their leaders."""
    bound = data["config"]["clusters"]["warn_above"]
    r, names = data["correlation"]["r"], data["correlation"]["genes"]
    lead = [g for g, gene in enumerate(names) if gene in _prototypes(data)]
    pairs = [(a, b) for a, b in combinations(lead, 2) if abs(r[a][b]) > bound]
    if not pairs:
        return []
    first = ", ".join(f"{names[a]} and {names[b]} ({decimal(r[a][b])})" for a, b in pairs[:3])
    return [
        f"{counted(len(pairs), 'pair')} of block prototypes with |r| above {decimal(bound)}, so"
        f" that their blocks may be one: {first}{' …' if len(pairs) > 3 else '.'}"
    ]


def _prototypes(data: Genes) -> set[str]:
    return {row["prototype"] for row in records(data["tables"]["blocks"])}
