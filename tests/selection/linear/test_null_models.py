"""Under permuted labels the FDR model is fitted only if it takes part in the prediction.

Elsewhere nobody reads it, and it would take as long as all the rest.
"""

import numpy as np
import pytest
import settings
from linear_loops import nested_cross_validation, study_half_samples
from settings import MOMENTS, of_kind
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.results import CrossValidation
from genesig.results.splits import PAIRS_OF_TRAINING_SET
from genesig.selection.assess.controls import FDR_SELECTED, controls_table, null_errors, null_study
from genesig.selection.linear.answers import NullTails
from genesig.selection.linear.half_samples import count_pairs
from genesig.selection.linear.nested_cross_validation import _fit_training_sets
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

PERMUTATIONS = 2
NEEDED = [("best", "two_stage"), ("fdr", "two_stage"), ("stable", "ensemble")]


def small_study(kind, gene_list, model):
    """Return a study of 40 samples and 30 genes, its splits, settings and half-sample null."""
    dataset = study_of(kind, 1, n=40, d=30, signal=2.0)
    splits = draw_splits(dataset, seed=3, **settings.SPLITS | {"repeats": 1, "subsamples": 0})
    linear = of_kind(kind) | {"list": gene_list, "model": model, "mu": [1e-3, 1e-2]}
    null = study_half_samples(dataset, splits, permutations=20, fold_steps=MOMENTS, **linear)
    return dataset, splits, linear, null


def fit(study, labels):
    dataset, splits, linear, null = study
    return nested_cross_validation(
        dataset, splits, null, labels=labels, batch="1of1", fold_steps=MOMENTS, **linear
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", COLUMNS)
def test_null_errors_without_fdr_model_equal_those_with_it(kind):
    study = dataset, splits, linear, null = small_study(kind, "stable", "two_stage")
    permuted = fit(study, f"permuted-1-{PERMUTATIONS}")
    protocol = LinearSettings(**linear)
    numbers = range(1, PERMUTATIONS + 1)
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    training_sets = prepared_study.make_training_sets(
        splits.outer, numbers, half_counts=count_pairs(PAIRS_OF_TRAINING_SET, protocol)
    )
    with_model = _fit_training_sets(
        prepared_study, training_sets, protocol, NullTails.from_study(null, "outer")
    )
    assert permuted.answers is None
    assert with_model.answers is not None
    np.testing.assert_array_equal(permuted.choice, with_model.choice)
    shorter, longer = (
        null_errors(dataset, splits, fits.with_chosen()) for fits in (permuted, with_model)
    )
    np.testing.assert_array_equal(shorter["size"], longer["size"])
    np.testing.assert_allclose(shorter["error"], longer["error"], rtol=0, atol=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("gene_list", "model"), NEEDED)
def test_p_of_fdr_model_is_there_where_it_takes_part_in_the_prediction(gene_list, model):
    controls = controls_of(small_study("classification", gene_list, model))
    assert controls.loc[controls["model"] == FDR_SELECTED, "p_value"].notna().all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("gene_list", ["stable", "minimal"])
def test_p_of_fdr_model_is_empty_where_it_does_not_predict(gene_list):
    controls = controls_of(small_study("classification", gene_list, "two_stage"))
    row = controls[controls["model"] == FDR_SELECTED]
    assert row["p_value"].isna().all()
    assert row[["error", "difference", "difference_low", "difference_high"]].notna().all(axis=None)


def controls_of(study):
    dataset, splits, _, _ = study
    observed = fit(study, "observed")
    permuted = fit(study, f"permuted-1-{PERMUTATIONS}")
    null, _ = null_study(CrossValidation.from_batches(dataset, splits, [observed]), [permuted])
    controls = controls_table(CrossValidation.from_batches(dataset, splits, [observed]), null, [])
    predictive = (controls["model"] == "genesig") & controls["mu"].isna()
    assert controls.loc[predictive, "p_value"].notna().all()
    return controls
