"""`genesig verify` reports every changed file and touches nothing outside the folder."""

from __future__ import annotations

import json
from hashlib import sha256 as digest_of
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from genesig.cli import main
from genesig.results.run import compute_checksums, sha256


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
    write(home, results=compute_checksums(files, home), inputs={"e.tsv": sha256("e.tsv")})
    return home


def write(home: Path, **record: Any) -> None:
    (home / "run.json").write_text(json.dumps({"version": 1, **record}))


def test_checksums_name_files_by_their_path(home: Path) -> None:
    record = json.loads((home / "run.json").read_text())["results"]
    assert list(record) == ["figures/a.svg", "figures/b.svg", "report.html", "signature.tsv"]
    assert record["report.html"] == digest_of(b"report.html").hexdigest()


def test_unchanged_results_are_verified_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify"]) == 0
    assert capsys.readouterr() == ("results: 4 results, unchanged since the run\n", "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("results/signature.tsv", "signature.tsw", "was changed after the run"),
        ("results/figures/b.svg", None, "is gone; the run wrote it"),
        ("e.tsv", "value", "is another file than the run read"),
    ],
)
def test_every_changed_file_gives_one_line(
    name: str, content: str | None, message: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is None:
        Path(name).unlink()
    else:
        Path(name).write_text(content)
    assert main(["verify", "results"]) == 1
    out, err = capsys.readouterr()
    assert err == f"error: {name}: {message}\n"
    assert out == "results: 4 results, 1 difference\n"


@pytest.fixture
def fits(home: Path) -> Path:
    """Put fits beside the results, and into the record."""
    for name in ("linear/observed/1of1.npz", "linear/final.npz", "nonlinear/1of1.npz", "null.npz"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    record = json.loads((home / "run.json").read_text())
    files = [home / "linear", home / "nonlinear", home / "null.npz"]
    write(home, **record | {"fits": compute_checksums(files, home)})
    return home


def test_fits_are_counted(fits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    out = "results: 4 results, 4 files of fits, unchanged since the run\n"
    assert capsys.readouterr() == (out, "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("linear/final.npz", "another", "was changed after the run"),
        ("linear/observed/1of1.npz", None, "is gone; the run wrote it"),
        ("null.npz", None, "is gone; the run wrote it"),
        ("linear/observed/1of2.npz", "new", "is new; the run wrote no such file"),
        ("nonlinear", None, "is gone; the run wrote its fits there"),
    ],
)
def test_changed_fit_is_reported_in_one_line(
    name: str, content: str | None, message: str, fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fits / name
    if content is not None:
        path.write_text(content)
    elif path.is_dir():
        rmtree(path)
    else:
        path.unlink()
    assert main(["verify"]) == 1
    assert capsys.readouterr().err == f"error: results/{name}: {message}\n"


def test_changed_record_of_fits_is_refused(fits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads((fits / "run.json").read_text())
    for broken in ({}, 3, {"../e.tsv": "0"}):
        write(fits, **record | {"fits": broken})
        assert main(["verify"]) == 1
        assert capsys.readouterr().err.startswith("error: results/run.json: ")


def test_inputs_in_another_place_are_accepted(home: Path) -> None:
    Path("e.tsv").unlink()
    assert main(["verify"]) == 0


@pytest.mark.parametrize("name", ["../e.tsv", "/etc/hostname", "figures/../../e.tsv"])
def test_verify_rejects_paths_outside_the_results_folder(
    name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, results={name: "0"})
    assert main(["verify"]) == 1
    assert capsys.readouterr().err.startswith(f"error: results/run.json: '{name}' is no file below")
    write(home, results={"signature.tsv": sha256(home / "signature.tsv")}, inputs={name: "0"})
    assert main(["verify"]) == 0


@pytest.mark.parametrize("text", ['{"version": 1}', "[]", '{"results": {}}', '{"results": 3}'])
def test_invalid_record_is_refused(
    text: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "run.json").write_text(text)
    assert main(["verify"]) == 1
    assert "has no checksums of results" in capsys.readouterr().err


def test_folder_without_record_is_refused_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "run.json").unlink()
    assert main(["verify"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
