"""No compiled kernel reads or writes beyond its arrays."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from places import ROOT

LAWS = (
    *("adjustment", "block_newton", "classes", "compiled_algebra", "cox", "cox_lists"),
    *("cox_together", "cox_wide", "multitask", "normalise", "refit_groups", "refit_laws"),
    "solver_laws",
)


@pytest.mark.slow
def test_the_laws_hold_where_every_index_is_checked(tmp_path):
    files = [f"tests/laws/test_{law}.py" for law in LAWS]
    environment = {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", *files]
    job = subprocess.run(
        command, env=os.environ | environment, cwd=ROOT, capture_output=True, text=True
    )
    assert job.returncode == 0, job.stdout[-2000:]
