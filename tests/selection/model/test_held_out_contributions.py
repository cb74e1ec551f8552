"""Contributions to held-out scores: exact, by the models that left the sample out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from linear_loops import nested_cross_validation, study_half_samples
from settings import MOMENTS, SPLITS, of_kind
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.report.page.tables import class_margins
from genesig.response.covariates import Covariate
from genesig.results import Dataset
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.model.contributions import held_out_contributions

FILTERED = [{"step": "quantile"}, {"step": "variance_filter", "keep": 15}, *MOMENTS]


def with_covariates(dataset: Dataset) -> Dataset:
    """Return a data set with the spline of a number, one missing, and a column of three words."""
    rng = np.random.default_rng(7)
    n = len(dataset.samples)
    ages = [f"{age:.2f}" for age in rng.normal(50, 10, n)]
    ages[3] = ""
    obs = dataset.obs.assign(age=ages, stage=rng.choice(["I", "II", "III"], n))
    covariates = (Covariate("age", None, knots=3), Covariate("stage", ("I", "II", "III")))
    design = replace(dataset.design, covariates=covariates, filled=True)
    return replace(dataset, obs=obs, design=design)


def check_sums(dataset: Dataset, folds, **settings) -> None:
    """Contributions and intercepts sum to the mean scores of predictions.tsv."""
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 2, "subsamples": 4})
    linear = {**of_kind(dataset.design.kind), **settings}
    chance = study_half_samples(dataset, splits, permutations=2, fold_steps=folds, **linear)
    observed = nested_cross_validation(
        dataset, splits, chance, labels="observed", batch="1of1", fold_steps=folds, **linear
    )
    table = predictions_table(dataset, splits, observed.with_chosen(), "study")
    table = table[table["mu"].isna()]
    margins = np.asarray(class_margins(table, dataset.design.classes), dtype=float)
    scores = pd.Series(margins, table["sample"].to_numpy())
    mean_scores = scores.groupby(level=0).mean().loc[list(dataset.samples)]
    found = held_out_contributions(dataset, splits, observed, folds)
    assert (found.n_tested == 2).all()
    sums = found.terms.sum(axis=1)
    assert np.ptp(sums) > 0.01
    np.testing.assert_allclose(sums, mean_scores - found.intercepts, rtol=0, atol=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", COLUMNS)
def test_held_out_contributions_with_covariates_sum_to_the_mean_score(kind: str) -> None:
    check_sums(with_covariates(study_of(kind, 3, n=60, d=20, signal=1.2)), MOMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_held_out_contributions_of_an_ensemble_sum_to_the_mean_score(kind: str) -> None:
    dataset = study_of(kind, 3, n=60, d=20, signal=1.2)
    check_sums(dataset, FILTERED, model="ensemble")


def test_held_out_contributions_after_a_filter_sum_to_the_mean_score() -> None:
    check_sums(study_of("classification", 3, n=60, d=20, signal=1.2), FILTERED)
