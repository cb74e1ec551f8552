"""Repeated samples of one patient are found, and samples of different patients are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from genesig.data.quality.samples import (
    MIN_PARTIAL_CORRELATION,
    MIN_TWIN_GENES,
    SIMILAR_SAMPLES,
    check_twins,
    find_twins,
)
from genesig.data.study.matrix_check import Expression
from genesig.data.study.sheet_check import Sheet
from genesig.results import Design

Array = np.ndarray[Any, Any]
N = 48


def _noise(rng: np.random.Generator, d: int) -> Array:
    return rng.standard_normal((N, d))


def _one_factor(rng: np.random.Generator, d: int) -> Array:
    """Four fifths of the genes go together (r .9)."""
    X = _noise(rng, d)
    many = 4 * d // 5
    X[:, :many] = np.sqrt(0.1) * X[:, :many] + np.sqrt(0.9) * rng.standard_normal((N, 1))
    return X


def _factors(rng: np.random.Generator, d: int) -> Array:
    return rng.standard_normal((N, 5)) @ rng.standard_normal((5, d)) + 0.5 * _noise(rng, d)


def _classes(rng: np.random.Generator, d: int) -> Array:
    return _noise(rng, d) + 2.0 * (np.arange(N) % 2)[:, None] * rng.standard_normal(d)


def _tails(rng: np.random.Generator, d: int) -> Array:
    return rng.standard_t(1.5, (N, d))


def _subtypes(rng: np.random.Generator, d: int) -> Array:
    """Eight subtypes of six samples, which have half of the variance between them."""
    return _noise(rng, d) + rng.standard_normal((8, d))[np.arange(N) % 8]


def _repeated_patients(times: int, share: float) -> Callable[[np.random.Generator, int], Array]:
    """Return a function that draws repeated samples of patients that share some variance."""

    def drawn(rng: np.random.Generator, d: int) -> Array:
        patients = np.repeat(rng.standard_normal((N // times, d)), times, axis=0)
        return np.sqrt(share) * patients + np.sqrt(1 - share) * _noise(rng, d)

    return drawn


@pytest.mark.parametrize("d", [MIN_TWIN_GENES, 300, 2000])
@pytest.mark.parametrize("world", [_noise, _one_factor, _factors, _classes, _tails, _subtypes])
def test_samples_of_different_patients_are_no_twins(
    world: Callable[[np.random.Generator, int], Array], d: int
) -> None:
    n_twins = [len(find_twins(world(np.random.default_rng((d, seed)), d))) for seed in range(20)]
    assert sum(n_twins) == 0


@pytest.mark.parametrize("d", [300, 2000])
@pytest.mark.parametrize(("times", "share"), [(2, 0.8), (2, 0.95), (3, 0.95)])
def test_samples_of_one_patient_are_found(times: int, share: float, d: int) -> None:
    pairs_found = find_twins(_repeated_patients(times, share)(np.random.default_rng(d), d))
    pairs = N // times * times * (times - 1) // 2
    assert len(pairs_found) > 0.9 * pairs
    assert all(sample // times == second // times for sample, second, _ in pairs_found)
    assert [r for _, _, r in pairs_found] == sorted((r for _, _, r in pairs_found), reverse=True)


def test_one_pair_among_all_is_found_whatever_the_units_and_with_values_missing() -> None:
    rng = np.random.default_rng(5)
    X = _noise(rng, 400)
    X[7] = X[3] + 0.3 * rng.standard_normal(400)
    X = X * 10 ** rng.uniform(-3, 3, 400) + rng.normal(0, 100, 400)
    ((sample, second, r),) = find_twins(X)
    X[rng.random(X.shape) < 0.05] = np.nan
    assert [(a, b) for a, b, _ in find_twins(X)] == [(sample, second)] == [(3, 7)]
    assert 0.5 < r < 1


def test_twin_score_equals_partial_correlation() -> None:
    """Of two samples given all others, by regression of each on them, with the same ridge."""
    X = _repeated_patients(2, 0.9)(np.random.default_rng(8), 300)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    sample, second, r = find_twins(X)[0]
    with_ridge = np.hstack([Z, np.sqrt(0.1) * np.eye(N)])  # the ridge as genes of each sample's own
    other_rows = np.delete(with_ridge, [sample, second], axis=0)
    residuals = [
        with_ridge[k] - other_rows.T @ np.linalg.lstsq(other_rows.T, with_ridge[k], rcond=None)[0]
        for k in (sample, second)
    ]
    expected = (
        residuals[0] @ residuals[1] / np.linalg.norm(residuals[0]) / np.linalg.norm(residuals[1])
    )
    assert r == pytest.approx(expected, abs=1e-9)


def _messages(
    X: Array, group: list[str] | None = None, label: list[str] | None = None
) -> list[str]:
    names = [f"s{k}" for k in range(len(X))]
    obs = pd.DataFrame({"label": label or ["ill", "well"] * (len(X) // 2)}, index=names)
    if group is not None:
        obs["patient"] = group
    design = Design("label", "classification", ("well", "ill"), group and "patient", None)
    genes = [f"g{k}" for k in range(X.shape[1])]
    sheet = Sheet(obs, design, [])
    problems = list(check_twins(Expression(X, genes, []), sheet, "e.tsv"))
    assert all(problem.level == "warning" and problem.location == "e.tsv" for problem in problems)
    assert all(problem.code == SIMILAR_SAMPLES for problem in problems)
    return [problem.message for problem in problems]


def test_twins_on_both_sides_of_the_splits_are_warned_of() -> None:
    rng = np.random.default_rng(1)
    X = _noise(rng, 300)
    X[4] = X[2] + 0.2 * rng.standard_normal(300)
    (line,) = _messages(X)
    assert line.startswith("samples 's2' and 's4' ")
    assert "data.group" in line
    X[9] = X[6] + 0.2 * rng.standard_normal(300)
    (line,) = _messages(X)
    assert "and 1 more pair" in line
    X[5] = X[1] + 0.2 * rng.standard_normal(300)
    assert "and 2 more pairs" in _messages(X)[0]
    assert _messages(X, [f"p{ {4: 2, 9: 6, 5: 1}.get(k, k) }" for k in range(N)]) == []
    (line,) = _messages(X, [f"p{ {4: 2, 9: 6}.get(k, k) }" for k in range(N)])
    assert line.startswith("samples 's1' and 's5' ")
    assert "more pair" not in line


def test_raw_intensities_are_looked_at_as_logarithms() -> None:
    X = 2 ** (8 + 2 * _repeated_patients(2, 0.9)(np.random.default_rng(3), 300))
    assert len(_messages(X)) == 1
    assert _messages(2 ** (8 + 2 * _noise(np.random.default_rng(3), 300))) == []


def test_few_genes_or_samples_give_no_twins() -> None:
    assert (
        _messages(_repeated_patients(2, 0.95)(np.random.default_rng(3), MIN_TWIN_GENES - 1)) == []
    )
    assert _messages(_repeated_patients(2, 0.95)(np.random.default_rng(3), 300)[:4]) == []


def test_the_least_partial_correlation_is_that_of_three_samples_that_share_half() -> None:
    r = 0.5  # of each two; given the third, by the formula of partial correlations
    assert pytest.approx((r - r * r) / (1 - r * r)) == MIN_PARTIAL_CORRELATION
