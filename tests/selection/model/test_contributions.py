"""The contributions of genes and covariates to a score: exact, sorted, written by predict."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fitted_models import CHAINS, GENES, NAMES, model_of, values
from fitted_models import table as matrix_text
from linear_loops import fit_final_model, study_half_samples
from settings import MOMENTS, SPLITS, of_kind
from study_data import COLUMNS, study_of

from genesig.cli import main
from genesig.data.files.delimited import Matrix
from genesig.data.splits.draw import draw_splits
from genesig.response.covariates import Covariate
from genesig.results import Dataset
from genesig.selection.model.contributions import Contributions
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict_and_explain


def with_covariates(dataset: Dataset) -> Dataset:
    rng = np.random.default_rng(7)
    n = len(dataset.samples)
    obs = dataset.obs.assign(
        age=[f"{age:.2f}" for age in rng.normal(50, 10, n)], sex=rng.choice(["f", "m"], n)
    )
    covariates = (Covariate("age", None, knots=3), Covariate("sex", ("f", "m")))
    return replace(dataset, obs=obs, design=replace(dataset.design, covariates=covariates))


def explained(dataset: Dataset, **settings: object) -> tuple[pd.DataFrame, Contributions]:
    """Fit a final model, score shifted copies of its samples, and return both results."""
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "subsamples": 4})
    linear = {**of_kind(dataset.design.kind), **settings}
    half_samples = study_half_samples(dataset, splits, permutations=2, fold_steps=MOMENTS, **linear)
    final = fit_final_model(dataset, splits, half_samples, fold_steps=MOMENTS, **linear)
    model = json.loads(json.dumps(final_model(dataset, final, fold_steps=MOMENTS)))
    lines = tuple(range(2, 2 + len(dataset.samples)))
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X + 0.05, {}, lines)
    table, contributions, *_ = predict_and_explain(
        model, matrix, "new.tsv", missing=0.1, mu=None, samples=dataset.obs
    )
    return table, contributions


def check_sums(table: pd.DataFrame, contributions: Contributions) -> None:
    """Contributions and intercept sum to the score, in memory and in the table."""
    scores = table.filter(regex="^score").to_numpy()
    sums = contributions.terms().sum(axis=1)
    assert np.abs(sums).max() > 0.01
    np.testing.assert_allclose(sums, scores - contributions.intercepts, rtol=0, atol=1e-12)
    rows = contributions.table()
    keys = ["sample"] + (["class"] if "class" in rows else [])
    by_sample = rows.groupby(keys, sort=False)["contribution"].sum()
    np.testing.assert_allclose(by_sample.to_numpy(), scores.ravel(), rtol=0, atol=1e-12)
    genes = rows[rows["term"] != "intercept"]
    np.testing.assert_allclose(
        genes["contribution"], genes["weight"] * (genes["value"] - genes["mean"]), atol=1e-12
    )
    for _, of_score in genes.groupby(keys, sort=False):
        assert (np.diff(of_score["contribution"].abs()) <= 0).all()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", COLUMNS)
def test_contributions_with_covariates_sum_to_the_score(kind: str) -> None:
    dataset = with_covariates(study_of(kind, 3, n=60, d=20, signal=1.2))
    table, contributions = explained(dataset)
    check_sums(table, contributions)
    assert list(contributions.kinds[-3:]) == ["covariate"] * 3
    assert contributions.names[-3] == "age"


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_contributions_of_an_ensemble_sum_to_the_score(kind: str) -> None:
    check_sums(*explained(study_of(kind, 3, n=60, d=20, signal=1.2), model="ensemble"))


@pytest.mark.slow_cases(*list(CHAINS)[2:])
@pytest.mark.parametrize("chain", CHAINS)
def test_contributions_after_normalisation_sum_to_the_score(chain: str) -> None:
    model, data = model_of(chain)
    matrix = Matrix(tuple(NAMES), tuple(GENES), data.X, {}, tuple(range(2, 2 + len(NAMES))))
    table, contributions, *_ = predict_and_explain(model, matrix, "new.tsv", missing=0.0, mu=None)
    check_sums(table, contributions)
    # The mean of a training sample's contributions is 0.
    np.testing.assert_allclose(contributions.terms().mean(axis=0), 0, atol=1e-9)


def test_missing_gene_contributes_nothing() -> None:
    model, data = model_of("plain")
    gene = model["models"][1]["genes"][0]
    kept = [k for k, name in enumerate(GENES) if name != gene]
    matrix = Matrix(
        tuple(NAMES),
        tuple(GENES[k] for k in kept),
        data.X[:, kept],
        {},
        tuple(range(2, 2 + len(NAMES))),
    )
    contributions = predict_and_explain(model, matrix, "new.tsv", missing=1.0, mu=1.0).contributions
    at = list(contributions.names).index(gene)
    np.testing.assert_allclose(contributions.terms()[:, at], 0, atol=1e-12)


def test_predict_writes_the_table_of_contributions(tmp_path, capsys) -> None:
    model, _ = model_of("plain")
    (tmp_path / "model.json").write_text(json.dumps(model))
    (tmp_path / "new.tsv").write_text(matrix_text(values(False, seed=5), NAMES, GENES))
    paths = [str(tmp_path / name) for name in ("model.json", "new.tsv", "p.tsv", "why.tsv")]
    assert main(["predict", *paths[:2], "-o", paths[2], "--explain", paths[3]]) == 0
    predictions, why = (pd.read_csv(path, sep="\t") for path in paths[2:])
    sums = why.groupby("sample", sort=False)["contribution"].sum()
    np.testing.assert_allclose(sums, predictions["score"], atol=1e-8)  # 10 digits in the files
    assert why["sample"].drop_duplicates().tolist() == NAMES
    capsys.readouterr()
    assert main(["predict", *paths[:2], "-o", paths[2], "--explain", paths[2]]) == 1
    assert capsys.readouterr().err == (
        "error: --explain: names the file of --output; name another file\n"
    )
