"""The record of a run, the exported signature and the log of a job."""

import json
import re
import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pytest

import genesig
from genesig.results import Dataset, Design
from genesig.results.run import job_times_table, run_record
from genesig.selection.genes.export import save_signature, signature_annotated


def make_dataset():
    obs = pd.DataFrame({"label": ["a", "b"]}, index=["001", "002"])
    var = pd.DataFrame({"symbol": ["A", "B", "C"]}, index=["g1", "g2", "g3"])
    design = Design("label", "classification", ("a", "b"), None, None)
    inputs = {"x.tsv": "0" * 64}
    return Dataset(np.arange(6.0).reshape(2, 3), obs, var, design, {"inputs": inputs})


def test_a_run_is_recorded_with_seed_inputs_and_versions():
    record = run_record(make_dataset(), {"seed": 7})
    assert record["seed"] == 7
    assert record["inputs"] == {"x.tsv": "0" * 64}
    assert record["versions"]["genesig"] == genesig.__version__
    assert "times" not in record
    json.dumps(record, allow_nan=False)


def test_times_of_all_jobs_are_one_table():
    costs = {
        "observed/1of2.tsv": pd.DataFrame({"s": [1.234], "max_rss": ["-"]}),
        "fit_final.tsv": pd.DataFrame({"s": [2.0], "max_rss": [150.5]}),
    }
    table = job_times_table(costs)
    assert list(table.columns) == ["job", "seconds", "memory_mb"]
    assert list(table["job"]) == ["observed 1of2", "fit_final"]
    assert list(table["seconds"]) == [1.23, 2.0]
    assert np.isnan(table["memory_mb"][0])
    assert table["memory_mb"][1] == 150.5


NESTED = pd.DataFrame(
    {
        "mu": [np.nan, 0.01, 0.01, 1.0],
        "gene": ["g3", "g3", "g2", "g1"],
        "cv_frequency": [1.0, 0.9, 0.5, 0.25],
    }
)
STUDY_SETTINGS = {
    "config": {
        "linear": {"mu": [0.01, 1.0], "solver": "newton", "most": None},
        "normalise": {"samples": [], "folds": [{"step": "centre"}]},
        "external": {"a/b": {"label": "x"}},
    },
    "versions": {"genesig": "0.1.0", "python": "3.11"},
}


def exported(tmp_path, signature):
    """Return signature.h5ad of the signature, read again."""
    data = signature_annotated(make_dataset(), signature, NESTED, STUDY_SETTINGS)
    save_signature(tmp_path / "signature.h5ad", data)
    return anndata.read_h5ad(tmp_path / "signature.h5ad")


def test_signature_export_has_parameters_versions_and_frequencies_by_mu(tmp_path):
    signature = pd.DataFrame({"gene": ["g3", "g1"], "symbol": ["C", "A"], "block": [np.nan, 1]})
    data = exported(tmp_path, signature)
    notes = data.uns["genesig"]
    assert notes["versions"] == STUDY_SETTINGS["versions"]
    assert notes["parameters"]["linear"]["mu"].tolist() == [0.01, 1.0]
    assert notes["parameters"]["linear"]["solver"] == "newton"
    assert json.loads(notes["parameters"]["normalise"]["folds"]) == [{"step": "centre"}]
    assert json.loads(notes["parameters"]["external"]) == {"a/b": {"label": "x"}}
    assert notes["nested_lists"]["genes"].tolist() == pytest.approx([1.4, 0.25])
    frequency = data.varm["cv_frequency"]
    assert list(frequency.columns) == ["0.01", "1"]
    assert frequency.to_numpy().tolist() == [[0.9, 0.0], [0.0, 0.25]]


def test_the_exported_signature_keeps_order_values_and_a_missing_block(tmp_path):
    signature = pd.DataFrame(
        {
            "rank": [1, 2],
            "gene": ["g3", "g1"],
            "symbol": ["C", "A"],
            "cv_frequency": [1.0, 0.8],
            "block": [np.nan, 1],
        }
    )
    data = exported(tmp_path, signature)
    assert list(data.var_names) == ["g3", "g1"]
    assert data.X.tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert data.var["block"].tolist() == [0, 1]
    assert list(data.var["symbol"]) == ["C", "A"]


def test_column_of_the_gene_table_keeps_its_values_beside_one_of_the_signature():
    signature = pd.DataFrame({"gene": ["g3"], "symbol": ["C"], "block": [1]})
    dataset = make_dataset()
    dataset.var["block"] = ["p", "q", "q"]
    data = signature_annotated(dataset, signature, NESTED, STUDY_SETTINGS)
    assert data.var[["block", "block_annotation"]].to_numpy().tolist() == [[1, "q"]]


def test_the_exported_columns_have_their_types_in_any_study(tmp_path):
    """Shares that are all 1, evidence that is not known, and a signature without a gene."""
    columns = {
        "gene": ["g3", "g1"],
        "symbol": ["C", "A"],
        "fdr_selected": [True, False],
        "null_frequency": [0.5, np.nan],
        "cv_frequency": [1, 1],
        "block": [np.nan, 1],
    }
    signature = pd.DataFrame(columns)
    for rows in (signature, signature.iloc[:0].astype(object)):
        exported_columns = exported(tmp_path, rows).var
        assert exported_columns["fdr_selected"].dtype == bool
        assert exported_columns["block"].dtype == int
        assert all(
            exported_columns[name].dtype.kind == "f" for name in ("null_frequency", "cv_frequency")
        )
        assert len(exported_columns) == len(rows)
        np.testing.assert_array_equal(
            exported_columns["null_frequency"], rows["null_frequency"].astype(float)
        )


def logged(tmp_path, statement):
    code = f"from genesig.log import log_to; log_to('logs/job.log'); {statement}"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    return process, (tmp_path / "logs/job.log").read_text()


def test_a_message_for_the_user_is_logged_and_shown_without_traceback(tmp_path):
    process, log = logged(
        tmp_path, "from genesig.errors import GenesigError; raise GenesigError('mend it')"
    )
    assert process.returncode == 1
    message, cost = log.splitlines()
    assert f"{message}\n" == process.stderr == "mend it\n"
    assert re.search(r" took \d+\.\d s of processor time, \d+ MB$", cost)


def test_a_defect_is_logged_with_its_traceback(tmp_path):
    process, log = logged(tmp_path, "print('started'); 1 / 0")
    assert process.returncode == 1
    assert log.startswith("started\nTraceback")
    assert process.stderr.startswith("Traceback")
