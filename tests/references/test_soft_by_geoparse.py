"""SOFT files of GEO (those of R's GEOquery) hold for genesig what they hold for GEOparse."""

import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

from genesig.data.files.readers import read_genes, read_matrix, read_samples
from genesig.errors import InvalidInput

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed"),
]


def real(name):
    """Return a file that comes with GEOquery, and GEOparse's reading of it."""
    command = ["Rscript", "-e", 'cat(system.file("extdata", package="GEOquery"))']
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    path = Path(process.stdout) / name
    if not process.stdout or not path.exists():
        pytest.skip("GEOquery is not installed")
    geoparse = pytest.importorskip("GEOparse")
    with warnings.catch_warnings():  # of columns of mixed kinds, and of its own regular expressions
        warnings.simplefilter("ignore")
        return path, geoparse.get_GEO(filepath=str(path), silent=True)


def test_a_family_of_two_platforms():
    path, theirs = real("GSE781_family.soft.gz")
    with pytest.raises(InvalidInput, match=r"holds 2 platforms: GPL96 \(17\), GPL97 \(17\)"):
        read_matrix(path)
    for platform in ("GPL96", "GPL97"):
        matrix = read_matrix(path, platform)
        table = read_samples(path, None, platform)
        samples_by_name = {name: theirs.gsms[name] for name in matrix.columns}
        assert {sample.metadata["platform_id"][0] for sample in samples_by_name.values()} == {
            platform
        }
        assert [table.loc[name, "title"] for name in samples_by_name] == [
            sample.metadata["title"][0] for sample in samples_by_name.values()
        ]
        for column, sample in zip(matrix.cells.T, samples_by_name.values(), strict=True):
            values = sample.table.astype({"ID_REF": str}).set_index("ID_REF")["VALUE"]
            np.testing.assert_array_equal(column, values[list(matrix.rows)].to_numpy(dtype=float))
        genes = read_genes(path, platform)
        chip = theirs.gpls[platform].table.fillna("")
        assert list(genes.index) == chip["ID"].astype(str).tolist()
        assert list(genes["Gene Symbol"]) == chip["Gene Symbol"].str.strip().tolist()


def test_a_data_set():
    path, theirs = real("GDS507.soft.gz")
    matrix = read_matrix(path)
    table = read_samples(path, None, None)
    values = theirs.table.set_index("ID_REF").loc[list(matrix.rows), list(matrix.columns)]
    np.testing.assert_array_equal(matrix.cells, values.to_numpy(dtype=float))
    assert table["disease state"].to_dict() == theirs.columns["disease state"].to_dict()
