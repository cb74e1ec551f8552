"""The reported weights of covariates are those of the predictive model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from linear_loops import (
    fit_final_model,
    nested_cross_validation,
    study_half_samples,
)
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.data.splits.draw import draw_splits
from genesig.report.covariates import collect_covariates
from genesig.response.covariates import Covariate

CONTROLS = pd.DataFrame(
    {
        "model": ["genesig", "covariates", "covariates and ridge"],
        "mu": np.nan,
        "error": 0.2,
        "p_value": 0.5,
        "added_low": 0.0,
        "added_high": 0.2,
    }
)


def _with_shifted_gamma(fits, shift):
    """Return the fits with covariate weights of the answers that differ from the lists'."""
    return replace(fits, answers=replace(fits.answers, gamma=fits.answers.gamma + shift))


@pytest.mark.parametrize("permutations", [0, 3])
def test_weights_of_covariates_are_those_of_the_answer(permutations: int) -> None:
    study_parts = study_of("classification", 3, n=40, d=20, signal=1.2)
    rng = np.random.default_rng(4)
    dataset = replace(
        study_parts,
        obs=study_parts.obs.assign(age=(50 + 8 * rng.standard_normal(40)).astype(str)),
        design=replace(study_parts.design, covariates=(Covariate("age", None),)),
    )
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 1})
    settings = {"fold_steps": MOMENTS, **of_kind("classification")}
    chance = study_half_samples(dataset, splits, permutations=permutations, **settings)
    observed = nested_cross_validation(
        dataset, splits, chance, labels="observed", batch="1of1", **settings
    )
    final = fit_final_model(dataset, splits, chance, **settings)
    at = observed.choice[:, 2]
    final_gamma = final.covariates.gamma[0, final.choice[0, 2], 0]
    fold_gammas = observed.covariates.gamma[np.arange(len(observed)), at, 0]
    if permutations:  # weights of its own, whichever list it took here
        final = _with_shifted_gamma(final, 1)
        observed = _with_shifted_gamma(observed, -1)
        final_gamma = final.answers.gamma[0, 0, 0]
        fold_gammas = observed.answers.gamma[:, 0, 0]
    (row,) = collect_covariates(dataset, observed, final, CONTROLS)["covariates"]["weights"]
    assert row["weight"] == pytest.approx(final_gamma, abs=1e-4)
    assert row["mean"] == pytest.approx(fold_gammas.mean(), abs=1e-5)
