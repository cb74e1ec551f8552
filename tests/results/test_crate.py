"""Results as an RO-Crate: every file once, with its checksum; nothing of what was changed."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from genesig.cli import main
from genesig.results.run import CRATE_FILE, compute_checksums, sha256


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a finished folder of results."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "results"
    (home / "figures").mkdir(parents=True)
    for name in ("signature.tsv", "figures/a.svg"):
        (home / name).write_text(name)
    record = {
        "config": {"label": "class"},
        "inputs": {"data/e.tsv": "0" * 64},
        "versions": {"genesig": "1.2.3"},
    }
    results = compute_checksums([home / "signature.tsv", home / "figures"], home)
    (home / "run.json").write_text(json.dumps(record | {"results": results}))
    return home


def entities(home: Path) -> dict[str, Any]:
    graph = json.loads((home / CRATE_FILE).read_text())["@graph"]
    return {entity["@id"]: entity for entity in graph}


def test_crate_links_inputs_and_outputs_to_the_run(home: Path) -> None:
    pytest.importorskip("rocrate")
    assert main(["crate"]) == 0
    entities_found = entities(home)
    assert entities_found["./"]["name"] == "Gene signature for class"
    parts = {part["@id"] for part in entities_found["./"]["hasPart"]}
    assert parts == {"signature.tsv", "figures/a.svg", "run.json"}
    assert entities_found[entities_found["./"]["conformsTo"]["@id"]]["name"] == "Process Run Crate"
    assert entities_found["./"]["mentions"] == {"@id": "#run"}
    assert "license" in entities_found["./"]
    assert entities_found["signature.tsv"]["encodingFormat"] == "text/tab-separated-values"
    assert (
        entities_found["signature.tsv"]["identifier"] == f"sha256:{sha256(home / 'signature.tsv')}"
    )
    run = entities_found["#run"]
    assert entities_found[run["instrument"]["@id"]]["softwareVersion"] == "1.2.3"
    ended = datetime.fromisoformat(run["endTime"])  # profile: ISO 8601
    assert ended.timestamp() == pytest.approx((home / "run.json").stat().st_mtime, abs=1)
    assert {entity["@id"] for entity in run["result"]} == {"signature.tsv", "figures/a.svg"}
    (read,) = [run["object"]] if isinstance(run["object"], dict) else run["object"]
    assert entities_found[read["@id"]]["name"] == "data/e.tsv"
    assert main(["verify"]) == 0


def test_changed_results_are_not_packed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "signature.tsv").write_text("other")
    assert main(["crate"]) == 1
    assert capsys.readouterr().err.endswith("signature.tsv: was changed after the run\n")
    assert not (home / CRATE_FILE).exists()


@pytest.mark.parametrize("key", ["config", "inputs", "versions"])
def test_incomplete_record_is_refused(
    key: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rocrate")
    record = json.loads((home / "run.json").read_text())
    nested = {**record, "versions": {"genesig": {"x": 1}}}
    for broken in ({**record, key: 3}, {k: v for k, v in record.items() if k != key}, nested):
        (home / "run.json").write_text(json.dumps(broken))
        assert main(["crate"]) == 1
        assert capsys.readouterr().err.startswith("error: results/run.json: is no record of a run")


def test_missing_file_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rocrate", None)
    assert main(["crate"]) == 1
    assert "pip install 'genesig[crate]'" in capsys.readouterr().err
