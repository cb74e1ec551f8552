"""A small data set of another study beside the one of `small_study`, to be broken in tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from small_study import GENES, Study, as_text

NAMES = [f"X{k}" for k in range(1, 9)]
WORDS = {"RA": "tumor", "control": "normal"}


def _sheet() -> list[list[str]]:
    rows = [[name, "RA" if k % 2 else "control", f"b{k // 4}"] for k, name in enumerate(NAMES)]
    return [["id", "status", "run"], *rows]


def _matrix() -> list[list[str]]:
    values = np.random.default_rng(2).normal(8, 2, (len(GENES), len(NAMES)))
    rows = [[gene, *(f"{v:.3f}" for v in row)] for gene, row in zip(GENES, values, strict=True)]
    return [["gene", *NAMES], *rows]


@dataclass
class Other:
    """Tables as lists of rows, and the item of the config's section ``external``."""

    sheet: list[list[str]] = field(default_factory=_sheet)
    matrix: list[list[str]] = field(default_factory=_matrix)
    item: dict[str, Any] = field(default_factory=lambda: {
        "name": "other", "expression": "other.tsv", "samples": "other_samples.tsv",
        "label": "status", "classes": dict(WORDS),
    })  # fmt: skip

    def write(self, study: Study) -> None:
        """Write the study with this data set as its external one."""
        study.files |= {"other.tsv": as_text(self.matrix)}
        study.files |= {"other_samples.tsv": as_text(self.sheet)}
        study.set("external", [self.item])
        study.write()
