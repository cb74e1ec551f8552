"""A package that adds one of each kind to genesig, as a group would write it.

Its entry points, in its pyproject.toml:

    [project.entry-points."genesig.formats"]
    ".pairs" = "example_plugin:PAIRS"
    [project.entry-points."genesig.steps"]
    shift = "example_plugin:Shift"
    [project.entry-points."genesig.baselines"]
    first_gene = "example_plugin:FIRST_GENE"
    [project.entry-points."genesig.penalties"]
    mild = "example_plugin:mild"
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.text import number_matrix
from genesig.optim.nonlinear.problem import Penalty

POINTS = {
    "formats": {".pairs": "example_plugin:PAIRS"},
    "steps": {"shift": "example_plugin:Shift"},
    "baselines": {"first_gene": "example_plugin:FIRST_GENE"},
    "penalties": {"mild": "example_plugin:mild"},
}


def pairs(content: str, source_name: str, part: str | None):
    """Read lines of gene, sample and value."""
    cells = [line.split() for line in content.splitlines()]
    genes, samples = (list(dict.fromkeys(row[k] for row in cells)) for k in (0, 1))
    X = np.full((len(genes), len(samples)), np.nan)
    for gene, sample, value in cells:
        X[genes.index(gene), samples.index(sample)] = float(value)
    return number_matrix(genes, samples, X)


PAIRS = Format("a table of pairs", pairs, suffixes=(".pairs",))


@dataclass(frozen=True)
class Shift:
    """Adds a number to each value."""

    amount: float
    kind: ClassVar[str] = "sample"
    genes: ClassVar[None] = None
    settings: ClassVar[dict] = {
        "amount": {"type": "number", "default": 1.0, "description": "What is added."}
    }

    def transform(self, X):
        return X + self.amount


COLUMNS_SEEN = []


def first_gene(X, y, X_test, inner, random_state, genes):
    COLUMNS_SEEN.append(genes)  # a table: ids of the columns, and their symbols
    return X_test[:, 0] - X[:, 0].mean()


FIRST_GENE = {"classification": first_gene}
SHORT = {"classification": lambda X, y: X[:, 0]}  # what genesig refuses


class Amount(Shift):
    settings: ClassVar[dict] = {"factor": Shift.settings["amount"]}


class Blind(Shift):
    def transform(self):
        return None


class Narrow(Shift):
    settings: ClassVar[dict] = {}
    amount: ClassVar[float] = 0.0

    def __init__(self):
        pass

    def transform(self, X):
        return X[:, :2]


class Raising(Shift):
    settings: ClassVar[dict] = {}
    amount: ClassVar[float] = 0.0

    def __init__(self):
        pass

    def transform(self, X):
        raise RuntimeError("of its own")


def no_symbol(X, y, X_test, inner, random_state, genes):
    return X_test[:, list(genes["symbol"]).index("TP53")]


def few(X, y, X_test, inner, random_state):
    return X_test[:1, 0]


def blank(X, y, X_test, inner, random_state):
    return np.full(len(X_test), np.nan)


NO_SYMBOL, FEW, BLANK = ({"classification": preset} for preset in (no_symbol, few, blank))


def mild(tau, n, block, weights, mu):
    return Penalty(np.full(len(block), 0.5 * tau / np.sqrt(n)), np.arange(len(block)))


def install(folder: Path, points=POINTS) -> None:
    """Lay this package out in a folder as pip would, with its entry points."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(__file__, folder / "example_plugin.py")
    home = folder / "example_plugin-1.5.dist-info"
    home.mkdir(exist_ok=True)
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: example-plugin\nVersion: 1.5\n")
    lines = [
        line
        for group, entry_points in points.items()
        for line in (
            f"[genesig.{group}]",
            *(f"{name} = {aim}" for name, aim in entry_points.items()),
        )
    ]
    (home / "entry_points.txt").write_text("\n".join(lines) + "\n")
