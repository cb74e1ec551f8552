"""The rooms of the package: each says in a sentence what it is for, no file repeats its room."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from places import ROOT

PACKAGE = ROOT / "genesig"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]
ROOMS = sorted({path.parent for path in MODULES} - {PACKAGE})
# Rooms whose __init__ holds more than its sentence: registries, how kernels are compiled, and the
# one door that passes on what stands behind it, because every stage takes its records there.
REGISTRIES = {"optim/solvers"}
DOOR = "results"
MORE = REGISTRIES | {"compiled", DOOR}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def opened(room: Path) -> ast.Module:
    return ast.parse((room / "__init__.py").read_text(encoding="utf-8"))


def only_passed_on(module: ast.Module) -> set[str]:
    """Return the names that a module imports and does not use."""
    imports = (n for n in module.body if isinstance(n, ast.Import | ast.ImportFrom))
    taken = {alias.asname or alias.name for node in imports for alias in node.names}
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    return taken - used - {"annotations"}


def repeated(path: Path) -> set[str]:
    """Return the words that a file's name shares with its folder's, one or several of a thing."""
    here, there = ({word.removesuffix("s") for word in part.split("_")}
                   for part in (path.stem, path.parent.name))  # fmt: skip
    return here & there


def only_said(module: ast.Module, more: bool) -> bool:
    """Tell whether a room's file begins with a sentence, and has nothing besides unless `more`."""
    text = ast.get_docstring(module) or ""
    alone = "\n" not in text and len(module.body) == 1
    return bool(re.fullmatch(r"[^.\n]+\.", text.split("\n\n")[0])) and (more or alone)


def test_a_room_says_in_one_sentence_what_it_is_for():
    assert [r for r in ROOMS if not only_said(opened(r), name(r) in MORE)] == []


def test_a_room_passes_nothing_on():
    assert [name(room) for room in ROOMS if only_passed_on(opened(room))] == [DOOR]


def test_no_file_repeats_the_name_of_its_folder():
    assert {name(path): words for path in MODULES if (words := repeated(path))} == {}


def test_the_search_finds_what_is_repeated_passed_on_and_said_besides():
    assert only_said(ast.parse('"""Say."""'), more=False)
    assert not only_said(ast.parse('"""Say."""\nx = 1'), more=False)
    assert not only_said(ast.parse('"""Say"""'), more=True)
    assert repeated(Path("splits/split_file.py")) == {"split"}
    assert repeated(Path("quality/sample_quality.py")) == {"quality"}
    assert only_passed_on(ast.parse("from a import b, c\nD = {1: b}")) == {"c"}
