"""An external cohort is assessed only with the covariates of the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import settings
from format_files import tabbed
from linear_loops import fit_final_model
from settings import MOMENTS

from genesig.data.files.readers import read_matrix
from genesig.data.splits.draw import draw_splits
from genesig.data.study.settings import CohortSettings
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Design
from genesig.selection.model.external import score_cohort
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

GENE_NAMES = [f"g{k}" for k in range(20)]
COHORT = CohortSettings(
    name="other",
    expression="other.tsv",
    samples="sheet.tsv",
    label="state",
    event=None,
    classes={},
    annotation=None,
    symbol=None,
    part=None,
    batch=None,
    group=None,
    covariate_words={},
    renamed=None,
    combat=False,
    missing=0.1,
)


def draw(n: int, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    age = rng.normal(50, 10, n)
    X = 8 + rng.normal(size=(n, 20)) + np.outer(y, np.arange(20) < 2)
    words = {"state": np.where(y > 0, "ill", "well"), "age": [f"{v:.3f}" for v in age]}
    return X, pd.DataFrame(words, index=[f"s{seed}_{k}" for k in range(n)])


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Dataset, dict]:
    monkeypatch.chdir(tmp_path)
    X, obs = draw(30, 1)
    design = Design(
        "state", "classification", ("well", "ill"), None, None, covariates=(Covariate("age", None),)
    )
    data = Dataset(X, obs, pd.DataFrame({"symbol": GENE_NAMES}, index=GENE_NAMES), design, {})
    splits = draw_splits(data, seed=1, **settings.SPLITS)
    return data, final_model(
        data,
        fit_final_model(data, splits, fold_steps=MOMENTS, **settings.LINEAR),
        fold_steps=MOMENTS,
    )


def write(X: np.ndarray, obs: pd.DataFrame) -> None:
    rows = [[gene, *map(repr, map(float, x))] for gene, x in zip(GENE_NAMES, X.T, strict=True)]
    Path("other.tsv").write_text(tabbed([["gene", *obs.index], *rows]))
    obs.to_csv("sheet.tsv", sep="\t", index_label="id")


def test_scores_are_those_of_predict(study):
    X, obs = draw(12, 2)
    write(X, obs)
    predictions = score_cohort(*study, {}, COHORT).tables["predictions"]
    table, messages = predict(
        study[1], read_matrix("other.tsv"), "other.tsv", missing=0.1, mu=None, samples=obs
    )
    assert messages == []
    np.testing.assert_array_equal(predictions["score"], table["score"])
    older = obs.assign(age=[str(float(v) + 10) for v in obs["age"]])
    write(X, older)
    predictions_again = score_cohort(*study, {}, COHORT).tables["predictions"]
    weight = study[1]["models"][0]["covariates"][0]
    np.testing.assert_allclose(
        predictions_again["score"] - predictions["score"], 10 * weight, atol=1e-9
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="age"), "sheet.tsv: has no column 'age', which the model needs"),
        (lambda t: t.assign(age=["", *t["age"][1:]]), "column 'age': no value for 1 sample"),
        (lambda t: t.assign(age=["old", *t["age"][1:]]), "'s2_0' is 'old', not a number"),
    ],
)
def test_missing_covariate_makes_cohort_not_assessable(study, change, words):
    X, obs = draw(12, 2)
    write(X, change(obs))
    cohort_result = score_cohort(*study, {}, COHORT)
    assert words in cohort_result.about["not_assessable"]
    assert all(table.empty for table in cohort_result.tables.values())


def test_words_of_the_data_set_are_turned_into_those_of_the_study(study):
    """ER as the cohort writes it: told by the config, and refused without."""
    dataset, _ = study
    er = ["pos" if k % 3 else "neg" for k in range(len(dataset.obs))]
    design = replace(dataset.design, covariates=(Covariate("er", ("neg", "pos")),))
    dataset = replace(dataset, obs=dataset.obs.assign(er=er), design=design)
    splits = draw_splits(dataset, seed=1, **settings.SPLITS)
    model = final_model(
        dataset,
        fit_final_model(dataset, splits, fold_steps=MOMENTS, **settings.LINEAR),
        fold_steps=MOMENTS,
    )
    X, obs = draw(12, 2)
    scores = []
    for words in (("neg", "pos"), ("Neg ", "POS"), ("0", "1")):
        write(X, obs.assign(er=[words[k % 2] for k in range(12)]))
        if words[0] == "0":
            why = score_cohort(dataset, model, {}, COHORT).about["not_assessable"]
            assert "'0', '1' was in no training sample" in why
        translated = replace(COHORT, covariate_words={"er": {0: "neg", "1": "pos"}})
        scores.append(score_cohort(dataset, model, {}, translated).tables["predictions"]["score"])
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])
