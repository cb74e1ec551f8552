"""Files of the repository: version, citation, catalogue, workflows, environments."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Template
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import PROJECT, ROOT
from study_runs import environment

from genesig import __version__
from genesig.cli import main

pytestmark = pytest.mark.slow


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_version_is_defined_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert ROOT / PROJECT["tool"]["hatch"]["version"]["path"] == ROOT / "genesig/__init__.py"
    assert loaded("CITATION.cff")["version"] == __version__
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__


def test_citation_has_the_fields_of_its_format() -> None:
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "license"} <= citation.keys()
    assert citation["license"] == PROJECT["project"]["license"]


def test_zenodo_metadata_equal_the_citation() -> None:
    script_globals = runpy.run_path(str(ROOT / "docs/release/metadata.py"))
    zenodo_text = (ROOT / ".zenodo.json").read_text(encoding="utf-8")
    assert zenodo_text == script_globals["as_json"](script_globals["zenodo"]()), (
        "write it by docs/release/metadata.py"
    )


def test_a_release_brings_its_metadata_along(tmp_path: Path) -> None:
    source = tmp_path / f"genesig-{__version__}.tar.gz"
    source.write_bytes(b"source")
    runpy.run_path(str(ROOT / "docs/release/metadata.py"))["write"](tmp_path)
    release_files = {
        path.name: path.read_text("utf-8") for path in (tmp_path / "release").iterdir()
    }
    about = json.loads(release_files["codemeta.json"])
    assert (about["version"], about["license"][-12:]) == (__version__, "BSD-3-Clause")
    zenodo = loaded(".zenodo.json")
    assert [person["name"] for person in about["author"]] == [
        person["name"] for person in zenodo["creators"]
    ]
    assert [about[name] for name in ("description", "keywords")] == [
        zenodo[name] for name in ("description", "keywords")
    ]
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1].partition("\n")[2].strip()
    assert newest in release_files["notes.md"]
    text = Template(release_files["meta.yaml"]).render(
        PYTHON="python", pin_subpackage=lambda *a, **k: a[0]
    )
    recipe = yaml.safe_load(text)
    assert recipe["package"]["version"] == __version__
    assert recipe["source"]["url"].endswith(f"/v{__version__}/{source.name}")
    assert recipe["source"]["sha256"] == hashlib.sha256(b"source").hexdigest()
    conda = loaded("workflow/envs/genesig.yaml")["dependencies"]
    assert recipe["requirements"]["run"] == [line for line in conda if line != "pip"]


CI = (ROOT / ".ci/run").read_text(encoding="utf-8")
PARTS = set(re.findall(r"^(\w+)\(\) \{", CI, re.MULTILINE)) - {"readme"}
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))
    for path in (ROOT / ".github/workflows").glob("*.yml")
}
CLASSIFIED_PYTHONS = [
    classifier.split()[-1]
    for classifier in PROJECT["project"]["classifiers"]
    if ":: 3." in classifier
]
# What needs an account, and what is left out of what is sent there.
RELEASES = ("podman login ", "podman push ", "gh release create ", "rm -r dist/release")


def steps(key: str) -> Iterator[str]:
    """Yield what the steps of all workflows run, or the actions that they use."""
    for workflow in WORKFLOWS.values():
        for job in workflow["jobs"].values():
            yield from (step[key] for step in job["steps"] if key in step)


def test_ci_workflows_run_the_parts_of_one_script() -> None:
    lines = [line for line in steps("run") if not line.startswith(RELEASES)]
    assert len(lines) == 3
    for line in lines:
        script, *parts = line.split()
        assert script == ".ci/run"
        assert set(" ".join(parts).replace("${{ matrix.parts }}", "").split()) <= PARTS


def test_each_part_is_checked_and_the_tests_on_each_python() -> None:
    matrix = WORKFLOWS["checks"]["jobs"]["checks"]["strategy"]["matrix"]["include"]
    always = re.search(r"\$\{\*:-(.+)\}", CI)
    assert always is not None
    assert {part for row in matrix for part in row["parts"].split()} | {"environment"} == {
        *always[1].split(),
        "container",
        "long",
    }
    assert [row["python"] for row in matrix if row["parts"] == "tests"] == CLASSIFIED_PYTHONS


@pytest.mark.parametrize("python", [CLASSIFIED_PYTHONS[0], CLASSIFIED_PYTHONS[-1]])
def test_tested_versions_are_within_the_bounds(python: str) -> None:
    """The oldest Python and the newest; `.ci/run lock` writes the file."""
    lines = (ROOT / f"workflow/envs/tested-python{python}.txt").read_text("utf-8").splitlines()
    versions = {
        canonicalize_name(name): version for name, version in (line.split("==") for line in lines)
    }
    project = PROJECT["project"]
    needed = map(Requirement, project["dependencies"] + project["optional-dependencies"]["test"])
    assert [
        str(requirement)
        for requirement in needed
        if not requirement.specifier.contains(versions[canonicalize_name(requirement.name)])
    ] == []


def test_workflows_may_read_and_their_actions_are_pinned() -> None:
    assert len(WORKFLOWS) == 2
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    pinned = re.compile(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+")
    assert [action for action in steps("uses") if not pinned.fullmatch(action)] == []


def test_issue_templates_open_with_their_names() -> None:
    templates = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    heads = [template.read_text().split("---\n")[1] for template in templates]
    assert len(heads) == 3
    assert all({"name", "about"} == yaml.safe_load(head).keys() for head in heads)


def test_the_catalogue_finds_its_three_files() -> None:
    usage = loaded(".snakemake-workflow-catalog.yml")["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment"}
    assert (ROOT / "config/README.md").is_file()
    assert (ROOT / "workflow/Snakefile").is_file()


def test_catalogue_promises_no_deployment_without_the_package() -> None:
    """A local image and an environment without genesig do not run a stranger's study."""
    usage = loaded(".snakemake-workflow-catalog.yml")["usage"]
    deployment = usage["software-stack-deployment"]
    conda = " ".join(loaded("workflow/envs/genesig.yaml")["dependencies"])
    image = re.findall(r'^container: "(.*)"$', (ROOT / "workflow/Snakefile").read_text(), re.M)
    assert deployment["conda"] == ("genesig" in conda)
    assert deployment["apptainer"] == ("://" in image[0])
    assert "pip install ." in usage["mandatory-flags"]["desc"]


@pytest.mark.slow
def test_workflow_without_the_package_names_the_package(tmp_path: Path) -> None:
    code = "import sys; sys.modules['genesig'] = None; from snakemake.cli import main; main()"
    words = ["--cores", "1", "--dry-run", "--config", "geo=GSE55235", "label=x"]
    words += ["--snakefile", str(ROOT / "workflow/Snakefile")]
    process = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 1
    printed = process.stdout + process.stderr
    assert "genesig is not installed in the Python that runs Snakemake" in printed
    assert "Traceback" not in printed


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
    process = subprocess.run(
        [*line, "--snakefile", str(ROOT / "workflow/Snakefile")],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert (tmp_path / "test/results/report.html").is_file()


def test_every_job_runs_in_the_single_conda_environment() -> None:
    files = sorted((ROOT / "workflow/rules").glob("*.smk"))
    rules = [rule for file in files for rule in file.read_text().split("\nrule ")[1:]]
    assert len(rules) > 30
    conda_line = 'conda:\n        "../envs/genesig.yaml"'
    assert [rule.splitlines()[0] for rule in rules if rule.count(conda_line) != 1] == []


def test_conda_environment_has_the_dependencies_of_pip() -> None:
    """By the names conda has: two of them come without what genesig does not use."""
    lines = [line for line in loaded("workflow/envs/genesig.yaml")["dependencies"] if line != "pip"]
    conda = {re.sub("-(base|minimal) ", " ", line).replace(" ", "") for line in lines}
    python = f"python{PROJECT['project']['requires-python']}"
    assert conda == {python, *PROJECT["project"]["dependencies"]}
