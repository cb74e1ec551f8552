"""Correlated genes form blocks with a fixed prototype, order and name."""

from dataclasses import replace

import numpy as np
import pytest
from gathered_study import MU, make_dataset, make_fits, make_study

from genesig.selection.genes.blocks import (
    assign_to_prototypes,
    block_tables,
    correlations,
    merge_prototypes,
)


def correlated(seed, loads, n=60, noise=0.3):
    """Return X whose column j follows hidden factor |loads[j]| - 1 with its sign."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, max(abs(load) for load in loads)))
    columns = [np.sign(load) * hidden[:, abs(load) - 1] for load in loads]
    return np.stack(columns, axis=1) + noise * rng.standard_normal((n, len(loads)))


def study(loads, first_mu, weights, seed=0):
    """Return a data set and a final fit in which gene j enters at layer first_mu[j], None never.

    Weights {gene: value} are those at the first mu; all others are 0.1.
    """
    X = correlated(seed, loads)
    dataset = make_dataset(X, np.where(np.arange(len(X)) % 2, 1.0, -1.0))
    _, splits, _, _ = make_study(0)
    final = make_fits(
        dataset, [splits.final.__class__.from_json({**vars(splits.final), "inner": ()})]
    )
    entries = [
        (at, j, weights.get(j, 0.1) if at == 0 else 0.1)
        for at in range(len(MU))
        for j, layer in enumerate(first_mu)
        if layer is not None and layer <= at
    ]
    layers, genes, values = zip(*entries, strict=True)
    sizes = np.bincount(layers, minlength=len(MU))
    return dataset, replace(
        final,
        indptr=np.append(0, np.cumsum(sizes)),
        indices=np.array(genes),
        values=np.array(values),
    )


def tables(dataset, final, least=0.0, merge_above=None):
    return block_tables(dataset, final, least=least, warn_above=0.9, merge_above=merge_above)


def test_correlations_are_those_of_numpy():
    X = correlated(0, [1, -1, 2, 3])
    correlation_matrix = correlations(X, np.arange(4), np.arange(4))
    np.testing.assert_allclose(correlation_matrix, np.corrcoef(X.T), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_a_constant_gene_is_correlated_with_nothing(value):
    X = correlated(0, [1, 2])
    X = np.column_stack([X, np.full(len(X), value)])
    correlation_matrix = correlations(X, np.arange(3), np.arange(3))
    assert correlation_matrix[2].tolist() == [0, 0, 1]
    block, r = assign_to_prototypes(X, np.array([0, 1, 2]), np.array([2, 0]))
    assert block.tolist() == [1, 1, 0]
    assert r[2] == 1


def test_genes_join_the_prototype_they_follow_or_oppose():
    X = correlated(1, [1, 2, 3, -1, -2, 3, 1])
    block, r = assign_to_prototypes(X, np.arange(7), np.array([0, 1, 2]))
    assert block.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert np.sign(r).tolist() == [1, 1, 1, -1, -1, 1, 1]


def test_copies_of_one_gene_stay_prototypes_of_their_own_and_ties_go_to_the_first():
    X = correlated(1, [1, 2])
    X = X[:, [0, 0, 1, 0]]
    block, _ = assign_to_prototypes(X, np.arange(4), np.array([1, 0, 2]))
    assert block.tolist() == [1, 0, 2, 0]


def test_merging_follows_chains_and_keeps_the_highest_score():
    r = np.eye(4)
    r[0, 1] = r[1, 0] = -0.95
    r[1, 2] = r[2, 1] = 0.92
    score = np.array([1.0, 2.0, 3.0, 0.5])
    assert merge_prototypes(r, score, 0.9).tolist() == [2, 2, 2, 3]
    assert merge_prototypes(r, score, 0.93).tolist() == [1, 1, 2, 3]
    assert merge_prototypes(r, score, None).tolist() == [0, 1, 2, 3]
    assert merge_prototypes(r, np.ones(4), 0.9).tolist() == [0, 0, 0, 3]
    assert merge_prototypes(np.empty((0, 0)), np.empty(0), 0.9).tolist() == []


def test_blocks_fall_by_the_length_of_what_their_prototype_contributes():
    dataset, final = study([1, 2, 1, -2, 2], [0, 0, 1, 2, 1], {0: 0.5, 1: -3.0})
    blocks, prototypes = tables(dataset, final)
    assert prototypes.set_index("gene")["weight"].to_dict() == {"g0": 0.5, "g1": -3.0}
    assert prototypes["gene"].tolist() == ["g1", "g0"]
    centred = dataset.X - dataset.X.mean(axis=0)
    expected = [np.linalg.norm(centred[:, 1] * -3.0), np.linalg.norm(centred[:, 0] * 0.5)]
    np.testing.assert_allclose(prototypes["score"], expected)
    assert blocks["block"].tolist() == [1, 1, 1, 2, 2]
    assert blocks["gene"].tolist() == ["g1", "g4", "g3", "g0", "g2"]
    assert blocks["layer"].tolist() == [1, 2, 3, 1, 2]
    assert blocks["order"].tolist() == [1, 2, 3, 1, 2]
    assert blocks["prototype"].tolist() == ["g1"] * 3 + ["g0"] * 2
    np.testing.assert_array_equal(blocks["first_mu"], MU[blocks["layer"] - 1])
    r = np.corrcoef(dataset.X.T)
    np.testing.assert_allclose(blocks["r"], [1, r[4, 1], r[3, 1], 1, r[2, 0]])


def test_within_a_layer_the_stronger_correlation_comes_first():
    dataset, final = study([1, 1, -1, 1, 1], [0, 1, 1, 1, 1], {0: 1.0})
    blocks, _ = tables(dataset, final)
    strength = blocks["r"].abs().tolist()
    assert strength == sorted(strength, reverse=True)


def test_an_earlier_layer_comes_before_a_stronger_correlation():
    dataset, final = study([1, 1, 1], [0, 2, 1], {0: 1.0})
    dataset.X[:, 1] = dataset.X[:, 0] + 0.01 * dataset.X[:, 1]
    blocks, _ = tables(dataset, final)
    assert blocks["gene"].tolist() == ["g0", "g2", "g1"]
    assert blocks["r"].iloc[2] > blocks["r"].iloc[1]


def test_a_gene_that_follows_no_prototype_stands_apart():
    dataset, final = study([1, 2, 1, 3, -1, 4], [0, 0, 1, 1, 2, 2], {0: 1.0, 1: 2.0})
    cluster_table, _ = tables(dataset, final)
    blocks, prototypes = tables(dataset, final, least=0.5)
    assert prototypes["gene"].tolist() == ["g1", "g0"]
    assert blocks["gene"].tolist()[:4] == ["g1", "g0", "g2", "g4"]
    assert blocks["block"].fillna(0).tolist() == [1, 2, 2, 2, 0, 0]
    assert blocks["order"].tolist() == [1, 1, 2, 3, 1, 2]
    assert blocks["score"].isna().tolist() == [False] * 4 + [True] * 2
    near = cluster_table.set_index("gene")["r"]
    assert blocks.set_index("gene")["r"].to_dict() == near.to_dict()
    assert (near.abs()[["g3", "g5"]] < 0.5).all()
    alone, _ = tables(dataset, final, least=1.0)
    assert set(alone.loc[alone["block"].notna(), "gene"]) == {"g0", "g1"}


def test_a_member_reaches_the_least_correlation():
    dataset, final = study([1, -1], [0, 1], {0: 1.0})
    r = abs(correlations(dataset.X, np.array([1]), np.array([0]))).item()
    assert tables(dataset, final, least=r - 1e-12)[0]["block"].notna().all()
    assert tables(dataset, final, least=r + 1e-12)[0]["block"].notna().tolist() == [True, False]


def test_close_prototypes_are_told_and_merged_on_request():
    dataset, final = study([1, -1, 2], [0, 0, 0], {0: 1.0, 1: 2.0, 2: 0.1}, seed=3)
    dataset = replace(dataset, X=dataset.X - 0.99 * correlated(3, [1, -1, 2]) * [0, 1, 0])
    dataset.X[:, 1] = -dataset.X[:, 0] + 0.01 * dataset.X[:, 1]
    _, prototypes = tables(dataset, final)
    prototype_rows = prototypes.set_index("gene")
    assert prototype_rows["close"].to_dict() == {"g0": True, "g1": True, "g2": False}
    assert (prototype_rows.loc["g0", "nearest"], prototype_rows.loc["g1", "nearest_symbol"]) == (
        "g1",
        "SYM0",
    )
    assert prototype_rows.loc["g0", "nearest_r"] == pytest.approx(np.corrcoef(dataset.X.T)[0, 1])
    blocks, merged = tables(dataset, final, merge_above=0.9)
    assert blocks["gene"].tolist() == ["g1", "g0", "g2"]
    assert blocks["prototype"].tolist() == ["g1", "g1", "g2"]
    assert merged["block"].tolist() == [1, 1, 2]
    assert blocks["r"].iloc[1] < -0.99


def test_a_lone_prototype_has_no_neighbour():
    dataset, final = study([1, 1, 2], [0, 1, None], {0: 1.0})
    blocks, prototypes = tables(dataset, final)
    assert blocks["gene"].tolist() == ["g0", "g1"]
    assert (prototypes["nearest"].item(), prototypes["close"].item()) == ("", False)


def test_an_empty_minimal_list_has_no_blocks():
    blocks, prototypes = tables(*study([1, 2], [1, None], {}))
    assert len(blocks) == 0
    assert len(prototypes) == 0
    assert "score" in blocks


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_every_gene_of_the_lists_is_in_one_block(seed):
    dataset, _, _, final = make_study(seed)
    blocks, prototypes = tables(dataset, final)
    assert len(prototypes) == len(final.coef(0, 0)[0]) > 0
    lists = [final.coef(0, at)[0] for at in range(len(MU))]
    assert sorted(blocks["gene"]) == sorted(f"g{j}" for j in np.unique(np.concatenate(lists)))
    first_list_of = [
        min(at for at in range(len(MU)) if int(gene[1:]) in lists[at]) for gene in blocks["gene"]
    ]
    assert blocks["layer"].tolist() == [at + 1 for at in first_list_of]
    assert (np.diff(blocks["block"]) >= 0).all()
    assert (blocks.groupby("block")["layer"].diff().dropna() >= 0).all()
    assert (np.diff(blocks["score"]) <= 0).all()
