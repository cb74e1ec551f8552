"""A wheel is all of genesig: every command works from any folder, and so does the study."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from places import ROOT, WHEEL, genesig, lay_out_installed, place
from study_runs import command, differing_results, environment, make_study, results

from genesig import __version__
from genesig.cli import main
from genesig.errors import GenesigError
from genesig.workflow import REFUSED_OPTIONS
from genesig.workflow import run_command as study_command

pytestmark = pytest.mark.slow

WHEEL_PARTS = WHEEL["only-include"]
EXAMPLE = (
    "config/config.yaml",
    "config/samples.tsv",
    "resources/golub_expression.tsv.gz",
    "resources/golub_features.tsv.gz",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay genesig out as a wheel does; see `test_wheel_holds_all_installed_files`."""
    return lay_out_installed(tmp_path_factory.mktemp("site"))


def test_commands_work_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    process = genesig(site, tmp_path, "parameters")
    assert (process.returncode, process.stderr) == (0, "")
    assert "`normalise.folds`" in process.stdout
    assert genesig(site, tmp_path, "init", "mine").returncode == 0
    process = genesig(site, tmp_path, "validate", "mine/config.yaml")
    assert process.returncode == 1
    assert process.stderr.startswith("error: data/expression.tsv: no such file")


def test_the_example_is_planned_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    process = genesig(site, tmp_path, "run", "--example", "--cores", "1", "--dry-run")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "config/config.yaml: 0 errors, 0 warnings; 38 samples" in process.stdout
    assert re.search(r"^fit_final +1$", process.stdout + process.stderr, re.MULTILINE)
    assert str(site / place("workflow/profiles/default")) in process.stderr
    laid = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert {name for name in laid if not name.startswith(".snakemake")} == set(EXAMPLE)
    assert all((tmp_path / name).read_bytes() == (ROOT / name).read_bytes() for name in EXAMPLE)


def test_run_overwrites_no_file_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/samples.tsv").write_text("mine")
    assert main(["run", "--example"]) == 1
    assert capsys.readouterr().err.startswith("error: config/samples.tsv: is not the example's")
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_an_example_brings_its_folder_of_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execve", lambda *of: None)
    main(["run", "--example", "cel_folder"])
    assert len(list(tmp_path.glob("resources/examples/arrays/*.gz"))) == 21
    assert (tmp_path / "config/examples/cel_folder.yaml").is_file()


def test_a_study_with_errors_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text("expression: e.tsv\nsamples: s.tsv\nlabel: class\n")
    assert main(["run", "study.yaml", "--cores", "2"]) == 1
    out, err = capsys.readouterr()
    assert out == "study.yaml: 2 errors, 0 warnings\n"
    assert all(line.startswith("error: ") for line in err.splitlines())
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize("arguments", [["run"], ["run", "--cores", "2", "mystudy.yaml"]])
def test_a_run_needs_its_config_first(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "name the config first" in capsys.readouterr().err


@pytest.mark.parametrize("option", REFUSED_OPTIONS)
def test_run_refuses_options_that_skip_validation(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "mystudy.yaml", option, "other"]) == 1
    assert capsys.readouterr().err.startswith(f"error: {option}: genesig run takes no such option")
    with pytest.raises(GenesigError, match=option):
        study_command(["mystudy.yaml"], [f"{option}=other"])


@pytest.mark.parametrize("options", [["--cores", "0"], ["-c0"], ["--jobs=0"], ["-n", "-j", "00"]])
def test_a_run_without_a_core_is_refused(options: list[str]) -> None:
    """Snakemake would wait for ever."""
    with pytest.raises(GenesigError, match="a run needs a core; give 1 or more, or all"):
        study_command(["a.yaml"], options)
    study_command(["a.yaml"], ["--cores", "10", "-c1", "--jobs=20", "--retries", "0"])


@pytest.mark.parametrize("options", [["--cores", "-1"], ["-c", "-1"], ["--cores=-1"]])
def test_cores_of_minus_one_mean_all_cores(options: list[str]) -> None:
    line = study_command(["a.yaml"], options)
    assert "-1" not in " ".join(line)
    assert "all" in " ".join(line[-2:]).replace("=", " ").split()


@pytest.mark.parametrize("place", ["results", "logs"])
def test_run_refuses_a_results_path_that_is_a_file(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Snakemake it would be the same line, and two of Snakemake's own about it."""
    monkeypatch.chdir(tmp_path)
    Path(place).touch()
    with pytest.raises(GenesigError, match=f"^error: {place}: is a file, where a folder is to be"):
        study_command(["a.yaml"], [])


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ([], True),
        (["--dry-run"], True),
        (["-c2"], False),
        (["--jobs", "5"], False),
        (["--workflow-profile=slurm"], False),
        (["--configure"], True),
    ],
)
def test_all_cores_are_used_by_default(options: list[str], added: bool) -> None:
    line = study_command(["a.yaml", "b.yaml"], options)
    assert ("all" in line) == added
    assert line[-len(options) :] == options or not options
    at = line.index("--configfile")
    assert line[at + 1 : at + 3] == ["a.yaml", "b.yaml"]


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--profile", "slurm"], ["--workflow-profile", "slurm"]),
        (["--profile=lsf", "-n"], ["--workflow-profile=lsf", "-n"]),
        (["--profile", "mine"], ["--profile", "mine"]),
        (["--profile", "site"], ["--profile", "site"]),
        (["--profile"], ["--profile"]),
        (["--jobs", "slurm"], ["--jobs", "slurm"]),
    ],
)
def test_a_profile_of_genesig_is_found_by_its_name(
    options: list[str], meant: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".config/snakemake/site").mkdir(parents=True)
    assert study_command(["a.yaml"], options)[-len(meant) :] == meant
    (tmp_path / ".config/snakemake/slurm").mkdir()
    assert ("--profile" in study_command(["a.yaml"], ["--profile", "slurm"])) is True


def built(folder: Path, kind: str = "wheel", source: Path = ROOT) -> Path:
    """Build a wheel or a source distribution without a network."""
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built_file,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built_file


def test_the_source_distribution_makes_the_same_wheel(tmp_path: Path) -> None:
    """And runs as a clone does: the profiles are at the top, too, where Snakemake looks."""
    source = tmp_path / f"genesig-{__version__}"
    safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not before 3.11.4
    shutil.unpack_archive(built(tmp_path, "sdist"), tmp_path, **safe)
    (tmp_path / "again").mkdir()
    assert built(tmp_path / "again", source=source).read_bytes() == built(tmp_path).read_bytes()
    assert (source / "profiles/default/config.yaml").is_file()


def test_wheel_holds_all_installed_files(tmp_path: Path) -> None:
    wheel = built(tmp_path)
    assert wheel.name == f"genesig-{__version__}-py3-none-any.whl"
    packed_files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    line = ["git", "ls-files", "-co", "--exclude-standard", *WHEEL_PARTS]
    listed = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone")
    assert packed_files == {place(name) for name in listed.stdout.splitlines()}


@pytest.mark.slow
def test_the_wheel_in_a_fresh_environment_gives_the_bytes_of_the_clone(tmp_path: Path) -> None:
    """Nothing but the wheel is installed there; its dependencies are those of the tests.

    A file random.py in the folder of the study shadows no module.
    """
    wheel = built(tmp_path)
    line = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(line, check=True)
    (site,) = tmp_path.glob("venv/lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    install = ["--python", str(tmp_path / "venv"), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    for name in ("clone", "wheel"):
        (tmp_path / name).mkdir()
    clone = make_study(tmp_path / "clone")
    clean_environment = {k: v for k, v in environment().items() if k != "PYTHONPATH"}
    subprocess.run(command(), cwd=clone, env=clean_environment, check=True, capture_output=True)
    for name in ("config", "expression.tsv.gz", "samples.tsv"):
        (clone / name).rename(tmp_path / "wheel" / name)
    (tmp_path / "wheel/random.py").write_text("raise SystemExit('shadowed')\n")
    line = [str(tmp_path / "venv/bin/genesig"), "run", "config/config.yaml", "--cores", "2"]
    process = subprocess.run(
        line,
        cwd=tmp_path / "wheel",
        env=clean_environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert differing_results(results(tmp_path / "wheel"), results(clone)) == []
