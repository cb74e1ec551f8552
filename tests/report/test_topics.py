"""A topic is one file, or a folder where that would be too long, and its lines in the assembly."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from places import ROOT

from genesig.report import sections

REPORT = ROOT / "genesig" / "report"
ASSEMBLY = {"card.py", "collect.py", "finished.py", "methods.py", "record.py",
            "render.py", "sections.py"}  # fmt: skip
FOLDERS = {p.parent.name for p in REPORT.glob("*/__init__.py")} - {"page"}
FILES = {p.stem for p in REPORT.glob("*.py")} - {Path(name).stem for name in ASSEMBLY}
TOPICS = sorted(FOLDERS | FILES - {"__init__"})


def imported(path: Path) -> set[str]:
    """Return the parts of the report that a file imports."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = set()
    for node in tree:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("genesig.report"):
            parts = node.module.split(".")
            found |= {parts[2]} if len(parts) > 2 else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("topic", sorted(FOLDERS))
def test_the_folder_of_a_topic_says_what_it_is(topic):
    folder = REPORT / topic
    body = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    assert [type(node) for node in body] == [ast.Expr]  # its sentence
    assert (ast.get_docstring(ast.Module(body, [])) or "").count("\n") == 0
    assert (folder / "section.py").is_file()


def test_every_topic_stands_in_the_list():
    assert set(TOPICS) <= imported(REPORT / "sections.py")


def test_every_section_of_a_topic_is_in_the_list():
    homes = {write.__module__.split(".")[2] for write in sections.SECTIONS.values()}
    first = {say.__module__.split(".")[2] for say in sections.FIRST_SCREEN}
    assert homes | first == {*TOPICS, "methods"}


@pytest.mark.parametrize("topic", TOPICS)
def test_nothing_but_the_assembly_names_a_topic(topic):
    own = {REPORT / topic, REPORT / f"{topic}.py"}
    files = [path for path in (ROOT / "genesig").rglob("*.py") if not own & {path, *path.parents}]
    naming = [path for path in files if f"genesig.report.{topic}" in path.read_text("utf-8")]
    naming += [path for path in REPORT.rglob("*.py")
               if topic in imported(path) and not own & {path, *path.parents}]  # fmt: skip
    assert {path.relative_to(REPORT).as_posix() for path in naming} <= ASSEMBLY


def test_the_contracts_hold_every_topic_apart():
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    apart = [one["modules"] for one in tables["contracts"] if one["type"] == "independence"]
    assert apart == [[f"genesig.report.{topic}" for topic in TOPICS]]
