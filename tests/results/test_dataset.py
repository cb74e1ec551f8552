"""The stored data set is read as anndata reads it."""

from __future__ import annotations

import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pytest

from genesig.results import Dataset, Design

DESIGN = Design("class", "classification", ("low", "high"), None, None)
OBS = {
    "strings": ["a", "b", "c", "d"],
    "repeated": ["x", "x", "y", "x"],
    "numbers": [1.5, 2.0, -3.0, 4.0],
    "counts": [1, 2, 3, 4],
    "flags": [True, False, True, True],
    "missing": ["a", None, "a", "b"],
    "names": ["Σ", "ü — é", "", "𝛼"],
}


def stored(tmp_path, **columns):
    obs = pd.DataFrame({"class": ["low", "high"] * 2, **columns}, index=[f"s{i}" for i in range(4)])
    var = pd.DataFrame({"symbol": ["TP53", "TP53", "β2M"]}, index=pd.Index(["1", "2", "3"]))
    data = Dataset(np.arange(12.0).reshape(4, 3), obs, var.rename_axis("gene"), DESIGN, {"n": [1]})
    data.save(tmp_path / "d.h5ad")
    return tmp_path / "d.h5ad"


@pytest.mark.parametrize("name", OBS)
def test_stored_dataset_is_read_as_anndata_reads_it(tmp_path, name):
    path = stored(tmp_path, **{name: OBS[name]})
    dataset = Dataset.load(path)
    meant = anndata.read_h5ad(path)
    np.testing.assert_array_equal(dataset.X, meant.X)
    pd.testing.assert_frame_equal(dataset.obs, meant.obs.astype(str))
    pd.testing.assert_frame_equal(dataset.var, meant.var.astype(str), check_dtype=False)
    assert (dataset.design, dataset.provenance) == (DESIGN, {"n": [1]})


def test_writing_and_reading_import_no_anndata(tmp_path):
    code = (
        "import sys; from genesig.results import Dataset; Dataset.load(sys.argv[1]).save('d.h5ad');"
    )
    command = [sys.executable, "-c", code + 'sys.exit("anndata" in sys.modules)', stored(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path)
