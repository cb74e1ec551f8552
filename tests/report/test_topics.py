"""A topic is one file, or a folder where that would be too long, and its lines in the assembly."""

from __future__ import annotations

import ast
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
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[2] for name in names if name.startswith("genesig.report.")}
    return found


@pytest.mark.parametrize("topic", sorted(FOLDERS))
def test_the_folder_of_a_topic_says_what_it_is(topic):
    folder = REPORT / topic
    body = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    assert [type(node) for node in body] == [ast.Expr]  # its sentence
    assert (ast.get_docstring(ast.Module(body, [])) or "").count("\n") == 0
    assert (folder / "section.py").is_file()


def test_every_topic_stands_in_the_list():
    missing = sorted(set(TOPICS) - imported(REPORT / "sections.py"))
    assert not missing, f"genesig/report/sections.py: imports nothing of {missing}"


def test_every_section_of_a_topic_is_in_the_list():
    homes = {write.__module__.split(".")[2] for write in sections.SECTIONS.values()}
    first = {say.__module__.split(".")[2] for say in sections.FIRST_SCREEN}
    missing = sorted({*TOPICS, "methods"} - homes - first)
    assert not missing, f"genesig/report/sections.py: SECTIONS has no line for {missing}"
    assert homes | first <= {*TOPICS, "methods"}


@pytest.mark.parametrize("topic", TOPICS)
def test_nothing_but_the_assembly_names_a_topic(topic):
    own = {REPORT / topic, REPORT / f"{topic}.py"}
    files = [path for path in (ROOT / "genesig").rglob("*.py") if not own & {path, *path.parents}]
    naming = [path for path in files if f"genesig.report.{topic}" in path.read_text("utf-8")]
    naming += [path for path in REPORT.rglob("*.py")
               if topic in imported(path) and not own & {path, *path.parents}]  # fmt: skip
    others = sorted({path.relative_to(ROOT).as_posix() for path in naming}
                    - {f"genesig/report/{name}" for name in ASSEMBLY})  # fmt: skip
    assert not others, f"{others}: only {sorted(ASSEMBLY)} may import a topic"


def files_of(topic: str) -> list[Path]:
    return [*(REPORT / topic).rglob("*.py")] or [REPORT / f"{topic}.py"]


@pytest.mark.parametrize("topic", [*TOPICS, "page"])
def test_a_topic_knows_the_page_and_no_other_topic(topic):
    for path in files_of(topic):
        others = sorted(imported(path) - {topic, "page"})
        assert not others, f"{path.relative_to(ROOT)}: imports {others} of the report"


def test_the_search_finds_every_way_to_import(tmp_path):
    path = tmp_path / "new.py"
    path.write_text(
        "import genesig.report.sets\nfrom genesig.report import genes, page\n"
        "def f():\n    from genesig.report.data import x\n    from genesig.models import lasso\n"
    )
    assert imported(path) == {"sets", "genes", "page", "data"}
