"""The size budget: what has outgrown it is split, the numbers stay."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from places import ROOT

MODULES = sorted((ROOT / "genesig").rglob("*.py"))
RULE_FILES = sorted(
    [*ROOT.glob("Snakefile"), *ROOT.glob("workflow/Snakefile"), *ROOT.glob("workflow/rules/*.smk")]
)
SCRIPTS = sorted(ROOT.glob("workflow/scripts/*"))
CODE = [*MODULES, *RULE_FILES, *SCRIPTS]
TOP_LEVEL = {
    *("Snakefile", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"),
    *("benchmarks", "config", "docs", "resources", "workflow", "genesig", "tests"),
    "profiles",  # a link: beside the Snakefile is where Snakemake looks for its default profile
    *(".ci", ".gitignore", ".pre-commit-config.yaml"),
    *("CITATION.cff", ".zenodo.json", ".snakemake-workflow-catalog.yml"),  # sought here
    *(".github", ".test"),
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def function_bodies(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (where, lines of the body without its docstring) of each function of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            yield f"{name(path)}:{node.name}", lines


def positional_arguments(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (where, number of arguments that may be given by position) of each function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name(path)}:{node.name}", len(node.args.posonlyargs + node.args.args)


def rules(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (where, lines from its first to its last) of each rule of a Snakemake file."""
    blocks = re.split(r"(?m)^(?=\S)", path.read_text(encoding="utf-8"))
    for block in blocks:
        if found := re.match(r"(?:rule|checkpoint) *(\w*) *:", block):
            yield f"{name(path)}:{found[1]}", len(block.strip().splitlines())


BODIES = dict(body for path in MODULES for body in function_bodies(path))
RULES = dict(rule for path in RULE_FILES for rule in rules(path))


def beyond(sizes: dict[str, int], most: int) -> dict[str, int]:
    return {where: size for where, size in sizes.items() if size > most}


def test_files_are_short():
    sizes = {name(path): line_count(path) for path in MODULES}
    assert beyond(sizes, 500) == {}


def test_function_bodies_are_short():
    assert beyond(BODIES, 40) == {}
    assert median(BODIES.values()) <= 6


def test_what_belongs_together_travels_together():
    found = dict(each for path in MODULES for each in positional_arguments(path))
    assert beyond(found, 8) == {}


def test_rules_and_scripts_are_short():
    assert RULES
    assert SCRIPTS
    assert beyond(RULES, 20) == {}
    assert beyond({name(path): line_count(path) for path in SCRIPTS}, 15) == {}


@pytest.mark.parametrize(
    ("path", "most"), [("workflow/Snakefile", 40), ("workflow/rules/common.smk", 80)]
)
def test_the_contents_page_stays_one(path, most):
    assert line_count(ROOT / path) <= most


def test_no_file_is_named_after_nothing():
    vague = re.compile(r"util|helper|misc", re.IGNORECASE)
    assert [name(path) for path in CODE if vague.search(path.stem)] == []


def test_top_level_is_the_table_of_contents():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"not a clone: {done.stderr.strip()}")
    assert {line.split("/")[0] for line in done.stdout.splitlines()} - TOP_LEVEL == set()


def test_the_package_has_five_floors_what_lies_below_them_and_the_door_of_python():
    packages = {path.parent.name for path in (ROOT / "genesig").glob("*/__init__.py")}
    floors = {"results", "response", "data", "optim", "models", "selection", "report"}
    assert packages == floors | {"genome", "compiled", "notebook"}


def test_the_measure_sees_what_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    long = tmp_path / "long.py"
    long.write_text('def f():\n    """Say."""\n' + "    x = 1\n" * 41)
    assert beyond(dict(function_bodies(long)), 40) == {"long.py:f": 41}
    rule = tmp_path / "long.smk"
    rule.write_text("x = 1\n\n\nrule a:\n" + "    # line\n" * 20 + "\n\nrule b:\n    input: 1\n")
    assert dict(rules(rule)) == {"long.smk:a": 21, "long.smk:b": 2}
