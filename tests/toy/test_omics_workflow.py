"""Several omics in the workflow: planned only if requested, with table and section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_runs import make_study, planned, run, write_config

pytestmark = pytest.mark.slow

QUICK_SECTIONS: dict[str, Any] = {
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 2, "baselines": []},
    "splits": {"folds": 3, "repeats": 1, "inner_folds": 3, "subsamples": 2},
    "linear": {"tau_count": 3},
    "signature": {"permutations": 4},
}
LEARNED = {"annotation": "genes.tsv", "symbol": "symbol", "omic": "layer", "omics": "learned"}


def study(folder: Path, data: dict[str, Any]) -> Path:
    """Lay out the toy, whose first genes differ, and say that these are proteins."""
    make_study(folder, {**QUICK_SECTIONS, "data": data})
    names = pd.read_csv(folder / "expression.tsv.gz", sep="\t")["gene"].tolist()
    rows = [f"{gene}\tS{j}\t{'protein' if j < 6 else 'rna'}" for j, gene in enumerate(names)]
    (folder / "genes.tsv").write_text("\n".join(["gene\tsymbol\tlayer", *rows]) + "\n")
    return folder


def test_a_dry_run_plans_omics_only_where_there_are_several(tmp_path: Path) -> None:
    folder = study(tmp_path, LEARNED)
    assert "omics" in planned(folder)
    write_config(folder, QUICK_SECTIONS)
    assert "omics" not in planned(folder)


@pytest.mark.slow
@pytest.mark.parametrize("omics", ["learned", {"protein": 1, "rna": 3}])
def test_a_study_of_two_omics_runs_through(omics: Any, tmp_path: Path) -> None:
    folder = study(tmp_path, {**LEARNED, "omics": omics})
    run(folder)
    omics_table = pd.read_csv(folder / "results/omics.tsv", sep="\t").set_index("name")
    assert omics_table.index.tolist() == ["genesig", "protein", "rna"]
    assert omics_table["genes"].tolist() == [40, 6, 34]
    assert omics_table.loc["protein", "added"] > 0.2
    if omics == "learned":
        assert omics_table.loc["protein", "factor"] == 1
    else:
        assert omics_table["factor"].tolist()[1:] == [1, 3]
    page = (folder / "results/report.html").read_text()
    report_data = json.loads((folder / "results/report_data.json").read_text())
    assert 'id="omics"' in page
    assert report_data["tables"]["omics"]["total"] == 3
