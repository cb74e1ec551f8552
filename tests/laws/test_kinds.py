"""Laws of every kind of response: training sets, permutations, numbers, errors of noise.

Leaks, batches and signals are in test_study_designs.py.
"""

from dataclasses import replace

import numpy as np
import pytest
from linear_loops import nested_cross_validation
from settings import MOMENTS, SPLITS, of_kind
from study_data import CHANCE_ERROR, COLUMNS, study_of

from genesig.data.splits.draw import draw_permutation, draw_splits
from genesig.data.splits.folds import Samples
from genesig.response.design import Design
from genesig.response.kinds import RESPONSES
from genesig.selection.assess.assessment import study_errors
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

each_response_kind = pytest.mark.parametrize("kind", RESPONSES)


def splits_of(dataset, **changes):
    return draw_splits(dataset, seed=1, **{**SPLITS, **changes})


def fitted(dataset, splits, labels="observed", batch="1of1"):
    return nested_cross_validation(
        dataset,
        splits,
        labels=labels,
        batch=batch,
        fold_steps=MOMENTS,
        **of_kind(dataset.design.kind),
    )


def errors(dataset, splits, fits):
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    return study_errors(collect_held_out(dataset, splits, fits.with_chosen()), headline)[:, -1]


def test_there_is_a_study_of_every_kind():
    missing = [kind for kind in RESPONSES if kind not in COLUMNS]
    assert not missing, f"tests/materials/study_data.py, COLUMNS: no line for {missing}"
    missing = [kind for kind in RESPONSES if kind not in CHANCE_ERROR]
    assert not missing, f"tests/materials/study_data.py, CHANCE_ERROR: no line for {missing}"


@each_response_kind
def test_every_training_set_is_sufficient(kind):
    dataset = study_of(kind, 1)
    samples = Samples.from_dataset(dataset)
    y = dataset.response()
    for split in splits_of(dataset, folds=4, repeats=3).outer:
        rows = samples.rows(split.train)
        assert dataset.response_kind.training_fault(y[rows], dataset.design.classes) is None
        for class_rows in dataset.response_kind.required_samples(
            y, dataset.design.classes
        ).values():
            share = class_rows[rows].sum() / class_rows.sum()
            assert share == pytest.approx(3 / 4, abs=1 / min(class_rows.sum(), 12))


@each_response_kind
def test_constant_response_is_refused(kind):
    dataset = study_of(kind, 1)
    constant_response = np.repeat(dataset.response()[:1], 10)
    assert isinstance(
        dataset.response_kind.training_fault(constant_response, dataset.design.classes), str
    )


@each_response_kind
def test_a_permutation_exchanges_whole_responses(kind):
    dataset = study_of(kind, 2)
    splits = splits_of(dataset)
    y = dataset.response()
    pi = draw_permutation(dataset, splits, 1)
    assert sorted(pi) == list(range(len(y)))
    assert (pi != np.arange(len(y))).any()
    assert sorted(y[pi].tolist()) == sorted(y.tolist())


@each_response_kind
def test_response_has_one_number_per_sample(kind):
    dataset = study_of(kind, 3)
    y = dataset.response()
    number = dataset.response_kind.numeric_response(y)
    plain = dataset.response_kind.label_values(y)
    assert plain.shape == (40,)
    assert number.shape == ((40, 3) if kind == "several_classes" else (40,))
    assert np.isfinite(number).all()
    assert np.isfinite(plain).all()
    assert len(dataset.response_kind.label_cells(dataset.obs, dataset.design)) == 40


@each_response_kind
def test_design_survives_its_notes(kind):
    design = study_of(kind, 1).design
    assert Design.from_notes(design.notes()) == design


def test_derived_kind_is_fitted_and_assessed_as_its_base(monkeypatch):
    dataset = study_of("regression", 4, signal=0.7)
    settings = of_kind("regression")
    splits = splits_of(dataset)
    expected = errors(dataset, splits, fitted(dataset, splits))
    monkeypatch.setitem(RESPONSES, "twin", replace(RESPONSES["regression"], like="regression"))
    twin = replace(dataset, design=replace(dataset.design, task="twin"))
    fits = nested_cross_validation(
        twin, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **settings
    )
    np.testing.assert_array_equal(errors(twin, splits, fits), expected)


@pytest.mark.slow
@each_response_kind
def test_noise_is_at_chance(kind):
    noise_errors = []
    for seed in range(6):
        dataset = study_of(kind, seed, n=30, d=20)
        splits = splits_of(dataset)
        noise_errors += errors(dataset, splits, fitted(dataset, splits, "permuted-1-4")).tolist()
    assert np.mean(noise_errors) > CHANCE_ERROR[kind] - 0.08


@each_response_kind
@pytest.mark.slow
def test_p_values_of_noise_are_uniform(kind):
    p = []
    for seed in range(60):
        dataset = study_of(kind, 100 + seed, n=30, d=15)
        splits = splits_of(dataset)
        observed_errors = errors(dataset, splits, fitted(dataset, splits))
        null = errors(dataset, splits, fitted(dataset, splits, "permuted-1-9"))
        p.append((1 + (null <= observed_errors + 1e-12).sum()) / 10)
    # of 60 draws from {.1, .2, ..., 1}, the share at or below each is within .22 (p < .01)
    for level in np.arange(1, 10) / 10:
        assert abs(np.mean(np.array(p) <= level + 1e-9) - level) < 0.22
