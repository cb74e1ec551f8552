"""Downloads from a local GEO server are complete, resumed or refused."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from format_files import Numbers
from geo_server import CONTENT, Archive, geo_archive  # noqa: F401
from places import ROOT

from genesig.cli import main
from genesig.data.files.names import ADDRESS_VARIABLE, fetch, series_address
from genesig.data.files.readers import read_matrix
from genesig.errors import InvalidInput
from genesig.results import download

SERIES_NUMBERS = Numbers()
END = "_series_matrix.txt.gz"


def test_series_of_one_platform_is_fetched(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.put("series/GSE55nnn/GSE55235/matrix/", f"GSE55235{END}")
    assert main(["fetch", "GSE55235", "-d", str(tmp_path)]) == 0
    path = tmp_path / f"GSE55235{END}"
    assert capsys.readouterr().out == f"{path}\n"
    assert path.read_bytes() == CONTENT
    assert read_matrix(path).cells.tolist() == SERIES_NUMBERS.rows
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert path.with_name(path.name + ".sha256").read_text() == f"{digest}  {path.name}\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, f"{path.name}.sha256"]


def test_a_study_may_begin_with_an_accession(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    study = tmp_path / "mine"
    assert main(["init", str(study), "-e", "GSE1"]) == 0
    raw = yaml.safe_load((study / "config.yaml").read_text())
    assert raw["expression"] == raw["samples"] == f"data/geo/GSE1{END}"
    assert raw["label"] == "disease state"
    small = {"splits": {"folds": 2, "inner_folds": 2, "repeats": 1, "subsamples": 0}}
    (study / "config.yaml").write_text(yaml.safe_dump(raw | small))
    monkeypatch.chdir(study)
    assert main(["validate", "config.yaml"]) == 0
    n_requests = len(archive.asked)
    assert main(["init", str(study), "-e", "GSE1"]) == 1
    assert len(archive.asked) == n_requests


def test_init_resumes_its_interrupted_download(archive: Archive, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    archive.break_at = 100
    assert main(["init", str(tmp_path / "mine"), "-e", "GSE1"]) == 1
    assert [p.name for p in tmp_path.rglob("*.*")] == [f"GSE1{END}.part"]
    archive.break_at = None
    assert main(["init", str(tmp_path / "mine"), "-e", "GSE1"]) == 0
    assert archive.asked[-1][1] == "bytes=100-"
    assert (tmp_path / "mine" / "config.yaml").exists()


def test_existing_file_is_not_downloaded_again(archive: Archive, tmp_path: Path) -> None:
    path = tmp_path / f"GSE1{END}"
    path.write_text("mine")
    assert fetch("GSE1", tmp_path) == path
    assert path.read_text() == "mine"
    assert archive.asked == []


def test_two_platforms_must_be_chosen_from(archive: Archive, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE781/matrix/", f"GSE781-GPL96{END}", f"GSE781-GPL97{END}")
    with pytest.raises(
        InvalidInput, match=r"no file of GSE781, but 'GSE781-GPL96', 'GSE781-GPL97'"
    ):
        fetch("GSE781", tmp_path)
    with pytest.raises(InvalidInput, match=r"no file of GSE781-GPL1, but 'GSE781-GPL96'"):
        fetch("GSE781-GPL1", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert fetch("GSE781-GPL97", tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("series", ["GSE", "GDS507", "../GSE1", "GSE1/..", "GSE1-GPL"])
def test_text_that_is_no_series_is_refused_without_network(
    series: str, archive: Archive, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="is no series of GEO"):
        fetch(series, tmp_path)
    assert archive.asked == []


def test_unknown_series_gives_one_line(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "GSE9999999", "-d", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "/series/GSE9999nnn/GSE9999999/matrix/: the server answers 404" in err
    assert "is the accession right" in err
    archive.put("series/GSEnnn/GSE1/matrix/")
    with pytest.raises(InvalidInput, match="holds no series matrix"):
        fetch("GSE1", tmp_path)


def test_missing_server_gives_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        port = server.server_port
    monkeypatch.setattr(download, "RETRY_WAITS", ())
    monkeypatch.setenv(ADDRESS_VARIABLE, f"http://127.0.0.1:{port}")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(InvalidInput, match=r"cannot be reached \(.*try later, or download"):
        fetch("GSE1", tmp_path)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_truncated_download_is_resumed(archive: Archive, ranges: bool, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    archive.break_at = 100
    archive.ranges = ranges
    with pytest.raises(InvalidInput, match=rf"broke off after 100 of {len(CONTENT)} bytes; run"):
        fetch("GSE1", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [f"GSE1{END}.part"]
    archive.break_at = None
    assert fetch("GSE1", tmp_path).read_bytes() == CONTENT
    assert archive.asked[-1] == (f"/series/GSEnnn/GSE1/matrix/GSE1{END}", "bytes=100-")
    assert not list(tmp_path.glob("*.part"))


def test_part_of_another_file_is_discarded(archive: Archive, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    part = tmp_path / f"GSE1{END}.part"
    part.write_bytes(b"x" * 100)
    with pytest.raises(InvalidInput, match="no sound gzip file; it was thrown away, run again"):
        fetch("GSE1", tmp_path)
    part.write_bytes(b"x" * 100_000)  # longer than what the server has
    assert fetch("GSE1", tmp_path).read_bytes() == CONTENT


def test_default_server_is_geo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS_VARIABLE, raising=False)
    base = "https://ftp.ncbi.nlm.nih.gov/geo/series"
    assert series_address("GSE55235") == f"{base}/GSE55nnn/GSE55235/matrix/"
    assert series_address("GSE781") == f"{base}/GSEnnn/GSE781/matrix/"


def test_a_missing_series_matrix_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"no such file; to download it: genesig fetch GSE7-GPL2"
    ):
        read_matrix(tmp_path / f"GSE7-GPL2{END}")


def _run_study(folder: Path, **config: str) -> subprocess.CompletedProcess[str]:
    """Run a study as far as its matrix, which the workflow has to fetch."""
    (folder / "c.yaml").write_text(yaml.safe_dump({"label": "disease state"} | config))
    snakefile = ROOT / "Snakefile"
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--configfile",
        "c.yaml",
        "--snakefile",
        str(snakefile),
        "results/validation.json",
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


WAYS_TO_NAME_A_SERIES = {
    "geo": {"geo": "GSE1"},
    "file": dict.fromkeys(("expression", "samples"), f"data/geo/GSE1{END}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS_TO_NAME_A_SERIES)
def test_a_study_that_names_a_series_fetches_it(
    name: str, archive: Archive, tmp_path: Path
) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    process = _run_study(tmp_path, **WAYS_TO_NAME_A_SERIES[name])
    assert (tmp_path / f"data/geo/GSE1{END}").read_bytes() == CONTENT, process.stderr


@pytest.mark.slow
def test_a_study_of_several_platforms_demands_a_choice(archive: Archive, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE781/matrix/", f"GSE781-GPL96{END}", f"GSE781-GPL97{END}")
    process = _run_study(tmp_path, geo="GSE781")
    assert process.returncode != 0
    assert "no file of GSE781, but 'GSE781-GPL96', 'GSE781-GPL97'; name one of" in process.stderr
    assert "Traceback" not in process.stderr
    assert not list((tmp_path / "data").rglob("*series*"))
    _run_study(tmp_path, geo="GSE781-GPL97")
    assert (tmp_path / f"data/geo/GSE781-GPL97{END}").read_bytes() == CONTENT


@pytest.mark.slow
def test_workflow_resumes_its_interrupted_download(archive: Archive, tmp_path: Path) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    archive.break_at = 100
    process = _run_study(tmp_path, geo="GSE1")
    assert process.returncode != 0
    assert f"broke off after 100 of {len(CONTENT)} bytes; run again" in process.stderr
    assert "Traceback" not in process.stderr
    assert [path.name for path in (tmp_path / "data/geo").iterdir()] == [f"GSE1{END}.part"]
    archive.break_at = None
    _run_study(tmp_path, geo="GSE1")
    assert archive.asked[-1][1] == "bytes=100-"
    assert (tmp_path / f"data/geo/GSE1{END}").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("nonsense", "error: nonsense/series/GSEnnn/GSE1/matrix/: is no address; it begins with"),
        ("http://[", "error: http://[/series/GSEnnn/GSE1/matrix/: is no address; it begins with"),
    ],
)
def test_invalid_server_address_gives_one_line(
    base: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, base)
    assert main(["fetch", "GSE1", "-d", str(tmp_path / "new")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(words)
    assert not (tmp_path / "new").exists()


def test_an_empty_variable_names_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "")
    assert series_address("GSE55235").startswith("https://ftp.ncbi.nlm.nih.gov/geo/series/")


def test_unwritable_folder_gives_one_line(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    (tmp_path / "file").write_text("")
    assert main(["fetch", "GSE1", "-d", str(tmp_path / "file")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {tmp_path / 'file'}: is no folder that can be written to: ")


def record_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the list of the waiting times between the tries of a download."""
    waited: list[float] = []
    monkeypatch.setattr(download, "RETRY_WAITS", (1.0, 2.0, 4.0))
    monkeypatch.setattr(download, "sleep", waited.append)
    return waited


def test_a_busy_server_is_asked_again(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = record_waits(monkeypatch)
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    archive.refusals = [503, 429]
    assert fetch("GSE1", tmp_path).read_bytes() == CONTENT
    assert waited == [1.0, 2.0]
    archive.refusals = [500] * 9
    with pytest.raises(InvalidInput, match="the server answers 500"):
        fetch("GSE1", tmp_path / "other")
    assert waited == [1.0, 2.0, 1.0, 2.0, 4.0]


def test_missing_file_is_not_requested_again(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = record_waits(monkeypatch)
    with pytest.raises(InvalidInput, match="the server answers 404"):
        fetch("GSE1", tmp_path)
    assert waited == []


def test_interrupted_download_is_resumed(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = record_waits(monkeypatch)
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    archive.break_at = 100

    def whole_again(seconds: float) -> None:
        waited.append(seconds)
        archive.break_at = None

    monkeypatch.setattr(download, "sleep", whole_again)
    assert fetch("GSE1", tmp_path).read_bytes() == CONTENT
    assert waited == [1.0]
    assert archive.asked[-1][1] == "bytes=100-"


def test_a_changed_download_is_not_used(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.put("series/GSEnnn/GSE1/matrix/", f"GSE1{END}")
    path = fetch("GSE1", tmp_path)
    assert fetch("GSE1", tmp_path) == path
    path.write_bytes(gzip.compress(b"something else"))
    words = f"{path.name}: is not the file that was downloaded: its SHA-256 is not that in"
    with pytest.raises(InvalidInput, match=words):
        fetch("GSE1", tmp_path)
    with pytest.raises(InvalidInput, match=words):
        read_matrix(path)
    path.with_name(path.name + ".sha256").unlink()
    assert fetch("GSE1", tmp_path) == path
