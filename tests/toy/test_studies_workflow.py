"""Several studies in the workflow, from config to report, with an external cohort."""

import json

import numpy as np
import pandas as pd
import pytest
from study_runs import lay_out_studies, planned, run

CONFIG = {
    "splits": {"subsamples": 4, "batches": 1},
    "linear": {"tau_count": 4, "mu": [1e-3]},
    "signature": {"permutations": 19},
    "controls": {"permutations": 2, "permutations_per_job": 2, "baselines": ["ridge"]},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = lay_out_studies(tmp_path_factory.mktemp("toy"), CONFIG, judges=1)
    run(folder, cores=1)
    return folder


@pytest.mark.slow
def test_each_study_is_left_out_and_reported(finished):
    studies_table = pd.read_csv(finished / "results/studies.tsv", sep="\t")
    assert list(studies_table["row"]) == ["study"] * 3 + ["mean", "next study"]
    assert (studies_table["value"][:3] > 0.8).all()
    html = (finished / "results/report.html").read_text()
    assert "Each study was predicted by models trained on the others: mean AUC" in html
    assert 'id="studies"' in html
    meta = pd.read_csv(finished / "results/meta.tsv", sep="\t").sort_values("p_value")
    assert set(meta["gene"][:3]) == {"gene00", "gene01", "gene02"}


@pytest.mark.slow
def test_cohort_used_only_for_testing_is_aligned_by_itself(finished):
    scores = pd.read_csv(finished / "results/external/bergen/scores.tsv", sep="\t", index_col=0)
    assert (scores.loc["auc", "value"] > 0.8).all()
    model = json.loads((finished / "results/model.json").read_text())
    assert [step["step"] for step in model["normalisation"]["steps"]] == ["align_studies"]
    assert np.ptp([*model["training"]["means"]]) < 1e-9


@pytest.mark.slow
def test_corrected_file_of_one_study_is_read_again(finished):
    assert planned(finished) == set()
    path = finished / "boston.tsv"
    path.write_text(path.read_text().replace("gene39", "gene99"))
    assert {"validate", "read", "studies", "report"} <= planned(finished)
