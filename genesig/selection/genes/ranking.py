"""The blocks in order of what they contribute to the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.results import Dataset, Fits
from genesig.selection.genes.clusters import assign, correlations, merge
from genesig.selection.genes.ties import rounded

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

BLOCK_COLUMNS = [
    "block", "layer", "order", "gene", "symbol", "prototype", "r", "first_mu", "score",
]  # fmt: skip
PROTOTYPE_COLUMNS = [
    "gene", "symbol", "block", "score", "coef", "nearest", "nearest_symbol", "nearest_r", "close",
]  # fmt: skip


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
    table = table.assign(coef=coef, **near)
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
