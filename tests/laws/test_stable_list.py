"""`linear.list: stable` chooses by error, then by agreement, in any order of the folds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_formulas import choose_by_hand
from settings import linear

from genesig.optim.solution import Path
from genesig.selection.genes.frequency import agreement
from genesig.selection.linear.grid import CHOICE_RULES, GridResult, choose_stable
from genesig.selection.linear.training_sets import LinearSettings

N_GENES = 12

grids = st.tuples(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
mosts = st.integers(1, N_GENES)


def draw_grid(n_mu, n_tau, n_lam, n_folds, seed, missing=0.0):
    """Return errors with many ties, their standard errors and the lists of the folds.

    Lists grow and shrink with tau; a share of the rows ends early, NaN from there on.
    """
    rng = np.random.default_rng(seed)
    error = rng.integers(1, 6, (n_mu, n_tau, n_lam)) / 10
    spread = rng.choice([0, 0.1, 0.1, 0.3], error.shape)
    common = rng.permutation(N_GENES)[: rng.integers(1, 4)]
    lists = [
        [
            [
                np.unique(np.append(common, rng.integers(0, N_GENES, rng.integers(0, 4))))
                if rng.random() < 0.9
                else common[:0]
                for _ in range(n_folds)
            ]
            for _ in range(n_tau)
        ]
        for _ in range(n_mu)
    ]
    for mu in range(n_mu):
        if rng.random() < missing:
            error[mu, rng.integers(n_tau) :] = np.nan
    return error, np.where(np.isnan(error), np.nan, spread), lists


def searched_of(error, standard_error, lists):
    """Return what the rule is given, the folds of this training set between those of others."""
    n_mu, n_tau, _ = error.shape
    out = []
    for mu in range(n_mu):
        folds = len(lists[mu][0])
        default_lists = [np.arange(5)] * n_tau
        rows = [
            default_lists,
            *[[lists[mu][tau][k] for tau in range(n_tau)] for k in range(folds)],
            default_lists,
        ]
        coefs = [(genes, np.ones(len(genes))) for row in rows for genes in row]
        ended = np.tile(np.isnan(error[mu]).all(axis=1), (len(rows), 1))
        steps = np.where(ended, -1, 3)
        path = Path.from_coefs((len(rows), n_tau), coefs, np.zeros(steps.shape), steps, 1e-9)
        cut = np.zeros(error.shape[1:])
        out.append(GridResult(error[mu], standard_error[mu], cut, path, range(1, 1 + folds), cut))
    return out


def choose(error, standard_error, lists, max_genes):
    protocol = LinearSettings(**linear(most=max_genes))
    return choose_stable(searched_of(error, standard_error, lists), protocol, N_GENES)


@given(grids, mosts, st.sampled_from([0.0, 0.6]))
def test_stable_choice_equals_its_definition(grid, max_genes, missing):
    grid_data = draw_grid(*grid, missing=missing)
    choice, agreed = choose(*grid_data, max_genes)
    expected, values = choose_by_hand(*grid_data, max_genes, N_GENES)
    assert choice == expected
    np.testing.assert_allclose(agreed, values, atol=1e-12)


@given(grids, mosts, st.integers(0, 99))
def test_the_order_of_the_folds_is_nothing(grid, max_genes, seed):
    error, standard_error, lists = draw_grid(*grid)
    order = np.random.default_rng(seed).permutation(len(lists[0][0]))
    reordered_lists = [[[folds[k] for k in order] for folds in of_tau] for of_tau in lists]
    assert (
        choose(error, standard_error, reordered_lists, max_genes)[0]
        == choose(error, standard_error, lists, max_genes)[0]
    )


@given(grids, mosts, mosts)
def test_room_for_longer_lists_never_lowers_the_agreement(grid, limit_a, limit_b):
    """Among the same lists; where more of them are searched, the smallest error may fall."""
    grid_data = draw_grid(*grid)
    agreements = []
    for max_genes in sorted((limit_a, limit_b)):
        (tau, _, mu), agreed = choose(*grid_data, max_genes)
        agreements.append(agreed[mu, tau])
    if not np.isnan(agreements[0]):
        assert agreements[1] >= agreements[0] - 1e-12


@given(grids, mosts)
def test_uncomputed_fit_counts_as_a_huge_error(grid, max_genes):
    error, standard_error, lists = draw_grid(*grid, missing=0.6)
    if np.isnan(error).all():
        return
    huge = np.where(np.isnan(error), 1e9, error), np.nan_to_num(standard_error), lists
    assert choose(error, standard_error, lists, max_genes)[0] == choose(*huge, max_genes)[0]


def test_no_path_at_all_is_the_sparsest_place_with_the_largest_lam():
    error, _, lists = draw_grid(2, 4, 3, 3, 0)
    no_errors = np.full_like(error, np.nan)
    choice, agreed = choose(no_errors, no_errors, lists, 5)
    assert choice == (0, 2, 0)
    assert np.isnan(agreed).all()


def three(sizes, errors, standard_error=0.1):
    """Return grids of one mu and one lam whose folds all have the same list of each size."""
    error = np.array(errors, dtype=float)[None, :, None]
    lists = [[[np.arange(size)] * 3 for size in sizes]]
    return error, np.full_like(error, standard_error), lists


@pytest.mark.parametrize(
    ("sizes", "errors", "max_genes", "tau"),
    [
        ([2, 4, 9], [0.5, 0.2, 0.1], 9, 1),  # all agree; of those within reach the shorter
        ([2, 4, 9], [0.2, 0.2, 0.1], 9, 0),
        ([2, 4, 9], [0.5, 0.2, 0.1], 3, 1),  # too long, both: the shorter all the same
        ([2, 7, 5], [0.5, 0.2, 0.1], 3, 2),
        ([0, 4, 9], [0.2, 0.2, 0.1], 9, 1),  # an empty list is no candidate
        ([0, 4, 9], [0.2, 0.5, 0.1], 3, 0),  # but better than one too long
        ([N_GENES, 4], [0.2, 0.2], N_GENES, 1),  # every gene is no choice that could agree
    ],
)
def test_candidates_have_an_error_within_the_bound(sizes, errors, max_genes, tau):
    assert choose(*three(sizes, errors), max_genes)[0] == (tau, 0, 0)


def test_error_exactly_at_the_bound_is_within_it():
    error, standard_error, lists = three([2, 4], [0.1 + 0.2, 0.2])
    assert error[0, 0, 0] != 0.3
    assert choose(error, standard_error, lists, 9)[0] == (0, 0, 0)
    assert choose(error + 1e-15, standard_error, lists, 9)[0] == (0, 0, 0)
    assert choose(error, standard_error - 1e-9, lists, 9)[0] == (1, 0, 0)
    error, standard_error, lists = three([2, 4], [0.8, 0.7])
    assert 0.7 + 0.1 < 0.8
    assert choose(error, standard_error, lists, 9)[0] == (0, 0, 0)


def test_agreements_that_differ_by_rounding_are_equal():
    in_all_lists = [5, 6, 7, 8]
    longer_lists = [
        np.array([*genes, *in_all_lists]) for genes in ([0, 1, 3, 4], [1, 2, 4], [2, 3])
    ]
    shorter_lists = [genes[:-2] for genes in longer_lists]  # without two genes of all lists
    # Both are 3/7, but for rounding.
    assert agreement(longer_lists, N_GENES) > agreement(shorter_lists, N_GENES)
    error = np.full((1, 2, 1), 0.2)
    lists = [[longer_lists, shorter_lists]]
    assert choose(error, np.zeros_like(error), lists, N_GENES)[0] == (1, 0, 0)


def test_agreement_comes_before_length_and_length_before_lam():
    same = np.arange(6)
    shorter_lists = [np.arange(2), np.array([1, 2]), np.array([3, 4])]
    error = np.full((1, 3, 2), 0.2)
    lists = [[shorter_lists, [same] * 3, [same[:4]] * 3]]
    spread = np.zeros_like(error)
    assert choose(error, spread, lists, 9)[0] == (2, 1, 0)
    lists[0][2] = [same + 6] * 3
    assert choose(error, spread, lists, 9)[0] == (1, 1, 0)
    error[0, 1, 1] = 0.3  # as long, and its best lam is the smaller one
    assert choose(error, spread, lists, 9)[0] == (2, 1, 0)


def test_the_list_of_a_mu_is_found_by_its_place_in_linear_mu():
    protocol = LinearSettings(**linear(mu=[1e-6, 1e-3, 1e-2, 0.1], mu_choice=[1e-2, 1e-6]))
    assert [CHOICE_RULES["stable"].list_index(protocol, at) for at in range(2)] == [2, 0]
    plain = replace(protocol, mu_choice=None)
    assert plain.searched_mu().tolist() == [1e-6, 1e-3, 1e-2]
    assert replace(plain, mu=[0.1, 1.0]).searched_mu().tolist() == [0.1]
