"""The predictive and the FDR model are stored, predicted with and tested in cohorts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import fitted_models
import numpy as np
import pandas as pd
import pytest
from fitted_models import GENES, ITEM, NAMES, model_of, score, table, values, written
from linear_loops import fit_final_model, study_half_samples
from settings import MOMENTS, SPLITS, of_kind
from study_data import study_of

from genesig.cli import main
from genesig.data.files.delimited import Matrix
from genesig.data.files.readers import read_matrix
from genesig.data.splits.draw import draw_splits
from genesig.data.study.settings import CohortSettings
from genesig.errors import InvalidInput, Problem
from genesig.response.covariates import Covariate
from genesig.results import Dataset, Fits
from genesig.results.fits import ANSWERS
from genesig.selection.model.external import CohortResult, score_cohort
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict
from genesig.selection.model.schema import answer_list, chosen_model, nested_list_name
from genesig.selection.model.shape import add_digest, check_model

KINDS_AND_COVARIATES = ["classification", "several_classes", "regression", "survival", "covariates"]
TWO_SELECTED = pd.DataFrame({"gene": ["g0", "g2", "g9"], "fdr_selected": [True, True, False]})
NONE_SELECTED = TWO_SELECTED.assign(fdr_selected=False)


@cache
def fitted(kind: str) -> tuple[Dataset, Fits, dict[str, Any]]:
    """Fit a study with both answers; return its model as read from the file."""
    dataset = drawn(kind)
    settings = of_kind("classification" if kind == "covariates" else kind)
    splits = draw_splits(dataset, seed=2, **{**SPLITS, "repeats": 1})
    chance = study_half_samples(dataset, splits, permutations=3, fold_steps=MOMENTS, **settings)
    final = fit_final_model(dataset, splits, chance, fold_steps=MOMENTS, **settings)
    model = final_model(dataset, final, fold_steps=MOMENTS, selection=TWO_SELECTED)
    return dataset, final, json.loads(json.dumps(model, allow_nan=False))


def drawn(kind: str) -> Dataset:
    """Draw a study of a kind; covariates come with two classes."""
    if kind != "covariates":
        return study_of(kind, 3, n=60, d=20, signal=1.2)
    dataset = study_of("classification", 3, n=60, d=20, signal=1.2)
    age = 50 + 8 * np.random.default_rng(4).standard_normal(60)
    design = type(dataset.design)(
        **{**vars(dataset.design), "covariates": (Covariate("age", None),)}
    )
    return Dataset(
        dataset.X, dataset.obs.assign(age=age.astype(str)), dataset.var, design, dataset.provenance
    )


def scores_of(final: Fits, name: str, dataset: Dataset) -> Any:
    """Score all samples by one answer, from the fit alone."""
    answer = final.answer(name)
    genes, weights = answer.coef(0, 0)
    covariate_part = answer.covariate_scores(0, dataset.covariates())
    covariate_part = covariate_part if isinstance(covariate_part, float) else covariate_part[:, 0]
    return answer.intercept[0, 0] + dataset.X[:, genes] @ weights + covariate_part


def predicted(
    dataset: Dataset, model: dict[str, Any], **options: Any
) -> tuple[pd.DataFrame, list[Problem]]:
    lines = tuple(range(2, 2 + len(dataset.samples)))
    matrix = Matrix(tuple(dataset.samples), tuple(dataset.genes), dataset.X.copy(), {}, lines)
    about = dataset.obs if "covariates" in model else None
    options = {"mu": None, "missing": 0.0, "samples": about, **options}
    return predict(model, matrix, "new.tsv", **options)


def told(dataset: Dataset, model: dict[str, Any], **options: Any) -> pd.DataFrame:
    return predicted(dataset, model, **options)[0]


@pytest.mark.slow_cases("regression", "covariates")
@pytest.mark.parametrize("kind", KINDS_AND_COVARIATES)
def test_both_answers_score_the_training_samples_as_their_fits_do(kind: str) -> None:
    dataset, final, model = fitted(kind)
    check_model(model, "model.json")
    assert [entry["list"] for entry in model["models"][-2:]] == [*ANSWERS]
    assert (model["answer"], model["threshold"] or 0) == ("predictive", 0)
    for name in ANSWERS:
        fitted_scores = scores_of(final, name, dataset)
        predicted_table = told(dataset, model, fdr_selected=name == "fdr_selected")
        assert set(predicted_table["list"]) == {name}
        columns = [c for c in predicted_table if str(c).startswith("score")]
        np.testing.assert_allclose(
            predicted_table[columns].to_numpy().reshape(fitted_scores.shape),
            fitted_scores,
            atol=1e-10,
        )
        if kind != "covariates":
            by_hand = score(model, dict(zip(dataset.genes, dataset.X.T, strict=True)), by=name)
            np.testing.assert_allclose(by_hand, fitted_scores, atol=1e-10)


@pytest.mark.parametrize("kind", ["classification", "survival"])
def test_above_zero_lies_the_positive_class_whatever_the_list(kind: str) -> None:
    dataset, final, model = fitted(kind)
    assert final.threshold[0] != 0
    class_above, class_below = (
        ("high", "low") if kind == "survival" else (dataset.design.classes or ())[::-1]
    )
    for options in ({}, {"fdr_selected": True}, *({"mu": mu} for mu in final.mu)):
        predicted_table = told(dataset, model, **options)
        assert (
            predicted_table["predicted"]
            == np.where(predicted_table["score"] > 0, class_above, class_below)
        ).all()
    for at, mu in enumerate(final.mu):
        genes, weights = final.coef(0, at)
        f = final.intercept[0, at] + dataset.X[:, genes] @ weights
        scores = told(dataset, model, mu=float(mu))["score"]
        np.testing.assert_allclose(scores, f - final.threshold[0], atol=1e-10)


@pytest.mark.parametrize("kind", ["classification", "several_classes"])
def test_both_answers_have_probabilities_of_their_own(kind: str) -> None:
    dataset, final, model = fitted(kind)
    lines = {entry["list"]: entry.get("probability") for entry in model["models"]}
    assert all(lines[name] is None for name in lines if name not in ANSWERS)
    for at, name in enumerate(ANSWERS):
        line = final.answers.line[0, at]
        f = scores_of(final, name, dataset)
        z = line[:-1] + line[-1] * (np.stack([0 * f, f], axis=1) if f.ndim == 1 else f)
        expected = np.exp(z - z.max(axis=1, keepdims=True))
        expected /= expected.sum(axis=1, keepdims=True)
        p = (
            told(dataset, model, fdr_selected=name == "fdr_selected")
            .filter(like="probability")
            .to_numpy()
        )
        np.testing.assert_allclose(p, expected[:, -p.shape[1] :], atol=1e-10)


def test_the_file_says_whether_a_gene_is_claimed() -> None:
    dataset, final, _ = fitted("classification")
    for evidence, claimed in (
        (TWO_SELECTED, True),
        (NONE_SELECTED, False),
        (None, False),
        (TWO_SELECTED[:0], False),
    ):
        models = final_model(dataset, final, fold_steps=MOMENTS, selection=evidence)["models"]
        assert [entry.get("has_fdr_selected") for entry in models] == [None, None, None, claimed]


def test_the_file_says_which_genes_are_claimed_where_others_fill_up() -> None:
    dataset, final, model = fitted("classification")
    *other_entries, last_entry = model["models"]
    assert all("fdr_selected_genes" not in entry for entry in other_entries)
    assert last_entry["fdr_selected_genes"] == ["g0", "g2"]
    assert set(last_entry["genes"]) > {"g0", "g2"}
    none = final_model(dataset, final, fold_steps=MOMENTS, selection=NONE_SELECTED)["models"][-1]
    assert none["fdr_selected_genes"] == []


@pytest.mark.parametrize(
    ("of", "expected_words"),
    [
        (
            TWO_SELECTED,
            "2 of the {} genes are FDR-selected: 'g0', 'g2'; the others are the most",
        ),
        (
            TWO_SELECTED[1:],
            "1 of the {} genes is FDR-selected: 'g2'; the others are the most",
        ),
        (None, None),
    ],
)
def test_predict_says_which_of_the_named_genes_are_claimed(
    of: pd.DataFrame | None, expected_words: str | None
) -> None:
    dataset, final, _ = fitted("classification")
    genes = [dataset.genes[gene] for gene in final.answer("fdr_selected").coef(0, 0)[0]]
    all_selected = pd.DataFrame({"gene": genes, "fdr_selected": True})
    evidence = all_selected if of is None else of
    model = final_model(dataset, final, fold_steps=MOMENTS, selection=evidence)
    check_model(model, "model.json")
    warned = [
        message.message
        for message in predicted(dataset, model, fdr_selected=True)[1]
        if "FDR-selected" in message.message
    ]
    assert len(warned) == (expected_words is not None)
    assert all(
        expected_words is not None and expected_words.format(len(genes)) in message
        for message in warned
    )


@pytest.mark.parametrize("evidence", [TWO_SELECTED, NONE_SELECTED])
@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_a_study_without_evidence_says_so_of_scores_without_probability(
    kind: str, evidence: pd.DataFrame
) -> None:
    dataset, final, _ = fitted(kind)
    model = final_model(dataset, final, fold_steps=MOMENTS, selection=evidence)
    for by_fdr in (False, True):
        scored, problems = predicted(dataset, model, fdr_selected=by_fdr)
        warnings = [problem for problem in problems if problem.message.startswith("no gene")]
        without_probability = kind == "regression"
        assert len(warnings) == (evidence is NONE_SELECTED and (by_fdr or without_probability))
        doubts = scored["doubt"].str.contains("no gene of the study is FDR-selected")
        assert doubts.all() == (evidence is NONE_SELECTED and without_probability)
        assert not any("is in doubt" in problem.message for problem in problems)


@pytest.mark.parametrize(("shrinkage", "words"), [(0.9, ""), (0.3, "keeps 30% of its slope")])
@pytest.mark.parametrize("evidence", [TWO_SELECTED, NONE_SELECTED])
def test_the_slope_of_the_probabilities_decides_whether_they_are_in_doubt(
    evidence: pd.DataFrame, shrinkage: float, words: str
) -> None:
    dataset, final, _ = fitted("classification")
    final = replace(final, answers=replace(final.answers, shrinkage=np.full((1, 2), shrinkage)))
    model = final_model(dataset, final, fold_steps=MOMENTS, selection=evidence)
    check_model(model, "model.json")
    assert model["models"][-1]["probability"]["shrinkage"] == shrinkage
    scored, problems = predicted(dataset, model)
    assert (scored["doubt"] == "").all() == (not words)
    assert scored["doubt"].str.endswith(words).all()
    assert sum("left-out samples" in problem.message for problem in problems) == bool(words)


def test_without_permutations_the_chosen_list_is_the_answer() -> None:
    model, _ = model_of("plain")
    assert [entry["list"] for entry in model["models"]] == ["mu 1e-06", "mu 1"]
    assert model["answer"] == "mu 1"
    with pytest.raises(
        InvalidInput, match="--fdr-selected: the study sought no evidence for single gen"
    ):
        chosen_model(model, fdr_selected=True)


def run(folder: Path, *options: str, permutations: int = 3) -> int:
    """Score a few samples on the command line."""
    model, _ = model_of("plain", permutations=permutations)
    (folder / "model.json").write_text(json.dumps(model))
    (folder / "new.tsv").write_text(table(values(False), NAMES, GENES))
    files = [str(folder / name) for name in ("model.json", "new.tsv", "p.tsv")]
    return main(["predict", *files[:2], "-o", files[2], *options])


WAYS: dict[str, tuple[list[str], str, str]] = {
    "the answer": ([], "predictive", "by the predictive model (9 genes)"),
    "the FDR-selected genes": (
        ["--fdr-selected"],
        "fdr_selected",
        "by the model of the FDR-selected genes (5 genes)",
    ),
    "a nested list": (["--mu", "1e-6"], "mu 1e-06", "by the list at mu 1e-06 (7 genes)"),
}


@pytest.mark.parametrize("how", WAYS)
def test_table_and_terminal_say_which_model_scored(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, name, words = WAYS[how]
    assert run(tmp_path, *options) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path / 'p.tsv'}: 16 samples scored {words}\n"
    assert ("no gene is FDR-selected" in captured.err) == (name == "fdr_selected")
    predicted_table = pd.read_csv(tmp_path / "p.tsv", sep="\t")
    model, data = model_of("plain", permutations=3)
    assert set(predicted_table["list"]) == {name}
    expected = score(model, dict(zip(GENES, data.X.T, strict=True)), by=name)
    np.testing.assert_allclose(predicted_table["score"], expected, rtol=1e-9, atol=1e-9)


def test_unavailable_answer_gives_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--fdr-selected", "--mu", "1") == 1
    assert capsys.readouterr().err == (
        "error: --fdr-selected: is one model and --mu another; leave one of them out\n"
    )
    assert run(tmp_path, "--fdr-selected", permutations=0) == 1
    assert "without it 'mu 1' scores" in capsys.readouterr().err


CRAFTED: dict[str, tuple[dict[int, dict[str, Any]], dict[str, Any], str]] = {
    "two models of one list": ({0: {"list": "mu 1", "mu": 1.0}}, {}, "models"),
    "two models of one answer": ({-1: {"list": "predictive"}}, {}, "models"),
    "an answer that is no list": ({}, {"answer": "best"}, "answer"),
    "a list that is not known": ({-2: {"list": "best"}}, {"answer": "best"}, "models"),
    "an answer with a mu": ({-2: {"mu": 3.0}}, {}, "models.2.list"),
    "no claim of the FDR-selected genes": (
        {-1: {"has_fdr_selected": ...}},
        {},
        "models.3.has_fdr_selected",
    ),
    "a claim of another model": ({-2: {"has_fdr_selected": True}}, {}, "models.2.has_fdr_selected"),
    "a claim that is a number": ({-1: {"has_fdr_selected": 1}}, {}, "models.3.has_fdr_selected"),
    "a claim of no gene": ({-1: {"fdr_selected_genes": []}}, {}, "models.3.fdr_selected_genes"),
    "a claim of a gene it has not": (
        {-1: {"fdr_selected_genes": ["g0", "g77"]}},
        {},
        "models.3.fdr_selected_genes",
    ),
    "FDR-selected genes of another model": (
        {-2: {"fdr_selected_genes": []}},
        {},
        "models.2.fdr_selected_genes",
    ),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_model_that_leaves_its_answer_in_doubt_is_refused(name: str) -> None:
    """Well sealed, as any program may write it."""
    models, top, part = CRAFTED[name]
    model = json.loads(json.dumps(fitted("classification")[2]))
    for at, changes in models.items():
        entry = model["models"][at] | changes
        model["models"][at] = {key: value for key, value in entry.items() if value is not ...}
    with pytest.raises(InvalidInput, match=rf"damaged or was edited: '{part}' is not as"):
        check_model(add_digest(model | top), "model.json")


def test_one_answer_alone_is_refused() -> None:
    model = json.loads(json.dumps(fitted("classification")[2]))
    model["models"].pop()
    with pytest.raises(InvalidInput, match="damaged or was edited: 'models' is not as"):
        check_model(add_digest(model), "model.json")


def on_another(kind: str, **changes: Any) -> CohortResult:
    dataset, _, model = fitted(kind)
    return score_cohort(dataset, model, {}, CohortSettings(**{**ITEM, **changes}))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow_cases("regression", "classification")
@pytest.mark.parametrize("kind", KINDS_AND_COVARIATES[:-1])
def test_another_cohort_tests_both(kind: str) -> None:
    """As predict scores them; what a report reads is of the predictive model, as ever."""
    written(kind)
    cohort_result = on_another(kind)
    model = fitted(kind)[2]
    for rows in cohort_result.tables.values():
        assert list(dict.fromkeys(rows["list"])) == ["predictive", "fdr_selected"]
    matrix = read_matrix("other.tsv")
    for name in ANSWERS:
        predictions, _ = predict(
            model, matrix, "o", missing=0.1, mu=None, fdr_selected=name == "fdr_selected"
        )
        rows = cohort_result.tables["predictions"]
        rows = rows[rows["list"] == name].reset_index(drop=True)
        columns = [c for c in predictions if str(c).startswith("score")]
        pd.testing.assert_frame_equal(rows[columns], predictions[columns])
    about = cohort_result.about
    scores = cohort_result.tables["scores"]
    assert about["list"] == "predictive"
    assert about["fdr_selected"]["genes"] == len(chosen_model(model, fdr_selected=True)["genes"])
    assert about["fdr_selected"]["has_fdr_selected"]
    for name, told_of in (
        ("predictive", about["scores"]),
        ("fdr_selected", about["fdr_selected"]["scores"]),
    ):
        predictions = scores[scores["list"] == name]
        assert [row["measure"] for row in told_of] == predictions["measure"].tolist()
        file_values = [np.nan if row["value"] is None else row["value"] for row in told_of]
        np.testing.assert_array_equal(file_values, predictions["value"])
    assert len(about["predictions"]) == 40


def test_named_genes_that_a_cohort_lacks_leave_the_other_test_standing() -> None:
    written("classification")
    model = fitted("classification")[2]
    best, selected_genes = (
        set(chosen_model(model, fdr_selected=by_fdr)["genes"]) for by_fdr in (False, True)
    )
    absent_gene = next(iter(sorted(selected_genes)))
    rows = Path("other.tsv").read_text().splitlines(keepends=True)
    Path("other.tsv").write_text("".join(r for r in rows if r.split("\t")[0] != absent_gene))
    bound = (1 / len(best) + 1 / len(selected_genes)) / 2
    assert len(selected_genes) < len(best)
    cohort_result = on_another("classification", missing=bound)
    assert set(cohort_result.tables["scores"]["list"]) == {"predictive"}
    assert cohort_result.about["fdr_selected"]["scores"] == []
    (message,) = [
        w for w in cohort_result.about["warnings"] if "FDR-selected genes are not tested" in w
    ]
    assert absent_gene in message


def test_cohort_of_a_single_answer_has_one_test() -> None:
    written("classification")
    cohort_result = fitted_models.scored("classification")
    assert "fdr_selected" not in cohort_result.about
    assert (
        set(cohort_result.tables["scores"]["list"]) == {cohort_result.about["list"]} == {"mu 1e-06"}
    )


def test_the_name_of_the_answer_is_that_of_the_fit() -> None:
    _, final, _ = fitted("classification")
    assert answer_list(final) == "predictive"
    assert {nested_list_name(mu) for mu in (1e-6, 1.0, 0.3, 1e-6 + 1e-18)} == {
        "mu 1e-06",
        "mu 1",
        "mu 0.3",
        "mu 1.000000000001e-06",
    }
