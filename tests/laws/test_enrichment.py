"""Laws of enrichment: closed forms, the running sum by hand, a reference that knows correlation."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gathered_study import make_dataset, make_fits, make_splits
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sets_study import gene_sets

from genesig.results import Dataset
from genesig.selection.enrichment.named import Named
from genesig.selection.enrichment.over import lists_table, over_represented
from genesig.selection.enrichment.ranking import by_gene, ranking_table
from genesig.selection.enrichment.running_sum import peaks
from genesig.selection.enrichment.tables import lists_of, selection_table

Array = np.ndarray[Any, Any]


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_over_representation_is_counted(seed: int) -> None:
    """The share of all draws that have as many: every one of them is as likely."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    size, drawn = (int(k) for k in rng.integers(1, n + 1, 2))
    for shared in range(max(0, size + drawn - n), min(size, drawn) + 1):
        draws = sum(comb(size, k) * comb(n - size, drawn - k) for k in range(shared, drawn + 1)
                    if k <= size)  # fmt: skip
        found = over_represented(np.array([shared]), np.array([size]), drawn, n)[0]
        assert found == pytest.approx(draws / comb(n, drawn), rel=1e-10)


def by_hand(t: Array, members: list[int]) -> tuple[float, int]:
    """Walk down the order, gene by gene."""
    order = np.argsort(-t, kind="stable")
    inside = np.isin(order, members)
    total = np.abs(t[members]).sum()
    share = np.abs(t[order]) / total if total else np.full(len(t), 1 / len(members))
    steps = np.where(inside, share, -1 / max(len(t) - len(members), 1))
    walk = np.cumsum(steps)
    up = walk.max() >= -walk.min() - 1e-12
    return (walk.max(), walk.argmax()) if up else (walk.min(), walk.argmin())


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(3, 60))
def test_the_running_sum_is_that_of_a_walk(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    lists = [np.sort(rng.choice(n, int(rng.integers(1, n)), replace=False)) for _ in range(8)]
    ones = np.ones(sum(map(len, lists)))
    members = csr_array((ones, np.concatenate(lists), np.cumsum([0, *map(len, lists)])),
                        shape=(8, n))  # fmt: skip
    found = peaks(t, members)
    for k, some in enumerate(lists):
        score, place = by_hand(t, list(some))
        assert found.score[k] == pytest.approx(score, abs=1e-10)
        if score > 0 and (t[some] != 0).any():
            assert found.place[k] <= place


def study(seed: int = 0) -> Dataset:
    """Return thirty genes, some with two probes; the first six are higher in the ill."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 15)
    X = rng.normal(size=(30, 40))
    X[:, :8] += 1.2 * y[:, None]
    dataset = make_dataset(X, y)
    symbols = [f"S{min(j, 39 - j) if j >= 30 else j}" for j in range(40)]
    return replace(dataset, var=dataset.var.assign(symbol=symbols))


SETS = gene_sets([range(8), range(8, 20), [*range(4), *range(20, 28)], range(12, 30)])


def test_probes_of_a_gene_count_once() -> None:
    named = Named.of(study(), SETS)
    assert len(named) == 30
    assert named.sizes().tolist() == [8, 12, 12, 18]
    assert named.marked(np.array([0, 39])).sum() == 1
    t = np.arange(40.0) - 35.5
    assert by_gene(t, named)[0] == -35.5  # of -35.5 and 3.5
    assert by_gene(-t, named)[1] == 34.5


def test_a_list_is_held_against_every_set_it_shares_a_gene_with() -> None:
    named = Named.of(study(), SETS)
    table = lists_table(named, SETS, {"all": np.arange(6), "none": np.array([], dtype=int)})
    assert set(table["list"]) == {"all"}
    assert table["set"].tolist() == ["A", "C"]
    first = table.iloc[0]
    assert (first["shared"], first["size"], first["genes"]) == (6, 6, 8)
    assert first["expected"] == pytest.approx(6 * 8 / 30)
    assert first["p_value"] == pytest.approx(comb(8, 6) / comb(30, 6))
    assert first["q_value"] == pytest.approx(4 * first["p_value"])
    assert first["names"] == "S0, S1, S2, S3, S4, S5"


def test_what_differs_stands_high_and_nothing_else() -> None:
    dataset = study()
    splits = make_splits(dataset, 3, 1)
    table = ranking_table(dataset, splits, Named.of(dataset, SETS), SETS, shufflings=99)
    first = table.set_index("set").loc["A"]
    assert first["p_value"] <= 0.03
    assert first["normalised"] > 1.5
    assert set(first["leading"].split(", ")) <= {f"S{j}" for j in range(8)}
    assert table.set_index("set").loc["B", "p_value"] > 0.05


@pytest.mark.slow
def test_without_an_effect_p_is_uniform_where_the_genes_of_a_set_are_one() -> None:
    """A draw of single genes finds correlated sets in every other study; shuffled labels do not."""
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 40))
        X[:, :8] += 2 * rng.normal(size=(30, 1))
        dataset = make_dataset(X, np.repeat([-1.0, 1.0], 15))
        splits = make_splits(dataset, 3, 1)
        table = ranking_table(dataset, splits, Named.of(dataset, SETS), SETS, shufflings=49)
        p.append(table.set_index("set").loc["A", "p_value"])
    assert 0.35 < np.mean(p) < 0.65
    assert np.mean(np.array(p) <= 0.1) < 0.25


def test_chosen_lists_are_held_against_those_of_permuted_labels() -> None:
    dataset = study()
    splits = make_splits(dataset, 3, 2)
    observed = make_fits(dataset, splits.outer).with_chosen()
    null = make_fits(dataset, splits.outer, seed=1, permutations=range(1, 10)).with_chosen()
    named = Named.of(dataset, SETS)
    table = selection_table(named, SETS, observed, null)
    assert set(table["reference"]) == {"permuted labels"}
    assert table["p_value"].between(0.1, 1).all()
    same = selection_table(named, SETS, observed, observed)
    assert (same["p_value"] == 1).all()
    np.testing.assert_allclose(same["shared"], same["expected"])


def test_the_lists_are_those_of_the_tables() -> None:
    dataset = study()
    tables = {
        "signature": pd.DataFrame({"gene": ["g1", "g2"], "core": [True, False]}),
        "nested_lists": pd.DataFrame(
            {"mu": [0.1, 0.1, np.nan], "gene": ["g3", "g4", "g5"], "in_list": [True, False, True]}
        ),
        "blocks": pd.DataFrame(
            {"block": [1.0, 1.0, 1.0, 2.0, np.nan], "gene": ["g1", "g6", "g7", "g8", "g9"]}
        ),
    }
    found = {name: columns.tolist() for name, columns in lists_of(dataset, tables).items()}
    assert found == {"signature": [1, 2], "core genes": [1], "list at mu 0.1": [3],
                     "block 1": [1, 6, 7]}  # fmt: skip
