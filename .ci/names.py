"""Measure how far names explain themselves; exit with 1 above a limit.

    python .ci/names.py [--list N]

vague
    share of assigned local names that are a pronoun, a participle or another word that says nothing
    of the value (`it`, `one`, `found`, `said`), in per cent
packed
    share of assignments that put unrelated values into several names (`a, b = x, y`), in per cent
shared
    constants and classes of one name that more than two files define
unformatted
    comments `fmt: skip` and `fmt: off`

The words are examples: to replace `one` by `item` mends nothing. --list prints the N most frequent
offenders with their places.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VAGUE_TEXT = """
above again alike along also anything apart asked away below beside both came come
counted data2 done each every everything first foo found further give given go gone got
held here hold inside it its keep kept known last left made make mine more most moved
named nothing one other others outside own put rest said say see seen show shown some
somebody something sought stuff such take taken tell them there these they thing things
those tmp together told too took turned wanted way went what where which who whole whom
"""
VAGUE_WORDS = frozenset(VAGUE_TEXT.split())
LIMITS = {
    "genesig": {"vague": 1.0, "packed": 1.0, "shared": 15, "unformatted": 0},
    "workflow": {"vague": 1.0, "packed": 1.0, "shared": 15, "unformatted": 0},
    "benchmarks": {"vague": 1.0, "packed": 1.0, "shared": 15, "unformatted": 0},
}
MAX_FILES_OF_NAME = 2
MAX_PLACES = 4


class Names(NamedTuple):
    """Names of one folder."""

    places_of_vague_names: dict[str, list[str]]
    n_local_names: int
    n_assignments: int
    n_packed_assignments: int
    files_of_shared_names: dict[str, set[str]]
    n_unformatted: int

    def figures(self) -> dict[str, float]:
        """Return the four figures that have limits."""
        n_vague = sum(map(len, self.places_of_vague_names.values()))
        return {
            "vague": 100 * n_vague / max(1, self.n_local_names),
            "packed": 100 * self.n_packed_assignments / max(1, self.n_assignments),
            "shared": len(self.files_of_shared_names),
            "unformatted": self.n_unformatted,
        }


def module_names(tree: ast.Module) -> Iterator[str]:
    """Yield the constants and classes that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def local_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each assigned name and parameter with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def assignments(tree: ast.Module) -> Iterator[ast.Assign]:
    """Yield the assignments inside functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (node for node in ast.walk(function) if isinstance(node, ast.Assign))


def is_packed(assignment: ast.Assign) -> bool:
    """Return whether an assignment puts a tuple of values into as many names."""
    target = assignment.targets[0]
    value = assignment.value
    return (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    )


def read_names(folder: str) -> Names:
    """Return the names in the Python files of a folder of the project."""
    places_of_vague_names = defaultdict(list)
    files_of_names = defaultdict(set)
    n_local_names = n_assignments = n_packed_assignments = n_unformatted = 0
    for path in sorted((ROOT / folder).rglob("*.py")):
        file_name = str(path.relative_to(ROOT))
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        n_unformatted += text.count("# fmt: skip") + text.count("# fmt: off")
        for name in module_names(tree):
            if not name.startswith("__"):
                files_of_names[name].add(file_name)
        for name, line in local_names(tree):
            n_local_names += 1
            if name.strip("_").lower() in VAGUE_WORDS:
                places_of_vague_names[name].append(f"{file_name}:{line}")
        packed = Counter(map(is_packed, assignments(tree)))
        n_assignments += packed.total()
        n_packed_assignments += packed[True]
    shared = {n: files for n, files in files_of_names.items() if len(files) > MAX_FILES_OF_NAME}
    return Names(
        dict(places_of_vague_names),
        n_local_names,
        n_assignments,
        n_packed_assignments,
        shared,
        n_unformatted,
    )


def print_offenders(names: Names, n_offenders: int) -> None:
    """Print the most frequent vague and shared names with some of their places."""
    vague_names = sorted(names.places_of_vague_names.items(), key=lambda item: -len(item[1]))
    for name, places in vague_names[:n_offenders]:
        print(f"{len(places):5d} {name:12s} {', '.join(places[:MAX_PLACES])}")
    shared_names = sorted(names.files_of_shared_names.items(), key=lambda item: -len(item[1]))
    for name, files in shared_names[:n_offenders]:
        print(f"{len(files):5d} files define {name}: {', '.join(sorted(files)[:MAX_PLACES])}")


def main() -> None:
    """Print the figures of each folder with limits; exit with 1 if one is above its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", type=int, default=0, metavar="N", dest="n_offenders")
    arguments = parser.parse_args()
    is_above = False
    for folder, limits in LIMITS.items():
        names = read_names(folder)
        print_offenders(names, arguments.n_offenders)
        figures = names.figures()
        print(
            f"{folder}: "
            + ", ".join(f"{k} {v:.1f} (at most {limits[k]})" for k, v in figures.items())
        )
        is_above |= any(value > limits[key] for key, value in figures.items())
    raise SystemExit(is_above)


if __name__ == "__main__":
    main()
