"""The part of report_data.json about genes: correlations, projections, values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.quality.components import principal_components
from genesig.data.steps.described import described
from genesig.report.genes.clustered import tree
from genesig.report.genes.collect_effects import overlap, volcano
from genesig.report.genes.collect_lists import nested, univariate
from genesig.report.genes.record import (
    Components,
    Correlation,
    GeneParts,
    Genes,
    Heat,
    Named,
    Strip,
)
from genesig.report.page.rounding import rounded
from genesig.report.page.rows import at_mu, own_margins, records
from genesig.report.page.thinning import MOST_SAMPLES, spread
from genesig.report.page.words import counted, decimal

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset

Array = np.ndarray[Any, Any]

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
