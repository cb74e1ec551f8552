"""Training studies teach an alignment, and their response alone chooses among alignments."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from genesig.data.steps.alignment import (
    ALIGNMENT_CANDIDATES,
    RIDGE_PENALTIES,
    Alignments,
    AlignStudies,
    CombatStudies,
    FixStudies,
    _ridge_hat_matrices,
    best_alignment,
)
from genesig.data.steps.combat import Combat, ReferenceBatch
from genesig.data.steps.transforms import RankSamples

STUDIES = np.repeat(["boston", "berlin", "bombay", "brno"], [12, 15, 18, 14])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def sample_sheet(names: Any) -> pd.DataFrame:
    return pd.DataFrame({"study": np.asarray(names, dtype=object)})


def matrix(rng: np.random.Generator, d: int = 25) -> np.ndarray:
    """Give studies that differ in the location and the spread of every gene."""
    X = rng.standard_normal((len(STUDIES), d))
    for name in np.unique(STUDIES):
        rows = name == STUDIES
        X[rows] = 6 + rng.normal(0, 1, d) + np.exp(rng.normal(0, 0.4, d)) * X[rows]
    return X


def test_a_study_held_fixed_does_not_lie_elsewhere_for_its_mix_of_classes(rng):
    y = np.where(np.arange(len(STUDIES)) % np.repeat([2, 3, 4, 5], [12, 15, 18, 14]) == 0, 1.0, -1)
    place = dict(zip(np.unique(STUDIES), rng.normal(0, 3, (4, 2)), strict=True))
    X = np.array([place[name] for name in STUDIES]) + y[:, None] * [0.7, 0.0]
    fitted = FixStudies.fit(X, sample_sheet(STUDIES), column="study", response=y)
    Z = fitted.transform(X, sample_sheet(STUDIES))
    for rows in (y > 0, y < 0):
        np.testing.assert_allclose(Z[rows], Z[rows][:1].repeat(rows.sum(), 0), atol=1e-12)
    np.testing.assert_allclose(fitted.shift.mean(axis=0), 0, atol=1e-12)
    new = rng.standard_normal((1, 2))
    assert fitted.transform(new).tolist() == new.tolist()


def test_combat_is_that_of_the_training_studies_and_brings_another_to_them(rng):
    X = matrix(rng)
    train = STUDIES != "brno"
    table = sample_sheet(STUDIES)
    step = CombatStudies.fit(X[train], table[train], column="study")
    combat = Combat.fit(X[train], batch=STUDIES[train], reference=None, covariates=None)
    Z = step.transform(X, table)
    np.testing.assert_array_equal(
        Z[train], combat.transform(X[train], batch=STUDIES[train], covariates=None)
    )
    reference = ReferenceBatch(combat.mean, combat.scale)
    np.testing.assert_array_equal(Z[~train], reference.transform(X[~train]))
    few = X[~train][:4]
    np.testing.assert_array_equal(step.transform(few), few)


def test_to_one_training_study_another_is_brought_all_the_same(rng):
    X = matrix(rng)
    table = sample_sheet(STUDIES)
    train = STUDIES == "bombay"
    is_brno = STUDIES == "brno"
    step = CombatStudies.fit(X[train], table[train], column="study")
    aligned = step.transform(X, table)
    np.testing.assert_array_equal(aligned[train], X[train])
    expected = ReferenceBatch.fit(X[train]).transform(X[is_brno])
    np.testing.assert_allclose(aligned[is_brno], expected)
    assert np.abs(aligned[is_brno] - X[is_brno]).mean() > 0.5


def alignments(X: np.ndarray) -> Alignments:
    table = sample_sheet(STUDIES)
    ways = {
        "standardise": AlignStudies("study", spread=True),
        "none": None,
        "centre": AlignStudies("study", spread=False),
        "rank": RankSamples(),
    }

    def align(name: str) -> np.ndarray:
        step = ways[name]
        if step is None:
            return X
        return step.transform(X, table) if name != "rank" else step.transform(X)

    return Alignments(align, STUDIES)


@pytest.mark.parametrize("shifted", [False, True])
def test_the_error_of_an_alignment_is_that_of_ridge_in_studies_left_out(rng, shifted):
    X = matrix(rng)
    rows = np.flatnonzero(STUDIES != "bombay")
    y = rng.standard_normal(len(rows))
    M = rng.standard_normal((len(X), len(X))) if shifted else None
    errors = alignments(X).errors(y, rows, M)
    assert set(errors) == set(ALIGNMENT_CANDIDATES)
    copies = alignments(X)
    for name in ALIGNMENT_CANDIDATES:
        Z = copies.aligned_copy(name) if M is None else M @ copies.aligned_copy(name)
        assert errors[name] == pytest.approx(
            min(
                ridge_loss(Z[rows], y, STUDIES[rows], ridge_penalty)
                for ridge_penalty in RIDGE_PENALTIES
            )
        )


def test_ridge_of_equal_samples_predicts_their_weighted_mean() -> None:
    weights = np.array([0.5, 0.25, 0.25])
    hat_matrices = _ridge_hat_matrices(np.ones((3, 3)), np.ones((2, 3)), weights)
    for hat_matrix in hat_matrices:
        np.testing.assert_allclose(hat_matrix, [weights, weights], atol=1e-12)


def ridge_loss(Z: np.ndarray, y: np.ndarray, names: np.ndarray, penalty: float) -> float:
    """Sum the mean squared errors of scikit-learn's ridge in each study."""
    total = 0.0
    for name in np.unique(names):
        train = names != name
        test = names == name
        studies, size = np.unique(names[train], return_counts=True)
        p = 1 / (len(studies) * size[np.searchsorted(studies, names[train])])
        centred = Z[train] - p @ Z[train]
        unit = (p[:, None] * centred**2).sum() / train.sum()
        fit = Ridge(alpha=penalty * unit).fit(Z[train], y[train], sample_weight=p)
        total += np.mean((fit.predict(Z[test]) - y[test]) ** 2)
    return total


def test_the_choice_hangs_on_the_response_of_the_training_samples_alone(rng):
    X = matrix(rng)
    y = np.where(rng.random(len(STUDIES)) < 0.5, 1.0, -1.0)
    rows = np.flatnonzero(STUDIES != "bombay")
    alignment_cache = alignments(X)
    errors = alignment_cache.errors(y[rows], rows)
    changed = X.copy()
    changed[STUDIES == "bombay"] += 100 * rng.standard_normal(25)
    np.testing.assert_allclose(
        [*errors.values()], [*alignments(changed).errors(y[rows], rows).values()]
    )
    alignment_cache.errors(-y[rows], rows)
    assert alignment_cache.errors(y[rows], rows) == errors
    assert alignment_cache.errors(y[rows][::-1], rows) != errors


def test_alignment_of_one_training_study_is_the_first_candidate(rng):
    rows = np.flatnonzero(STUDIES == "brno")
    assert alignments(matrix(rng)).errors(np.arange(14.0), rows) == {}
    assert best_alignment({}) == ALIGNMENT_CANDIDATES[0] == "standardise"
    equal = dict.fromkeys(ALIGNMENT_CANDIDATES, 0.3)
    for earlier, then in pairwise(ALIGNMENT_CANDIDATES):
        assert best_alignment(equal | {then: 0.3 - 1e-12, earlier: 0.3}) == ALIGNMENT_CANDIDATES[0]
        assert best_alignment(equal | {then: 0.2}) == then


def test_alignment_cache_is_emptied_at_its_memory_limit(rng, monkeypatch):
    alignment_cache = alignments(matrix(rng))
    y = np.arange(float(len(STUDIES)))
    monkeypatch.setattr("genesig.data.steps.alignment.MAX_CACHE_BYTES", 1e4)
    for name in np.unique(STUDIES):
        rows = np.flatnonzero(name != STUDIES)
        alignment_cache.errors(y[rows], rows)
        assert len(alignment_cache._cached_predictors) == 1


def test_a_gene_that_tells_studies_apart_makes_alignment_worth_its_price(rng):
    """Every study has its own place for all genes, but one, which tells the classes apart."""
    y = np.where(np.arange(len(STUDIES)) % 2 == 0, 1.0, -1.0)
    X = rng.normal(0, 0.1, (len(STUDIES), 25))
    for name in np.unique(STUDIES):
        X[name == STUDIES] += rng.normal(0, 5, 25)
    X[:, 0] += y
    assert alignments(X).choose_best(y, np.arange(len(y))) in ("centre", "standardise")
