"""Count the mutants of the package that quick tests, slow tests or no tests notice.

    python benchmarks/robustness/mutants.py FOLDER --under data optim,compiled --number 30 --seed 1

A mutant is the package with one change: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``,
n + 1 for n, True for False. ``--number`` of them are drawn for each place of ``--under``. Tests run
until one fails, first the quick ones, then the slow ones, test files near the changed module first:
files that import it in few steps and have words of its path in their own path.

With ``--executed DATA``, recorded by `executed_lines.py`, only test files that execute the changed
line run; others cannot notice the change. Two kinds of mutants always run against the nearest
files: mutants outside functions, whose lines run at import, and mutants in compiled code.

FOLDER keeps the copy of the checkout and its compiled code from run to run. The tests are collected
once. For each mutant a fork of this process gets the changed functions and runs the tests; if the
change is outside functions or in compiled code, the fork imports and collects again, uncompiled.

Limits are in processor time, so that other work of the machine does not matter: `--seconds` for the
tests of one tier, MAX_TEST_SECONDS for one test. A test beyond its limit kills the mutant only if
the test ends in time without the mutant. Mutants of which not all tests ran in time are counted
apart.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy: a process with threads must not fork
os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # else each process would compile the whole package

import argparse
import ast
import gc
import importlib.util
import inspect
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).parents[2]
OTHER_OPERATOR = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Pow: ast.Mult,
}
JIT_DECORATORS = {"compiled", "jitable", "jit_inline", "jit_uncached"}  # of genesig.compiled
EXCLUDED = {"toy", "chaos", "golden"}  # folders: tests of whole studies
EXCLUDED |= {"test_in_browser.py", "test_print.py"}  # a browser needs more memory than MAX_MEMORY
MAX_FILES = 25  # test files of one mutant
MAX_TEST_SECONDS = 40
MAX_MEMORY = 12 * 2**30  # bytes of address space, as a mutant may ask for any array
QUICK = "not slow"
OUTCOMES = {"not slow": "killed by quick tests", "slow": "killed by slow tests only"}
SURVIVED = "survived"
UNFINISHED = "survived the tests that ran in time"


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str  # relative to the copy
    line: int
    function_lines: range | None  # of the innermost function; None outside functions
    uncompiled: bool  # run without compilation, as the change may be in compiled code
    change: str
    place: slice  # bytes that the new code replaces
    code: str

    def text(self, copy: Path) -> str:
        """Return the whole changed file."""
        original = (copy / self.path).read_bytes()
        start = original[: self.place.start]
        end = original[self.place.stop :]
        return (start + self.code.encode() + end).decode()


@dataclass(frozen=True)
class TestRun:
    """Outcome of some test files: the failed test ("" if none), and whether all tests ran."""

    failure: str
    finished: bool
    last_test: str = ""
    too_long: bool = False  # the last test passed MAX_TEST_SECONDS


# The mutants of a file.


def mutate_node(node: ast.AST) -> ast.AST | None:
    """Return a node with its operator or its number changed; None if it has neither."""
    match node:
        case ast.Compare(left, [sign], right) if type(sign) in OTHER_OPERATOR:
            return ast.Compare(left, [OTHER_OPERATOR[type(sign)]()], right)
        case ast.BinOp(left, sign, right) if type(sign) in OTHER_OPERATOR:
            return ast.BinOp(left, OTHER_OPERATOR[type(sign)](), right)
        case ast.BoolOp(sign, values):
            return ast.BoolOp(OTHER_OPERATOR[type(sign)](), values)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
    return None


def walk_code(node: ast.AST, parents: tuple[ast.AST, ...] = ()) -> Iterator[tuple[ast.AST, ...]]:
    """Yield (outermost parent, ..., node) of each node that runs.

    Annotations, decorators and f-strings are left out.
    """
    chain = (*parents, node)
    yield chain
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from walk_code(child, chain)


def is_compiled(function: ast.AST) -> bool:
    """Return whether a function has a decorator of genesig.compiled."""
    names = {ast.unparse(decorator) for decorator in getattr(function, "decorator_list", [])}
    return bool(names & JIT_DECORATORS)


def mutants_of(copy: Path, file: Path) -> Iterator[Mutant]:
    """Yield each mutant of a file."""
    text = file.read_bytes()
    line_starts = [0]  # in bytes
    for line in text.splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))
    tree = ast.parse(text)
    has_compiled = any(is_compiled(node) for node in ast.walk(tree))
    for chain in walk_code(tree):
        node = chain[-1]
        if (new_node := mutate_node(node)) is None:
            continue
        new = f"({ast.unparse(new_node)})"
        start = line_starts[node.lineno - 1] + node.col_offset
        end = line_starts[node.end_lineno - 1] + node.end_col_offset
        functions = [n for n in chain if isinstance(n, ast.FunctionDef | ast.Lambda)]
        yield Mutant(
            path=file.relative_to(copy).as_posix(),
            line=node.lineno,
            function_lines=range(functions[-1].lineno, (functions[-1].end_lineno or 0) + 1)
            if functions
            else None,
            uncompiled=any(map(is_compiled, functions)) or (has_compiled and not functions),
            change=f"{ast.unparse(node)}  ->  {new}",
            place=slice(start, end),
            code=new,
        )


# The test files that may notice a mutant.


def imports_of(text: str) -> set[str]:
    """Return the modules of the package that the text of a Python file imports or names."""
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("genesig"):
            modules |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
    return modules | set(re.findall(r"genesig(?:\.\w+)+", text))


def module_of(path: str) -> str:
    """Return the name of the module in a file of the package."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def words_of(path: str) -> set[str]:
    """Return the words of a path, without the words of most paths."""
    return set(re.findall(r"[a-z0-9]+", path.removesuffix(".py"))) - {"genesig", "tests", "test"}


def read_executed_lines(data_files: list[str]) -> dict[str, dict[int, set[str]]]:
    """Return file of the package -> line -> test files that execute it."""
    from coverage import CoverageData  # needed for --executed only

    executed: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for data_file in data_files:
        data = CoverageData(data_file)
        data.read()
        for path in data.measured_files():
            name = "genesig/" + path.rpartition("/genesig/")[2]
            for line, test_files in data.contexts_by_lineno(path).items():
                executed[name][line] |= set(test_files) - {""}
    return executed


class TestFiles:
    """The modules of the package that each module and each test file import."""

    def __init__(self, copy: Path, executed: dict[str, dict[int, set[str]]] | None) -> None:
        self.executed = executed
        self.recorded_tests = {
            file
            for lines in (executed or {}).values()
            for test_files in lines.values()
            for file in test_files
        }
        self.modules = {
            path.relative_to(copy).as_posix(): imports_of(path.read_text())
            for path in sorted(copy.glob("genesig/**/*.py"))
        }
        self.tests = {
            path.relative_to(copy).as_posix(): imports_of(path.read_text())
            for path in sorted(copy.glob("tests/**/test_*.py"))
            if not EXCLUDED & set(path.parts[-2:])
        }

    def choose(self, mutant: Mutant) -> list[str]:
        """Return the test files to run, the nearest first."""
        ordered = self.nearest(mutant)
        if self.executed is None or mutant.uncompiled or mutant.function_lines is None:
            return ordered[:MAX_FILES]
        lines = self.executed.get(mutant.path, {})
        executing = lines.get(mutant.line) or {
            file for line in mutant.function_lines for file in lines.get(line, ())
        }
        near = [file for file in ordered if file in executing]
        through_helpers = sorted(file for file in executing - set(ordered) if file in self.tests)
        unrecorded = [file for file in ordered if file not in self.recorded_tests]
        return near + through_helpers + unrecorded[:MAX_FILES]

    def nearest(self, mutant: Mutant) -> list[str]:
        """Return the test files that import a module, also through others, the nearest first.

        Files with the most words of its path are nearest; of equal files those with the fewest
        imports in between, then those with the fewest imports.
        """
        distance: dict[str, int] = {}  # test file -> number of modules in between
        modules = {module_of(mutant.path)}
        searched: set[str] = set()
        step = 0
        while modules:
            for file, names in self.tests.items():
                if names & modules:
                    distance.setdefault(file, step)
            searched |= modules
            importing = {module_of(p) for p, names in self.modules.items() if names & modules}
            modules = importing - searched
            step += 1
        words = words_of(mutant.path)
        stem = words_of(Path(mutant.path).stem)

        def order(file: str) -> tuple[int, int, int, str]:
            shared = len(words & words_of(file)) + len(stem & words_of(file))
            return (distance[file] > 0) - shared, distance[file], len(self.tests[file]), file

        return sorted(distance, key=order)


# One run of tests in a process of its own.


class Watch:
    """Pytest plugin of a fork: it sends each test through a pipe, and ends the run in time."""

    def __init__(self, pipe: int, seconds: int) -> None:
        self.pipe = pipe
        self.seconds = seconds
        self.start = 0.0  # processor time of the first test
        self.stop = False

    def send(self, kind: str, test: str = "") -> None:
        os.write(self.pipe, f"{kind} {test}\n".encode())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.send("start", nodeid)
        self.start = self.start or time.process_time()
        limit = int(time.process_time()) + MAX_TEST_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if self.start and time.process_time() - self.start > self.seconds and not self.stop:
            self.stop = True
            self.send("unfinished")
            item.session.shouldstop = "out of time"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.stop = True
            self.send("failed", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.send("failed", report.nodeid)


PYTEST = ["-n0", "-q", "-pno:cacheprovider", "-Wignore::pytest.PytestAssertRewriteWarning"]


def use_copy(copy: Path) -> None:
    """Make the copy the working folder, and let this and new processes import its package."""
    os.chdir(copy)
    sys.dont_write_bytecode = False
    sys.path.insert(0, str(copy))
    os.environ |= {"PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy.parent / "cache")}


def write(file: Path, text: str) -> None:
    """Write a module and delete its bytecode, as time and size may be those of the old text."""
    file.write_text(text)
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def own_code(code: CodeType) -> tuple:
    """Return the instructions and names of a code object, without the code objects inside it."""
    constants = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    return code.co_code, constants, code.co_names, code.co_freevars


def changed_code(code: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]]:
    """Return pairs of code objects that differ, or contain a differing pair, innermost first."""
    enclosed = [
        pair
        for value, new_value in zip(code.co_consts, new.co_consts, strict=False)
        if isinstance(value, CodeType) and isinstance(new_value, CodeType)
        for pair in changed_code(value, new_value)
    ]
    return [*enclosed, (code, new)] if enclosed or own_code(code) != own_code(new) else []


class LiveFunctions:
    """The functions of the copy in this process, by file, name and first line."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        for value in gc.get_objects():
            if isinstance(value, FunctionType):
                code = value.__code__
                if code.co_filename.startswith(str(copy)):
                    self.functions[self.key(code)].append(value)

    def key(self, code: CodeType) -> tuple[str, str, int]:
        return code.co_filename, code.co_qualname, code.co_firstlineno

    def changes(self, mutant: Mutant) -> list[tuple[FunctionType, CodeType]] | None:
        """Return functions and their new code; None if code of a module or class is changed."""
        file = str(self.copy / mutant.path)
        codes = [
            compile(text, file, "exec", dont_inherit=True)
            for text in ((self.copy / mutant.path).read_text(), mutant.text(self.copy))
        ]
        pairs = changed_code(*codes)
        function_pairs = [pair for pair in pairs if pair[0].co_flags & inspect.CO_OPTIMIZED]
        other_pairs = [pair for pair in pairs if not pair[0].co_flags & inspect.CO_OPTIMIZED]
        if any(own_code(code) != own_code(new) for code, new in other_pairs):
            return None
        changes = [
            (function, new)
            for code, new in function_pairs
            for function in self.functions.get(self.key(code), [])
        ]
        return changes or None


def isolate() -> None:
    """Separate output, signals and memory of a fork from its parent."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def clear_caches(copy: Path, modules: bool) -> None:
    """Clear caches of functions of the copy or, with `modules`, forget its imported modules."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(copy)):
            if modules:
                del sys.modules[name]
                continue
            for value in list(vars(module).values()):
                if (
                    callable(getattr(value, "cache_clear", None))
                    and "/optim/" not in module.__file__
                ):
                    value.cache_clear()


def run_collected(items: list[pytest.Item], watch: Watch) -> int:
    """Run tests that this process has collected; return pytest's exit code."""
    items[0].config.pluginmanager.register(watch)
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if watch.stop:
            break
    return int(pytest.ExitCode.OK)


def run_again(
    copy: Path, mutant: Mutant | None, uncompiled: bool, tests: list[str], marks: str, watch: Watch
) -> int:
    """Import the copy with the mutant, collect and run tests; return pytest's exit code."""
    clear_caches(copy, modules=True)
    if uncompiled:
        import numba

        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.DISABLE_JIT = True
    importlib.import_module("genesig.compiled")  # its cache is named by the sources without mutant
    if mutant:
        write(copy / mutant.path, mutant.text(copy))
        if module := sys.modules.get(module_of(mutant.path)):
            importlib.reload(module)
    basetemp = ["--basetemp", str(copy.parent / "temporary")]
    return int(pytest.main([*PYTEST, "-x", "-m", marks, *basetemp, *tests], plugins=[watch]))


class MutantSession:
    """Pytest plugin of the parent: it draws mutants instead of running the tests."""

    def __init__(self, copy: Path, options: argparse.Namespace) -> None:
        self.copy = copy
        self.options = options

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # tests/conftest.py hides from LiveFunctions what was collected
        data_files = self.options.executed
        self.files = TestFiles(self.copy, read_executed_lines(data_files) if data_files else None)
        self.functions = LiveFunctions(self.copy)
        self.items: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            marks = "slow" if item.get_closest_marker("slow") else QUICK
            self.items[item.nodeid.partition("::")[0], marks].append(item)
        gc.freeze()  # forks share these objects
        for places in self.options.under:
            self.draw(tuple(f"genesig/{place}" for place in places.split(",")))
        return True

    def draw(self, places: tuple[str, ...]) -> None:
        """Draw mutants of some places; print the outcome of each, and the counts."""
        paths = [self.copy / path for path in self.files.modules if path.startswith(places)]
        candidates = [mutant for path in paths for mutant in mutants_of(self.copy, path)]
        random.seed(self.options.seed)
        drawn = random.sample(candidates, min(self.options.number, len(candidates)))
        drawn = drawn[self.options.skip :]  # to resume a stopped run
        if self.options.lines:
            ends = tuple(self.options.lines)
            drawn = [m for m in candidates if f"{m.path}:{m.line}".endswith(ends)]
        counts: Counter[str] = Counter()
        killers: dict[tuple[bool, str], set[str]] = defaultdict(set)
        for mutant in drawn:
            start = time.monotonic()
            outcome, test = self.judge(mutant)
            counts[outcome] += 1
            if test and " (" not in test:
                marks = next(marks for marks, name in OUTCOMES.items() if name == outcome)
                killers[mutant.uncompiled, marks].add(test)
            seconds = time.monotonic() - start
            text = f"{outcome}: {mutant.path}:{mutant.line}  {mutant.change}  {test}"
            print(f"{text}  [{seconds:.0f} s]", flush=True)
        print(f"{' '.join(places)}: {dict(counts)}, of {len(candidates)} mutants", flush=True)
        for (uncompiled, marks), tests in killers.items():
            files = sorted({test.partition("::")[0] for test in tests})
            control = self.run_tests(None, uncompiled, files, marks, 10**4, tests)
            if control.failure:
                print(f"also fails without a mutant: {control.failure}", flush=True)

    def judge(self, mutant: Mutant) -> tuple[str, str]:
        """Return the outcome of a mutant, and the test that failed ("" if none did)."""
        finished = True
        tests = self.options.tests or self.files.choose(mutant)
        seconds = self.options.seconds
        for marks in self.options.tiers:
            run = self.run_tests(mutant, mutant.uncompiled, tests, marks, seconds)
            while run.failure in tests:  # a file that cannot be collected, maybe without the mutant
                control = self.run_tests(None, mutant.uncompiled, [run.failure], marks, seconds)
                if control.failure != run.failure:
                    break
                tests = [file for file in tests if file != run.failure]
                run = self.run_tests(mutant, mutant.uncompiled, tests, marks, seconds)
            if run.too_long and run.last_test:
                only = {run.last_test}
                files = [run.last_test.partition("::")[0]]
                control = self.run_tests(None, mutant.uncompiled, files, marks, seconds, only)
                if not control.too_long and not control.failure:
                    run = replace(run, failure=f"{run.last_test} (does not end)")
            if run.failure:
                return OUTCOMES[marks], run.failure
            finished = finished and run.finished
        return (SURVIVED if finished else UNFINISHED), ""

    def run_tests(
        self,
        mutant: Mutant | None,
        uncompiled: bool,
        tests: list[str],
        marks: str,
        seconds: int,
        only: set[str] | None = None,
    ) -> TestRun:
        """Run test files in a fork, or `only` some of their tests; then restore the copy.

        mutant None: the package without a change.
        """
        items = [
            item
            for file in tests
            for item in self.items.get((file, marks), [])
            if only is None or item.nodeid in only
        ]
        if not items:
            return TestRun("", True)
        changes = None if uncompiled or not mutant else self.functions.changes(mutant)
        import_again = uncompiled or (mutant is not None and changes is None)
        file = self.copy / (mutant.path if mutant else "pyproject.toml")
        original = file.read_text()
        stat = file.stat()
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            code = 70  # unless pytest returns
            watch = Watch(writer, seconds)
            with suppress(BaseException):
                isolate()
                if import_again:
                    chosen = (
                        sorted(only) if only else [f for f in tests if (f, marks) in self.items]
                    )
                    code = run_again(self.copy, mutant, uncompiled, chosen, marks, watch)
                else:
                    if mutant:
                        write(file, mutant.text(self.copy))  # for the processes of tests
                    clear_caches(self.copy, modules=False)
                    for function, new in changes or []:
                        function.__code__ = new
                    code = run_collected(items, watch)
            os._exit(code)
        os.close(writer)
        wall_seconds = 50 * MAX_TEST_SECONDS
        watchdog = threading.Timer(wall_seconds, os.killpg, (child, signal.SIGKILL))
        watchdog.start()
        with os.fdopen(reader) as stream:
            messages = [line.rstrip("\n").partition(" ") for line in stream]
        status = os.waitpid(child, 0)[1]
        watchdog.cancel()
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # processes that tests started and left
        if mutant:
            write(file, original)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        return outcome_of(messages, status)


def outcome_of(messages: list[tuple[str, str, str]], status: int) -> TestRun:
    """Return the outcome of a fork from its messages (kind, " ", test) and its exit status."""
    failures = [test for kind, _, test in messages if kind == "failed"]
    started = [test for kind, _, test in messages if kind == "start"]
    last_test = started[-1] if started else ""
    unfinished = any(kind == "unfinished" for kind, _, _ in messages)
    if failures:
        return TestRun(failures[0], True, last_test)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
            return TestRun("", False, last_test, too_long=True)
        return TestRun(f"{last_test} (crashed)", True, last_test)
    no_failure = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    if not unfinished and os.WEXITSTATUS(status) not in no_failure:
        return TestRun(f"{last_test or 'import'} (ended)", True, last_test)
    return TestRun("", not unfinished, last_test)


def copy_checkout(copy: Path) -> None:
    """Copy the files of the checkout that are new or changed, and delete those that are gone."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    files = {name for name in listed if name and (ROOT / name).is_file()}
    links = {name for name in listed if name and (ROOT / name).is_symlink()}
    for place in sorted(copy.rglob("*")):
        name = place.relative_to(copy).as_posix()
        if place.is_file() and "__pycache__" not in name and name not in files | links:
            place.unlink()
    for name in sorted(files | links):
        source = ROOT / name
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name in links:
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
        elif not target.exists() or source.read_bytes() != target.read_bytes():
            shutil.copy2(source, target)


def main() -> None:
    """Copy the checkout, collect its tests and draw mutants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="for the copy and its compiled code")
    parser.add_argument("--under", nargs="+", default=[""], help="folders; commas join some")
    parser.add_argument("--tiers", nargs="+", choices=OUTCOMES, default=list(OUTCOMES))
    parser.add_argument("--tests", nargs="+", default=[], help="test files, not the nearest ones")
    parser.add_argument("--executed", nargs="+", default=[], help="data of executed_lines.py")
    parser.add_argument("--lines", nargs="+", help="every mutant of some lines: cli.py:30")
    for option, default in (("--number", 30), ("--seed", 0), ("--seconds", 60), ("--skip", 0)):
        parser.add_argument(option, type=int, default=default)
    options = parser.parse_args()
    copy = options.folder.resolve() / "copy"
    copy_checkout(copy)
    use_copy(copy)
    marks = QUICK if options.tiers == [QUICK] else ""
    basetemp = ["--basetemp", str(copy.parent / "temporary")]
    raise SystemExit(
        pytest.main(
            [*PYTEST, "-s", "-m", marks, *basetemp, *options.tests],
            plugins=[MutantSession(copy, options)],
        )
    )


if __name__ == "__main__":
    main()
