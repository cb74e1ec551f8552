"""The final model scores an external cohort, and its measures equal scikit-learn."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import settings
from format_files import tabbed
from linear_loops import fit_final_model
from scipy.stats import t as student
from settings import MOMENTS
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from genesig.data.files.readers import load_schema, read_matrix
from genesig.data.steps.combat import ReferenceBatch
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.settings import CohortSettings
from genesig.results import Dataset, Design, Split, Splits
from genesig.selection.model.external import CohortResult, score_cohort
from genesig.selection.model.external_scores import measure_two_classes, scores_table
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.schema import chosen_model
from genesig.selection.model.shape import apply_learned_steps

Array = np.ndarray[Any, Any]
N_TRAINING_SAMPLES = 24
M = 18
D = 30
GENE_NAMES = [f"g{k}" for k in range(D)]
COHORT_SAMPLES = [f"x{k}" for k in range(M)]
LOG2 = [{"step": "log2", "floor": 1.0, "ceiling": 65536.0}]
CHAINS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], bool]] = {
    "plain": ([], MOMENTS, False),
    "log2": (LOG2, MOMENTS, True),
    "quantile": (LOG2, [{"step": "quantile"}, *MOMENTS], True),
    "filter": ([], [{"step": "variance_filter", "keep": 0.5}, *MOMENTS], False),
    "left censored": ([], [{"step": "left_censored", "quantile": 0.01}, *MOMENTS], False),
    "imputed": ([], [{"step": "knn_impute", "neighbours": 3}, *MOMENTS], False),
}
LINEAR = settings.LINEAR | {"mu": [1e-6, 1e-1], "list_mu": 1e-1}
SETTINGS: dict[str, Any] = {
    "name": "other",
    "expression": "other.tsv",
    "samples": "sheet.tsv",
    "label": "status",
    "event": None,
    "classes": {"RA": "ill", "control": "healthy"},
    "annotation": None,
    "symbol": None,
    "part": None,
    "batch": None,
    "group": None,
    "covariate_words": {},
    "combat": False,
    "renamed": None,
    "missing": 0.1,
}


def _draw(n: int, seed: int, shift: float = 0.0) -> tuple[Array, Array]:
    """Draw values on a log2 scale and their classes, three genes of thirty informative."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 > 0, 1.0, -1.0)
    return 8 + shift + rng.standard_normal((n, D)) + np.outer(y, np.arange(D) < 3), y


def _study(
    chain: str, regression: bool = False, folds: list[dict[str, Any]] | None = None
) -> tuple[Dataset, dict[str, Any]]:
    samples, usual, raw = CHAINS[chain]
    folds = usual if folds is None else folds
    X, y = _draw(N_TRAINING_SAMPLES, 0)
    labels = [f"{v:.3f}" for v in X[:, 0]] if regression else np.where(y > 0, "ill", "healthy")
    names = [f"s{k}" for k in range(N_TRAINING_SAMPLES)]
    task = "regression" if regression else "classification"
    design = Design("label", task, None if regression else ("healthy", "ill"), None, None, "run")
    obs = pd.DataFrame(
        {"label": labels, "run": np.resize(["a", "b"], N_TRAINING_SAMPLES)}, index=names
    )
    data = Dataset(
        np.exp2(X) if raw else X,
        obs,
        pd.DataFrame({"symbol": GENE_NAMES}, index=GENE_NAMES),
        design,
        {},
    )
    dataset = normalise_samples(data, samples=samples, folds=folds)
    inner = tuple(tuple(names[k::4]) for k in range(4))
    final = Split("final", 0, 0, tuple(names), (), inner, (1,))
    fits = fit_final_model(
        dataset,
        Splits("predefined", "stratified_kfold", 0, (), final, ()),
        fold_steps=folds,
        **LINEAR,
    )
    return dataset, json.loads(json.dumps(final_model(dataset, fits, fold_steps=folds)))


def _write(X: Array, labels: list[str], batch: list[str] | None = None) -> None:
    rows = [
        [gene, *map(repr, map(float, column))] for gene, column in zip(GENE_NAMES, X.T, strict=True)
    ]
    Path("other.tsv").write_text(tabbed([["gene", *COHORT_SAMPLES[: len(X)]], *rows]))
    sheet = [[COHORT_SAMPLES[k], labels[k], batch[k] if batch else "b"] for k in range(len(X))]
    Path("sheet.tsv").write_text(tabbed([["id", "status", "run"], *sheet]))


def _words(y: Array) -> list[str]:
    return np.where(y > 0, "RA", "control").tolist()


def _score(study: tuple[Dataset, dict[str, Any]], **changes: Any) -> CohortResult:
    return score_cohort(*study, {}, CohortSettings(**{**SETTINGS, **changes}))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("chain", CHAINS)
def test_scores_are_those_of_predict(chain: str) -> None:
    study = _study(chain)
    X, y = _draw(M, 1, 0.5)
    X = np.exp2(X) if CHAINS[chain][2] else X
    X[2, 4] = np.nan
    _write(X, _words(y))
    Path("other.tsv").write_text(Path("other.tsv").read_text().replace("nan", "NA"))
    predictions = _score(study).tables["predictions"]
    table, _ = predict(study[1], read_matrix("other.tsv"), "other.tsv", missing=0.1, mu=None)
    np.testing.assert_array_equal(predictions["score"], table["score"])
    assert predictions["predicted"].tolist() == table["predicted"].tolist()
    assert predictions["imputed"].tolist() == table["imputed"].tolist()
    assert predictions["label"].tolist() == np.where(y > 0, "ill", "healthy").tolist()
    assert predictions["given"].tolist() == _words(y)
    assert (predictions["wrong"] == (predictions["predicted"] != predictions["label"])).all()


@pytest.mark.parametrize("combat", [False, True])
def test_no_label_has_part_in_any_score(combat: bool) -> None:
    study = _study("log2")
    X, y = _draw(M, 1, 0.5)
    scores = []
    for labels in (_words(y), _words(-y), ["RA"] * M):
        _write(np.exp2(X), labels)
        scores.append(_score(study, combat=combat).tables["predictions"]["score"])
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("combat", [False, True])
@pytest.mark.parametrize("chain", CHAINS)
def test_shifts_of_the_genes_add_up_to_that_of_the_score(chain: str, combat: bool) -> None:
    dataset, model = study = _study(chain)
    X, y = _draw(M, 1, 0.7)
    _write(np.exp2(X) if CHAINS[chain][2] else X, _words(y))
    cohort_result = _score(study, combat=combat)
    chosen = chosen_model(model)
    place = [dataset.genes.index(gene) for gene in model["training"]["genes"]]
    values_seen = apply_learned_steps(model, chosen, dataset.X[:, place])
    training = chosen["intercept"] + values_seen @ chosen["coefficients"]
    means = [
        np.mean([f[sign == c].mean() for c in (-1, 1)])
        for f, sign in (
            (training, dataset.response()),
            (cohort_result.tables["predictions"]["score"].to_numpy(), y),
        )
    ]
    shift = cohort_result.tables["genes"]["score_shift"].sum()
    assert shift == pytest.approx(means[1] - means[0], abs=1e-12)
    assert ("shift_before" in cohort_result.tables["genes"]) == combat


def test_a_shift_is_in_training_standard_deviations_and_not_that_of_the_mix_of_classes() -> None:
    dataset, model = study = _study("plain")
    y = dataset.response()
    rows = np.r_[np.flatnonzero(y < 0)[:6], np.flatnonzero(y > 0)[:6]]
    half = dataset.X[rows]
    shifted = half + 1.5 * dataset.X.std(axis=0)
    _write(shifted, _words(y[rows]))
    genes = _score(study).tables["genes"].set_index("gene")
    for gene in genes.index:
        j = dataset.genes.index(gene)
        x = [dataset.X[y == c, j].mean() for c in (-1, 1)]
        new = [shifted[y[rows] == c, j].mean() for c in (-1, 1)]
        expected = (np.mean(new) - np.mean(x)) / dataset.X[:, j].std()
        assert genes.loc[gene, "shift"] == pytest.approx(expected, rel=1e-12)
    assert model["training"]["scale"]["genes"] != dataset.genes  # the histogram is of all genes
    about = _score(study).about["shift"]
    assert about["measured"]["genes"] == D
    assert sum(about["measured"]["counts"]) == D


def test_combat_is_that_of_the_public_class_batch_by_batch() -> None:
    dataset, _ = study = _study("plain")
    X, y = _draw(M, 1)
    batch = ["a"] * 8 + ["b"] * 10
    X[8:] = 1.4 * X[8:] + 0.5
    _write(X, _words(y), batch)
    scores_by_combat = _score(study, combat=True, batch="run").tables["predictions"]["score"]
    reference = ReferenceBatch.fit(dataset.X)
    adjusted = np.vstack([reference.transform(X[:8]), reference.transform(X[8:])])
    _write(adjusted, _words(y))
    plain = _score(study).tables["predictions"]["score"]
    np.testing.assert_allclose(scores_by_combat, plain, rtol=0, atol=1e-9)


def test_combat_takes_a_shift_of_all_genes_away() -> None:
    study = _study("plain")
    X, y = _draw(M, 1, 3.0)
    _write(X, _words(y))
    shift = _score(study, combat=True).about["shift"]
    assert shift["measured"]["median"] > 2
    assert shift["scored"]["median"] < 0.3


def test_combat_with_another_mix_of_classes_is_warned_of() -> None:
    study = _study("plain")  # two thirds are ill
    X, y = _draw(M, 1)
    for labels, messages in (
        (_words(y), []),
        (
            _words(-y),
            [
                "combat: 33 % of the samples are ill, and "
                "67 % of the study's; part of the difference of the classes was taken "
                "for one of the batches"
            ],
        ),
    ):
        _write(X, labels)
        assert _score(study, combat=True).about["warnings"] == messages
        assert _score(study).about["warnings"] == []


def test_a_model_that_corrects_batches_knows_none_of_another_study() -> None:
    folds = [{"step": "combat", "covariates": []}, *MOMENTS]
    study = _study("plain", folds=folds)
    X, y = _draw(M, 1, 0.5)
    _write(X, _words(y))
    cohort_result = _score(study)
    table, _ = predict(study[1], read_matrix("other.tsv"), "other.tsv", missing=0.1, mu=None)
    np.testing.assert_array_equal(cohort_result.tables["predictions"]["score"], table["score"])
    (message,) = cohort_result.about["warnings"]
    assert "this data set is none of them" in message


def test_the_keys_of_the_section_are_the_fields_of_its_settings() -> None:
    schema = load_schema()["properties"]["external"]["items"]["properties"]
    assert {field.name for field in fields(CohortSettings)} == set(schema)
    for field in fields(CohortSettings):
        assert field.default in (MISSING, schema[field.name].get("default"))


def test_measures_are_those_of_scikit_learn() -> None:
    study = _study("plain")
    X, y = _draw(M, 3)
    X[:, :3] += 0.8 * np.random.default_rng(5).standard_normal((M, 3))
    _write(X, _words(y))
    cohort_result = _score(study)
    f = cohort_result.tables["predictions"]["score"].to_numpy()
    scores = cohort_result.tables["scores"].set_index("measure")
    assert scores["value"]["auc"] == pytest.approx(roc_auc_score(y, f), abs=1e-12)
    error = 1 - balanced_accuracy_score(y, np.sign(f))
    assert 0 < error == pytest.approx(scores["value"]["balanced_error"], abs=1e-12)
    slope, intercept = np.polyfit(f, y, 1)
    assert scores["value"]["calibration_slope"] == pytest.approx(slope)
    assert scores["value"]["calibration_intercept"] == pytest.approx(intercept)
    limits = scores.dropna()
    assert len(limits) == len(scores)
    assert (limits["low"] <= limits["value"]).all()
    assert (limits["value"] <= limits["high"]).all()


def test_a_regression_has_r2_and_no_classes() -> None:
    study = _study("plain", regression=True)
    X, _ = _draw(M, 1)
    y = X[:, 0] + 0.1
    _write(X, [repr(float(v)) for v in y])
    cohort_result = _score(study, classes={})
    f = cohort_result.tables["predictions"]["score"]
    scores = cohort_result.tables["scores"].set_index("measure")["value"]
    assert scores["r2"] == pytest.approx(r2_score(y, f), abs=1e-12)
    assert scores["mean_difference"] == pytest.approx(float(np.mean(f - y)), abs=1e-12)
    assert set(scores.index) == {
        "r2",
        "squared_error",
        "mean_difference",
        "calibration_intercept",
        "calibration_slope",
    }
    jackknife_r2 = np.array([r2_score(np.delete(y, k), np.delete(f, k)) for k in range(M)])
    spread = np.sqrt(
        (M - 1) / M * np.square(jackknife_r2 - jackknife_r2.mean()).sum()
    )  # Tukey's jackknife
    limits = student.interval(0.95, M - 1, r2_score(y, f), spread)
    r2 = cohort_result.tables["scores"].set_index("measure").loc["r2", ["low", "high"]]
    np.testing.assert_allclose(r2.to_numpy(dtype=float), [limits[0], min(1.0, limits[1])])
    assert cohort_result.about["classes"] is None
    assert cohort_result.about["reliability"] == []


def test_one_class_is_scored_without_auc() -> None:
    study = _study("plain")
    X, y = _draw(M, 1)
    _write(X[y > 0], ["RA"] * int((y > 0).sum()))
    cohort_result = _score(study)
    scores = cohort_result.tables["scores"].set_index("measure")
    for measure in ("auc", "balanced_error", "calibration_slope", "specificity"):
        assert scores.loc[measure, ["value", "low", "high"]].isna().all(), measure
    assert scores.loc["sensitivity", "value"] == 1 - scores.loc["misclassification", "value"]
    assert len(cohort_result.tables["predictions"]) == (y > 0).sum()
    json.dumps(cohort_result.about, allow_nan=False)


def test_too_many_missing_genes_make_it_not_assessable() -> None:
    study = _study("plain")
    X, y = _draw(M, 1)
    _write(X, _words(y))
    gene = study[1]["models"][1]["genes"][0]
    lines = Path("other.tsv").read_text().splitlines(True)
    Path("other.tsv").write_text("".join(x for x in lines if not x.startswith(f"{gene}\t")))
    why = _score(study, missing=0.0).about["not_assessable"]
    assert "at most a share of 0 may be (external, other, miss" in why
    cohort_result = _score(study, missing=0.5)
    assert cohort_result.about["absent"] == 1
    assert cohort_result.about["imputed"] == M
    assert "filled in by the mean" in cohort_result.about["warnings"][0]
    genes = cohort_result.tables["genes"].set_index("gene")
    assert np.isnan(genes.loc[gene, "shift"])
    assert genes.loc[gene, "imputed"] == M


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_samples_have_only_defined_measures(n: int) -> None:
    y = np.array([1.0, -1.0, 1.0])[:n]
    f = np.array([0.5, -0.2, 0.1])[:n]
    table = scores_table(measure_two_classes(y, f, 0.0)) if n else None
    if table is not None:
        assert table["low"].isna().equals(table["high"].isna())
