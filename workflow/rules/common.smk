import ast
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

from genesig.data.readers import load_schema
from genesig.data.validate import resolve_config
from genesig.errors import InvalidInput

ROOT = Path(workflow.basedir)

try:
    config.update(resolve_config(config, load_schema()))
except InvalidInput as problems:
    raise WorkflowError(f"the config cannot be used:\n{problems}") from None


@cache
def imports(path):
    """Return the files of the package that one of its files, or a script, imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [
                node.module,
                *(f"{node.module}.{alias.name}" for alias in node.names),
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            place = ROOT / name.replace(".", "/")
            found |= {
                f
                for f in (place.with_suffix(".py"), place / "__init__.py")
                if f.exists()
            }
    return frozenset(found)


@cache
def sources(script):
    """Return every file of the package that a script needs.

    Snakemake sees an edited script but not an edited module; as inputs of the rule, the modules
    rerun just what depends on them. Templates belong to the modules beside them.
    """
    todo, seen = [ROOT / "workflow/scripts" / script], set()
    while todo:
        for path in imports(todo.pop()) - seen:
            seen.add(path)
            todo.append(path)
    beside = [
        f
        for module in seen
        for f in module.parent.iterdir()
        if f.suffix in {".j2", ".css", ".js"}
    ]
    return sorted({str(f) for f in [*seen, *beside]})


def batches(labels):
    """Return the files of all batches of the outer splits under some labels."""
    count = config["splits"]["batches"]
    return [f"results/linear/{labels}/{i}of{count}.npz" for i in range(1, count + 1)]


def permuted():
    """Return the files of all batches of all label permutations."""
    last, step = (
        config["controls"]["permutations"],
        config["controls"]["permutations_per_job"],
    )
    ranges = [
        (first, min(first + step - 1, last)) for first in range(1, last + 1, step)
    ]
    return [file for a, b in ranges for file in batches(f"permuted-{a:03d}-{b:03d}")]


def optional(*paths):
    """Return those of the config's optional files that are set."""
    return [path for path in paths if path]
