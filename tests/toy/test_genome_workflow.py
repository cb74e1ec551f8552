"""Segments and enrichment in the workflow: planned only if requested, with all outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_runs import make_study, planned, run, write_config

pytestmark = pytest.mark.slow

QUICK_SECTIONS = {
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 2, "baselines": []},
    "splits": {"repeats": 1, "subsamples": 2},
    "linear": {"tau_count": 3},
}
PLACED = {"annotation": "genes.tsv", "symbol": "symbol", "chromosome": "on", "position": "at"}


def study(folder: Path) -> Path:
    """Lay out the toy, whose first genes differ, on two chromosomes, with a file of sets."""
    config: dict[str, Any] = {
        **QUICK_SECTIONS,
        "data": PLACED,
        "enrichment": {"sets": "s.gmt", "smallest": 2},
        "controls": {**QUICK_SECTIONS["controls"], "signatures": "s.gmt"},
    }
    config["linear"] = {**QUICK_SECTIONS["linear"], "penalty": "fused"}
    make_study(folder, config)
    names = pd.read_csv(folder / "expression.tsv.gz", sep="\t")["gene"].tolist()
    rows = [f"{gene}\tS{j}\t{1 + j // 20}\t{j}" for j, gene in enumerate(names)]
    (folder / "genes.tsv").write_text("\n".join(["gene\tsymbol\ton\tat", *rows]) + "\n")
    sets = {"first": range(6), "others": range(10, 30)}
    lines = [
        "\t".join([name, "about", *(f"S{j}" for j in members)]) for name, members in sets.items()
    ]
    (folder / "s.gmt").write_text("\n".join(lines) + "\n")
    return folder


def test_dry_run_plans_enrichment_only_with_a_file(tmp_path: Path) -> None:
    folder = study(tmp_path)
    assert {"enrichment", "published"} <= planned(folder)
    write_config(folder, QUICK_SECTIONS)
    assert not {"enrichment", "published"} & planned(folder)


@pytest.mark.slow
def test_a_study_of_stretches_runs_through(tmp_path: Path) -> None:
    folder = study(tmp_path)
    run(folder)
    tables = {path.stem: pd.read_csv(path, sep="\t") for path in folder.glob("results/*.tsv")}
    assert tables["stretches"]["genes"].sum() == len(tables["signature"])
    assert tables["stretches"]["start"][0] < 6
    assert tables["enrichment_ranking"]["set"][0] == "first"
    over = tables["enrichment"]
    assert over["p_value"].between(0, 1).all()
    assert set(over["reference"]) == {"measured genes", "permuted labels"}
    page = (folder / "results/report.html").read_text()
    report_data = json.loads((folder / "results/report_data.json").read_text())
    assert (
        report_data["genome"]["n_stretches"] > 0
    )  # the page leaves genes out: two permutations prove nothing
    assert report_data["enrichment"]["n_sets"] == 2
    assert 'id="published"' in page
    assert tables["published"]["row"].tolist()[:3] == ["genesig", "published", "published"]
