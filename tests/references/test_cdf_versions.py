"""Every version of the binary CDF, as Affymetrix' own library reads it (R's affxparser)."""

import shutil
import subprocess

import numpy as np
import pytest
from array_files import cdf_binary

from genesig.data.files.affy.layouts import parse_cdf

PROBE_SET_NAMES = [f"{k}_at" for k in range(4)]
PAIRS = np.random.default_rng(0).permutation(30)[:24].reshape(4, 3, 2)
AFFXPARSER_SCRIPT = """
library(affxparser)
file <- commandArgs(TRUE)[1]
cells <- readCdfCellIndices(file, stratifyBy = "pm")
cat("chip", readCdfHeader(file)$chiptype, "\\n")
for (name in names(cells)) cat(name, cells[[name]]$groups[[1]]$indices - 1, "\\n")
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_binary_layout_equals_affxparser(version, tmp_path):
    file = tmp_path / "Named.cdf"
    file.write_bytes(cdf_binary(PROBE_SET_NAMES, PAIRS, 6, 5, version=version))
    command = ["Rscript", "-e", AFFXPARSER_SCRIPT, str(file)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if "there is no package called" in process.stderr:
        pytest.skip("affxparser is not installed")
    (_, chip), *sets = (line.split() for line in process.stdout.splitlines())
    cdf = parse_cdf(file.read_bytes(), "f")
    # affxparser takes the file's name where the file does not name its chip.
    assert (cdf.chips or ("Named",)) == (chip,)
    assert {name: list(map(int, cells)) for name, *cells in sets} == {
        name: cdf.cells[cdf.sets == k].tolist() for k, name in enumerate(cdf.names)
    }
