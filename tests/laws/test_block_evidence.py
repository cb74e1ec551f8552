"""Blocks of correlated genes are selected though half-samples choose different members."""

import numpy as np
from gathered_study import chance_of

from genesig.results.splits import HalfSampleStudy
from genesig.selection.genes.blocks import block_evidence, block_of_every_gene, divide_into_blocks

N_GENES = 30
HALVES = 10


def study(seed=0, n=40):
    """Return X whose first ten genes go together, as the next ten do; the rest are alone."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.standard_normal((n, 2)), 10, axis=1)
    return np.hstack([common + 0.2 * rng.standard_normal((n, 20)), rng.standard_normal((n, 10))])


def turns(blocks, B=20):
    """Let each half list one gene: a member of the first block in turn; by chance any gene."""
    lists = [np.array([half]) for half in range(HALVES)]
    rng = np.random.default_rng(1)
    lists += [np.array([rng.integers(N_GENES)]) for _ in range(B * HALVES)]
    none = chance_of(np.zeros(N_GENES, int), np.zeros((B, N_GENES), int), HALVES)
    parts = {
        name: getattr(none, name)
        for name in ("number", "outer", "inner", "final", "half", "half_inner")
    }
    return HalfSampleStudy(
        **parts,
        final_inner=none.final_inner,
        lists=none.lists,
        strength=np.zeros(N_GENES),
        indptr=np.arange(len(lists) + 1),
        indices=np.concatenate(lists),
    )


def test_correlated_genes_form_one_block_whatever_the_labels():
    X = study()
    total = turns(X).counts().sum(axis=0)
    block, leaders = divide_into_blocks(X, total)
    np.testing.assert_array_equal(block[leaders], np.arange(len(leaders)))
    assert len(set(block[:10])) == len(set(block[10:20])) == 1
    assert block[0] != block[10]
    np.testing.assert_array_equal(block, divide_into_blocks(-3 * X + 7, total)[0])


def test_gene_is_in_the_block_of_its_correlated_leader_or_alone():
    """Genes that no half lists join those that are listed; noise genes stand alone."""
    X = study()
    total = np.zeros(N_GENES)
    total[[3, 13]] = 2, 1
    part = block_of_every_gene(X, total)
    assert set(part[:10]) == {0}
    assert set(part[10:20]) == {1}
    assert sorted(part[20:]) == list(range(2, N_GENES - 18))
    np.testing.assert_array_equal(
        np.unique(block_of_every_gene(X, np.zeros(N_GENES))), np.arange(N_GENES)
    )


def test_block_of_interchangeable_genes_is_selected_though_no_gene_is():
    X = study()
    evidence = block_evidence(X, np.array([3, 13, 25]), turns(X))
    assert evidence["selection_frequency"].tolist() == [1.0, 0.0, 0.0]
    assert 0.2 < evidence["null_frequency"][0] < 0.5  # ten genes of thirty
    assert evidence["selection_p"][0] == 1 / 21
    assert evidence["selection_q"][0] <= 0.1 < evidence["selection_q"][1]
    times = turns(X).counts()[0]
    assert times.max() == 1  # and each gene by itself is listed once


def test_without_permutations_there_are_no_columns():
    assert block_evidence(study(), np.array([1, 2]), HalfSampleStudy.none()).shape == (2, 0)
