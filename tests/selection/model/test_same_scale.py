"""New samples on another scale are refused, and samples of another laboratory are scored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model
from scipy.stats import spearmanr
from settings import LINEAR, MOMENTS
from study_data import Centre, both

from genesig.data.files.delimited import Matrix
from genesig.data.steps.normalise import normalise_samples
from genesig.errors import InvalidInput
from genesig.results import Dataset, Design, Split, Splits
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.same_scale import (
    MAX_SHIFT_SDS,
    MIN_SLOPE_GENES,
    N_STANDARD_ERRORS,
    SINGLE_SAMPLE_FACTOR,
    ComparedValues,
    ScaleProfile,
    describe_scale_fault,
    find_odd_samples,
    is_off_centre,
    panel_doubts,
    rank_agreement,
    sample_fault,
    sample_profile,
    training_panel,
    training_scale,
)

Array = np.ndarray[Any, Any]
OTHER_SCALES: dict[str, Callable[[Array], Array]] = {
    "ln": lambda v: v * np.log(2),
    "log10": lambda v: v * np.log10(2),
    "doubled": lambda v: 2 * v,
    "2 more": lambda v: v + 2,
    "3 more": lambda v: v + 3,
    "half and 4": lambda v: v / 2 + 4,
    "never logged": np.exp2,
}


def trained(centre: Centre, y: Array) -> dict[str, Any]:
    return training_scale(centre.arrays(y), y, [f"g{k}" for k in range(len(centre.levels))])


def fault(X: Array, scale: dict[str, Any], is_known: Array | None = None) -> tuple[str, str] | None:
    is_known = np.ones(X.shape, dtype=bool) if is_known is None else is_known
    names = [f"s{k}" for k in range(len(X))]
    return describe_scale_fault(ComparedValues(X, is_known, names, scale))


LABELS = {"both classes": both(20), "one class": np.ones(12), "one array": np.ones(1)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("genes", [1, 2, 5, 12, 40, 150])
def test_samples_of_another_laboratory_pass(genes: int, labels: str) -> None:
    alarms = 0
    for seed in range(40):
        laboratory = Centre(genes, seed)
        other_laboratory = laboratory.elsewhere()
        alarms += (
            fault(other_laboratory.arrays(LABELS[labels]), trained(laboratory, both(24)))
            is not None
        )
    assert alarms <= 1


@pytest.mark.parametrize("name", OTHER_SCALES)
@pytest.mark.parametrize("labels", ["both classes", "one class"])
def test_another_scale_is_refused(name: str, labels: str) -> None:
    n_seen = 0
    for seed in range(20):
        laboratory = Centre(60, seed)
        X = laboratory.elsewhere().arrays(LABELS[labels])
        n_seen += fault(OTHER_SCALES[name](X), trained(laboratory, both(24))) is not None
    assert n_seen == 20


@pytest.mark.parametrize("name", ["log10", "doubled", "half and 4", "never logged"])
def test_one_array_on_quite_another_scale_is_seen(name: str) -> None:
    for seed in range(20):
        laboratory = Centre(60, seed)
        X = laboratory.elsewhere().arrays(np.ones(1))
        scale_fault = fault(OTHER_SCALES[name](X), trained(laboratory, both(24)))
        assert scale_fault is not None
        assert scale_fault[0] == ", sample 's0'"


def test_a_sample_among_others_is_named() -> None:
    laboratory = Centre(60, 1)
    X = laboratory.arrays(both(20))
    X[7] = X[7] * np.log10(2)
    scale_fault = fault(X, trained(laboratory, both(24)))
    assert scale_fault is not None
    assert scale_fault[0] == ", sample 's7'"
    assert "the 60 genes of the model lie" in scale_fault[1]
    assert "below the training samples; bring the values to the study's scale" in scale_fault[1]


@pytest.mark.parametrize("name", ["ln", "2 more", "genes exchanged"])
def test_a_sample_that_would_be_refused_alone_is_named_among_others(name: str) -> None:
    turn = OTHER_SCALES.get(name, lambda v: v[::-1])
    for seed in range(20):
        laboratory = Centre(150, seed)
        X = laboratory.arrays(both(20))
        scale = trained(laboratory, both(24))
        X[7] = turn(X[7])
        assert fault(X[7:8], scale) is not None
        assert [sample for sample, _ in odd(X, scale)] == ["s7"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("genes", [1, 2, 5, 12, 40, 150])
def test_samples_of_the_same_laboratory_are_rarely_named(genes: int) -> None:
    n_named = 0
    for seed in range(40):
        laboratory = Centre(genes, seed)
        n_named += len(odd(laboratory.arrays(both(20)), trained(laboratory, both(24))))
    assert n_named <= 4


def odd(X: Array, scale: dict[str, Any]) -> list[tuple[str, str]]:
    names = [f"s{k}" for k in range(len(X))]
    return find_odd_samples(ComparedValues(X, np.ones(X.shape, dtype=bool), names, scale))


def test_an_unbalanced_study_is_no_yardstick_for_the_rare_class() -> None:
    """All new samples are ill, as one in ten was: their genes lie far from the mean."""
    y = np.where(np.arange(40) % 10 == 0, 1.0, -1.0)
    for seed in range(20):
        laboratory = Centre(60, seed)
        laboratory.effects = np.abs(laboratory.effects) * 2
        assert fault(laboratory.elsewhere().arrays(np.ones(12)), trained(laboratory, y)) is None


def test_scale_check_ignores_missing_genes() -> None:
    laboratory = Centre(60, 2)
    X = laboratory.arrays(both(20))
    scale = trained(laboratory, both(24))
    is_known = np.ones(X.shape, dtype=bool)
    X[:, :40] = -999.0
    is_known[:, :40] = False
    assert fault(X, scale, is_known) is None
    assert fault(X, scale) is not None


def test_single_sample_may_lie_further_away_than_a_mean() -> None:
    bounds = {"low": 0.0, "high": 0.0, "sd": 0.0}
    scale = {"samples": 50, "means": np.zeros(100), "sds": np.ones(100)}
    scale |= {"location": bounds, "slope": bounds}
    measured = np.ones(100, dtype=bool)
    limit = N_STANDARD_ERRORS / 10 + SINGLE_SAMPLE_FACTOR * MAX_SHIFT_SDS
    assert not sample_fault(np.full(100, 0.99 * limit), measured, scale)
    assert sample_fault(np.full(100, 1.01 * limit), measured, scale)
    assert fault(np.full((1, 100), 0.99 * limit), scale)


def test_the_slope_is_that_of_least_squares_without_the_noise_of_the_means() -> None:
    """Narrow means of few samples: the plain slope would be flat on the same scale."""
    rng = np.random.default_rng(3)
    slopes = []
    plain = []
    for _ in range(200):
        true = rng.normal(0, 0.5, 80)
        T, X = (true + rng.standard_normal((n, 80)) for n in (16, 16))
        scale = training_scale(T, both(16), [str(k) for k in range(80)])
        is_known = np.ones(80, dtype=bool)
        slopes.append(sample_profile(X.mean(axis=0), is_known, scale).slope)
        plain.append(sample_profile(X.mean(axis=0), is_known, scale | {"samples": np.inf}).slope)
    assert np.mean(slopes) == pytest.approx(1, abs=0.1)
    assert np.mean(plain) < 0.85


def test_few_or_flat_genes_have_no_slope() -> None:
    laboratory = Centre(MIN_SLOPE_GENES - 1, 4)
    scale = trained(laboratory, both(24))
    assert (
        sample_profile(
            laboratory.levels, np.ones(MIN_SLOPE_GENES - 1, dtype=bool), scale
        ).slope_error
        == np.inf
    )
    flat = training_scale(np.ones((6, 3)), both(6), list("abc"))
    assert fault(np.full((2, 3), 50.0), flat) is None
    assert fault(np.empty((2, 0)), training_scale(np.empty((6, 0)), both(6), [])) is None


@pytest.mark.parametrize(("seed", "n_genes"), [(524, 10), (1553, 10), (2123, 15), (2124, 11)])
def test_new_samples_pass_if_all_genes_have_equal_means(seed: int, n_genes: int) -> None:
    """Seeds whose training means spread by chance as widely as they ever do."""
    rng = np.random.default_rng(seed)
    rng.integers(10, 16)
    X = rng.normal(size=(40, n_genes))
    scale = training_scale(X, np.repeat([-1.0, 1.0], 20), [f"g{gene}" for gene in range(n_genes)])
    new_samples = rng.normal(size=(40, n_genes))
    assert fault(new_samples, scale) is None


def test_a_regression_is_cut_at_its_mean() -> None:
    y = np.linspace(0, 9, 30) ** 2
    laboratory = Centre(60, 5)
    scale = trained(laboratory, (y - y.mean()) / y.std())
    assert fault(laboratory.elsewhere().arrays(np.full(8, 1.5)), scale) is None
    assert fault(laboratory.arrays(np.zeros(8)) * np.log(2), scale) is not None


CHAINS_OF_STEPS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "plain": ([], MOMENTS),
    "quantile": ([], [{"step": "quantile"}, *MOMENTS]),
    "samples standardised": ([{"step": "standardise_samples"}], MOMENTS),
    "ranks": ([{"step": "rank_samples"}], MOMENTS),
}
REFUSED_SCALES = {
    "plain": set(OTHER_SCALES),
    "quantile": {"never logged"},
    "ranks": {"never logged"},
    "samples standardised": {"never logged"},
}


@pytest.mark.parametrize("chain", CHAINS_OF_STEPS)
def test_steps_that_bring_every_scale_to_one_are_waited_for(chain: str) -> None:
    """Raw values are told by their size, whatever the steps; the rest where it makes a score."""
    centre = Centre(60, 6)
    (samples, folds) = CHAINS_OF_STEPS[chain]
    names = [f"s{k}" for k in range(24)]
    data = Dataset(
        centre.arrays(both(24)),
        pd.DataFrame({"label": ["a", "b"] * 12}, index=names),
        pd.DataFrame({"symbol": ""}, index=[f"g{k}" for k in range(60)]),
        Design("label", "classification", ("a", "b"), None, None),
        {},
    )
    inner = tuple(tuple(names[4 * k : 4 * k + 4]) for k in range(6))
    final = Split("final", 0, 0, tuple(names), (), inner, (1,))
    splits = Splits("predefined", "stratified_kfold", 0, (), final, ())
    dataset = normalise_samples(data, samples=samples, folds=folds)
    fits = fit_final_model(dataset, splits, fold_steps=folds, **LINEAR | {"list_mu": 1.0})
    model = json.loads(json.dumps(final_model(dataset, fits, fold_steps=folds), allow_nan=False))
    X = centre.elsewhere().arrays(both(20))
    assert _refused(model, X, data.genes) == ""
    refused_scales = {
        name for name, turn in OTHER_SCALES.items() if _refused(model, turn(X), data.genes)
    }
    assert (
        refused_scales >= REFUSED_SCALES[chain]
        if chain == "plain"
        else refused_scales <= REFUSED_SCALES[chain]
    )


def _refused(model: dict[str, Any], X: Array, genes: list[str]) -> str:
    rows = tuple(f"n{k}" for k in range(len(X)))
    matrix = Matrix(rows, tuple(genes), X, {}, tuple(range(2, len(X) + 2)))
    try:
        predict(model, matrix, "new.tsv", missing=0.0, mu=None)
    except InvalidInput as error:
        return str(error)
    return ""


def test_training_samples_are_on_their_own_scale_where_all_genes_lie_alike():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        factors = 0.7 * rng.normal(size=(60, 5)) @ rng.normal(size=(5, 20))
        X = factors + rng.normal(size=(60, 20)) + 7.0
        names = [f"g{k}" for k in range(20)]
        scale = training_scale(X, rng.normal(size=60), names)
        assert fault(X, scale) is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n_measured", [30, 60, 150, 299])
@pytest.mark.parametrize("exchanged", [False, True])
def test_coherence_of_fewer_genes_reveals_only_exchanged_genes(
    n_measured: int, *, exchanged: bool
) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        axes = rng.normal(size=(3, 300))
        # Genes of one mean, so that their order does not reveal the exchange.
        training, X = (
            7 + 0.7 * rng.normal(size=(n, 3)) @ axes + rng.normal(size=(n, 300)) for n in (60, 24)
        )
        genes = [f"g{k}" for k in range(300)]
        panel = training_panel(training, both(60), genes)
        measured = np.zeros(X.shape, dtype=bool)
        measured[:, rng.choice(300, n_measured, replace=False)] = True
        if exchanged:
            X[:, measured[0]] = rng.permutation(X[:, measured[0]], axis=1)
        compared = ComparedValues(X, measured, [f"s{k}" for k in range(24)], panel)
        doubts = [text for _, text in panel_doubts(compared) if "of the variance" in text]
        assert bool(doubts) == exchanged


def test_agreement_is_the_rank_correlation_of_each_sample_with_the_means() -> None:
    rng = np.random.default_rng(7)
    means = rng.normal(size=30)
    X = means + rng.normal(size=(4, 30))
    expected = [spearmanr(row, means).statistic for row in X]
    np.testing.assert_allclose(rank_agreement(X, means), expected)
    assert rank_agreement(np.ones((1, 30)), means).tolist() == [0.0]


@pytest.mark.parametrize(
    ("sd", "location_error", "uncertainty"), [(0.5, 0.0, 0.75), (0.0, 0.3, 0.9), (0.8, 0.3, 1.5)]
)
def test_location_of_four_samples_lies_beyond_three_standard_errors(
    sd: float, location_error: float, uncertainty: float
) -> None:
    scale = {"location": {"low": 0.0, "high": 0.0, "sd": sd}}
    for location, is_beyond in ((uncertainty - 0.01, False), (uncertainty + 0.01, True)):
        profile = ScaleProfile(9, location, location_error, slope=1.0, slope_error=0.0)
        assert is_off_centre(profile, scale, n=4) == is_beyond
