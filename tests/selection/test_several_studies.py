"""Several studies give the AUC in each, the forecast for the next and a meta-analysis of genes."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from linear_loops import fit_final_model, nested_cross_validation
from scipy.stats import false_discovery_control
from settings import MOMENTS, linear
from study_runs import TRUE, pooled, tables

from genesig.data.files.delimited import Matrix
from genesig.errors import InvalidInput
from genesig.report.collect import round_numbers
from genesig.report.page.section import Limits
from genesig.report.studies import collect_studies, left_out_paragraphs, study_sentences
from genesig.report.studies import studies_section as show
from genesig.results import Dataset
from genesig.selection.assess.held_out import predictions_table
from genesig.selection.assess.intervals import delong
from genesig.selection.left_out_studies import studies_table
from genesig.selection.meta_analysis import meta_table
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict, predict_and_explain

CONFIG_OF_STUDIES = {
    "data": {"classes": ["well", "ill"]},
    "splits": {"subsamples": 0},
    "linear": {"tau_count": 4, "mu": [1e-3]},
}


def topic_results(tables):
    """Return what `collect_studies` reads, for studies that are each held out whole."""
    return SimpleNamespace(
        tables=tables,
        dataset=SimpleNamespace(provenance={}),
        splits=SimpleNamespace(scheme="leave_one_study_out"),
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Give six studies, in the last of which the genes point the other way, and their fits."""
    folder = tmp_path_factory.mktemp("studies")
    dataset, splits = pooled(folder, tables(6, n=20, effect=3.0, odd=True), **CONFIG_OF_STUDIES)
    fits = nested_cross_validation(
        dataset,
        splits,
        labels="observed",
        batch="1of1",
        fold_steps=MOMENTS,
        **linear(**CONFIG_OF_STUDIES["linear"]),
    )
    return dataset, splits, fits.with_chosen()


@pytest.fixture(scope="module")
def tables_of_study(study):
    dataset, splits, fits = study
    return studies_table(dataset, predictions_table(dataset, splits, fits)), meta_table(dataset)


@pytest.mark.slow
def test_each_study_has_its_own_auc_and_the_odd_one_is_named(study, tables_of_study):
    dataset, _, fits = study
    table = tables_of_study[0].set_index("study")
    for fit, name in enumerate(map(str, fits.split)):
        test, scores = fits.test_scores(fit)
        expected = delong(dataset.response()[test], scores[:, -1])
        np.testing.assert_allclose(
            table.loc[name, ["value", "low", "high"]].astype(float), expected
        )
    assert table["value"]["brno"] < 0.3 < 0.8 < table["value"]["berlin"]
    assert list(table.index[table["apart"] == 1]) == ["brno"]
    mean, following = tables_of_study[0].set_index("row").loc[["mean", "next study"]].itertuples()
    assert following.low < mean.low < mean.value < mean.high < following.high


def test_the_genes_that_hold_come_first_and_the_study_in_which_they_do_not_is_seen(tables_of_study):
    meta = tables_of_study[1].sort_values("p_value")
    assert set(meta["gene"][:TRUE]) == {"gene00", "gene01", "gene02"}
    top = meta.iloc[0]
    assert top["agree"] == pytest.approx(5 / 6)
    assert np.sign(top["effect of brno"]) != np.sign(top["effect of boston"])
    assert top["i2"] > 0.8
    assert top["least"] < top["effect"] < top["most"]


@pytest.mark.parametrize(("measured", "is_told"), [(30, False), (40, True)])
def test_probe_choice_is_reported_if_studies_had_probes(tables_of_study, measured, is_told):
    signature = pd.DataFrame({"gene": ["gene00"]})
    tables = {
        "studies": tables_of_study[0].assign(measured=measured, genes=30),
        "meta": tables_of_study[1],
        "signature": signature,
    }
    studies_data = round_numbers(collect_studies(topic_results(tables)), "studies")
    across = {"align": "centre", "probes": "median", "weights": "equal"}
    first_sentence, _ = study_sentences({"studies": studies_data, "config": {"across": across}})
    assert ("the median of its probes" in first_sentence) == is_told
    assert "(n = 20). " in first_sentence
    assert "Every study had the same weight." in first_sentence


def test_effects_do_not_depend_on_the_scale_of_a_study(study):
    dataset, _, _ = study
    scale = np.where(dataset.batches() == "berlin", 3.0, 1.0)[:, None]
    stretched = Dataset(
        dataset.X * scale + scale, dataset.obs, dataset.var, dataset.design, dataset.provenance
    )
    np.testing.assert_allclose(meta_table(stretched)["effect"], meta_table(dataset)["effect"])


def test_the_first_screen_says_what_the_next_study_may_show(tables_of_study):
    signature = pd.DataFrame({"gene": ["gene00", "gene01"]})
    report_tables = {
        "studies": tables_of_study[0],
        "meta": tables_of_study[1],
        "signature": signature,
    }
    studies_data = round_numbers(collect_studies(topic_results(report_tables)), "studies")
    (paragraph,) = left_out_paragraphs({"studies": studies_data})
    reached = "Each study was predicted by models trained on the others: mean AUC 0."
    assert paragraph.text.startswith(reached)
    assert "In a further, comparable study expect an AUC of 0." in paragraph.text
    assert "The result of brno is worse than chance (AUC 0." in paragraph.text
    assert paragraph.text.endswith("check whether its labels are swapped.")
    words = " ".join(show({"studies": studies_data, "study": {"task": "x"}}, Limits(5, 20)).words)
    assert "In brno, the models of the other studies are worse than chance (AUC 0." in words
    assert "chance 0.5): genes that are high there are low in the others" in words
    assert "brno differs" not in words
    mild = [{**study_row, "high": 0.6} for study_row in studies_data["studies"]]
    (paragraph,) = left_out_paragraphs({"studies": {**studies_data, "studies": mild}})
    assert paragraph.text.endswith("brno differs from the others.")
    assert [study_row["same_sign"] for study_row in studies_data["studies"]].count(0.0) == 1


def test_of_several_classes_each_is_held_against_the_rest(study):
    dataset, _, _ = study
    several = copy.deepcopy(dataset)
    ill = several.obs["diagnosis"].to_numpy() == "ill"
    worse = ill & (several.X[:, 10] > np.median(several.X[ill, 10]))
    several.obs["diagnosis"] = np.where(worse, "worse", several.obs["diagnosis"])
    design = replace(several.design, classes=("well", "ill", "worse"))
    several = replace(several, design=design)
    meta = meta_table(several)
    assert list(meta["class"].unique()) == ["well", "ill", "worse"]
    assert len(meta) == 3 * len(dataset.genes)
    two = replace(dataset, obs=dataset.obs.assign(diagnosis=np.where(worse, "ill", "well")))
    meta_of_class = meta[meta["class"] == "worse"]
    alone = meta_table(two)
    np.testing.assert_allclose(meta_of_class["effect"], alone["effect"])
    np.testing.assert_allclose(meta_of_class["p_value"], alone["p_value"])
    np.testing.assert_allclose(meta["q_value"], false_discovery_control(meta["p_value"]))
    assert meta.loc[meta["p_value"].idxmin(), "gene"] in {"gene00", "gene01", "gene02", "gene10"}
    report_tables = {
        "studies": studies_of_nothing(several),
        "meta": meta,
        "signature": pd.DataFrame({"gene": ["gene10"]}),
    }
    studies_data = round_numbers(collect_studies(topic_results(report_tables)), "studies")
    assert len(studies_data["genes"]) == 3
    assert studies_data["tested"] == len(dataset.genes)
    section = show({"studies": studies_data, "study": {"task": "several_classes"}}, Limits(5, 20))
    picture = section.items[2]
    assert set(picture.data["gene"]) == {f"gene10, {name}" for name in design.classes}
    assert "a class against the rest" in picture.description
    assert [column.label for column in section.items[3].columns][2] == "Class"


def studies_of_nothing(dataset):
    """Return studies.tsv of scores that are noise."""
    rng = np.random.default_rng(0)
    columns = {
        f"score of {name}": rng.normal(size=len(dataset.samples)) for name in dataset.design.classes
    }
    return studies_table(
        dataset, pd.DataFrame({"sample": dataset.samples, "mu": np.nan, **columns})
    )


def mean_error(dataset, splits):
    fits = nested_cross_validation(
        dataset,
        splits,
        labels="observed",
        batch="1of1",
        fold_steps=MOMENTS,
        **linear(**CONFIG_OF_STUDIES["linear"]),
    ).with_chosen()
    table = studies_table(dataset, predictions_table(dataset, splits, fits))
    return float(table["error"].mean()), table


@pytest.mark.slow
def test_in_noise_the_error_is_at_chance_and_no_gene_is_named(tmp_path):
    errors = []
    n_named = 0
    covered = []
    for seed in range(12):
        dataset, splits = pooled(
            tmp_path, tables(4, n=16, effect=0.0, seed=seed), **CONFIG_OF_STUDIES
        )
        error, table = mean_error(dataset, splits)
        mean = table[table["row"] == "mean"].iloc[0]
        errors.append(error)
        covered.append(mean["low"] <= 0.5 <= mean["high"])
        n_named += int((meta_table(dataset)["q_value"] <= 0.05).any())
    assert np.mean(errors) == pytest.approx(0.5, abs=0.05)
    assert np.mean(covered) >= 0.75
    assert n_named <= 3


@pytest.mark.quick("centre")
@pytest.mark.parametrize("align", ["centre", "standardise", "rank", "combat", "auto"])
def test_a_study_that_holds_most_cases_is_no_signal(tmp_path, align):
    """Cases mostly in some studies, and nothing that tells them apart but the study itself."""
    errors = []
    n_named = 0
    for seed in range(8):
        files = tables(4, n=24, effect=0.0, seed=seed)
        for k, (name, (matrix, about)) in enumerate(files.items()):
            ill = [i for i in range(24) if (i % 2 == 1) and (k < 2 or i % 6 == 1)]
            well = [i for i in range(24) if (i % 2 == 0) and (k >= 2 or i % 6 == 0)]
            rows = sorted(ill + well)
            files[name] = matrix.iloc[:, rows], about.iloc[rows]
        dataset, splits = pooled(tmp_path, files, **CONFIG_OF_STUDIES, across={"align": align})
        errors.append(mean_error(dataset, splits)[0])
        n_named += int((meta_table(dataset)["q_value"] <= 0.05).any())
    assert np.mean(errors) == pytest.approx(0.5, abs=0.08)
    assert n_named <= 2


def test_without_a_single_effect_the_studies_are_shown_alone(tables_of_study):
    signature = pd.DataFrame({"gene": ["gene00"]})
    tables = {"studies": tables_of_study[0], "meta": tables_of_study[1][:0], "signature": signature}
    studies_data = round_numbers(collect_studies(topic_results(tables)), "studies")
    section = show({"studies": studies_data, "study": {"task": "x"}}, Limits(5, 20))
    assert [type(item).__name__ for item in section.items] == ["Picture", "Table"]
    assert not any("meta-analysis" in words for words in section.words)


def test_a_model_of_aligned_studies_takes_a_cohort_and_no_single_sample(study):
    dataset, splits, _ = study
    final = fit_final_model(
        dataset, splits, fold_steps=MOMENTS, **linear(**CONFIG_OF_STUDIES["linear"])
    )
    model = final_model(dataset, final, fold_steps=MOMENTS)
    matrix, about = tables(1, n=24, effect=3.5, seed=9)["boston"]
    new_matrix = Matrix(
        tuple(matrix.index),
        tuple(matrix.columns),
        100 + 3 * matrix.to_numpy(),
        {},
        tuple(range(len(matrix))),
    )
    predictions = predict_and_explain(model, new_matrix, "new.tsv", missing=0, mu=None)
    table = predictions.table
    assert delong(np.where(about["diagnosis"] == "ill", 1, -1), table["score"].to_numpy())[0] > 0.9
    assert predictions.scale.startswith("not told")
    few = Matrix(
        new_matrix.rows, new_matrix.columns[:9], new_matrix.cells[:, :9], {}, new_matrix.lines
    )
    with pytest.raises(InvalidInput, match="9 samples, at least 10 are needed"):
        predict(model, few, "new.tsv", missing=0, mu=None)


def new_cohort(turn):
    """Give the samples of another study, their values turned."""
    matrix, _ = tables(1, n=24, d=60, effect=3.5, seed=9)["boston"]
    cells = turn(matrix.to_numpy())
    return Matrix(tuple(matrix.index), tuple(matrix.columns), cells, {}, tuple(range(len(matrix))))


def raw_first(X):
    """Give one raw sample among logged ones."""
    return np.where(np.arange(X.shape[1]) == 0, np.exp2(X), X)


def one_far(X):
    return np.where(np.arange(X.size).reshape(X.shape) == 40, 5000.0, X)


LOGGED = {"normalise": {"samples": [{"step": "log2"}]}}
LOGARITHMS = {
    "logarithms missing": (np.abs, {}, np.exp2, "sample 'bos000': .* never logged .*; 23 further"),
    "of one sample": (np.abs, {}, raw_first, r"never logged \(.*\); take log2"),
    "taken by the model": (np.exp2, LOGGED, np.exp2, ""),
    "taken twice": (np.exp2, LOGGED, np.abs, "logged already .* before logarithms"),
    "a raw model": (np.exp2, {}, np.exp2, ""),
    "logarithms for a raw model": (np.exp2, {}, np.abs, "logged already"),
    "logarithms": (np.abs, {}, np.abs, ""),
    "one value far off": (np.abs, {}, one_far, ""),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LOGARITHMS)
def test_standardising_model_refuses_another_logarithm(name, tmp_path):
    """Standardised by themselves, new samples lie and spread as training samples do."""
    of_training, steps, turn, words = LOGARITHMS[name]
    files = {
        study: (of_training(matrix), about)
        for study, (matrix, about) in tables(3, d=60, seed=5).items()
    }
    dataset, splits = pooled(tmp_path, files, **CONFIG_OF_STUDIES, **steps)
    final = fit_final_model(
        dataset, splits, fold_steps=MOMENTS, **linear(**CONFIG_OF_STUDIES["linear"])
    )
    model = final_model(dataset, final, fold_steps=MOMENTS)
    new_matrix = new_cohort(turn)
    if words:
        with pytest.raises(InvalidInput, match=words):
            predict(model, new_matrix, "new.tsv", missing=0.1, mu=None)
    else:
        assert len(predict(model, new_matrix, "new.tsv", missing=0.1, mu=None)[0]) == 24
