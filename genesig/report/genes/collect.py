"""The part of report_data.json about genes: lists, tests, effects, values, and a card for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.described import described
from genesig.data.steps.scale import LOG2_STEPS
from genesig.optim.cox.risk_sets import USUAL
from genesig.report.genes.record import (
    Card,
    Cards,
    Correlation,
    GeneParts,
    Genes,
    Heat,
    Named,
    Replacement,
    Strip,
    Tree,
    Univariate,
    Volcano,
)
from genesig.report.page.record import MOST_SAMPLES, Limited, rounded, spread
from genesig.report.page.tables import at_mu, own_margins, records
from genesig.report.page.words import counted, decimal
from genesig.selection.assess.intervals import Z, delong, mean_t, wilson
from genesig.selection.assess.survival import harrell, slope
from genesig.selection.genes.univariate import Units, describe_test, units

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits


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
        **describe_test(dataset),
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
    return bool(names & LOG2_STEPS)


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
    """Name the groups that may be one, by their representative genes."""
    bound = data["config"]["clusters"]["warn_above"]
    r, names = data["correlation"]["r"], data["correlation"]["genes"]
    lead = [g for g, gene in enumerate(names) if gene in _prototypes(data)]
    pairs = [(a, b) for a, b in combinations(lead, 2) if abs(r[a][b]) > bound]
    if not pairs:
        return []
    first = "; ".join(
        f"{names[a]} and {names[b]} (r\u00a0=\u00a0{decimal(r[a][b])})" for a, b in pairs[:3]
    )
    more = f"; and {counted(len(pairs) - 3, 'more pair')}" if len(pairs) > 3 else ""
    return [f"These genes are strongly correlated; treat their groups as one: {first}{more}."]


def _prototypes(data: Genes) -> set[str]:
    return {row["prototype"] for row in records(data["tables"]["blocks"])}


Three = tuple[float, float, float]
MOST_CARDS = 40
FEWEST_LISTS, MOST_REPLACING = 3, 3
"""Lists without a gene below which nothing is said of what replaces it; genes that are named."""
LEAST_SHARE, LEAST_GAIN = 0.5, 0.25
"""Share of the lists without a gene that hold another, and by how much it exceeds the others'."""


def cards(
    dataset: Dataset, signature: pd.DataFrame, observed: Fits, halves: Fits | None
) -> Cards:  # fmt: skip
    """Collect what the card of each gene says."""
    values = described(dataset)
    it, classes = units(values), dataset.design.classes or ()
    shown = signature.head(MOST_CARDS)
    column = {gene: place for place, gene in enumerate(dataset.genes)}
    lists = selected(observed, halves, len(dataset.genes))
    times = dataset.response()
    rows = spread(len(times), MOST_SAMPLES)
    each: list[Card] = []
    for row in shown.to_dict("records"):
        gene = str(row["gene"])
        x, own = it.X[:, column[gene]], row.get("class")
        side = 0
        if it.test == "anova":
            side = classes.index(own) if own in classes else _most_different_class(it, x)
        separation, effect = MEASURES[it.test](it, x, side)
        each.append({
            "gene": gene,
            "of": classes[side] if it.test == "anova" else None,
            "separation": _limited(separation),
            "effect": _limited(effect),
            "lists": [int(lists[:, column[gene]].sum()), len(lists)],
            "replaced": replaced(values, lists, column[gene]),
            "missing": _missing(dataset, column[gene]),
        })  # fmt: skip
    return {
        "test": it.test,
        "events": times["event"][rows].tolist() if times.dtype.names else None,
        "each": each,
    }


def _missing(dataset: Dataset, gene: int) -> list[float] | None:
    lost = np.isnan(dataset.X[:, gene])
    if not lost.any():
        return None
    classes = dataset.design.classes
    names = dataset.obs[dataset.design.label].astype(str).to_numpy() if classes else None
    parts = [lost] if classes is None else [lost[names == name] for name in classes]
    return [rounded(float(part.mean()), 4) for part in parts]


def _limited(three: Three) -> Limited:
    value, low, high = rounded(three, 4)
    return {"value": value, "low": low, "high": high}


def selected(observed: Fits, halves: Fits | None, n_genes: int) -> Array:
    """Return which gene is in the chosen list of each split and each half, (n_lists, n_genes)."""
    found = []
    for chosen in (fits.with_chosen() for fits in (observed, halves) if fits is not None):
        for fit in range(len(chosen)):
            inside = np.zeros(n_genes, dtype=bool)
            inside[chosen.chosen_coef(fit)[0]] = True
            found.append(inside)
    return np.array(found, dtype=bool).reshape(-1, n_genes)


def replaced(dataset: Dataset, lists: Array, gene: int) -> list[Replacement]:
    """Return the genes that are more often in a list without this one than in one with it.

    By the difference of the two shares, largest first, where it is at least `LEAST_GAIN`, of genes
    in at least `LEAST_SHARE` of the lists without it; none where too few lists lack it, or all do.
    """
    inside = lists[:, gene]
    without = int((~inside).sum())
    if without < FEWEST_LISTS or without == len(lists):
        return []
    there, absent = lists[inside].mean(axis=0), lists[~inside].mean(axis=0)
    gain = np.where(absent >= LEAST_SHARE, absent - there, 0.0)
    order = np.argsort(-gain, kind="stable")[:MOST_REPLACING]
    return [
        {
            "gene": dataset.genes[k],
            "symbol": str(dataset.var["symbol"].iloc[k]),
            "without": [int(lists[~inside, k].sum()), without],
            "beside": [int(lists[inside, k].sum()), int(inside.sum())],
            "r": rounded(_pearson(dataset.X[:, gene], dataset.X[:, k]), 3),
        }
        for k in order
        if gain[k] >= LEAST_GAIN
    ]


def _pearson(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else np.nan


def _of_classes(it: Units, x: Array, side: int) -> tuple[Three, Three]:
    """Return the AUC, and the difference of the class means with Welch's interval."""
    return delong(it.y, x), _welch(x[it.y > 0], x[it.y <= 0])


def _most_different_class(it: Units, x: Array) -> int:
    """Return the class whose mean is farthest from the mean of the others, for a gene x (n,)."""
    in_class = np.asarray(it.y) == np.unique(it.y)[:, None]
    distances = [abs(x[members].mean() - x[~members].mean()) for members in in_class]
    return int(np.argmax(distances))


def _of_several(it: Units, x: Array, side: int) -> tuple[Three, Three]:
    """Return the same of one class against the others."""
    mine = it.y == side
    return delong(np.where(mine, 1.0, -1.0), x), _welch(x[mine], x[~mine])


def _welch(up: Array, down: Array) -> Three:
    difference = float(up.mean() - down.mean()) if len(up) and len(down) else np.nan
    if min(len(up), len(down)) < 2:
        return difference, np.nan, np.nan
    from scipy.special import stdtrit

    a, b = np.var(up, ddof=1) / len(up), np.var(down, ddof=1) / len(down)
    if not a + b > 0:
        return difference, difference, difference
    freedom = (a + b) ** 2 / (a**2 / (len(up) - 1) + b**2 / (len(down) - 1))
    half = float(stdtrit(freedom, 0.975) * np.sqrt(a + b))
    return difference, difference - half, difference + half


def _of_pairs(it: Units, x: Array, side: int) -> tuple[Three, Three]:
    """Return the share of groups in which it is higher, and the mean of the differences."""
    group = np.asarray(it.group)
    up = np.flatnonzero((group[1:] == group[:-1]) & (it.y[1:] > it.y[:-1])) + 1
    apart = x[up] - x[up - 1]
    share = float(np.mean((apart > 0) + 0.5 * (apart == 0))) if len(apart) else np.nan
    limits = wilson(share, len(apart)) if len(apart) else (np.nan, np.nan)
    return (share, *limits), (float(apart.mean()) if len(apart) else np.nan, *mean_t(apart))


def _of_a_number(it: Units, x: Array, side: int) -> tuple[Three, Three]:
    """Return Pearson's r with Fisher's interval, the change with one standard deviation of y."""
    from scipy.special import stdtrit

    y, n = it.y - it.y.mean(), len(it.y)
    r, sd = _pearson(x, it.y), float(x.std())
    if n < 4 or not abs(r) < 1 - 1e-12:
        return (r, np.nan, np.nan), (r * sd, np.nan, np.nan)
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * Z / np.sqrt(n - 3))
    change = float(x @ y) / n / float(y.std())
    half = stdtrit(n - 2, 0.975) * sd * np.sqrt((1 - r**2) / (n - 2))
    return (r, float(low), float(high)), (change, change - half, change + half)


def _of_survival(it: Units, x: Array, side: int) -> tuple[Three, Three]:
    """Return Harrell's C, and the hazard ratio of one standard deviation of the gene."""
    time, event = it.y["time"], it.y["event"]
    c, sd = harrell(time, event, x), float(x.std())
    b, limits = slope(time, event, x / sd if sd > 0 else x, it.ties or USUAL)
    with np.errstate(over="ignore"):
        low, ratio, high = np.exp([limits[0], b, limits[1]])
    return (c.value, *c.interval), (float(ratio), float(low), float(high))


MEASURES: dict[str, Callable[[Units, Array, int], tuple[Three, Three]]] = {
    "welch": _of_classes,
    "anova": _of_several,
    "differences": _of_pairs,
    "correlation": _of_a_number,
    "score": _of_survival,
}
"""How a gene alone goes with the response, and the size of its effect, by the test of genes."""
