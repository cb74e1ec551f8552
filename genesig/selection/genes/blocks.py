"""Blocks of correlated genes: around which genes, in which order, and what halves say of them.

A half hits a block when its list holds a member. For the null of all blocks the genes that halves
list, under any labels, are divided without the labels: the gene listed most often leads all that
correlate with it, then the next one of the rest. A prototype's own block is all that correlate with
it; its q is that of its number of hits among these blocks, as `frequency` has it for genes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset, Fits
from genesig.results.splits import Chance
from genesig.selection.genes.frequency import expected, p_values, q_values, rounded, tails

if TYPE_CHECKING:
    import pandas as pd


def correlations(X: Array, genes: Array, others: Array) -> Array:
    """Return Pearson's r of each gene with each other one, (n_genes, n_others).

    A gene that is constant over the samples has r = 0 with every other, 1 with itself.
    """
    r = np.clip(standardised(X[:, genes]).T @ standardised(X[:, others]), -1.0, 1.0)
    return np.where(np.asarray(genes)[:, None] == np.asarray(others), 1.0, r)


def assign(X: Array, genes: Array, prototypes: Array) -> tuple[Array, Array]:
    """Give each gene to argmax_b |r(x_j, x_{p_b})|; a prototype to itself.

    Anti-correlated genes belong together, the sign of r is kept for display. Ties go to the
    prototype named first.

    Parameters
    ----------
    X : (n_samples, n_features) float
        Normalised expression.
    genes, prototypes : int arrays
        Columns of X; `prototypes` must not be empty.

    Returns
    -------
    block, r : (n_genes,) int and float
        Number of the prototype and the signed correlation with it.

    References
    ----------
    Mosci 2009, section 6.3, with |r| in place of the printed formula.
    """
    r = correlations(X, genes, prototypes)
    strength = np.abs(r)
    # copies of one gene are equal up to rounding, which must not decide
    block = np.argmax(strength >= strength.max(axis=1, keepdims=True) - 1e-12, axis=1)
    own = {int(gene): number for number, gene in enumerate(prototypes)}
    block = np.array(
        [own.get(int(gene), int(b)) for gene, b in zip(genes, block, strict=True)], dtype=np.int64
    )
    return block, r[np.arange(len(block)), block]


def merge(r: Array, score: Array, above: float | None) -> Array:
    """Return for each prototype the number of the one that names its block after merging.

    Prototypes with |r| > `above` are joined, and what is joined to a common one (connected
    components); the highest score names the block, the first named at equal scores. None merges
    nothing.
    """
    n = len(score)
    if above is None or n == 0:
        return np.arange(n)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    joins = csr_array((np.abs(r) > above).astype(np.int64).reshape(n, n))
    _, component = connected_components(joins, directed=False)
    best = np.lexsort((np.arange(n), -score))
    _, first = np.unique(component[best], return_index=True)
    return np.asarray(best[first][component])


def standardised(X: Array) -> Array:
    """Return the columns with mean 0 and length 1; constant ones become 0."""
    centred = X - X.mean(axis=0)
    length = np.sqrt(np.sum(np.square(centred), axis=0))
    constant = length <= 1e-12 * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))
    return np.asarray(np.where(constant, 0.0, centred / np.where(constant, 1.0, length)))


BLOCK_COLUMNS = [
    "block",
    "layer",
    "order",
    "gene",
    "symbol",
    "prototype",
    "r",
    "first_mu",
    "score",
]


PROTOTYPE_COLUMNS = [
    "gene",
    "symbol",
    "block",
    "score",
    "weight",
    "nearest",
    "nearest_symbol",
    "nearest_r",
    "close",
]


def block_tables(
    dataset: Dataset,
    final: Fits,
    *,
    least: float,
    warn_above: float,
    merge_above: float | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return blocks.tsv and prototypes.tsv: the genes of the final model's nested lists.

    Prototypes are the genes of its first list, the minimal one; every gene of its other lists
    joins the block of the prototype with the largest |r| over all samples, where that is at least
    `least`, and otherwise stands apart, without a block. The score of a block is
    ||x_p β_p||₂ = √(Σ_i (x_ip - x̄_p)²) |β_p|, what its prototype p contributes to f over the
    samples, β the refit weight at the first mu (with several classes its row of weights). Blocks
    fall by score, genes in a block by first mu
    of appearance, then |r|, then by name.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    final : Fits
        The fit on all samples.
    least : float
        Smallest |r| with its prototype that makes a gene a member.
    warn_above : float
        A prototype whose |r| with its nearest other one exceeds this is marked ``close``.
    merge_above : float or None
        Merge blocks of prototypes with |r| above this; the higher score names the block, and
        the others become its members.

    Returns
    -------
    blocks, prototypes : DataFrame
        Both empty when the minimal list is.
    """
    import pandas as pd

    genes, first = _layers(final)
    prototypes, weights = final.coef(0, 0)
    coef = weights if weights.ndim == 1 else np.sqrt(np.square(weights).sum(axis=1))
    if len(prototypes) == 0:
        return pd.DataFrame(columns=BLOCK_COLUMNS), pd.DataFrame(columns=PROTOTYPE_COLUMNS)
    centred = dataset.X[:, prototypes] - dataset.X[:, prototypes].mean(axis=0)
    score = np.sqrt(np.sum(np.square(centred), axis=0)) * np.abs(coef)
    between = correlations(dataset.X, prototypes, prototypes)
    ranked = rounded(score)
    leader = merge(between, ranked, merge_above)
    number = _numbers(leader, ranked)
    block, strength = assign(dataset.X, genes, prototypes)
    apart = np.abs(strength) < least
    block = leader[block]
    r = correlations(dataset.X, genes, prototypes)[np.arange(len(genes)), block]
    blocks = _block_frame(dataset, genes, first, r, prototypes[block], number[block])
    blocks = blocks.assign(
        block=blocks["block"].astype("Int64").mask(apart),
        first_mu=final.mu[first],
        score=np.where(apart, np.nan, score[block]),
    )
    order = np.lexsort((genes, -np.round(np.abs(r), 12), first, number[block], apart))
    blocks = blocks.iloc[order].reset_index(drop=True)
    blocks["order"] = blocks.groupby("block", dropna=False).cumcount() + 1
    near = _nearest(dataset, prototypes, between, warn_above)
    table = pd.DataFrame({**_names(dataset, prototypes), "block": number, "score": score})
    table = table.assign(weight=coef, **near)
    order = np.lexsort((prototypes, -ranked, number))
    return blocks[BLOCK_COLUMNS], table.iloc[order][PROTOTYPE_COLUMNS].reset_index(drop=True)


def _layers(final: Fits) -> tuple[Array, Array]:
    """Return the genes of all lists of the final model and the number of the first of each."""
    lists = [final.coef(0, at)[0] for at in range(len(final.mu))]
    layer = np.repeat(np.arange(len(lists)), [len(genes) for genes in lists])
    genes, place = np.unique(np.concatenate(lists), return_index=True)
    return genes, layer[place]


def _numbers(leader: Array, score: Array) -> Array:
    """Return the number of each prototype's block: 1, 2, .. by falling score of the leaders."""
    leaders = np.unique(leader)
    ranked = leaders[np.lexsort((leaders, -score[leaders]))]
    number = {int(each): place for place, each in enumerate(ranked, start=1)}
    return np.array([number[int(each)] for each in leader])


def _block_frame(
    dataset: Dataset, genes: Array, first: Array, r: Array, prototype: Array, block: Array
) -> pd.DataFrame:
    import pandas as pd

    names = np.array(dataset.genes, dtype=object)
    return pd.DataFrame(
        {
            "block": block,
            "layer": first + 1,
            **_names(dataset, genes),
            "prototype": names[prototype],
            "r": r,
        }
    )


def _nearest(
    dataset: Dataset, prototypes: Array, between: Array, warn_above: float
) -> dict[str, Array]:
    """Return for each prototype the other one with the largest |r|; none when it is alone."""
    alone = len(prototypes) == 1
    strength = np.abs(between) - 2 * np.eye(len(prototypes))
    # copies of one gene are equal up to rounding, which must not decide
    other = np.argmax(strength >= strength.max(axis=1, keepdims=True) - 1e-12, axis=1)
    r = between[np.arange(len(prototypes)), other]
    names = _names(dataset, prototypes[other])
    nobody = np.full(1, "", dtype=object)
    return {
        "nearest": nobody if alone else names["gene"],
        "nearest_symbol": nobody if alone else names["symbol"],
        "nearest_r": np.full(1, np.nan) if alone else r,
        "close": np.full(1, False) if alone else np.abs(r) > warn_above,
    }


def _names(dataset: Dataset, genes: Array) -> dict[str, Array]:
    return {
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy(dtype=object)[genes],
    }


ALIKE = 0.7
"""Least |r| that makes a gene a member."""

MOST = 4000
"""Genes that are divided, those listed most often: what is left is listed next to never."""

NUMBERS = 5_000_000
"""Correlations that are held at once."""

COLUMNS = ("selection_frequency", "null_frequency", "selection_p", "selection_q")


def block_evidence(X: Array, prototypes: Array, chance: Chance) -> pd.DataFrame:
    """Return the share of the lists that hit each prototype's block, by chance, and its p and q.

    Parameters
    ----------
    X : (n, d) float
    prototypes : (k,) int
        Columns of X.
    chance : Chance
        Empty where no evidence is looked for: then there are no columns.
    """
    import pandas as pd

    if not chance:
        return pd.DataFrame(index=range(len(prototypes)))
    lists = int(chance.lists)
    null = _hits(chance, divided(X, chance.times().sum(axis=0))[0])
    chances = expected(tails(null[1:], lists))
    own = (
        np.column_stack(
            [
                _hits(chance, np.where(np.abs(r) >= ALIKE, 0, -1))
                for r in correlations(X, np.arange(X.shape[1]), prototypes).T
            ]
        )
        if len(prototypes)
        else null[:, :0]
    )
    times = own[0]
    by_chance = own[1:]
    q = q_values(times, chances, among=null[0])
    values = times / lists, by_chance.mean(axis=0) / lists, p_values(times, by_chance), q
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def divided(X: Array, total: Array) -> tuple[Array, Array]:
    """Return the block of each gene, (d,), counted from 0, and the gene that leads each block.

    Genes that are not divided have -1; `total` (d,) is how often each is listed.
    """
    order = np.argsort(-total, kind="stable")[: min(MOST, np.count_nonzero(total))]
    block = np.full(X.shape[1], -1, dtype=np.int64)
    left = np.arange(len(order))
    count = 0
    Z = np.ascontiguousarray(standardised(X[:, order]).T)
    leaders = []
    while len(left):
        alike = np.abs(Z[left] @ Z[left[0]]) >= ALIKE
        alike[0] = True
        block[order[left[alike]]] = count
        leaders.append(order[left[0]])
        left = left[~alike]
        count = count + 1
    return block, np.array(leaders, dtype=np.int64)


def whole_blocks(X: Array, total: Array) -> Array:
    """Return the block of every gene, (d,): the others join the leader that is most like them.

    Genes that are like none are blocks of their own.
    """
    block, leaders = divided(X, total)
    rest = np.flatnonzero(block < 0)
    for part in np.array_split(rest, 1 + len(rest) * len(leaders) // NUMBERS):
        if len(leaders) and len(part):
            nearest, r = assign(X, part, leaders)
            block[part] = np.where(np.abs(r) >= ALIKE, nearest, -1)
    alone = block < 0
    block[alone] = len(leaders) + np.arange(alone.sum())
    return block


def _hits(chance: Chance, block: Array) -> Array:
    """Return how many lists hit each block, (B + 1, n_blocks), observed labels first."""
    n_blocks = int(block.max(initial=-1)) + 1
    lists = int(chance.lists)
    of = np.repeat(np.arange(len(chance.indptr) - 1), np.diff(chance.indptr))
    listed = block[chance.indices]
    pairs = np.unique(of[listed >= 0] * n_blocks + listed[listed >= 0])
    out = np.zeros((len(chance) + 1, n_blocks), dtype=np.int64)
    np.add.at(out, (pairs // n_blocks // lists, pairs % n_blocks), 1)
    return out
