"""Descriptive tables and figures use batch-corrected data, and no fit uses them."""

from dataclasses import replace

import numpy as np
import pandas as pd
from gathered_study import make_fits, make_study
from settings import MOMENTS

from genesig.data.steps.normalise import (
    bind_steps,
    fit_steps,
    normalise_samples,
    with_summaries_applied,
)
from genesig.results import CrossValidation
from genesig.results.splits import HalfSampleStudy
from genesig.selection.gather import LinearResults, gather

COMBAT = {"step": "combat", "covariates": []}
CLUSTERS = {"least": 0.5, "warn_above": 0.9, "merge_above": None}


def in_batches(seed=0):
    """Return a study of noise in two batches, every gene three SD higher in the second."""
    dataset, *other_parts = make_study(seed)
    batch = np.arange(len(dataset.samples)) % 2
    obs = dataset.obs.assign(centre=[f"c{k}" for k in batch])
    design = replace(dataset.design, batch="centre")
    X = dataset.X + 3.0 * batch[:, None]
    return replace(dataset, X=X, obs=obs, design=design), *other_parts


def with_steps(dataset, *folds):
    return normalise_samples(dataset, samples=[], folds=[*folds, *MOMENTS])


def test_batches_are_corrected_as_the_study_does_on_all_samples():
    dataset = in_batches()[0]
    description = with_summaries_applied(with_steps(dataset, COMBAT))
    fitted = fit_steps(dataset.X, bind_steps([COMBAT], dataset), dataset.obs)
    np.testing.assert_array_equal(description.X, fitted.transform(dataset.X, dataset.obs))
    batch = dataset.batches() == "c1"
    difference = [
        np.mean(np.abs(X[batch].mean(0) - X[~batch].mean(0))) for X in (dataset.X, description.X)
    ]
    assert difference[0] > 2
    assert difference[1] < 0.3
    between = [
        np.abs(np.corrcoef(X.T)[np.triu_indices(15, 1)]).mean() for X in (dataset.X, description.X)
    ]
    assert between[0] > 0.5
    assert between[1] < 0.3


def test_the_steps_before_are_applied_first_and_filtered_genes_stay_as_they_are():
    dataset = in_batches()[0]
    variance_filter = {"step": "variance_filter", "keep": 2 / 3}
    description = with_summaries_applied(
        with_steps(dataset, {"step": "quantile"}, variance_filter, COMBAT)
    )
    steps = bind_steps([{"step": "quantile"}, variance_filter, COMBAT], dataset)
    fitted = fit_steps(dataset.X, steps, dataset.obs)
    np.testing.assert_array_equal(
        description.X[:, fitted.genes], fitted.transform(dataset.X, dataset.obs)
    )
    filtered_out = np.setdiff1d(np.arange(15), fitted.genes)
    assert len(filtered_out) == 5
    np.testing.assert_array_equal(description.X[:, filtered_out], dataset.X[:, filtered_out])


def test_description_without_batch_step_equals_the_data():
    dataset = with_steps(in_batches()[0], {"step": "quantile"})
    assert with_summaries_applied(dataset) is dataset


def test_descriptions_use_all_samples_and_no_list_score_or_error_hangs_on_them():
    dataset, splits, observed, _ = in_batches()
    final = make_fits(dataset, [splits.final], 4)  # whose first list has genes
    halves = make_fits(dataset, splits.subsamples, 5)
    plain, corrected = (
        gather(
            LinearResults(
                CrossValidation(with_steps(dataset, *folds), splits, observed),
                final,
                halves,
                HalfSampleStudy.none(),
            ),
            fdr=0.1,
            cv_frequency=0.3,
            clusters=CLUSTERS,
        )
        for folds in ([], [COMBAT])
    )
    for study in (plain, corrected):  # blocks are a description, and so is how stable they are
        study["stability"] = study["stability"].query("source != 'half_blocks'")
    for name in ("lists", "scores", "predictions", "rejection", "stability"):
        pd.testing.assert_frame_equal(plain[name], corrected[name])
    genes = [study["nested_lists"].set_index(["mu", "gene"]) for study in (plain, corrected)]
    pd.testing.assert_frame_equal(*(table.sort_index() for table in genes))
    for name in ("univariate", "blocks"):
        assert not plain[name].equals(corrected[name])
