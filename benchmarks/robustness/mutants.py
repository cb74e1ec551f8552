"""Which wrong operators and numbers no test would notice, of some put into the package at random.

    python benchmarks/robustness/mutants.py [--number 60] [--seed 0] [--under report] [--seconds 60]

Each mutant is the package with one change: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``,
n + 1 for n, True for False. The tests that name the module run first, then those that name what
imports it, until one fails or the processor has worked so many seconds. A survivor is a test to
write, or the same program in other words.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.Pow: ast.Mult,
}  # fmt: skip
RUN_ALL = ("toy", "chaos", "golden", "notebook")  # whole studies
FILES_OF = 5  # test files that run for one mutant, at most


def changed(node: ast.AST) -> ast.AST | None:
    """Return a node with its operator or its number changed, None for any other node."""
    match node:
        case ast.Compare(left, [sign], right) if type(sign) in OTHER:
            return ast.Compare(left, [OTHER[type(sign)]()], right)
        case ast.BinOp(left, sign, right) if type(sign) in OTHER:
            return ast.BinOp(left, OTHER[type(sign)](), right)
        case ast.BoolOp(sign, values):
            return ast.BoolOp(OTHER[type(sign)](), values)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
    return None


def read_as_code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below that are run: no annotation, no decorator, no text put together."""
    yield node
    for name, below in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:
            for child in below if isinstance(below, list) else [below]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from read_as_code(child)


def mutants(file: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, what is changed, the whole changed text) of each mutant of a file."""
    text = file.read_bytes()
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in read_as_code(ast.parse(text)):
        if (other := changed(node)) is None:
            continue
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[node.end_lineno - 1] + node.end_col_offset
        new = f"({ast.unparse(other)})"
        whole = text[:start] + new.encode() + text[end:]
        yield node.lineno, f"{ast.unparse(node)}  ->  {new}", whole.decode()


def named(text: str) -> set[str]:
    """Return the modules of the package that a Python file imports, by ``from`` or by name."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("genesig"):
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found | set(re.findall(r"genesig(?:\.\w+)+", text))


def nearest(module: str, importers: dict[str, set[str]], tests: dict[Path, set[str]]) -> list[Path]:
    """Return the test files that name a module, then those that name its importers."""
    chosen, near, seen, stem = [], {module}, set(), module.rpartition(".")[2]
    while near and len(chosen) < FILES_OF:
        new = [file for file, names in tests.items() if names & near and file not in chosen]
        chosen += sorted(new, key=lambda file: (stem not in file.stem, len(tests[file]), file))
        seen |= near
        near = {one for one, names in importers.items() if names & near} - seen
    return chosen[:FILES_OF]


def failing(copy: Path, tests: list[str | Path], seconds: int) -> str:
    """Return the first test that fails on the copy, or what else came of them."""
    line = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider"]
    place = {"PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache")}
    limit = ["bash", "-c", f'ulimit -t {seconds}; exec "$@"', "-"]  # a busy machine counts nothing
    done = subprocess.run([*limit, *line, *map(str, tests)], cwd=copy, env=os.environ | place,
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode in (0, 5) or done.returncode < 0:  # 5: none is fast
        return "OUT OF TIME" if done.returncode < 0 else "SURVIVED"
    return next(iter(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)), "CRASHED")


def main() -> None:
    """Draw mutants, run their tests, print who is left."""
    read = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    read.add_argument("--under", default="", help="folder or file of the package")
    for word, value in (("--number", 60), ("--seed", 0), ("--seconds", 60)):
        read.add_argument(word, type=int, default=value)
    asked = read.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "genesig")
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build")
        shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
        killers = sorted(set(sample(copy, asked)))
        if killers and (wrong := failing(copy, killers, 60 + 5 * len(killers))) != "SURVIVED":
            raise SystemExit(f"fails without a mutant, too: {wrong}")


def sample(copy: Path, asked: argparse.Namespace) -> Iterator[str]:
    """Print the fate of one mutant after the other, yield the tests that killed them."""
    package = sorted(copy.glob("genesig/**/*.py"))
    dotted = {file: ".".join(file.relative_to(copy).with_suffix("").parts) for file in package}
    importers = {dotted[file]: named(file.read_text()) for file in package}
    tests = {file: named(file.read_text()) for file in copy.glob("tests/*/**/test_*.py")
             if file.parts[-2] not in RUN_ALL}  # fmt: skip
    under = [f for f in package if str(f.relative_to(copy / "genesig")).startswith(asked.under)]
    drawn = [(file, *each) for file in under for each in mutants(file)]
    random.seed(asked.seed)
    for file, line, what, text in random.sample(drawn, min(asked.number, len(drawn))):
        before = file.read_text()
        file.write_text(text)
        near = nearest(dotted[file], importers, tests)
        fate = failing(copy, near, asked.seconds) if near else "SURVIVED"
        file.write_text(before)
        print(f"{fate}  {file.relative_to(copy)}:{line}  {what}", flush=True)
        if "/" in fate:
            yield fate


if __name__ == "__main__":
    main()
