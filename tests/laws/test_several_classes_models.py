"""A study of several classes through nested cross-validation: lists, errors, models."""

from __future__ import annotations

import numpy as np
import pytest
from linear_loops import fit_final_model, nested_cross_validation
from settings import linear
from study_data import CLASSES as NAMES
from study_data import class_study as study

from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.selection.assess.assessment import assess, study_errors
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

QUICK_SETTINGS = linear(
    tau_min=0.05, tau_count=5, lam=[1e-3, 1e-1], mu=[1e-6, 1e-2], longest=100, most=40
)
SPLITS = {
    "scheme": "stratified_kfold",
    "folds": 4,
    "repeats": 1,
    "column": None,
    "file": None,
    "inner_scheme": "stratified_kfold",
    "inner_folds": 3,
    "subsamples": 0,
    "batches": 1,
}
FOLDS = [{"step": "centre"}, {"step": "unit_variance"}]


def fitted(dataset, labels="observed", **splits):
    drawn = draw_splits(dataset, seed=1, **{**SPLITS, **splits})
    return drawn, nested_cross_validation(
        dataset, drawn, labels=labels, batch="1of1", fold_steps=FOLDS, **QUICK_SETTINGS
    )


def errors(dataset, drawn, fits):
    headline = ASSESSMENT_KINDS[dataset.design.kind].headline
    return study_errors(collect_held_out(dataset, drawn, fits.with_chosen()), headline)


def test_classes_with_their_own_genes_are_distinguished():
    dataset = study(signal=4.0)
    drawn, fits = fitted(dataset)
    assert errors(dataset, drawn, fits)[0, -1] <= 0.1
    for fit in range(len(fits)):
        chosen = fits.coef(fit, int(fits.choice[fit, 2]))[0]
        assert {0, 1, 2, 3} <= set(chosen.tolist())
    held_out_fits = collect_held_out(dataset, drawn, fits.with_chosen())
    row = assess(held_out_fits, ASSESSMENT_KINDS[dataset.design.kind].headline)[-1]
    assert row.low <= row.error <= row.high
    assert row.auc > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("order", [(3, 1, 0, 2), (1, 0, 3, 2)])
def test_names_and_order_of_classes_change_no_list(order):
    """The same splits: only what the classes are called, and in which order, is another."""
    dataset = study(signal=1.0)
    reordered_dataset = study(signal=1.0, order=order)
    drawn, fits = fitted(dataset)
    reordered_fits = nested_cross_validation(
        reordered_dataset,
        drawn,
        labels="observed",
        batch="1of1",
        fold_steps=FOLDS,
        **QUICK_SETTINGS,
    )
    np.testing.assert_array_equal(fits.choice, reordered_fits.choice)
    np.testing.assert_array_equal(fits.indices, reordered_fits.indices)
    np.testing.assert_allclose(fits.values[:, list(order)], reordered_fits.values, atol=1e-7)
    np.testing.assert_array_equal(
        errors(dataset, drawn, fits), errors(reordered_dataset, drawn, reordered_fits)
    )
    called = study(signal=1.0, names=("a", "b", "c", "d"))
    refits = nested_cross_validation(
        called, drawn, labels="observed", batch="1of1", fold_steps=FOLDS, **QUICK_SETTINGS
    )
    np.testing.assert_array_equal(refits.values, fits.values)


@pytest.mark.slow
def test_noise_is_at_chance_and_so_are_permuted_labels():
    errors_found = []
    for seed in range(4):
        dataset = study(seed, names=NAMES[:3], signal=0.0, n=45)
        drawn, fits = fitted(dataset)
        errors_found.append(errors(dataset, drawn, fits)[0, -1])
    dataset = study(signal=2.0, n=48)
    drawn, null = fitted(dataset, "permuted-001-004")
    null = errors(dataset, drawn, null)[:, -1]
    assert np.mean(errors_found) == pytest.approx(2 / 3, abs=0.15)
    assert np.mean(null) == pytest.approx(3 / 4, abs=0.15)


def test_model_json_predicts_as_the_fit_does():
    dataset = study(signal=4.0)
    drawn, _ = fitted(dataset)
    final = fit_final_model(dataset, drawn, fold_steps=FOLDS, **QUICK_SETTINGS)
    model = final_model(dataset, final, fold_steps=FOLDS)
    names = tuple(dataset.samples)
    n = len(dataset.samples)
    matrix = Matrix(names, tuple(dataset.genes), dataset.X, {}, tuple(range(2, n + 2)))
    table, _ = predict(model, matrix, "new.tsv", missing=0.0, mu=None)
    genes, weights = final.coef(0, int(final.choice[0, 2]))
    scores = final.intercept[0, int(final.choice[0, 2])] + dataset.X[:, genes] @ weights
    columns = [f"score of {name}" for name in NAMES]
    np.testing.assert_allclose(table[columns].to_numpy(), scores, atol=1e-12)
    assert table["predicted"].tolist() == [NAMES[k] for k in scores.argmax(axis=1)]
    assert np.mean(table["predicted"] == dataset.obs["label"].to_numpy()) > 0.95
    np.testing.assert_allclose(weights.sum(axis=1), 0, atol=1e-12)
