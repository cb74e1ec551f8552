"""A topic is one folder and its lines in the assembly; nothing else knows its name."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from places import ROOT

from genesig.report import sections

REPORT = ROOT / "genesig" / "report"
ASSEMBLY = {"card.py", "collect.py", "finished.py", "methods.py", "record.py", "sections.py"}
TOPICS = sorted(p.parent.name for p in REPORT.glob("*/__init__.py") if p.parent.name != "page")


def imported(path: Path) -> set[str]:
    """Return the parts of the report that a file imports."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
    own = [module.split(".") for module in modules if module.startswith("genesig.report.")]
    return {parts[2] for parts in own}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_a_folder_of_these_files(topic):
    folder = REPORT / topic
    body = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    assert [type(node) for node in body] == [ast.Expr]  # its sentence
    assert (ast.get_docstring(ast.Module(body, [])) or "").count("\n") == 0
    assert (folder / "section.py").is_file()


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_stands_in_the_list_the_record_and_the_collection(topic):
    assert topic in imported(REPORT / "sections.py")
    for name in ("record.py", "collect.py", "methods.py"):
        assert (REPORT / topic / name).exists() == (topic in imported(REPORT / name)), name


def test_every_section_of_a_topic_is_in_the_list():
    homes = {write.__module__.split(".")[2] for write in sections.SECTIONS.values()}
    first = {say.__module__.split(".")[2] for say in sections.FIRST_SCREEN}
    assert homes | first == {*TOPICS, "methods"}


@pytest.mark.parametrize("topic", TOPICS)
def test_nothing_but_the_assembly_names_a_topic(topic):
    own = REPORT / topic
    files = [path for path in (ROOT / "genesig").rglob("*.py") if own not in path.parents]
    naming = [path for path in files if f"genesig.report.{topic}" in path.read_text("utf-8")]
    assert {path.relative_to(REPORT).as_posix() for path in naming} <= ASSEMBLY


def test_the_contracts_hold_every_topic_apart():
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    apart = [one["modules"] for one in tables["contracts"] if one["type"] == "independence"]
    assert apart == [[f"genesig.report.{topic}" for topic in TOPICS]]
