"""Rheumatoid arthritis against healthy: trained on one centre, tested in another, beside peers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from linear_loops import fit_final_model
from places import ROOT
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from genesig.data.files.readers import load_schema, read_matrix, read_samples
from genesig.data.splits.draw import draw_splits
from genesig.data.steps.normalise import normalise_samples
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import CohortSettings, StudySettings
from genesig.errors import InvalidInput
from genesig.selection.linear.training_sets import linear_keywords
from genesig.selection.model.external import score_cohort
from genesig.selection.model.final import final_model
from genesig.selection.model.new_samples import predict

GEO = ROOT / ".." / "shared" / "data" / "geo"


@pytest.fixture(scope="module")
def pair():
    """Return the example's config with its files, and the study after log2."""
    if not (GEO / "GSE55457_series_matrix.txt.gz").exists():
        pytest.skip("the series are not here")
    raw = yaml.safe_load((ROOT / "config/examples/external.yaml").read_text())
    file = str(GEO / f"{raw.pop('geo')}_series_matrix.txt.gz")
    raw |= {"expression": file, "samples": file}
    raw["external"][0]["expression"] = str(GEO / "GSE55457_series_matrix.txt.gz")
    config = resolve_config(raw, load_schema())
    study = read_dataset(StudySettings.from_config(config))
    return config, normalise_samples(study, **config["normalise"])


def model_of(config, dataset):
    folds = config["normalise"]["folds"]
    splits = draw_splits(dataset, seed=config["seed"], **config["splits"])
    final = fit_final_model(dataset, splits, fold_steps=folds, **linear_keywords(config))
    return final_model(dataset, final, fold_steps=folds)


def gene_levels(cells):
    """Return the median of each sample in log2, averaged over the samples."""
    return np.median(np.log2(cells.clip(16)), axis=1).mean()


@pytest.mark.slow
def test_another_target_of_mas5_is_refused_until_the_arrays_are_scaled_to_that_of_the_study(pair):
    """MAS5 was scaled to another target in the other centre: 1.7 more in log2."""
    config, dataset = pair
    model = model_of(config, dataset)
    arrays = read_matrix(config["external"][0]["expression"]).transpose()
    with pytest.raises(InvalidInput, match="above the training samples"):
        predict(model, arrays, "there", missing=0.0, mu=None)
    difference = np.median(dataset.X, axis=1).mean() - gene_levels(arrays.cells)
    assert -2.0 < difference < -1.4
    arrays = replace(arrays, cells=arrays.cells * 2.0**difference)
    single_arrays = [
        replace(arrays, rows=(name,), cells=arrays.cells[[row]])
        for row, name in enumerate(arrays.rows)
    ]
    for matrix in (arrays, *single_arrays):
        table, problems = predict(model, matrix, "there", missing=0.0, mu=None)
        assert len(table) == len(matrix.rows)
        assert {problem.code for problem in problems} == {"non_genes"}  # the 45 control probes
    with pytest.raises(InvalidInput, match="logged already"):
        predict(model, replace(arrays, cells=np.log2(arrays.cells)), "there", missing=0.0, mu=None)
    with pytest.raises(InvalidInput, match="below the training samples"):
        predict(model, replace(arrays, cells=arrays.cells**0.5), "there", missing=0.0, mu=None)


@pytest.mark.slow
def test_external_example_performs_as_other_methods_do(pair):
    config, dataset = pair
    model = model_of(config, dataset)
    cohort_scores = score_cohort(dataset, model, {}, CohortSettings(**config["external"][0]))
    (warning,) = cohort_scores.about["warnings"]
    assert "above the training samples" in warning
    scores = cohort_scores.tables["scores"].set_index("measure")
    assert cohort_scores.about["classes"] == {"healthy control": 10, "rheumatoid arthritis": 13}
    dropped = pd.DataFrame(cohort_scores.about["dropped"])
    assert dropped["kind"].value_counts().to_dict() == {"non-gene row": 45, "sample": 10}
    assert dropped["reason"][dropped["kind"] == "sample"].str.contains("osteoarthritis").all()
    peers = areas_of_peers(config, dataset)
    assert 0.85 < min(peers.values()) <= max(peers.values()) < 0.97
    assert scores.loc["auc", "value"] > min(peers.values()) - 0.05
    assert scores.loc["auc", "low"] > 0.5


def areas_of_peers(config, dataset):
    """Train scikit-learn's methods on all genes of the first series, test them on the second."""
    item = config["external"][0]
    matrix = read_matrix(item["expression"])
    words = read_samples(item["expression"], matrix.columns, None)[item["label"]]
    frame = pd.DataFrame(matrix.cells, matrix.rows, matrix.columns).T
    frame = np.log2(
        frame.loc[words.isin(["normal control", "rheumatoid arthritis"]), dataset.genes].clip(
            16, 65536
        )
    )
    y = words.loc[frame.index] == "rheumatoid arthritis"
    scale = StandardScaler().fit(dataset.X)
    X = scale.transform(dataset.X)
    X_new = scale.transform(frame.to_numpy())
    fitted = {
        "ridge": RidgeClassifier(alpha=1e4).fit(X, dataset.response()).decision_function(X_new),
        "svm": LinearSVC(C=1e-4).fit(X, dataset.response()).decision_function(X_new),
    }
    means = [X[dataset.response() == c].mean(axis=0) for c in (-1, 1)]
    fitted["centroid"] = X_new @ (means[1] - means[0])
    return {name: roc_auc_score(y, f) for name, f in fitted.items()}
