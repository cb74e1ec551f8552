"""The profiles of clusters: read by Snakemake as they are meant; their rules exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import ROOT
from study_runs import lay_out_studies, make_study, run

PROFILES = sorted(path.parent for path in (ROOT / "workflow/profiles").glob("*/config.yaml"))
CLUSTERS = [path.name for path in PROFILES if path.name != "default"]
RULE_START = r"^ *(?:use rule \w+ as|rule) "
RULES = {
    name
    for file in (ROOT / "workflow/rules").glob("*.smk")
    for name in re.findall(RULE_START + r"(\w+)", file.read_text(), re.MULTILINE)
}


def loaded(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / f"workflow/profiles/{name}/config.yaml").read_text()))


def test_jobs_of_seconds_are_submitted_together_on_every_cluster() -> None:
    groups = loaded("slurm")["groups"]
    assert groups.keys() <= RULES
    assert loaded("lsf")["groups"] == groups


@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_groups_of_a_profile_can_be_submitted_together(several: bool, tmp_path: Path) -> None:
    """A job that needs a rule of its group by way of a rule outside of it stops the whole run."""
    groups = [f"{rule}={group}" for rule, group in loaded("slurm")["groups"].items()]
    study = (
        lay_out_studies(tmp_path, {"across": {"align": "auto"}})
        if several
        else make_study(tmp_path)
    )
    plan = run(study, "--dry-run", "--groups", *groups)
    assert re.search(r"^report +1$", plan.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", CLUSTERS)
def test_profile_of_a_cluster_leaves_the_resources_of_the_site(name: str) -> None:
    """Its default-resources would replace those of the site's profile, partition and all."""
    assert "default-resources" not in loaded(name)


@pytest.mark.parametrize("rule", sorted(RULES - {"all"}))
def test_every_rule_asks_for_memory_and_time(rule: str) -> None:
    texts = [file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk")]
    first_line = rf"{RULE_START}{rule}(?: with)?:$"
    bodies = [re.split(first_line, text, flags=re.MULTILINE)[1:] for text in texts]
    body = re.split(RULE_START, "".join(body for [body] in filter(None, bodies)), flags=re.M)[0]
    assert re.search(r"resources:\n +\*\*needs(_before_reading)?\(", body)


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_profile_has_its_extra_and_its_line_in_the_docs(name: str) -> None:
    page = (ROOT / "docs/how_to/clusters.md").read_text()
    assert (
        f"`pip install 'genesig[{name}]'` | `genesig run mystudy.yaml --workflow-profile {name}`"
        in page
    )
    assert loaded(name)["executor"] == name


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_profile_can_be_planned(name: str, tmp_path: Path) -> None:
    if not importlib.util.find_spec(f"snakemake_executor_plugin_{name}"):
        pytest.skip(f"the extra {name} is not installed")
    plan = run(make_study(tmp_path), "--workflow-profile", f"profiles/{name}", "--dry-run")
    assert re.search(r"^report +1$", plan.stdout + plan.stderr, re.MULTILINE)
