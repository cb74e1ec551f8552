"""Gene sets in the workflow: planned only with a file, with all outputs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from study_runs import assert_alike, make_study, planned, results, run, write_config

pytestmark = pytest.mark.slow

RULES = {"gene_sets", "sets_fit", "sets_final", "sets_gather"}
QUICK_SECTIONS = {
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 2, "baselines": []},
    "splits": {"repeats": 1, "subsamples": 2},
    "linear": {"tau_count": 3},
}
SETS = {"sets": "sets.gmt", "smallest": 2, "tau_count": 5}


def study(folder: Path, **structured: object) -> Path:
    """Lay out the toy, whose first genes differ, and a file of sets: 'first' has these."""
    lists = {"first": range(1, 6), **{f"of {k}": range(k, k + 8) for k in range(6, 32, 5)}}
    lines = [
        f"{name}\tabout <b>it</b>\t" + "\t".join(f"g{j:03d}" for j in genes)
        for name, genes in lists.items()
    ]
    folder.mkdir(exist_ok=True)
    make_study(folder, {**QUICK_SECTIONS, "structured": {**SETS, **structured}})
    (folder / "sets.gmt").write_text("\n".join(lines) + "\n")
    return folder


def test_dry_run_plans_gene_sets_only_with_a_file(tmp_path: Path) -> None:
    folder = study(tmp_path)
    assert planned(folder) >= RULES
    write_config(folder, QUICK_SECTIONS)
    assert not planned(folder) & RULES


@pytest.mark.slow
def test_study_with_gene_sets_gives_the_same_results_in_any_batches(tmp_path: Path) -> None:
    folder = study(tmp_path / "one")
    run(folder)
    sets_table = pd.read_csv(folder / "results/sets.tsv", sep="\t")
    assert sets_table["set"][0] == "first"
    assert sets_table["cv_frequency"][0] == 1
    error = pd.read_csv(folder / "results/sets_error.tsv", sep="\t").iloc[0]
    assert error["error"] < 0.2
    assert error["p_value"] == pytest.approx(1 / 3)
    controls = pd.read_csv(folder / "results/controls.tsv", sep="\t")
    assert controls.set_index("model").loc["sets", "error"] == pytest.approx(error["error"])
    page = (folder / "results/report.html").read_text()
    assert 'id="sets"' not in page  # two permutations are no evidence
    assert "<b>it</b>" not in page
    before = results(folder).keys()
    second_study = study(tmp_path / "two")
    cut = {
        "splits": {**QUICK_SECTIONS["splits"], "batches": 1},
        "controls": {**QUICK_SECTIONS["controls"], "permutations_per_job": 1},
    }
    write_config(second_study, {**QUICK_SECTIONS, "structured": SETS, **cut})
    run(second_study, cores=1)
    tables = [name for name in before if name.startswith("sets") and name.endswith(".tsv")]
    assert len(tables) == 6
    for name in tables:
        assert_alike(second_study / "results" / name, folder / "results" / name)


@pytest.mark.slow
def test_a_faulty_file_stops_before_anything_is_fitted(tmp_path: Path) -> None:
    folder = study(tmp_path)
    (folder / "sets.gmt").write_text("first\tabout\tother1\tother2\n")
    process = run(folder, check=False)
    assert process.returncode != 0
    assert "none of its 2 genes is in the data" in process.stdout + process.stderr
    assert not (folder / "results/dataset.h5ad").exists()
