"""Tables made by R are made again, if R and its packages are installed."""

import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from published import SHARED

TABLES = sorted(Path(__file__).parent.glob("*.tsv"))
SCRIPTS = [path for table in TABLES if (path := table.with_suffix(".R")).exists()]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_stored_table_equals_the_output_of_its_r_script(script):
    if script.stem in ("probes_by_makecdfenv", "agilent_by_limma") and not SHARED.is_dir():
        pytest.skip("the shared data are not here")
    process = subprocess.run(
        ["Rscript", script.name], cwd=script.parent, capture_output=True, text=True, check=False
    )
    if "there is no package called" in process.stderr:
        pytest.skip(process.stderr.strip().splitlines()[-1])
    assert process.returncode == 0, process.stderr
    script_table = pd.read_csv(StringIO(process.stdout), sep="\t")
    stored = pd.read_csv(script.with_suffix(".tsv"), sep="\t")
    pd.testing.assert_frame_equal(script_table, stored, rtol=1e-10, atol=1e-12)
