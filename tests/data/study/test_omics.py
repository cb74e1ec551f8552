"""A column, a prefix or a modality gives the omic of each gene, and faults give one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import settings
from linear_loops import fit_final_model
from settings import of_kind
from small_study import GENES, Study
from study_data import study_of

from genesig.cli import main
from genesig.data.files.readers import load_schema, read_config, read_matrix
from genesig.data.quality.missingness import check_missing
from genesig.data.quality.overview import describe_quality
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.missing_indicators import lacks_omics
from genesig.data.steps.normalise import fit_steps, normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.gene_columns import read_omics
from genesig.data.study.settings import StudySettings
from genesig.data.study.sheet_check import Sheet
from genesig.results import Dataset
from genesig.results.dataset import OMIC
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

LAYERS = ["protein"] * 3 + ["rna"] * 5
MEAN_IMPUTED_FOLDS = [{"step": "mean_impute"}, *settings.MOMENTS]
BY_OMIC = [{"step": "missing_indicators", "each": "omic"}]


def study(tmp_path, layers=LAYERS, prefix=False, **data):
    """Write a small study whose first genes are proteins, by a column or by their names."""
    study_files = Study(tmp_path)
    if prefix:
        for row, layer in zip(study_files.matrix[1:], layers, strict=True):
            row[0] = f"{layer}:{row[0]}" if layer else row[0]
    else:
        rows = [
            f"{gene}\tS{k}\t{layer}\n"
            for k, (gene, layer) in enumerate(zip(GENES, layers, strict=True))
        ]
        study_files.files["genes.tsv"] = "".join(["gene\tsymbol\tlayer\n", *rows]).encode()
        data = {"annotation": "genes.tsv", "omic": "layer", **data}
    study_files.set("data", {"omics": {"protein": 1, "rna": 2}, **data})
    return study_files.write()


def dataset_of(path: Path) -> Dataset:
    config = resolve_config(read_config(path), load_schema())
    return read_dataset(StudySettings.from_config(config))


@pytest.mark.parametrize("prefix", [False, True])
def test_genes_have_their_omic_and_its_factor(prefix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dataset = dataset_of(study(tmp_path, prefix=prefix))
    assert dataset.var[OMIC].tolist() == LAYERS
    assert dataset.prior_weights().tolist() == [1.0] * 3 + [2.0] * 5
    assert dataset.omics == ("protein", "rna")


def test_factors_multiply_prior_weights_and_learned_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = study(tmp_path, prior_weights="weight")
    rows = [
        f"{gene}\tS{k}\t{layer}\t{1 + k}\n"
        for k, (gene, layer) in enumerate(zip(GENES, LAYERS, strict=True))
    ]
    Path("genes.tsv").write_text("".join(["gene\tsymbol\tlayer\tweight\n", *rows]))
    assert dataset_of(path).prior_weights().tolist() == [1, 2, 3, 8, 10, 12, 14, 16]
    learned = dataset_of(study(tmp_path, omics="learned"))
    assert learned.prior_weights() is None
    assert learned.var[OMIC].tolist() == LAYERS


OMIC_FAULTS = {
    "blank": (
        {"layers": ["protein", "", *LAYERS[2:]]},
        "genes.tsv: no omic in column 'layer' of 1 gene: 'gene2'; fill it in",
    ),
    "no prefix": (
        {"layers": ["protein", "", *LAYERS[2:]], "prefix": True},
        "expression.tsv: no omic before a colon of 1 gene: 'gene2'; name all as"
        " omic:gene, or set data.omic",
    ),
    "another column": (
        {"omic": "leyer"},
        "genes.tsv: data.omic 'leyer' is not a column of genes.tsv; did you mean 'layer'?",
    ),
    "one omic": (
        {"layers": ["rna"] * 8, "omics": "learned"},
        "genes.tsv: has 1 omic, 'rna'; data.omics is for 2 to 20",
    ),
    "too many to learn": (
        {"layers": list("abcdabcd"), "omics": "learned"},
        "genes.tsv: has 4 omics, 'a', 'b', 'c' and 1 more; their factors are"
        " learned of at most 3: give those of all in data.omics",
    ),
    "no factor": (
        {"omics": {"protein": 1}},
        "genes.tsv: data.omics has no factor for 'rna'; add it",
    ),
    "another omic": (
        {"omics": {"protein": 1, "rna": 1, "protien": 2}},
        "genes.tsv: data.omics names 'protien', which no gene is of; did you mean 'protein'?",
    ),
    "factor 0": (
        {"omics": {"protein": 0, "rna": 1}},
        "config.yaml, data.omics: factor 0 leaves 'protein' without a penalty, as"
        " covariates are: put its columns into the sample table, and name them in"
        " data.covariates",
    ),
    "another word": (
        {"omics": "lerned"},
        "config.yaml, data.omics: found the text 'lerned', needs learned or"
        " pairs of words or null, such as {mrna: 1, protein: 0.5}",
    ),
    "a column for nothing": (
        {"omics": None},
        "config.yaml, data.omic: is of use with data.omics; set it to learned, or give factors",
    ),
}


@pytest.mark.parametrize("name", OMIC_FAULTS)
def test_faulty_omics_column_gives_one_line(name, tmp_path, monkeypatch, capsys):
    changes, message = OMIC_FAULTS[name]
    study(tmp_path, **changes)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert errors == [f"error: {message}"]


@pytest.mark.parametrize("factors", ["learned", {"a": 1, "b": 1, "c": 2}])
def test_an_omic_of_which_nothing_is_left_is_named(factors):
    problems = []
    genes = ["a:g1", "a:g2", "b:g3"]
    omics = read_omics(None, None, "e.tsv", genes, factors, problems, ["c:g4", "c:g5", "a:g6"])
    assert problems[0].message.startswith(
        "nothing is left of the omic 'c': each of the 2 genes has"
    )
    assert (omics is None) == (factors != "learned")
    later_messages = [problem.message for problem in problems[1:]]
    lost = "data.omics has a factor for 'c', of which nothing is left; take it out"
    assert later_messages == ([] if factors == "learned" else [lost])


def test_a_class_that_lacks_an_omic_is_not_told_of_low_values():
    raw, _ = study_without_proteins()
    sheet = Sheet(raw.obs, raw.design, [])
    omics = raw.var[OMIC].to_numpy(dtype=object)
    (message,) = check_missing(raw.X, raw.genes, sheet, MEAN_IMPUTED_FOLDS, "e.tsv", omics)
    assert "Some samples lack 'protein' as a whole, which is no low value" in message.message
    assert "left_censored" not in message.message
    scattered = np.where(np.arange(30) % 6, np.nan_to_num(raw.X), raw.X)
    (message,) = check_missing(scattered, raw.genes, sheet, MEAN_IMPUTED_FOLDS, "e.tsv", omics)
    assert "{step: left_censored} takes it for a low one" in message.message


def test_steps_that_mix_omics_are_refused(tmp_path, monkeypatch, capsys):
    path = study(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = path.read_text() + "normalise: {samples: [{step: rank_samples}]}\n"
    path.write_text(text)
    assert main(["validate", "config.yaml"]) == 1
    assert (
        "'rank_samples' holds all values of a sample against each other" in capsys.readouterr().err
    )


def study_without_proteins(seed=0, n=60, d=30, proteins=6):
    """Return a study of which 15 samples, mostly ill, lack all proteins; g6 lacks one value."""
    plain = study_of("classification", seed, n=n, d=d, signal=1.0)
    X = plain.X.copy()
    y = plain.response()
    lacks = np.flatnonzero(y > 0)[:15]
    X[lacks, :proteins] = np.nan
    X[np.flatnonzero(y < 0)[0], [0, proteins]] = np.nan
    var = plain.var.assign(**{OMIC: ["protein"] * proteins + ["rna"] * (d - proteins)})
    return replace(plain, X=X, var=var), lacks


def test_means_are_those_of_the_training_samples():
    raw, _ = study_without_proteins()
    train = np.arange(40)
    filled = fit_steps(raw.X[train], MEAN_IMPUTED_FOLDS[:1]).transform(raw.X)
    means = np.nanmean(raw.X[train], axis=0)
    np.testing.assert_allclose(filled, np.where(np.isnan(raw.X), means, raw.X), rtol=1e-12)
    alone = fit_steps(raw.X[train], MEAN_IMPUTED_FOLDS[:1]).transform(raw.X[50:51])
    np.testing.assert_array_equal(alone, filled[50:51])
    centred = fit_steps(raw.X[train], MEAN_IMPUTED_FOLDS).transform(raw.X)
    np.testing.assert_allclose(centred[np.isnan(raw.X)], 0, atol=1e-12)


def test_an_omic_that_samples_lack_has_one_indicator():
    raw, lacks = study_without_proteins()
    raw = replace(raw, var=raw.var.rename_axis("gene"))
    normalised = normalise_samples(raw, samples=BY_OMIC, folds=MEAN_IMPUTED_FOLDS)
    assert normalised.genes == [*raw.genes, "protein missing"]
    assert normalised.var.index.name == "gene"
    assert np.flatnonzero(normalised.X[:, -1]).tolist() == lacks.tolist()
    assert normalised.var[OMIC].tolist()[-1] == "protein"
    assert lacks_omics(raw).sum(axis=0).tolist() == [15, 0]
    complete = replace(raw, X=np.nan_to_num(raw.X))
    assert normalise_samples(complete, samples=BY_OMIC, folds=MEAN_IMPUTED_FOLDS).genes == raw.genes


def test_the_quality_counts_who_lacks_an_omic():
    raw, _ = study_without_proteins()
    normalised = normalise_samples(raw, samples=[], folds=MEAN_IMPUTED_FOLDS)
    assert describe_quality(raw, normalised, fold_steps=MEAN_IMPUTED_FOLDS)["missing"]["omics"] == [
        ["protein", 15],
        ["rna", 0],
    ]


def test_new_patients_who_lack_the_omic_are_scored_by_its_indicator(tmp_path):
    raw, _ = study_without_proteins()
    normalised = normalise_samples(raw, samples=BY_OMIC, folds=MEAN_IMPUTED_FOLDS)
    splits = draw_splits(normalised, seed=1, **settings.SPLITS)
    fits = fit_final_model(
        normalised, splits, fold_steps=MEAN_IMPUTED_FOLDS, **of_kind("classification")
    )
    model = json.loads(json.dumps(final_model(normalised, fits, fold_steps=MEAN_IMPUTED_FOLDS)))
    weights = dict(
        zip(model["models"][0]["genes"], model["models"][0]["coefficients"], strict=True)
    )
    assert weights["protein missing"] > 0
    X = fit_steps(normalised.X, MEAN_IMPUTED_FOLDS[:1]).transform(normalised.X)
    genes, values = fits.coef(0, 0)
    expected_scores = X[:, genes] @ values + fits.intercept[0, 0] - fits.threshold[0]
    table = pd.DataFrame(raw.X.T, index=raw.genes, columns=raw.samples)
    table.to_csv(tmp_path / "new.tsv", sep="\t", index_label="gene", na_rep="NA")
    predictions = predict(
        model, read_matrix(tmp_path / "new.tsv"), "new.tsv", missing=1.0, mu=None
    )[0]
    np.testing.assert_allclose(predictions["score"].to_numpy(), expected_scores, atol=1e-9)
