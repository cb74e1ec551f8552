"""The same study through a SLURM controller; needs one, and the extra slurm."""

import importlib.util
import shutil
import subprocess

import pytest
from study_runs import lay_out_studies, make_study, results, run

QUICK = {
    "across": {"align": "auto"},
    "splits": {"subsamples": 2, "batches": 2},
    "linear": {"tau_count": 3, "mu": [1e-3]},
    "signature": {"permutations": 2},
    "controls": {"permutations": 2, "permutations_per_job": 1, "baselines": ["dummy"]},
}


def controller_answers():
    return bool(
        importlib.util.find_spec("snakemake_executor_plugin_slurm")
        and shutil.which("sinfo")
        and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.slow
@pytest.mark.skipif(not controller_answers(), reason="no SLURM controller here")
@pytest.mark.parametrize("several", [False, True])
def test_the_cluster_gives_the_bytes_of_the_laptop(tmp_path, several):
    def make(folder):
        return lay_out_studies(folder, QUICK) if several else make_study(folder)

    (tmp_path / "laptop").mkdir()
    (tmp_path / "cluster").mkdir()
    laptop = make(tmp_path / "laptop")
    run(laptop)
    cluster = make(tmp_path / "cluster")
    run(cluster, "--workflow-profile", "profiles/slurm", "--jobs", "10")
    assert results(cluster) == results(laptop)
