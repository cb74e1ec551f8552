"""Selection frequencies, lists and curves equal counts by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gathered_study import MU, make_fits, make_study

from genesig.errors import GenesigError
from genesig.selection.genes.frequency import (
    frequency_curve,
    list_sizes,
    mu_index_of,
    nested_lists,
    overlap,
    selection_counts,
    selection_matrix,
)


def supports(fits, mu):
    return [set(map(int, fits.coef(fit, mu)[0])) for fit in range(len(fits))]


@pytest.mark.parametrize("seed", range(3))
def test_frequencies_means_and_signs_are_those_counted_by_hand(seed):
    dataset, _, observed, _ = make_study(seed)
    table = nested_lists(dataset, observed, cv_frequency=0.5)
    for at, mu in enumerate(MU):
        weights = {}
        for fit in range(len(observed)):
            for gene, value in zip(*observed.coef(fit, at), strict=True):
                weights.setdefault(f"g{gene}", []).append(value)
        table_at_mu = table[table["mu"] == mu].set_index("gene")
        assert set(table_at_mu.index) == set(weights)
        for gene, values in weights.items():
            row = table_at_mu.loc[gene]
            positive = np.mean(np.array(values) > 0)
            assert row["cv_frequency"] == pytest.approx(len(values) / len(observed))
            assert row["mean_weight"] == pytest.approx(np.mean(values))
            assert row["sign_consistency"] == pytest.approx(max(positive, 1 - positive))
            assert row["in_list"] == (len(values) >= len(observed) / 2)
            assert row["symbol"] == gene.replace("g", "SYM")


def test_rows_fall_by_frequency_then_by_contribution():
    dataset, _, observed, _ = make_study(0)
    table = nested_lists(dataset, observed, cv_frequency=0.5)
    spread = dict(zip(dataset.genes, dataset.X.std(axis=0), strict=True))
    keys = [
        (row.mu, -row.cv_frequency, -abs(row.mean_weight) * spread[row.gene])
        for row in table.itertuples()
    ]
    assert keys == sorted(keys)


@pytest.mark.parametrize("n", [3, 10, 100])
def test_a_share_of_exactly_the_threshold_is_in_the_list(n):
    """0.55 * 100 is 55.00000000000001 in floating point; 55 of 100 are 55 % all the same."""
    dataset, splits, _, _ = make_study(0, folds=3, repeats=1)
    fits = make_fits(dataset, [splits.outer[0]] * n)
    for k in range(1, n + 1):
        table = nested_lists(dataset, fits, cv_frequency=k / n)
        assert (table["in_list"] == (table["cv_frequency"] > k / n - 1e-6)).all()


def test_sizes_and_nesting_of_the_lists():
    dataset, _, observed, _ = make_study(1)
    nested = nested_lists(dataset, observed, cv_frequency=0.5)
    table = list_sizes(observed, nested)
    merged = [set(nested[(nested["mu"] == mu) & nested["in_list"]]["gene"]) for mu in MU]
    assert table["in_list"].tolist() == [len(genes) for genes in merged]
    for at in range(len(MU)):
        sizes = [len(genes) for genes in supports(observed, at)]
        row = table.iloc[at]
        assert row["mean_size"] == pytest.approx(np.mean(sizes))
        assert (row["smallest"], row["largest"]) == (min(sizes), max(sizes))
    pairs = zip(supports(observed, 0), supports(observed, 1), strict=True)
    shares = [100 * len(a & b) / min(len(a), len(b)) for a, b in pairs if a and b]
    assert table["nested_in_split"].iloc[0] == pytest.approx(np.mean(shares))
    assert len(merged[1]) > 0
    assert table["nested"].iloc[1] == overlap(merged[1], merged[2])


def test_the_chosen_list_is_no_step_of_the_nesting():
    dataset, _, observed, _ = make_study(1)
    fits = observed.with_chosen()
    table = list_sizes(fits, nested_lists(dataset, fits, cv_frequency=0.5))
    plain = list_sizes(observed, nested_lists(dataset, observed, cv_frequency=0.5))
    pd.testing.assert_frame_equal(table[:-1], plain)
    assert plain["nested"].notna().sum() > 0
    assert table["nested"].iloc[-2:].isna().all()
    chosen = table.iloc[-1]
    sizes = [len(observed.coef(fit, observed.choice[fit, 2])[0]) for fit in range(len(observed))]
    assert chosen["mean_size"] == pytest.approx(np.mean(sizes))
    assert (chosen["smallest"], chosen["largest"]) == (min(sizes), max(sizes))


def test_a_list_that_was_not_kept_leaves_the_sizes_of_its_mu_empty():
    dataset, _, observed, _ = make_study(1)
    gap = observed.gap.copy()
    gap[3, 2] = np.nan
    table = list_sizes(
        replace(observed, gap=gap), nested_lists(dataset, observed, cv_frequency=0.5)
    )
    sizes = table[["in_list", "mean_size", "smallest", "largest"]]
    assert sizes.iloc[2].isna().all()
    assert sizes.iloc[:2].notna().all(axis=None)


def test_overlap_is_the_share_of_the_shorter_list():
    assert overlap({1, 2}, {2, 3, 4}) == 50
    assert overlap({1, 2, 3}, {2}) == 100
    assert np.isnan(overlap(set(), {1}))


def test_the_curve_counts_genes_at_or_above_each_share():
    dataset, splits, _, _ = make_study(0)
    fits = make_fits(dataset, splits.outer, permutations=(0, 3, 9))
    n = len(splits.outer)
    d = len(dataset.genes)
    counts = selection_counts(fits, d)
    curves = frequency_curve(counts, n).reshape(3, len(MU), n)
    rows = selection_matrix(fits, d).toarray().reshape(3, n, len(MU), d)
    for permutation in range(3):
        for mu in range(len(MU)):
            times = rows[permutation, :, mu].sum(axis=0)
            expected = [int((times >= k).sum()) for k in range(1, n + 1)]
            assert curves[permutation, mu].tolist() == expected


def test_no_selection_gives_empty_tables():
    dataset, _, observed, _ = make_study(0)
    empty = replace(
        observed,
        indptr=observed.indptr * 0,
        indices=observed.indices[:0],
        values=np.zeros(0),
    )
    nested = nested_lists(dataset, empty, cv_frequency=0.5)
    assert len(nested) == 0
    assert list_sizes(empty, nested)["in_list"].tolist() == [0, 0, 0]


def test_the_signature_is_one_of_the_lists_or_an_error_with_their_names():
    assert mu_index_of(MU, None) == 0
    assert mu_index_of(MU, 0.01) == 1
    with pytest.raises(GenesigError, match=r"signature\.mu: 0\.5 is not one .* \(1e-06, 0\.01, 1"):
        mu_index_of(MU, 0.5)
