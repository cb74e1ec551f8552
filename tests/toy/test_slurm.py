"""The same study through a SLURM controller; needs one, and the extra slurm."""

import importlib.util
import shutil
import subprocess

import pytest
from toy_study import make_study, results, run


def controller_answers():
    return bool(
        importlib.util.find_spec("snakemake_executor_plugin_slurm")
        and shutil.which("sinfo")
        and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.slow
@pytest.mark.skipif(not controller_answers(), reason="no SLURM controller here")
def test_the_cluster_gives_the_bytes_of_the_laptop(tmp_path):
    (tmp_path / "laptop").mkdir()
    (tmp_path / "cluster").mkdir()
    laptop = make_study(tmp_path / "laptop")
    run(laptop)
    cluster = make_study(tmp_path / "cluster")
    run(cluster, "--workflow-profile", "profiles/slurm", "--jobs", "10")
    assert results(cluster) == results(laptop)
