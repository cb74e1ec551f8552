"""Blocks of correlated genes: their prototypes, their order, and how often half-samples hit them.

A prototype is a gene of the final model's first list; its block are the genes that follow it most.

A half-sample list hits a block if it holds a member. For the null of all blocks the genes of the
lists, under any labels, are divided without the labels: the gene listed most often leads all that
correlate with it, then the next one of the rest. A prototype's own block is all that correlate with
it; its q is that of its number of hits among these blocks, as `frequency` defines it for genes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.results import Dataset, Fits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.genes.frequency import (
    count_tails,
    expected_tails,
    round_sizes,
    selection_p,
    selection_q,
)

if TYPE_CHECKING:
    import pandas as pd


def correlations(X: Array, genes: Array, others: Array) -> Array:
    """Return Pearson's r of each gene with each other one, (n_genes, n_others).

    A gene that is constant over the samples has r = 0 with every other, 1 with itself.
    """
    r = np.clip(standardise_columns(X[:, genes]).T @ standardise_columns(X[:, others]), -1.0, 1.0)
    return np.where(np.asarray(genes)[:, None] == np.asarray(others), 1.0, r)


def assign_to_prototypes(X: Array, genes: Array, prototypes: Array) -> tuple[Array, Array]:
    """Return the prototype of each gene, argmax_b |r(x_j, x_{p_b})|, and r; a prototype has itself.

    Anti-correlated genes belong together, the sign of r is kept for display. Ties go to the first
    prototype.

    X (n_samples, n_features) float: normalised expression. genes, prototypes: columns of X;
    `prototypes` must not be empty.

    block, r (n_genes,) int and float: number of the prototype and the signed correlation with it.

    Source: Mosci 2009, section 6.3, with |r| instead of the printed formula.
    """
    r = correlations(X, genes, prototypes)
    absolute_r = np.abs(r)
    # copies of one gene are equal up to rounding, which must not decide
    block = np.argmax(absolute_r >= absolute_r.max(axis=1, keepdims=True) - 1e-12, axis=1)
    number_of_prototype = {int(gene): number for number, gene in enumerate(prototypes)}
    block = np.array(
        [number_of_prototype.get(int(gene), int(b)) for gene, b in zip(genes, block, strict=True)],
        dtype=np.int64,
    )
    return block, r[np.arange(len(block)), block]


def merge_prototypes(r: Array, score: Array, min_r: float | None) -> Array:
    """Return for each prototype the number of the one that leads its block after merging.

    Prototypes with |r| > `min_r` are joined, also through a common third one (connected
    components). The highest score leads the block; ties go to the first. With None nothing is
    merged. r (k, k), score (k,): of the prototypes.
    """
    n_prototypes = len(score)
    if min_r is None or n_prototypes == 0:
        return np.arange(n_prototypes)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    is_joined = csr_array((np.abs(r) > min_r).astype(np.int64).reshape(n_prototypes, n_prototypes))
    _, component = connected_components(is_joined, directed=False)
    by_score = np.lexsort((np.arange(n_prototypes), -score))
    _, first_positions = np.unique(component[by_score], return_index=True)
    return np.asarray(by_score[first_positions][component])


def standardise_columns(X: Array) -> Array:
    """Return the columns with mean 0 and length 1; constant ones become 0."""
    centred = X - X.mean(axis=0)
    length = np.sqrt(np.sum(np.square(centred), axis=0))
    is_constant = length <= 1e-12 * np.abs(X).max(axis=0, initial=0.0) * np.sqrt(len(X))
    return np.asarray(np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, length)))


BLOCK_COLUMNS = ["block", "layer", "order", "gene", "symbol", "prototype", "r", "first_mu", "score"]


NEAREST_COLUMNS = ["nearest", "nearest_symbol", "nearest_r", "close"]
PROTOTYPE_COLUMNS = ["gene", "symbol", "block", "score", "weight", *NEAREST_COLUMNS]


def block_tables(
    dataset: Dataset, final: Fits, *, least: float, warn_above: float, merge_above: float | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return blocks.tsv and prototypes.tsv: the genes of the final model's nested lists.

    Prototypes are the genes of its first list, the minimal one. Every gene of its other lists joins
    the block of the prototype with the largest |r| over all samples, if that is at least `least`;
    otherwise it has no block. The score of a block is ||x_p β_p||₂ = √(Σ_i (x_ip - x̄_p)²) |β_p|,
    the contribution of its prototype p to f over the samples, β the refit weight at the first mu
    (with several classes its row of weights). Blocks fall by score, genes in a block by first mu of
    appearance, then |r|, then by name.

    dataset: after the row-wise steps.
    final: the fit on all samples.
    least: smallest |r| with its prototype that makes a gene a member.
    warn_above: a prototype whose |r| with its nearest other one exceeds this is marked ``close``.
    merge_above: merge blocks of prototypes with |r| above this; the higher score leads the block,
        and the others become its members.
    """
    import pandas as pd

    genes, first_list = _first_lists(final)
    prototypes, weights = final.coef(0, 0)
    weight = weights if weights.ndim == 1 else np.sqrt(np.square(weights).sum(axis=1))
    if len(prototypes) == 0:
        return pd.DataFrame(columns=BLOCK_COLUMNS), pd.DataFrame(columns=PROTOTYPE_COLUMNS)
    centred = dataset.X[:, prototypes] - dataset.X[:, prototypes].mean(axis=0)
    score = np.sqrt(np.sum(np.square(centred), axis=0)) * np.abs(weight)
    prototype_r = correlations(dataset.X, prototypes, prototypes)
    rounded_score = round_sizes(score)
    leader_of_prototype = merge_prototypes(prototype_r, rounded_score, merge_above)
    block_number = _block_numbers(leader_of_prototype, rounded_score)
    block, prototype_correlation = assign_to_prototypes(dataset.X, genes, prototypes)
    without_block = np.abs(prototype_correlation) < least
    block = leader_of_prototype[block]
    r = correlations(dataset.X, genes, prototypes)[np.arange(len(genes)), block]
    blocks = _block_frame(dataset, genes, first_list, r, prototypes[block], block_number[block])
    blocks = blocks.assign(
        block=blocks["block"].astype("Int64").mask(without_block),
        first_mu=final.mu[first_list],
        score=np.where(without_block, np.nan, score[block]),
    )
    order = np.lexsort(
        (genes, -np.round(np.abs(r), 12), first_list, block_number[block], without_block)
    )
    blocks = blocks.iloc[order].reset_index(drop=True)
    blocks["order"] = blocks.groupby("block", dropna=False).cumcount() + 1
    nearest_columns = _nearest_prototypes(dataset, prototypes, prototype_r, warn_above)
    table = pd.DataFrame(
        {**_gene_names(dataset, prototypes), "block": block_number, "score": score}
    )
    table = table.assign(weight=weight, **nearest_columns)
    order = np.lexsort((prototypes, -rounded_score, block_number))
    return blocks[BLOCK_COLUMNS], table.iloc[order][PROTOTYPE_COLUMNS].reset_index(drop=True)


def _first_lists(final: Fits) -> tuple[Array, Array]:
    """Return the genes of all lists of the final model, and the first list of each."""
    lists = [final.coef(0, list_index)[0] for list_index in range(len(final.mu))]
    list_of_entry = np.repeat(np.arange(len(lists)), [len(genes) for genes in lists])
    genes, positions = np.unique(np.concatenate(lists), return_index=True)
    return genes, list_of_entry[positions]


def _block_numbers(leader_of_prototype: Array, score: Array) -> Array:
    """Return the number of each prototype's block, (k,): 1, 2, .. by falling score of the leaders.

    leader_of_prototype (k,): from `merge_prototypes`. score (k,).
    """
    leaders = np.unique(leader_of_prototype)
    by_score = leaders[np.lexsort((leaders, -score[leaders]))]
    number_of_leader = {
        int(leader_gene): rank for rank, leader_gene in enumerate(by_score, start=1)
    }
    return np.array([number_of_leader[int(leader_gene)] for leader_gene in leader_of_prototype])


def _block_frame(
    dataset: Dataset, genes: Array, first_list: Array, r: Array, prototype: Array, block: Array
) -> pd.DataFrame:
    """Return blocks.tsv without first_mu, score and order, for genes (n,), columns of X.

    first_list (n,): index of the first list with the gene. prototype (n,): column of X of the
    prototype. r, block (n,): correlation with it, and number of its block.
    """
    import pandas as pd

    names = np.array(dataset.genes, dtype=object)
    return pd.DataFrame(
        {
            "block": block,
            "layer": first_list + 1,
            **_gene_names(dataset, genes),
            "prototype": names[prototype],
            "r": r,
        }
    )


def _nearest_prototypes(
    dataset: Dataset, prototypes: Array, prototype_r: Array, warn_above: float
) -> dict[str, Array]:
    """Return the columns about the nearest other prototype, blank for a single one.

    prototypes (k,): columns of X. prototype_r (k, k): their correlations.
    """
    is_single = len(prototypes) == 1
    absolute_r = np.abs(prototype_r) - 2 * np.eye(len(prototypes))  # none is nearest to itself
    # copies of one gene are equal up to rounding, which must not decide
    nearest_prototype = np.argmax(
        absolute_r >= absolute_r.max(axis=1, keepdims=True) - 1e-12, axis=1
    )
    r = prototype_r[np.arange(len(prototypes)), nearest_prototype]
    names = _gene_names(dataset, prototypes[nearest_prototype])
    no_name = np.full(1, "", dtype=object)
    return {
        "nearest": no_name if is_single else names["gene"],
        "nearest_symbol": no_name if is_single else names["symbol"],
        "nearest_r": np.full(1, np.nan) if is_single else r,
        "close": np.full(1, False) if is_single else np.abs(r) > warn_above,
    }


def _gene_names(dataset: Dataset, genes: Array) -> dict[str, Array]:
    """Return the columns ``gene`` and ``symbol`` of some genes."""
    return {
        "gene": np.array(dataset.genes, dtype=object)[genes],
        "symbol": dataset.var["symbol"].to_numpy(dtype=object)[genes],
    }


MIN_MEMBER_CORRELATION = 0.7  # smallest |r| that makes a gene a member

MAX_DIVIDED_GENES = 4000  # genes that are divided, those listed most often

MAX_CORRELATIONS_AT_ONCE = 5_000_000  # correlations that memory holds at once


def block_evidence(X: Array, prototypes: Array, half_sample_study: HalfSampleStudy) -> pd.DataFrame:
    """Return the share of lists that hit each prototype's block, that by chance, and its p and q.

    X (n, d) float. prototypes (k,) int: columns of X. half_sample_study: if it is empty, there are
    no columns.
    """
    import pandas as pd

    if not half_sample_study:
        return pd.DataFrame(index=range(len(prototypes)))
    n_lists = int(half_sample_study.lists)
    # The null counts blocks that partition the genes; own blocks of prototypes may overlap.
    blocks, _leaders = divide_into_blocks(X, half_sample_study.counts().sum(axis=0))
    divided_hits = _count_hits(half_sample_study, blocks)
    null_expectation = expected_tails(count_tails(divided_hits[1:], n_lists))
    prototype_hits = np.zeros((len(divided_hits), 0), dtype=np.int64)
    if len(prototypes):
        # (d, k): 0 for the members of a prototype's own block, -1 for other genes
        own_blocks = np.where(
            np.abs(correlations(X, np.arange(X.shape[1]), prototypes)) >= MIN_MEMBER_CORRELATION,
            0,
            -1,
        )
        prototype_hits = np.column_stack(
            [_count_hits(half_sample_study, own_block) for own_block in own_blocks.T]
        )
    counts = prototype_hits[0]
    null_counts = prototype_hits[1:]
    return pd.DataFrame(
        {
            "selection_frequency": counts / n_lists,
            "null_frequency": null_counts.mean(axis=0) / n_lists,
            "selection_p": selection_p(counts, null_counts),
            "selection_q": selection_q(counts, null_expectation, reference_counts=divided_hits[0]),
        }
    )


def divide_into_blocks(X: Array, list_counts: Array) -> tuple[Array, Array]:
    """Return the block of each gene, (d,), counted from 0, and the gene that leads each block.

    Genes in no list, or beyond `MAX_DIVIDED_GENES`, have block -1. list_counts (d,): number of
    lists with each gene.
    """
    order = np.argsort(-list_counts, kind="stable")[
        : min(MAX_DIVIDED_GENES, np.count_nonzero(list_counts))
    ]
    block = np.full(X.shape[1], -1, dtype=np.int64)
    undivided = np.arange(len(order))
    n_blocks = 0
    Z = np.ascontiguousarray(standardise_columns(X[:, order]).T)
    leaders = []
    while len(undivided):
        is_member = np.abs(Z[undivided] @ Z[undivided[0]]) >= MIN_MEMBER_CORRELATION
        is_member[0] = True
        block[order[undivided[is_member]]] = n_blocks
        leaders.append(order[undivided[0]])
        undivided = undivided[~is_member]
        n_blocks += 1
    return block, np.array(leaders, dtype=np.int64)


def block_of_every_gene(X: Array, list_counts: Array) -> Array:
    """Return the block of every gene, (d,): genes without a block join the most correlated leader.

    A gene that correlates with no leader is a block by itself.
    """
    block, leaders = divide_into_blocks(X, list_counts)
    undivided = np.flatnonzero(block < 0)
    for genes in np.array_split(
        undivided, 1 + len(undivided) * len(leaders) // MAX_CORRELATIONS_AT_ONCE
    ):
        if len(leaders) and len(genes):
            nearest, r = assign_to_prototypes(X, genes, leaders)
            block[genes] = np.where(np.abs(r) >= MIN_MEMBER_CORRELATION, nearest, -1)
    without_block = block < 0
    block[without_block] = len(leaders) + np.arange(without_block.sum())
    return block


def _count_hits(half_sample_study: HalfSampleStudy, block: Array) -> Array:
    """Return the number of lists that hit each block, (B + 1, n_blocks), observed labels first.

    block (d,) int: block of each gene, -1 for none.
    """
    n_blocks = int(block.max(initial=-1)) + 1
    n_lists = int(half_sample_study.lists)
    list_number = np.repeat(
        np.arange(len(half_sample_study.indptr) - 1), np.diff(half_sample_study.indptr)
    )
    block_of_entry = block[half_sample_study.indices]
    pairs = np.unique(
        list_number[block_of_entry >= 0] * n_blocks + block_of_entry[block_of_entry >= 0]
    )
    hits = np.zeros((len(half_sample_study) + 1, n_blocks), dtype=np.int64)
    # The lists of a permutation are consecutive.
    np.add.at(hits, (pairs // n_blocks // n_lists, pairs % n_blocks), 1)
    return hits
