"""Which wrong operators and numbers no test would notice, of some put into the package at random.

    python benchmarks/robustness/mutants.py [--number 30] [--seed 0] [--under report] [--seconds 60]

Each mutant is the package with one change: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``,
n + 1 for n, True for False. The quick tests of the nearest files run first (README's test line):
files that name the module, then those that name its importers. Where all of them pass, the slow
tests of these files run (``.ci/run tests``). The last line counts both tiers and the survivors.
Kernels run uncompiled, as to compile each mutant would take longer than its tests.
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
from collections import Counter
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
MAX_FILES = 8  # test files that run for one mutant
KERNELS = ("genesig/compiled", "genesig/optim")
QUICK_KILL = "killed by a quick test"
SLOW_KILL = "killed by a slow test only"
SURVIVED = "survived"
OUT_OF_TIME = "out of time"
NO_TEST = 5  # pytest's exit code where it collects no test


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
    while near and len(chosen) < MAX_FILES:
        new = [file for file, names in tests.items() if names & near and file not in chosen]
        chosen += sorted(new, key=lambda file: (stem not in file.stem, len(tests[file]), file))
        seen |= near
        near = {one for one, names in importers.items() if names & near} - seen
    return chosen[:MAX_FILES]


def run_tests(copy: Path, tests: list[str | Path], marks: str, seconds: int, jit: bool) -> str:
    """Return the first test that fails on the copy, or SURVIVED or OUT_OF_TIME.

    `marks` is the ``-m`` of pytest, `seconds` the limit of processor time, which a busy machine
    does not shorten. A crash before any test has failed counts as a failure of the first file.
    """
    pytest_command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-m", marks,
                      "-p", "no:cacheprovider"]  # fmt: skip
    limit = ["bash", "-c", f'ulimit -t {seconds}; exec "$@"', "-"]
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "XDG_CACHE_HOME": str(copy / "cache"),
        "NUMBA_DISABLE_JIT": "0" if jit else "1",
    }
    done = subprocess.run(
        [*limit, *pytest_command, *map(str, tests)],
        cwd=copy, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode in (0, NO_TEST):
        return SURVIVED
    if done.returncode < 0:
        return OUT_OF_TIME
    failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failures[0] if failures else f"{tests[0]} (crashed)"


def judge(copy: Path, tests: list[Path], seconds: int, jit: bool) -> tuple[str, str]:
    """Return what became of a mutant, and the test that failed ("" where none did)."""
    if not tests:
        return SURVIVED, ""
    for kill, marks in ((QUICK_KILL, "not slow"), (SLOW_KILL, "slow")):
        outcome = run_tests(copy, list(tests), marks, seconds, jit)
        if outcome not in (SURVIVED, OUT_OF_TIME):
            return kill, outcome
    return outcome, ""


def main() -> None:
    """Draw mutants, run their tests, print what became of each and a count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--under", default="", help="folder or file of the package")
    for option, default in (("--number", 30), ("--seed", 0), ("--seconds", 60)):
        parser.add_argument(option, type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "genesig")
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build")
        shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
        counts: Counter[str] = Counter()
        killers = set()
        for result, test in sample(copy, options):
            counts[result] += 1
            killers |= {test.removesuffix(" (crashed)")} - {""}
        if killers:
            seconds = 60 + 5 * len(killers)
            failure = run_tests(copy, sorted(killers), "slow or not slow", seconds, jit=True)
            if failure not in (SURVIVED, OUT_OF_TIME):
                raise SystemExit(f"fails without a mutant, too: {failure}")
        print(dict(counts))


def sample(copy: Path, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Print one drawn mutant after the other; yield (what became of it, the failing test)."""
    package = sorted(copy.glob("genesig/**/*.py"))
    module_names = {
        path: ".".join(path.relative_to(copy).with_suffix("").parts) for path in package
    }
    importers = {module_names[path]: named(path.read_text()) for path in package}
    tests = {path: named(path.read_text()) for path in copy.glob("tests/*/**/test_*.py")
             if path.parts[-2] not in RUN_ALL}  # fmt: skip
    folder = copy / "genesig"
    paths = [p for p in package if str(p.relative_to(folder)).startswith(options.under)]
    candidates = [(path, *mutant) for path in paths for mutant in mutants(path)]
    random.seed(options.seed)
    for path, line, change, text in random.sample(candidates, min(options.number, len(candidates))):
        original = path.read_text()
        near = nearest(module_names[path], importers, tests)
        name = path.relative_to(copy).as_posix()
        path.write_text(text)
        try:
            result, test = judge(copy, near, options.seconds, jit=not name.startswith(KERNELS))
        finally:
            path.write_text(original)
        print(f"{result}: {name}:{line}  {change}  {test}", flush=True)
        yield result, test


if __name__ == "__main__":
    main()
