"""What was changed after a run is told, file by file; nothing outside of the folder is touched."""

from __future__ import annotations

import json
from hashlib import sha256 as digest_of
from pathlib import Path
from typing import Any

import pytest

from genesig.cli import main
from genesig.results.checksums import checksums, sha256


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a finished folder of results, with the study's input beside it."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "results"
    (home / "figures").mkdir(parents=True)
    for name in ("signature.tsv", "report.html", "figures/a.svg", "figures/b.svg"):
        (home / name).write_text(name)
    (tmp_path / "e.tsv").write_text("values")
    files = [home / "signature.tsv", home / "report.html", home / "figures"]
    write(home, results=checksums(files, home), inputs={"e.tsv": sha256("e.tsv")})
    return home


def write(home: Path, **record: Any) -> None:
    (home / "run.json").write_text(json.dumps({"version": 1, **record}))


def test_files_and_folders_are_named_by_their_place(home: Path) -> None:
    record = json.loads((home / "run.json").read_text())["results"]
    assert list(record) == ["figures/a.svg", "figures/b.svg", "report.html", "signature.tsv"]
    assert record["report.html"] == digest_of(b"report.html").hexdigest()


def test_what_was_not_changed_is_said_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify"]) == 0
    assert capsys.readouterr() == ("results: 4 results, as the run wrote them\n", "")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("results/signature.tsv", "signature.tsw", "was changed after the run"),
        ("results/figures/b.svg", None, "is gone; the run wrote it"),
        ("e.tsv", "value", "is another file than the run read"),
    ],
)
def test_every_change_is_a_line(
    name: str, content: str | None, said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is None:
        Path(name).unlink()
    else:
        Path(name).write_text(content)
    assert main(["verify", "results"]) == 1
    out, err = capsys.readouterr()
    assert err == f"error: {name}: {said}\n"
    assert out == "results: 4 results, 1 difference\n"


def test_inputs_that_are_elsewhere_are_no_fault(home: Path) -> None:
    Path("e.tsv").unlink()
    assert main(["verify"]) == 0


@pytest.mark.parametrize("name", ["../e.tsv", "/etc/hostname", "figures/../../e.tsv"])
def test_a_record_leads_nowhere_else(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, results={name: "0"})
    assert main(["verify"]) == 1
    assert capsys.readouterr().err.startswith(f"error: results/run.json: '{name}' is no file below")
    write(home, results={"signature.tsv": sha256(home / "signature.tsv")}, inputs={name: "0"})
    assert main(["verify"]) == 0


@pytest.mark.parametrize("text", ['{"version": 1}', "[]", '{"results": {}}', '{"results": 3}'])
def test_what_is_no_record_is_refused(
    text: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "run.json").write_text(text)
    assert main(["verify"]) == 1
    assert "has no checksums of results" in capsys.readouterr().err


def test_a_folder_without_a_record_is_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "run.json").unlink()
    assert main(["verify"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
