"""FDR selection: expected counts, ratio and q by hand; false discovery rate in simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genesig.selection.genes.frequency import (
    MAX_GATE_P,
    count_tails,
    expected_tails,
    gate_p,
    rank_genes,
    selection_p,
    selection_q,
)

HALVES = 20


def draws(seed, n_genes=300, signals=0, permutations=40, easy=0.05, strong=0.8):
    """Return times of a study (d,) and of permuted labels (B, d): some genes are listed easily."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.5, 0.5 * (1 / easy - 1), n_genes)
    null = rng.binomial(HALVES, share, (permutations, n_genes))
    observed = rng.binomial(HALVES, share)
    observed[:signals] = rng.binomial(HALVES, strong, signals)
    return observed, null


@given(st.integers(0, 2**32 - 1), st.integers(0, 20))
def test_q_is_the_smallest_ratio_of_expected_to_selected(seed, signals):
    times, null = draws(seed, n_genes=30, signals=signals, permutations=5)
    chance = expected_tails(count_tails(null, HALVES))
    for gene, q in enumerate(selection_q(times, chance)):
        ratios = [1.0]
        for t in range(1, times[gene] + 1):
            by_chance = (1 + sum((row >= t).sum() for row in null)) / 6
            ratios.append(min(1.0, by_chance / (times >= t).sum()))
        assert q == pytest.approx(min(ratios))


@given(st.integers(0, 2**32 - 1))
def test_a_gene_listed_more_often_has_no_larger_q_and_p(seed):
    times, null = draws(seed, signals=9)
    order = np.argsort(times)
    q = selection_q(times, expected_tails(count_tails(null, HALVES)))[order]
    assert (np.diff(q) <= 0).all()
    assert q.min() > 0  # a permutation more might reach what none reached
    assert selection_p(times, null).min() >= 1 / 41


def test_fdr_selected_genes_are_mostly_true():
    false = []
    true = []
    for seed in range(60):
        times, null = draws(seed, signals=15)
        is_selected = selection_q(times, expected_tails(count_tails(null, HALVES))) <= 0.1
        false.append(is_selected[15:].sum() / max(1, is_selected.sum()))
        true.append(is_selected[:15].sum())
    assert np.mean(false) <= 0.1
    assert np.mean(true) > 7  # it does find them


@pytest.mark.slow
def test_the_gate_lets_noise_pass_at_its_level_and_signal_always():
    def passes(seed, signals):
        times, null = draws(seed, signals=signals)
        return (
            gate_p(count_tails(times[None], HALVES)[0], count_tails(null, HALVES), 0.1)
            <= MAX_GATE_P
        )

    noise = [passes(seed, 0) for seed in range(300)]
    assert np.mean(noise) <= MAX_GATE_P + 2 * np.sqrt(MAX_GATE_P * (1 - MAX_GATE_P) / 300)
    assert all(passes(seed, 15) for seed in range(20))
    alone = [
        (selection_q(times, expected_tails(count_tails(null, HALVES))) <= 0.1).any()
        for times, null in map(draws, range(300))
    ]
    assert np.mean(alone) > np.mean(noise)  # what it is there for


def test_without_permutations_enough_nothing_passes_the_gate():
    times, null = draws(1, signals=20, permutations=18)
    assert gate_p(count_tails(times[None], HALVES)[0], count_tails(null, HALVES), 0.1) > MAX_GATE_P
    assert gate_p(count_tails(times[None], HALVES)[0], count_tails(null, HALVES)[:1], 0.1) == 1.0


@pytest.mark.parametrize("fdr", [0.1, 1 / 20])
def test_gate_counts_no_gene_of_permutations_without_genes(fdr: float) -> None:
    """One gene is in every list, at q = 1 / 20; permuted labels list no gene."""
    observed_tails = np.array([30] + [1] * HALVES)
    null_tails = np.array([[30] + [0] * HALVES] * 19)
    assert gate_p(observed_tails, null_tails, fdr) == 1 / 20


def test_ties_are_ranked_by_weight_and_absent_genes_are_left_out():
    times = np.array([3, 0, 5, 3, 3])
    strength = np.array([0.1, 9.0, 0.2, 0.4, 0.4])
    assert rank_genes(times, strength).tolist() == [2, 3, 4, 0]
