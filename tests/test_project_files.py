"""What others look for in a repository: version, citation, catalogue, test study, environments."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from installed import PROJECT
from places import ROOT
from toy_study import environment

from genesig import __version__
from genesig.cli import main


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert ROOT / PROJECT["tool"]["hatch"]["version"]["path"] == ROOT / "genesig/__init__.py"
    assert loaded("CITATION.cff")["version"] == __version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_the_citation_has_what_its_format_needs() -> None:
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "license"} <= citation.keys()
    assert citation["license"] == PROJECT["project"]["license"]


def test_issue_templates_open_with_their_names() -> None:
    templates = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    heads = [template.read_text().split("---\n")[1] for template in templates]
    assert len(heads) == 3
    assert all({"name", "about"} == yaml.safe_load(head).keys() for head in heads)


def test_the_catalogue_finds_its_three_files() -> None:
    assert set(loaded(".snakemake-workflow-catalog.yml")["usage"]) == {"software-stack-deployment"}
    assert (ROOT / "config/README.md").is_file()
    assert (ROOT / "workflow/Snakefile").is_file()


def test_the_test_study_is_sound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / ".test")
    assert main(["validate"]) == 0
    assert "30 samples (15 control, 15 case" in capsys.readouterr().out


@pytest.mark.slow
def test_the_test_study_runs_by_the_catalogues_snakefile(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".test", tmp_path / "test")
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", "test"]
    done = subprocess.run([*line, "--snakefile", str(ROOT / "workflow/Snakefile")], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "test/results/report.html").is_file()


def test_every_job_can_be_run_in_the_one_environment_of_conda() -> None:
    files = sorted((ROOT / "workflow/rules").glob("*.smk"))
    rules = [rule for file in files for rule in file.read_text().split("\nrule ")[1:]]
    assert len(rules) > 30
    named = 'conda:\n        "../envs/genesig.yaml"'
    assert [rule.splitlines()[0] for rule in rules if rule.count(named) != 1] == []


def test_conda_brings_what_pip_would() -> None:
    """By the names conda has: two of them come without what genesig does not use."""
    lines = [line for line in loaded("workflow/envs/genesig.yaml")["dependencies"] if line != "pip"]
    conda = {re.sub("-(base|minimal) ", " ", line).replace(" ", "") for line in lines}
    python = f"python{PROJECT['project']['requires-python']}"
    assert conda == {python, *PROJECT["project"]["dependencies"]}
