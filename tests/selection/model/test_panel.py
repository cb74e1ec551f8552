"""The panel of a short model refuses another scale and accepts the training scale."""

from __future__ import annotations

import numpy as np
import pytest
from study_data import Centre, both

from genesig.selection.model.same_scale import (
    MIN_SPREAD_SAMPLES,
    ComparedValues,
    call_doubts,
    common_shift,
    panel_doubts,
    panel_fault,
    panel_genes,
    training_panel,
)

N_GENES = 200
N_SAMPLES = 40
GENE_NAMES = [f"g{k}" for k in range(N_GENES)]
Y = both(N_SAMPLES)


def known(X):
    return np.ones(X.shape, dtype=bool)


def held(X, panel):
    compared = compared_values(X, panel)
    return panel_fault(compared), dict(panel_doubts(compared))


def compared_values(X, panel, is_known=None):
    names = [f"s{k}" for k in range(len(X))]
    return ComparedValues(X, known(X) if is_known is None else is_known, names, panel)


def centre(seed):
    laboratory = Centre(N_GENES, seed)
    return laboratory, training_panel(laboratory.arrays(Y), Y, GENE_NAMES)


def test_the_panel_is_spread_over_the_levels_and_spares_the_models_genes():
    X = np.tile(np.arange(1000.0), (5, 1)) + np.random.default_rng(0).normal(size=(5, 1000))
    X[:, 7] = 3.0
    genes = panel_genes(X, np.array([0, 500]))
    assert len(genes) == 300
    assert not {0, 7, 500} & set(genes)
    assert (np.diff(genes) > 0).all()
    assert np.diff(genes).max() <= 6
    np.testing.assert_array_equal(panel_genes(X[:, :5], np.array([2])), [0, 1, 3, 4])


@pytest.mark.parametrize("seed", range(6))
def test_other_samples_of_the_laboratory_pass(seed):
    laboratory, panel = centre(seed)
    assert held(laboratory.arrays(both(20)), panel) == ("", {})
    assert held(laboratory.arrays(np.ones(1)), panel) == ("", {})


OTHER_SCALES = {
    "ln": (lambda X: X * np.log(2), "standard deviations"),
    "less 2": (lambda X: X - 2, "standard deviations below"),
    "2 more": (lambda X: X + 2, "standard deviations above"),
    "ids shifted": (lambda X: np.roll(X, 1, axis=1), "do the gene ids stand beside"),
    "ids shuffled": (lambda X: X[:, ::-1], "do the gene ids stand beside"),
}


@pytest.mark.parametrize("name", OTHER_SCALES)
@pytest.mark.parametrize("n", [1, 20])
def test_another_scale_and_other_ids_are_refused(name, n):
    turn, words = OTHER_SCALES[name]
    laboratory, panel = centre(3)
    assert words in held(turn(laboratory.arrays(both(n) if n > 1 else np.ones(1))), panel)[0]


def test_a_bad_array_is_in_doubt_and_the_others_are_scored():
    laboratory, panel = centre(4)
    X = laboratory.arrays(both(20))
    X[5] = X[5][np.random.default_rng(1).permutation(N_GENES)]
    fault, doubts = held(X, panel)
    assert fault == ""
    assert list(doubts) == [5]
    assert "agrees by" in doubts[5]


def ratios(seed, n=24):
    """Return log ratios, whose genes are all about 0, along a few axes."""
    rng = np.random.default_rng(seed)
    axes = np.random.default_rng(99).normal(size=(2, N_GENES))
    return rng.normal(size=(n, 2)) @ axes * 0.6 + rng.normal(size=(n, N_GENES))


@pytest.mark.parametrize(
    ("turn", "words"),
    [(lambda X: X[:, ::-1], "of the variance"), (lambda X: X / 3, "times as much over")],
)
def test_where_no_order_tells_axes_and_spread_do(turn, words):
    panel = training_panel(ratios(1), both(24), GENE_NAMES)
    assert held(ratios(2), panel) == ("", {})
    fault, doubts = held(turn(ratios(2)), panel)
    assert fault == ""
    assert len(doubts) == 24
    assert words in doubts[0]
    assert held(turn(ratios(2))[: MIN_SPREAD_SAMPLES - 1], panel)[1] == {}


def of_studies(share, seed, n=24):
    """Return studies, standardised; of the variance along the axes a share is that of all."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(2, N_GENES))
    alarms = []
    for _ in range(5):
        axes = np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=(2, N_GENES))
        X = 0.6 * rng.normal(size=(n, 2)) @ axes + rng.normal(size=(n, N_GENES))
        alarms.append((X - X.mean(axis=0)) / X.std(axis=0))
    return alarms


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "is_told"), [(0.0, False), (0.25, False), (0.75, True), (1, True)]
)
def test_what_goes_together_in_single_studies_is_not_asked_of_the_next(share, is_told):
    *earlier_studies, new = of_studies(share, seed=8)
    names = np.repeat(["a", "b", "c", "d"], 24)
    panel = training_panel(np.vstack(earlier_studies), both(96), GENE_NAMES, names)
    assert held(new, panel) == ("", {})
    if is_told:
        assert "do the gene ids stand beside" in held(np.roll(new, 1, axis=1), panel)[1][0]


def test_panel_with_few_measured_genes_gives_no_verdict():
    laboratory, panel = centre(5)
    X = laboratory.arrays(both(20)) + 5
    is_known = known(X)
    is_known[:, 20:] = False
    compared = compared_values(X, panel, is_known)
    assert panel_fault(compared) == ""
    assert list(panel_doubts(compared)) == []
    assert common_shift(compared) == 0


def test_a_common_shift_is_told_and_chance_is_none():
    alarms = []
    for seed in range(20):
        laboratory, panel = centre(seed)
        X = laboratory.arrays(both(20))
        alarms.append(common_shift(compared_values(X, panel)))
        assert common_shift(compared_values(X + 0.7, panel)) == pytest.approx(0.7, abs=0.2)
    assert np.count_nonzero(alarms) <= 1


def test_calls_that_turn_and_calls_that_are_all_alike_are_in_doubt():
    assert call_doubts(["high", "low"], ["low", "low"], 1.0) == [
        "low without the shift of all genes by +1.00",
        "",
    ]
    assert call_doubts(["high"] * 12, ["high"] * 12, 0.0) == ["all 12 samples are high"] * 12
    assert call_doubts(["high"] * 3, ["high"] * 3, 0.0) == [""] * 3
    assert call_doubts([2.0, 3.0], [1.5, 3.0], 0.5)[0].startswith("1.5 without")
