"""Validation names logged samples among samples that are not logged."""

from __future__ import annotations

import numpy as np
import pytest

from genesig.data.study.scale_check import (
    _check_limits,
    check_empty_samples,
    check_lone_values,
    check_mixed_scales,
)

RNG = np.random.default_rng(2)
RAW = np.exp2(RNG.normal(8, 2, (20, 400)))
SAMPLE_NAMES = [f"s{k}" for k in range(20)]


def messages(X: np.ndarray, *steps: str) -> list[str]:
    normalise = {"samples": [{"step": step} for step in steps], "folds": []}
    return [str(problem) for problem in check_mixed_scales(X, SAMPLE_NAMES, normalise, "e.tsv")]


@pytest.mark.parametrize("logged", [1, 7, 19])
def test_some_samples_were_logged(logged: int) -> None:
    X = RAW.copy()
    X[:logged] = np.log2(X[:logged])
    X[0, 5] = np.nan
    (line,) = messages(X, "log2")
    unlogged = f"{20 - logged} sample{'s' if logged < 19 else ''} do not ("
    assert line.startswith("warning: e.tsv: 's0'")
    assert unlogged in line
    assert line.endswith("; bring all to one scale")
    assert messages(X, "rank_samples") == []


@pytest.mark.parametrize("spread", [0.2, 0.6])
def test_brighter_and_darker_scans_are_of_one_scale(spread: float) -> None:
    assert messages(RAW * np.exp2(RNG.normal(0, spread, (20, 1)))) == []
    assert messages(np.log2(RAW) + RNG.normal(0, spread, (20, 1))) == []


def test_low_values_near_the_bound_and_empty_samples_are_no_logarithms() -> None:
    small = RAW / RAW.max() * 60
    assert messages(small * np.linspace(0.5, 1.5, 20)[:, None]) == []
    X = RAW.copy()
    X[3] = np.nan
    X[4] = 0.0
    assert messages(X) == []
    assert messages(X[:0]) == []


LOGGED = np.log2(RAW)
GENE_NAMES = [f"g{k}" for k in range(400)]


def message_of_sample(X: np.ndarray) -> list[str]:
    return [str(problem) for problem in check_lone_values(X, GENE_NAMES, SAMPLE_NAMES, "e.tsv")]


def test_a_number_that_stands_for_no_value_is_named() -> None:
    X = LOGGED.copy()
    X[RNG.random(X.shape) < 0.02] = 99999
    (line,) = message_of_sample(X)
    assert f"it stands in {(X == 99999).sum()} cells: if nothing was measured there" in line
    assert "the value 99999 (" in line


def test_outlying_cells_are_named_by_sample_and_gene() -> None:
    X = LOGGED.copy()
    X[3, [7, 30, 50]] *= 1e4
    X[8, 7] *= 1e4
    (line,) = message_of_sample(X)
    assert line.startswith("error: e.tsv, gene 'g7', sample 's3': the value ")
    assert "3 further values; in all 2 samples and 3 genes, 3 of them in 's3'" in line
    assert "is a decimal point lost?" in line


def test_tails_samples_and_saturated_spots_are_no_outlying_cells() -> None:
    of_two_scales = LOGGED.copy()
    of_two_scales[0] = RAW[0]
    heavy = LOGGED + 0.3 * RNG.standard_t(2, LOGGED.shape)
    assert [message_of_sample(X) for X in (LOGGED, RAW, of_two_scales, heavy)] == [[]] * 4
    assert message_of_sample(np.minimum(16 * RAW, 65535)) == []


@pytest.mark.parametrize(("value", "level"), [(7.5, "warning"), (0.0, "error")])
def test_a_sample_of_one_value_is_named(value: float, level: str) -> None:
    X = np.random.default_rng(0).normal(8, 1, (5, 20))
    X[2] = value
    problems = list(check_empty_samples(X, list("abcde"), {"samples": [], "folds": []}, "x.tsv"))
    assert [
        (problem.level, "every value of 'c' is" in problem.message) for problem in problems
    ] == [(level, True)]
    assert not list(
        check_empty_samples(np.ones((5, 20)), list("abcde"), {"samples": [], "folds": []}, "")
    )


@pytest.mark.parametrize(("n_genes", "n_warnings"), [(9, 0), (10, 1)])
def test_a_sample_of_one_value_counts_from_ten_genes_on(n_genes: int, n_warnings: int) -> None:
    X = np.random.default_rng(0).normal(8, 1, (5, n_genes))
    X[2] = 7.5
    problems = list(check_empty_samples(X, list("abcde"), {"samples": [], "folds": []}, "x.tsv"))
    assert len(problems) == n_warnings


@pytest.mark.parametrize(("share", "n_warnings"), [(0.3, 0), (0.6, 1)])
def test_values_below_the_noise_may_be_two_fifths_of_all(share: float, n_warnings: int) -> None:
    X = np.full((10, 100), 1000.0)
    X[:, : int(100 * share)] = 15.0  # the noise level is 10
    step = {"step": "log2", "floor": 20.0, "ceiling": 65536.0}
    assert len(list(_check_limits(X, step, "e.tsv"))) == n_warnings
