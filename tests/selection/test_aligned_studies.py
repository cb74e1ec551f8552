"""Training sets learn or choose the alignment that the final model applies to new samples."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, linear
from study_runs import pooled, tables

from genesig.data.files.delimited import Matrix
from genesig.data.steps.alignment import ALIGNMENT_CANDIDATES, best_alignment
from genesig.data.steps.normalise import alignments_to_choose, with_summaries_applied
from genesig.errors import InvalidInput
from genesig.report.collect import round_numbers
from genesig.report.studies import collect_studies, study_sentences
from genesig.results import Dataset
from genesig.selection.assess.baseline_scores import run_baselines
from genesig.selection.assess.intervals import delong
from genesig.selection.genes.export import signature_annotated
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

FILES = tables(5, n=18, d=40, effect=2.0, seed=4)
_, (MATRIX, ABOUT) = FILES.popitem()
LOOP: dict[str, Any] = {"fold_steps": MOMENTS, **linear(tau_count=4, mu=[1e-3])}


def study(folder, align, files=FILES, **changes):
    return pooled(folder, files, across={"align": align}, splits={"subsamples": 0}, **changes)


@pytest.fixture(scope="module")
def study_by_alignment(tmp_path_factory):
    """Give the study under each alignment, and its fits."""
    out = {}
    for align in (*ALIGNMENT_CANDIDATES, "fixed", "combat", "auto"):
        dataset, splits = study(tmp_path_factory.mktemp("studies"), align)
        fits = nested_cross_validation(dataset, splits, labels="observed", batch="1of1", **LOOP)
        out[align] = dataset, splits, fits.with_chosen()
    return out


@pytest.mark.slow
def test_each_training_set_has_the_fit_of_the_alignment_that_it_chooses(study_by_alignment):
    dataset, splits, fits = study_by_alignment["auto"]
    alignment_cache = alignments_to_choose(dataset)
    y = dataset.response_kind.numeric_response(dataset.response())
    for fit, split in enumerate(splits.outer):
        rows = dataset.rows(split.train)
        name = alignment_cache.choose_best(y[rows], rows)
        alone = study_by_alignment[name][2]
        np.testing.assert_allclose(fits.test_scores(fit)[1], alone.test_scores(fit)[1])
        np.testing.assert_array_equal(fits.coef(fit, 0)[0], alone.coef(fit, 0)[0])


@pytest.mark.slow
def test_permuted_labels_choose_their_own_alignment(study_by_alignment):
    """In the order of the tasks, whichever alignment each of them takes."""
    dataset, splits, _ = study_by_alignment["auto"]
    of = nested_cross_validation(dataset, splits, labels="permuted-1-6", batch="1of1", **LOOP)
    names = [split.name for split in splits.outer]
    assert list(of.permutation) == [number for number in range(1, 7) for _ in names]
    assert list(of.split) == names * 6
    fits_of_alignment = {
        name: nested_cross_validation(
            study_by_alignment[name][0], splits, labels="permuted-1-6", batch="1of1", **LOOP
        )
        for name in ALIGNMENT_CANDIDATES
    }
    matching = [
        [
            name
            for name in ALIGNMENT_CANDIDATES
            if np.allclose(of.test_scores(fit)[1], fits_of_alignment[name].test_scores(fit)[1])
        ]
        for fit in range(len(of.split))
    ]
    assert all(matching)
    assert (
        len({alignment_names[0] for alignment_names in matching if len(alignment_names) == 1}) > 1
    )


def test_the_data_set_is_that_of_the_alignment_which_all_samples_choose(
    study_by_alignment, tmp_path
):
    dataset = study_by_alignment["auto"][0]
    name = best_alignment(dataset.provenance["errors_of_alignments"])
    np.testing.assert_array_equal(dataset.X, study_by_alignment[name][0].X)
    np.testing.assert_array_equal(dataset.unaligned, study_by_alignment["none"][0].X)
    assert dataset.provenance["steps"] == study_by_alignment[name][0].provenance["steps"]
    dataset.save(tmp_path / "d.h5ad")
    reloaded = Dataset.load(tmp_path / "d.h5ad")
    np.testing.assert_array_equal(reloaded.unaligned, dataset.unaligned)
    assert alignments_to_choose(replace(reloaded, unaligned=None)) is None


def test_signature_export_of_an_aligned_study_has_its_genes_and_no_layer(study_by_alignment):
    dataset = study_by_alignment["auto"][0]
    signature = pd.DataFrame({"gene": dataset.genes[:2], "symbol": "", "block": [1.0, np.nan]})
    nested = pd.DataFrame({"mu": [np.nan], "gene": dataset.genes[:1], "cv_frequency": [1.0]})
    data = signature_annotated(dataset, signature, nested, {"config": {}, "versions": {}})
    assert (data.shape, list(data.layers.keys())) == ((72, 2), [])


def test_the_model_is_that_of_a_study_which_was_aligned_so_from_the_start(study_by_alignment):
    dataset, splits, _ = study_by_alignment["auto"]
    aligned_from_start = study_by_alignment[
        best_alignment(dataset.provenance["errors_of_alignments"])
    ][0]
    models = [
        final_model(
            dataset_version, fit_final_model(dataset_version, splits, **LOOP), fold_steps=MOMENTS
        )
        for dataset_version in (dataset, aligned_from_start)
    ]
    assert json.dumps(models[0]) == json.dumps(models[1])


def test_other_models_take_the_same_alignment(study_by_alignment):
    dataset, splits, _ = study_by_alignment["auto"]
    alignment_cache = alignments_to_choose(dataset)
    y = dataset.response_kind.numeric_response(dataset.response())
    scores_of_ridge = run_baselines(dataset, splits, fold_steps=MOMENTS, baselines=["ridge"])
    for split in splits.outer:
        rows = dataset.rows(split.train)
        alone = study_by_alignment[alignment_cache.choose_best(y[rows], rows)][0]
        theirs = run_baselines(alone, splits, fold_steps=MOMENTS, baselines=["ridge"])
        of = [table["score"][table["split"] == split.name] for table in (scores_of_ridge, theirs)]
        np.testing.assert_allclose(*of)


@pytest.mark.parametrize("align", ["fixed", "combat"])
def test_left_out_study_does_not_change_the_training_fits(study_by_alignment, align):
    dataset, splits, fits = study_by_alignment[align]
    X = dataset.X.copy()
    X[dataset.batches() == "boston"] = np.random.default_rng(0).normal(5, 9, (18, 40))
    shifted = replace(dataset, X=X)
    fits_of_shifted = nested_cross_validation(
        shifted, splits, labels="observed", batch="1of1", **LOOP
    ).with_chosen()
    at = list(fits.split).index("boston")
    for fit in range(4):
        coef_before, then = (
            fits_version.coef(fit, 0)[1] for fits_version in (fits, fits_of_shifted)
        )
        assert (len(coef_before) == len(then) and np.allclose(coef_before, then)) == (fit == at)


@pytest.mark.parametrize("align", ["fixed", "combat"])
def test_tables_and_pictures_are_of_the_studies_brought_together(study_by_alignment, align):
    dataset = study_by_alignment[align][0]
    names = dataset.batches()

    def apart(X):
        return np.ptp([X[names == name].mean(axis=0) for name in np.unique(names)], axis=0).mean()

    assert apart(with_summaries_applied(dataset).X) < 0.5 * apart(dataset.X)


def new(n):
    """Give the matrix of some samples of a fifth study, and their classes."""
    new_matrix = Matrix(
        tuple(MATRIX.index),
        tuple(MATRIX.columns[:n]),
        MATRIX.to_numpy()[:, :n],
        {},
        tuple(range(len(MATRIX))),
    )
    return new_matrix, np.where(ABOUT["diagnosis"] == "ill", 1, -1)[:n]


@pytest.mark.parametrize(("align", "least"), [("fixed", 1), ("combat", 10), ("none", 1)])
def test_how_many_new_samples_a_model_needs(study_by_alignment, align, least):
    dataset, splits, _ = study_by_alignment[align]
    model = final_model(dataset, fit_final_model(dataset, splits, **LOOP), fold_steps=MOMENTS)
    model = json.loads(json.dumps(model))
    new_matrix, y = new(18)
    table, _ = predict(model, new_matrix, "new.tsv", missing=0, mu=None)
    assert delong(y, table["score"].to_numpy())[0] > 0.8
    if least == 1:
        alone, _ = predict(model, new(1)[0], "new.tsv", missing=0, mu=None)
        assert alone["score"][0] == pytest.approx(table["score"][0])
    else:
        with pytest.raises(InvalidInput, match=f"{least - 1} samples, at least {least} are needed"):
            predict(model, new(least - 1)[0], "new.tsv", missing=0, mu=None)


def test_the_report_says_which_alignment_was_chosen_and_by_what():
    errors = {"standardise": 0.61, "centre": 0.5123, "none": 0.9, "rank": 0.7}
    sizes = {"samples": 10, "measured": 40, "genes": 40}
    studies = [{"name": name, **sizes} for name in ("a", "b", "c")]
    record = {"studies": studies, "measure": "AUC", "whole": True}
    across = {"align": "auto", "probes": "median", "weights": "samples"}
    sentence_of = {
        align: study_sentences(
            {
                "studies": record | {"alignments": chosen_by},
                "config": {"across": across | {"align": align}},
            }
        )[0]
        for align, chosen_by in (("auto", collected(errors)), ("rank", {}))
    }
    assert "fitted to values centred" in sentence_of["auto"]
    assert (
        "centred 0.512, standardised 0.61, as ranks 0.7 and as they are 0.9" in sentence_of["auto"]
    )
    assert "fitted to values" not in sentence_of["rank"]


def collected(errors):
    rows = [
        {"row": row, "study": "a", "samples": 9, "measure": "AUC", "value": 0.8, "apart": 0}
        for row in ("study", "mean", "next study")
    ]
    table = pd.DataFrame(rows).reindex(
        columns=[*rows[0], "low", "high", "error", "measured", "genes", "lost", "i2"]
    )
    meta = pd.DataFrame({"gene": ["g"], "p_value": [0.1], "q_value": [0.1], "effect": [1.0]})
    dataset = SimpleNamespace(provenance={"errors_of_alignments": errors})
    splits = SimpleNamespace(scheme="leave_one_study_out")
    tables = {"studies": table, "meta": meta, "signature": meta[["gene"]]}
    results = SimpleNamespace(dataset=dataset, splits=splits, tables=tables)
    record = collect_studies(results)
    return round_numbers(record, "studies")["alignments"]
