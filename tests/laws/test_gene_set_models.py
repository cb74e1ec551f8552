"""Laws of the selection of gene sets on a study's splits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from block_studies import MOMENTS, gene_sets, planted
from block_studies import QUICK_SETS as QUICK
from block_studies import sets_outer as outer

from genesig.data.splits.draw import permute_responses, response_strata
from genesig.errors import GenesigError
from genesig.optim.structured.columns import Blocks
from genesig.selection.assess.intervals import balanced_error
from genesig.selection.linear.training_sets import PreparedStudy
from genesig.selection.sets.gather import sets_table
from genesig.selection.sets.loop import fit_sets_final, fit_sets_half_samples
from genesig.selection.sets.training_sets import (
    BlockColumns,
    BlockData,
    NullResponses,
    SetsSettings,
    coefficients,
    weighted_blocks,
)


@pytest.mark.slow
def test_labels_without_their_samples_find_nothing() -> None:
    study = planted(effect=0.0, n=60)
    fits = outer(study, "permuted-001-012")
    y = study[0].response()
    assert 0.35 < balanced_error(y[fits.test_rows], fits.scores) < 0.65


def test_coefficients_are_the_sums_of_the_pieces() -> None:
    dataset, _, sets = planted()
    rows = np.arange(30)
    y = dataset.response()[:30]
    Z = dataset.X - dataset.X[rows].mean(axis=0)
    members = BlockColumns.from_sets(sets, np.arange(60), "singletons")
    ground = BlockData(
        Z[:, members.columns], rows, (y - y.mean())[:, None], y[rows].mean(keepdims=True), 1.0
    )
    design = ground.design(Blocks(members.members, members.starts, np.ones(len(members.blocks))))
    path = ground.path(design, np.array([0.5, 0.1]), 1e-3, 1e-12, 99)
    coef = coefficients(design, path)
    for m in range(2):
        np.testing.assert_allclose(coef[:, m], path.coef(m), atol=1e-10)
    held_out_rows = np.array([31, 34])
    expected = y.mean() + Z[held_out_rows][:, members.columns] @ path.coef(1)[:, 0]
    np.testing.assert_allclose(ground.scores(design, path, held_out_rows)[1], expected, atol=1e-9)


def test_sets_are_restricted_to_the_remaining_genes() -> None:
    sets = gene_sets([[0, 1], [2, 3], [1, 4]])
    members = BlockColumns.from_sets(sets, np.array([4, 1, 5]), "singletons")
    assert members.blocks.tolist() == [0, 2, 3 + 5]
    remaining_sets = [
        members.columns[members.members[a:b]].tolist()
        for a, b in zip(members.starts, members.starts[1:], strict=False)
    ]
    assert remaining_sets == [[1], [1, 0], [2]]
    assert BlockColumns.from_sets(sets, np.array([4, 1, 5]), "leave_out").blocks.tolist() == [0, 2]
    with pytest.raises(GenesigError, match="leaves no gene of any set"):
        BlockColumns.from_sets(sets, np.array([5, 6]), "leave_out")


def test_filter_that_empties_a_set_is_named_with_its_split() -> None:
    dataset, splits, _ = planted()
    X = dataset.X.copy()
    X[:, 50:] *= 100
    study = replace(dataset, X=X), splits, gene_sets([range(10), range(10, 20)])
    folds = [{"step": "variance_filter", "keep": 0.1}, *MOMENTS]
    with pytest.raises(GenesigError, match=r"gene sets, split \S+: normalise.folds leaves no gene"):
        outer(study, folds=folds)


def test_shuffled_labels_keep_to_groups_and_batches() -> None:
    rng = np.random.default_rng(0)
    y = np.array([1, 1, -1, -1, 1, -1, 1, 1, -1, -1.0])
    batches = np.array(list("aaaabbbbbb"))
    groups = np.array([1, 1, 2, 2, 3, 4, 5, 5, 6, 6])
    permuted_labels = permute_responses(y, groups, batches, 200, rng)
    assert permuted_labels.shape == (10, 200)
    for column in permuted_labels.T:
        assert Counter(column[:4]) == Counter(y[:4])
        assert all(len(set(column[groups == group])) == 1 for group in groups)
    assert len({tuple(column) for column in permuted_labels.T}) == 8  # 2 ways in a, in b 2 by 2
    free_permutations = permute_responses(y, None, None, 50, rng)
    assert (np.sort(free_permutations, axis=0) == np.sort(y)[:, None]).all()


def test_where_no_label_can_change_place_all_do() -> None:
    y = np.array([1.0, 1.0, -1.0, -1.0])
    permuted_labels = permute_responses(
        y, None, np.array(list("aabb")), 99, np.random.default_rng(0)
    )
    assert len({tuple(column) for column in permuted_labels.T}) == 6


def test_gene_that_differs_in_one_sample_weighs_as_much_as_others() -> None:
    """By itself it weighs as much as any other; its shuffled sums are all of one size."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    Z = rng.standard_normal((40, 30))
    Z[:, 0] = np.arange(40) == 3
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    permuted = permute_responses(y, None, None, 200, rng)[:, :, None]
    responses = NullResponses(y[:, None], permuted, response_strata(y, None, None))
    weights = weighted_blocks("permuted", Z, responses, np.arange(30), np.arange(31)).weights
    np.testing.assert_allclose(weights, weights[1], rtol=1e-4)


def test_half_sample_fit_equals_a_study_of_its_samples() -> None:
    dataset, splits, sets = planted(subsamples=6)
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    set_settings = SetsSettings(**QUICK)
    final, genes = fit_sets_final(prepared_study, sets, set_settings)
    halves = fit_sets_half_samples(prepared_study, sets, set_settings)
    assert len(halves) == 6
    for fit, half in enumerate(splits.subsamples):
        half_study = PreparedStudy(dataset, replace(splits, final=half), MOMENTS)
        separate_fit, _ = fit_sets_final(half_study, sets, set_settings)
        assert (halves.tau[fit], halves.mu[fit]) == (separate_fit.tau[0], separate_fit.mu[0])
        np.testing.assert_array_equal(halves.selected(fit)[0], separate_fit.selected(0)[0])
    assert set(genes["set"]) == {str(sets.names[k]) for k in final.selected(0)[0]}
    assert (genes.groupby("set").size() == sets.n_measured[final.selected(0)[0]]).all()
    assert halves.permutation.tolist() == [0] * 6
    training_rows = [task.split for task in prepared_study.make_training_sets(splits.subsamples)]
    assert halves.split.tolist() == training_rows


def test_a_path_longer_than_most_ends() -> None:
    study = planted()
    assert np.diff(outer(study, most=1, one_standard_error=False).indptr).max() <= 1


class OneFit:
    """A fit that selects some blocks, the sizes of which are 3, 2, 1."""

    def __init__(self, *blocks: int) -> None:
        self.blocks = np.array(blocks)

    def __len__(self) -> int:
        return 1

    def selected(self, fit: int) -> tuple[np.ndarray, np.ndarray]:
        return self.blocks, np.arange(len(self.blocks), 0, -1.0)


def test_table_of_sets_names_a_gene_outside_all_sets_by_itself() -> None:
    dataset, _, sets = planted()
    lone_gene = 55
    fit = OneFit(0, len(sets) + lone_gene)
    table = sets_table(dataset, sets, fit, fit, cv_frequency=0.5)
    assert table["set"].tolist() == [sets.names[0], dataset.genes[lone_gene]]
    assert table["genes"].tolist() == [10, 1]
    assert table["named"].tolist() == [11, 1]
    np.testing.assert_allclose(table["final_share"], [2 / 3, 1 / 3])
