"""The fused lasso in a study: segments, coefficients and their table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from block_studies import BLOCK_PLACES, FUSED
from block_studies import place_study as study
from linear_loops import fit_final_model, fit_half_samples, nested_cross_validation
from settings import LINEAR, MOMENTS

from genesig.response.covariates import Covariate
from genesig.results import CrossValidation, Dataset, Fits, Splits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.intervals import balanced_error
from genesig.selection.gather import LinearResults, gather
from genesig.selection.genes.export import runs, stretches_table


def outer(
    study_and_splits: tuple[Dataset, Splits],
    labels: str = "observed",
    batch: str = "1of1",
    folds: Any = MOMENTS,
    **linear: Any,
) -> Fits:
    return nested_cross_validation(
        *study_and_splits, labels=labels, batch=batch, fold_steps=folds, **FUSED | linear
    )


def test_the_stretch_is_found_and_predicts_better_than_single_genes() -> None:
    study_and_splits = study()
    fused = outer(study_and_splits)
    single = outer(study_and_splits, penalty="l1")
    place = study_and_splits[0].var["position"].to_numpy()
    shares_inside = [np.isin(place[fits.indices], BLOCK_PLACES).mean() for fits in (fused, single)]
    assert shares_inside[0] > 0.8 > shares_inside[1]
    y = study_and_splits[0].response()[fused.test_rows]
    assert balanced_error(y, fused.scores[:, 0]) < 0.1


@pytest.mark.parametrize("folds", [MOMENTS, [{"step": "variance_filter", "keep": 0.5}, *MOMENTS]])
def test_every_fit_is_solved_also_where_a_filter_renumbers_the_genes(folds: Any) -> None:
    study_and_splits = study(alone=5)
    final = fit_final_model(*study_and_splits, fold_steps=folds, **FUSED)
    halves = fit_half_samples(*study_and_splits, fold_steps=folds, **FUSED)
    for fits in (final, halves, outer(study_and_splits, folds=folds)):
        assert np.nanmax(fits.gap) <= 1e-9
        assert len(fits.indices)


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_fused_lasso_with_covariates_and_weights_equals_the_lasso_if_ends_are_free(
    weights: str | None,
) -> None:
    dataset, splits = study()
    age = np.random.default_rng(2).normal(50, 9, 30)
    design = replace(dataset.design, covariates=(Covariate("age", None),), weights=weights)
    obs = dataset.obs.assign(age=[repr(float(value)) for value in age])
    study_and_splits = replace(dataset, obs=obs, design=design), splits
    fused = outer(study_and_splits, jump=0.0)
    single = outer(study_and_splits, penalty="l1")
    np.testing.assert_allclose(fused.grid.tau_max, single.grid.tau_max, rtol=1e-9)
    np.testing.assert_array_equal(fused.indices, single.indices)
    np.testing.assert_allclose(fused.scores, single.scores, atol=1e-6)


def gathered(study_and_splits: tuple[Dataset, Splits]) -> dict[str, pd.DataFrame]:
    final = fit_final_model(*study_and_splits, fold_steps=MOMENTS, **FUSED)
    halves = fit_half_samples(*study_and_splits, fold_steps=MOMENTS, **FUSED)
    clusters = {"least": 0.5, "warn_above": 0.9, "merge_above": None}
    return gather(
        LinearResults(
            CrossValidation.from_batches(*study_and_splits, [outer(study_and_splits)]),
            final,
            halves,
            HalfSampleStudy.none(),
        ),
        fdr=0.1,
        cv_frequency=0.75,
        clusters=clusters,
    )


def test_the_table_has_each_gene_of_the_signature_once() -> None:
    study_and_splits = study(alone=5)
    tables = gathered(study_and_splits)
    table = tables["stretches"]
    signature = tables["signature"]
    assert table["genes"].sum() == len(signature)
    size = (np.sign(signature["weight"]) * signature["size"]).sum()
    assert table["contribution"].sum() == pytest.approx(size)
    best = table.iloc[0]
    assert best["chromosome"] == "7"
    assert best["genes"] >= 6
    assert min(BLOCK_PLACES) - 3 <= best["start"] <= best["end"] <= max(BLOCK_PLACES) + 3
    assert (np.diff(table["contribution"].abs()) <= 0).all()
    assert (table["least_cv_frequency"] <= table["cv_frequency"]).all()
    assert table["cv_frequency"].between(0, 1).all()


def test_a_study_without_places_has_no_table() -> None:
    dataset, splits = study()
    bare = replace(dataset, var=dataset.var[["symbol"]])
    final = fit_final_model(bare, splits, fold_steps=MOMENTS, **LINEAR)
    with pytest.raises(Exception, match=r"data\.chromosome"):
        stretches_table(bare, pd.DataFrame(), final)


def test_runs_end_at_a_gap_and_at_a_chromosome() -> None:
    is_selected = np.array([1, 1, 0, 1, 1, 1, 1, 0], dtype=bool)
    bounds = [(part.start, part.stop) for part in runs(is_selected, np.array([0, 5]))]
    assert bounds == [(0, 2), (3, 5), (5, 7)]
