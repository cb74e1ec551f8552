"""model.json scores samples as the fit does, from the JSON alone."""

import json

import numpy as np
import pandas as pd
import pytest
from fitted_models import score
from linear_loops import fit_final_model, nested_cross_validation
from settings import MOMENTS, linear

from genesig.data.files.delimited import Matrix
from genesig.data.steps.normalise import normalise_samples
from genesig.results import Dataset, Design, Split, Splits
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.shape import add_digest

LINEAR = linear(
    list="minimal", list_mu=1e-2, mu=[1e-6, 1e-2, 1.0], lam=[1e-3, 1e-1], tau_min=0.1, tau_count=5
)
STEPS = {
    "plain": ([], MOMENTS),
    "log2": ([{"step": "log2", "floor": 1.0, "ceiling": 100.0}], MOMENTS),
    "ranks": ([{"step": "rank_samples"}], [{"step": "centre"}]),
    "quantile and filter": (
        [],
        [{"step": "quantile"}, {"step": "variance_filter", "keep": 0.5}, *MOMENTS],
    ),
}


def raw_study(seed=0, n=26, genes=25):
    """Return raw data and splits whose one outer split trains on 20 samples."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.exp2(6 + rng.standard_normal((n, genes)) + np.outer(y, np.arange(genes) < 3))
    names = [f"s{i}" for i in range(n)]
    obs = pd.DataFrame({"label": np.where(y > 0, "ill", "healthy")}, index=names)
    var = pd.DataFrame({"symbol": ""}, index=[f"g{j}" for j in range(genes)])
    dataset = Dataset(
        X, obs, var, Design("label", "classification", ("healthy", "ill"), None, None), {}
    )
    inner = tuple(tuple(names[k:20:4]) for k in range(4))
    outer = Split("predefined", 1, 1, tuple(names[:20]), tuple(names[20:]), inner, (1,))
    final = Split("final", 0, 0, tuple(names[:20]), (), inner, (1,))
    return dataset, Splits("predefined", "stratified_kfold", 0, (outer,), final, ())


@pytest.mark.parametrize("steps", STEPS)
def test_the_model_scores_new_samples_as_the_fit_does(steps):
    """The final split trains on the same samples here, so the outer fit has scored new ones."""
    samples, folds = STEPS[steps]
    raw, splits = raw_study()
    dataset = normalise_samples(raw, samples=samples, folds=folds)
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=folds, **LINEAR
    )
    final = fit_final_model(dataset, splits, fold_steps=folds, **LINEAR)
    trained = Dataset(
        dataset.X[:20], dataset.obs[:20], dataset.var, dataset.design, dataset.provenance
    )
    model = json.loads(json.dumps(final_model(trained, final, fold_steps=folds), allow_nan=False))
    rows, scores = fits.test_scores(0)
    new = pd.DataFrame(raw.X[rows], columns=raw.genes)
    for at, mu in enumerate(LINEAR["mu"]):
        cut = scores[:, at] - fits.threshold[0]
        np.testing.assert_allclose(score(model, new, mu=mu), cut, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(score(model, new), score(model, new, mu=0.01))
    assert (model["threshold"], model["answer"]) == (0, "mu 0.01")
    assert fits.threshold[0] != 0
    assert len(model["models"][0]["genes"]) > 0
    sample_values = {gene: float(value) for gene, value in new.iloc[0].items()}
    assert score(model, sample_values)[0] == pytest.approx(score(model, new)[0], abs=1e-12)


def test_a_model_without_genes_predicts_its_intercept():
    dataset, splits = raw_study()
    final = fit_final_model(dataset, splits, fold_steps=MOMENTS, **LINEAR)
    model = final_model(dataset, final, fold_steps=MOMENTS)
    model["models"][0] |= {"genes": [], "symbols": [], "coefficients": [], "intercept": 0.25}
    model = add_digest(model)
    lines = tuple(range(len(dataset.genes)))
    matrix = Matrix(tuple(dataset.genes), ("new", "newer"), dataset.X[:2].T, {}, lines)
    predictions, problems = predict(model, matrix, "new.tsv", missing=0.0, mu=LINEAR["mu"][0])
    assert (predictions["score"].tolist(), problems) == ([0.25, 0.25], [])
