"""Check the source tree: registries are complete, jobs import little, nothing is left to do.

    python .ci/structure.py

Prints one line for each problem: file, what is missing, what to do. Exits with 1 if there is any.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from json import dumps
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the package beside this script

from genesig.data.files.formats.interface import Format
from genesig.data.files.readers import FORMATS
from genesig.data.steps import normalise
from genesig.data.steps.alignment import ALIGNERS
from genesig.models import baselines
from genesig.optim import kernels, solvers
from genesig.optim.nonlinear import problem as nonlinear_problem
from genesig.optim.nonlinear import solvers as nonlinear_solvers
from genesig.optim.structured import solvers as structured_solvers
from genesig.report import data as report_data
from genesig.report import sections
from genesig.report.page.measure import MODELS
from genesig.response.design import SEVERAL_CLASSES
from genesig.response.kinds import RESPONSES, ByKind
from genesig.selection.model import schema

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "genesig"
SCHEMA = "workflow/schemas/config.schema.yaml"

# Modules of the report that put topics together; every other module but `page` is a topic.
ASSEMBLY = {"card", "collect", "methods", "record", "render", "sections"}

# Classes of steps that a registered step makes when it is fitted.
MADE_BY_STEPS = {"KeptGenes"}

# Kinds that a table need not have: a table of two classes only, of order only, of times only.
KINDS_LEFT_OUT = {
    "genesig.selection.assess.patients_tables.EFFECT_MEASURES": {SEVERAL_CLASSES},
    "genesig.report.patients.BIAS_PENALTY": {"regression"},
    "genesig.report.patients.FOLLOW_UP_METHOD": {"classification", SEVERAL_CLASSES, "regression"},
}

# Jobs that run no compiled code; loading the compiler would cost each of them 0.2 s.
PLAIN_JOBS = (
    *("controls", "export", "gather", "model", "normalise", "null", "quality", "read", "report"),
    *("report_data", "split", "validate"),
)
# Packages that cost a job between 0.3 s and several seconds.
SLOW_PACKAGES = {"anndata", "cvxpy", "matplotlib", "pandas", "sklearn", "snakemake"}
COMPILER = {"numba", "scipy"}
SELECT_FEATURE_VECTORS = (
    "import numpy as np; from genesig.optim.feature_vectors import select_feature_vectors;"
    " X = np.random.default_rng(0).normal(size=(20, 6));"
    " select_feature_vectors(X, np.sign(X[:, 0]), n_features=2, bins=4)"
)

# Only these modules open files, so that every other one can be tested without any.
MODULES_OPENING_FILES = {
    *("compiled/cache.py", "data/files/content.py", "data/files/readers.py", "log.py"),
    *("machine.py", "report/methods.py", "report/render.py"),
}
OPENING_FUNCTIONS = {
    *("open", "read_text", "write_text", "read_bytes", "write_bytes"),
    *("read_csv", "to_csv", "loadtxt", "savetxt", "genfromtxt", "fromfile", "tofile"),
    *("savez", "savez_compressed", "memmap", "read_h5ad", "write_h5ad"),
}
BUFFERS = ("StringIO(", "BytesIO(", "os.devnull", "temporary_path")
"""Arguments that are no path of a user; `genesig.results.whole_file` gives temporary paths."""

TOP_LEVEL = {
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "Snakefile", "llms.txt"),
    "pyproject.toml",
    *("benchmarks", "config", "docs", "genesig", "resources", "tests", "workflow"),
    "profiles",  # a link: Snakemake looks for its default profile beside the Snakefile
    *(".ci", ".github", ".gitignore", ".pre-commit-config.yaml", ".test", ".zenodo.json"),
    ".snakemake-workflow-catalog.yml",
}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b|raise NotImplemented" r"Error")


@cache
def syntax_trees() -> dict[Path, ast.Module]:
    """Return the syntax tree of each module of the package, by its path within genesig/."""
    return {
        path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def folder_modules(folder: str) -> list[ModuleType]:
    """Import the modules that lie in a folder of the package."""
    names = sorted(path.stem for path in (PACKAGE / folder).glob("*.py"))
    package = f"genesig.{folder.replace('/', '.')}"
    return [import_module(f"{package}.{name}") for name in names if name != "__init__"]


def check_formats() -> Iterator[str]:
    """Yield file formats outside their registry, and suffixes outside the table of formats."""
    for module in folder_modules("data/files/formats"):
        for name, value in vars(module).items():
            if isinstance(value, Format) and not any(value is format_ for format_ in FORMATS):
                where = "genesig/data/files/readers.py, FORMATS"
                yield f"{where}: no line for {module.__name__}.{name}"
    names = [format_.name for format_ in FORMATS]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"genesig/data/files/readers.py, FORMATS: two formats have the name {name!r}"
    for format_ in FORMATS:
        if not (format_.suffixes or format_.opening):
            yield f"genesig/data/files: format {format_.name!r} needs `suffixes` or `opening`"
    table = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| [^|]+ \| ([^|]*\.[^|]*) \|", table, re.MULTILINE)
    documented = {suffix.lower() for cell in cells for suffix in cell.split()}
    for suffix in sorted({s for format_ in FORMATS for s in format_.suffixes} - documented):
        yield f"docs/reference/formats.md, table of formats: no row with {suffix}"


def check_steps() -> Iterator[str]:
    """Yield classes of normalisation steps that the registry lacks."""
    registered = {
        step if inspect.isclass(step) else type(step) for step in normalise.NORMALISERS.values()
    }
    for module in folder_modules("data/steps"):
        for name, value in inspect.getmembers(module, inspect.isclass):
            # A class with subclasses is the base of steps.
            is_step = (
                getattr(value, "kind", None) in ("sample", "fold", "batch")
                and not value.__subclasses__()
            )
            if not is_step or value.__module__ != module.__name__ or name in MADE_BY_STEPS:
                continue
            if value not in registered:
                where = "genesig/data/steps/normalise.py, NORMALISERS"
                yield f"{where}: no line for {module.__name__}.{name}"


def check_members() -> Iterator[str]:
    """Yield members of one registry that a table beside it lacks, and the reverse."""
    settings = yaml.safe_load((ROOT / SCHEMA).read_text(encoding="utf-8"))
    sections = settings["properties"]
    nonlinear = sections["nonlinear"]["properties"]
    baseline_names = sections["controls"]["properties"]["baselines"]["items"]["enum"]
    step_names = settings["$defs"]["step"]["properties"]["step"]["enum"]
    steps, moments = set(normalise.NORMALISERS), set(normalise.MOMENT_STEPS)
    model_steps = schema.STEP_FIELDS.keys() - ALIGNERS.keys()
    tasks = sections["data"]["properties"]["task"]["enum"]
    named_models = MODELS.keys() & baselines.BASELINES.keys()
    for where, needed, members in (
        (f"{SCHEMA}, $defs.step", steps, step_names),
        ("genesig/report/data.py, STEP_TEXTS", steps, report_data.STEP_TEXTS),
        ("genesig/selection/model/schema.py, STEPS", steps - moments, model_steps),
        (f"{SCHEMA}, controls.baselines", baselines.BASELINES, baseline_names),
        ("genesig/report/page/measure.py, MODELS", baselines.BASELINES, named_models),
        (f"{SCHEMA}, nonlinear.penalty", nonlinear_problem.PENALTIES, nonlinear["penalty"]["enum"]),
        (f"{SCHEMA}, nonlinear.kernel", kernels.KERNELS, nonlinear["kernel"]["enum"]),
        (f"{SCHEMA}, data.task", {*RESPONSES} - {SEVERAL_CLASSES}, {*tasks} - {SEVERAL_CLASSES}),
    ):
        yield from missing_members(where, needed, members)
    published = (ROOT / "docs/model.schema.json").read_text(encoding="utf-8")
    if published != f"{dumps(schema.SCHEMA, indent=1)}\n":
        yield "docs/model.schema.json: is not the current schema; docs/CONTRIBUTING.md writes it"


def missing_members(where: str, needed: Iterable[str], members: Iterable[str]) -> Iterator[str]:
    """Yield what only one of two sets of names has."""
    needed, members = {*needed}, {*members}
    for name in sorted(needed - members):
        yield f"{where}: no line for {name!r}"
    for name in sorted(members - needed):
        yield f"{where}: {name!r} is in no registry"


def check_functions() -> Iterator[str]:
    """Yield public functions that the registry of their module lacks, by their return type."""
    baseline_functions = [
        function for kinds in baselines.BASELINES.values() for function in kinds.values()
    ]
    structured = [structured_solvers.structured_path, *structured_solvers.BLOCK_SOLVERS.values()]
    for module, returned, registry in (
        (nonlinear_problem, "Penalty", nonlinear_problem.PENALTIES.values()),
        (kernels, "Kernel", kernels.KERNELS.values()),
        (nonlinear_solvers, "Minimum", nonlinear_solvers.SOLVERS.values()),
        (structured_solvers, "Minimisers", structured),
        (baselines, "Array", baseline_functions),
    ):
        registered = {function.__name__ for function in registry}
        for name, function in inspect.getmembers(module, inspect.isfunction):
            is_public = function.__module__ == module.__name__ and not name.startswith("_")
            returns = inspect.signature(function).return_annotation
            if is_public and returns == returned and name not in registered:
                yield f"{module.__name__}: its registry has no line for {name}"
    registered = {solver.__module__ for solver in solvers.SOLVERS.values()}
    for module in folder_modules("optim/solvers"):
        if module.__name__ not in registered:
            yield f"genesig/optim/solvers/__init__.py, SOLVERS: no solver of {module.__name__}"


def tables_by_kind() -> dict[str, dict[str, Any]]:
    """Return the tables with a line for each kind of response, by module and name."""
    tables = {"genesig.models.baselines.BASELINES['dummy']": baselines.BASELINES["dummy"]}
    for path in syntax_trees():
        if "ByKind(" not in (PACKAGE / path).read_text(encoding="utf-8"):
            continue
        module = import_module(".".join(["genesig", *path.with_suffix("").parts]))
        tables |= {
            f"{module.__name__}.{name}": value
            for name, value in vars(module).items()
            if isinstance(value, ByKind)
        }
    return tables


def check_kinds() -> Iterator[str]:
    """Yield tables that lack a kind of response, and code that compares kinds."""
    own_kinds = {kind for kind, response in RESPONSES.items() if response.like is None}
    for where, table in tables_by_kind().items():
        for kind in sorted(own_kinds - set(table) - KINDS_LEFT_OUT.get(where, set())):
            yield f"{where}: no line for {kind!r}; or say in RESPONSES what it is `like`"
        for kind in sorted(set(table) - RESPONSES.keys()):
            yield f"{where}: {kind!r} is not in RESPONSES"
    words = {"SEVERAL_CLASSES", *(f'"{kind}"' for kind in RESPONSES)}
    for path, tree in syntax_trees().items():
        text = (PACKAGE / path).read_text(encoding="utf-8")
        if not any(word in text for word in words):
            continue
        for line in compared_kinds(tree):
            yield f"genesig/{path}:{line}: compares the name of a kind; put it into its record"
        if path.as_posix() not in ("response/kinds.py", "models/baselines.py"):
            for line in bare_tables(tree):
                yield f"genesig/{path}:{line}: a dict by kind; write ByKind({{...}})"


def compared_kinds(tree: ast.Module) -> set[int]:
    """Return the lines of the comparisons with the name of a kind of response."""
    return {
        constant.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.match_case)
        for constant in ast.walk(node.pattern if isinstance(node, ast.match_case) else node)
        if isinstance(constant, ast.Constant) and constant.value in RESPONSES
    }


def bare_tables(tree: ast.Module) -> set[int]:
    """Return the lines of the dicts by two or more kinds that are no `ByKind`."""
    kinds = {*map(repr, RESPONSES), "SEVERAL_CLASSES"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    wrapped = {
        id(argument)
        for call in calls
        if getattr(call.func, "id", "") == "ByKind"
        for argument in call.args
    }
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        and id(node) not in wrapped
        and len(kinds & {ast.unparse(key) for key in node.keys if key}) > 1
    }


def report_imports(tree: ast.Module) -> set[str]:
    """Return the parts of the report that a module imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[2] for name in names if name.startswith("genesig.report.")}


def check_topics() -> Iterator[str]:
    """Yield topics of the report that are in no list, and imports of a topic from outside."""
    parts = {path.stem for path in (PACKAGE / "report").iterdir() if path.suffix in ("", ".py")}
    topics = parts - ASSEMBLY - {"page", "__init__", "__pycache__"}
    writers = [*sections.SECTIONS.values(), *sections.FIRST_SCREEN_FUNCTIONS]
    listed = {function.__module__.split(".")[2] for function in writers}
    for topic in sorted(topics - listed):
        yield f"genesig/report/sections.py, SECTIONS: no line for {topic!r}"
    for path, tree in syntax_trees().items():
        part = Path(path.parts[1]).stem if path.parts[0] == "report" else ""
        if part not in ASSEMBLY:
            for topic in sorted(report_imports(tree) & topics - {part}):
                yield f"genesig/{path}: imports topic {topic!r}; only {sorted(ASSEMBLY)} may"
        if part in topics:
            for name in sorted(report_imports(tree) & ASSEMBLY):
                yield f"genesig/{path}: a topic imports {name!r}; it may import `page` only"


def check_opened_files() -> Iterator[str]:
    """Yield calls that open a file outside the modules which may."""
    for path, tree in syntax_trees().items():
        if path.parts[0] == "results" or path.as_posix() in MODULES_OPENING_FILES:
            continue
        for node in ast.walk(tree):
            function = getattr(node, "func", None)
            name = getattr(function, "attr", getattr(function, "id", ""))
            if name not in OPENING_FUNCTIONS:
                continue
            text = ast.unparse(node)
            if not any(buffer in text for buffer in BUFFERS):
                yield f"genesig/{path}:{node.lineno}: {text} opens a file; use genesig.results"


def import_claims() -> list[tuple[str, set[str]]]:
    """Return statements, each with the modules that a fresh interpreter must not load for it."""
    scripts = [ROOT / f"workflow/scripts/{name}.py" for name in PLAIN_JOBS]
    lines = [line for script in scripts for line in script.read_text("utf-8").splitlines()]
    loops = (
        "import genesig.selection.linear.nested_cross_validation, genesig.selection.nonlinear.loop"
    )
    return [
        ("import genesig", {*SLOW_PACKAGES, *COMPILER, "numpy"}),
        ("import genesig.results, genesig.errors", SLOW_PACKAGES | COMPILER),
        (loops, {*SLOW_PACKAGES, "numpy.f2py"}),  # f2py comes with subpackages of scipy
        (f"import genesig.selection.sets.loop; {SELECT_FEATURE_VECTORS}", SLOW_PACKAGES),
        ("; ".join(line for line in lines if line.startswith("from genesig")), {"numba"}),
        ("import genesig.report.card", {"matplotlib", "numba"}),
        ("import genesig.report.collect", {"matplotlib"}),
    ]


def slow_imports(statement: str, forbidden: set[str]) -> list[str]:
    """Return which of the forbidden modules a fresh interpreter loads for a statement."""
    code = f"import sys; {statement}; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return [f"failed: {done.stderr.strip().splitlines()[-1]}"]
    return sorted(forbidden & set(done.stdout.split()))


def check_imports() -> Iterator[str]:
    """Yield heavy modules that a job would load without using them."""
    claims = import_claims()
    with ThreadPoolExecutor(2) as pool:
        for (statement, _), loaded in zip(
            claims, pool.map(slow_imports, *zip(*claims, strict=True)), strict=True
        ):
            for module in loaded:
                yield f"`{statement[:70]}` loads {module}; import it inside the function instead"


def check_tracked_files() -> Iterator[str]:
    """Yield tracked files at the top that are not expected there, and marks of unfinished work."""
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        print(f"not a clone, tracked files are not checked: {listing.stderr.strip()}")
        return
    paths = [Path(line) for line in listing.stdout.splitlines()]
    for name in sorted({path.parts[0] for path in paths} - TOP_LEVEL):
        yield f"{name}: not expected at the top; move it, or add it to TOP_LEVEL in .ci"
    if not (ROOT / "profiles").is_symlink():
        yield "profiles: must be a link to workflow/profiles"
    for path in paths:
        if path.suffix in (".py", ".smk", ".md", ".yaml", ".toml") or path.name == "Snakefile":
            if not (ROOT / path).is_file():
                continue  # deleted, not committed yet
            lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, start=1):
                if match := UNFINISHED.search(line):
                    yield f"{path}:{number}: {match[0]}; finish it or remove it"


CHECKS = (
    *(check_formats, check_steps, check_members, check_functions, check_kinds, check_topics),
    *(check_opened_files, check_imports, check_tracked_files),
)


def main() -> int:
    """Run all checks; return 1 if one of them finds a problem."""
    problems = [problem for check in CHECKS for problem in check()]
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
