"""The part of report_data.json about each gene of the signature: its own effect, its places."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.described import described
from genesig.optim.cox.risk_sets import USUAL
from genesig.report.genes.record import Card, Cards, Replacement
from genesig.report.page.record import Limited
from genesig.report.page.rounding import MOST_SAMPLES, rounded, spread
from genesig.selection.assess.intervals import Z, delong, mean_t, wilson
from genesig.selection.assess.survival_measures import harrell, slope
from genesig.selection.genes.univariate import Units, units

if TYPE_CHECKING:
    import pandas as pd

    from genesig.results import Dataset, Fits

Array = np.ndarray[Any, Any]
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
        side = classes.index(own) if it.test == "anova" and own in classes else 0
        separation, effect = MEASURES[it.test](it, x, side)
        each.append({
            "gene": gene,
            "of": str(own) if it.test == "anova" else None,
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
            inside[chosen.coef(fit, len(chosen.mu) - 1)[0]] = True
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
