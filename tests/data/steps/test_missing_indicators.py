"""Missing-value indicators enter the model, its scores and the quality tables as variables."""

import json
from dataclasses import replace

import missing
import numpy as np
import pytest
import settings
from format_files import tabbed
from linear_loops import fit_final_model

from genesig.data.files.readers import load_schema, read_matrix
from genesig.data.quality.overview import describe_quality
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.missing_indicators import MissingIndicators
from genesig.data.steps.normalise import fit_steps, normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.settings_check import check_settings
from genesig.errors import GenesigError
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

INDICATOR_STEPS = [{"step": "missing_indicators"}]
LEFT_CENSORED_FOLDS = [missing.CENSORED_STEP, *settings.MOMENTS]


def study():
    """Return 60 proteins of 40 samples: a marker is missing in half of the controls by no level."""
    rng = np.random.default_rng(0)
    X = rng.normal(24, 1, (40, 60))
    case = np.arange(40) % 2 == 1
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = rng.normal(24, 1, 40)
    X[~case & (rng.random(40) < 0.8), 3] = np.nan
    return missing.dataset_of(X, case)


@pytest.fixture(scope="module")
def fitted():
    raw = study()
    normalised = normalise_samples(raw, samples=INDICATOR_STEPS, folds=LEFT_CENSORED_FOLDS)
    splits = draw_splits(normalised, seed=1, **settings.SPLITS)
    fits = fit_final_model(normalised, splits, fold_steps=LEFT_CENSORED_FOLDS, **missing.LINEAR)
    return raw, normalised, fits, final_model(normalised, fits, fold_steps=LEFT_CENSORED_FOLDS)


def test_gene_missing_in_some_samples_has_an_indicator(fitted):
    raw, normalised, *_ = fitted
    lost = np.isnan(raw.X)
    partly_missing = np.flatnonzero(lost.any(axis=0) & ~lost.all(axis=0))
    assert 0 < len(partly_missing) < 60
    assert normalised.genes == [*raw.genes, *(f"{raw.genes[k]} missing" for k in partly_missing)]
    np.testing.assert_array_equal(normalised.X[:, :60], raw.X)
    np.testing.assert_array_equal(normalised.X[:, 60:], lost[:, partly_missing])


def test_study_without_the_step_has_no_indicator():
    raw = study()
    normalised = normalise_samples(raw, samples=[], folds=LEFT_CENSORED_FOLDS)
    assert normalised.genes == raw.genes
    assert fit_steps(raw.X, INDICATOR_STEPS).transform(raw.X).shape == raw.X.shape


def test_model_selects_the_indicator_of_the_marker(fitted):
    *_, model = fitted
    chosen = dict(zip(model["models"][0]["genes"], model["models"][0]["coefficients"], strict=True))
    assert chosen["p003 missing"] < 0
    assert chosen["p003 missing"] == min(chosen.values())


def test_new_samples_are_scored_by_what_they_miss(fitted, tmp_path):
    """By the fit itself; alone as in company; what the matrix lacks altogether says nothing."""
    raw, normalised, fits, model = fitted
    X = fit_steps(normalised.X, [missing.CENSORED_STEP]).transform(normalised.X)
    genes, values = fits.coef(0, 0)
    expected_scores = X[:, genes] @ values + fits.intercept[0, 0] - fits.threshold[0]
    path = tmp_path / "new.tsv"

    def scores(rows, columns):
        cells = [["" if np.isnan(x) else repr(float(x)) for x in raw.X[rows, k]] for k in columns]
        gene_rows = [[raw.genes[k], *x] for k, x in zip(columns, cells, strict=True)]
        path.write_text(tabbed([["gene", *np.array(raw.samples)[rows]], *gene_rows]))
        new = predict(
            json.loads(json.dumps(model)), read_matrix(path), "new.tsv", missing=0.2, mu=None
        )
        return new[0]["score"].to_numpy()

    all_genes = list(range(60))
    every_row = np.arange(40)
    np.testing.assert_allclose(scores(every_row, all_genes), expected_scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        scores(every_row[3:4], all_genes), expected_scores[3:4], rtol=0, atol=1e-9
    )
    without = scores(every_row, [k for k in all_genes if k != 3])
    place = normalised.genes.index("p003 missing")
    means = np.nanmean(normalised.X, axis=0)
    filled = X.copy()
    filled[:, 3] = means[3]
    filled[:, place] = means[place]
    expected = filled[:, genes] @ values + fits.intercept[0, 0] - fits.threshold[0]
    np.testing.assert_allclose(without, expected, rtol=0, atol=1e-9)


def test_indicator_unused_in_training_is_never_selected(fitted):
    """Which genes have one is decided in each training set: a constant has no spread there."""
    _, normalised, *_ = fitted
    train = np.flatnonzero(normalised.X[:, -1] == 0)
    scaled = fit_steps(normalised.X[train], [missing.CENSORED_STEP, *settings.MOMENTS]).transform(
        normalised.X
    )
    assert normalised.X[:, -1].any()
    np.testing.assert_array_equal(scaled[:, -1], 0)


def test_the_quality_of_samples_is_that_of_their_genes(fitted):
    raw, normalised, *_ = fitted
    plain = normalise_samples(raw, samples=[], folds=LEFT_CENSORED_FOLDS)
    quality_with_indicators, two = (
        describe_quality(raw, prepared, fold_steps=LEFT_CENSORED_FOLDS)
        for prepared in (normalised, plain)
    )
    assert quality_with_indicators["after"] == two["after"]
    assert quality_with_indicators["components"] == two["components"]


def test_indicators_of_a_gene_subset_are_renumbered():
    step = MissingIndicators(np.array([0, 2]), np.array([4, 5]))
    subset = step.among(np.array([1, 2, 5]))
    assert subset.gene_columns.tolist() == [1]
    assert subset.indicator_columns.tolist() == [2]
    no_indicators = MissingIndicators()
    assert no_indicators.among(np.array([1])) is no_indicators


def test_a_gene_that_has_the_name_already_is_refused():
    raw = study()
    names = [*raw.genes[:-1], "p003 missing"]
    with pytest.raises(GenesigError, match="a gene called 'p003 missing' already; rename it"):
        normalise_samples(
            replace(raw, var=raw.var.set_axis(names)),
            samples=INDICATOR_STEPS,
            folds=LEFT_CENSORED_FOLDS,
        )


@pytest.mark.parametrize(
    ("missing_setting", "samples", "folds", "message"),
    [
        (False, ["missing_indicators"], ["left_censored"], "has nothing to do: missing values are"),
        (True, ["missing_indicators", "log2"], ["left_censored"], "put 'missing_indicators' last"),
        (True, ["missing_indicators"], ["knn_impute"], "'knn_impute' would take what"),
        (True, ["missing_indicators"], ["half_minimum", "quantile"], "'quantile' would take what"),
    ],
)
def test_steps_that_treat_indicators_as_levels_are_refused(
    missing_setting, samples, folds, message
):
    steps = {"samples": [{"step": s} for s in samples], "folds": [{"step": s} for s in folds]}
    config = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": "class",
        "normalise": steps,
        "data": {"missing": missing_setting},
    }
    problems = check_settings(resolve_config(config, load_schema()), "config")
    assert any(message in p.message and p.level == "error" for p in problems), problems
