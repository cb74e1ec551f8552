"""The part of report_data.json about genes: lists, tests, effects, correlations, values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.quality.components import principal_components
from genesig.data.steps.described import described
from genesig.data.steps.scale import LOG2
from genesig.report.genes.record import (
    Components,
    Correlation,
    GeneParts,
    Genes,
    Heat,
    Named,
    NestedGene,
    Overlap,
    Strip,
    Tree,
    Univariate,
    Volcano,
)
from genesig.report.page.record import ListCount
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


MOST_CORRELATED = 300
MOST_STRIPS = 60
MOST_HEAT = (100, 1000)


def genes(
    dataset: Dataset, tables: Mapping[str, pd.DataFrame], mu: list[float], fdr: float
) -> GeneParts:
    """Collect what is shown of genes."""
    values, signature, blocks = described(dataset), tables["signature"], tables["blocks"]
    blocks = blocks[blocks["block"].notna()]  # those that stand apart have none
    return {
        "nested": nested(tables["nested_lists"], mu),
        "univariate": univariate(dataset, tables, fdr),
        "correlation": correlation(values, blocks),
        "components": components(values, signature),
        "strips": strips(values, signature),
        "heat": heat(values, signature, tables["predictions"]),
        "volcano": volcano(values, tables, fdr),
        "overlap": overlap(tables),
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


def components(dataset: Dataset, signature: pd.DataFrame) -> Components:
    """Place the samples on the first three principal components of the signature."""
    place, share = np.zeros((0, 0)), np.zeros(0)
    if len(signature):
        place, share = _projected(_standardised(dataset, signature["gene"]))
        place = place[spread(len(place), MOST_SAMPLES)]
    return {
        "points": rounded(place, 4),
        "explained": rounded(share, 4),
        "genes": len(signature),
    }


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


def _projected(z: Array) -> tuple[Array, Array]:
    """Return samples U S and shares of variance, three columns."""
    found = principal_components(z @ z.T, 3)
    missing = 3 - len(found.size)
    return np.pad(found.points, ((0, 0), (0, missing))), np.pad(found.explained, (0, missing))


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
