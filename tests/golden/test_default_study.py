"""The tables of the default study equal the stored tables.

`GENESIG_GOLDEN=write pytest -m slow tests/golden` writes them anew; look at the difference.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from places import lay_out

GOLDEN = Path(__file__).parent / "default_study"
TABLES = ("signature", "lists", "controls", "stability", "prototypes", "nonlinear")
LEAST = {"nonlinear": 1e-7}  # its fits end within a tolerance, where the last digits of NumPy count


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("default")
    lay_out(folder)
    process = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return folder / "results"


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_the_default_study_gives_the_tables_of_last_time(study, name):
    path = GOLDEN / f"{name}.tsv"
    if os.environ.get("GENESIG_GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        shutil.copy(study / f"{name}.tsv", path)
    new_table = pd.read_csv(study / f"{name}.tsv", sep="\t")
    golden_table = pd.read_csv(path, sep="\t")
    pd.testing.assert_frame_equal(new_table, golden_table, rtol=1e-6, atol=LEAST.get(name, 1e-12))


@pytest.mark.slow
def test_the_report_is_below_8_mb(study):
    assert (study / "report.html").stat().st_size < 8e6
