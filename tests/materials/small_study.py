"""A small study without fault, another cohort beside it, and their files, to be broken in tests."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import resolve_config
from genesig.data.study.settings import CohortSettings

# A small study without fault, and its files, for tests that break one thing at a time.

SAMPLES = [f"P{k:02d}" for k in range(1, 13)]
GENES = [f"gene{k}" for k in range(1, 9)]


def _sheet() -> list[list[str]]:
    rows = [["sample", "diagnosis", "family", "matched", "set", "age"]]
    for k, name in enumerate(SAMPLES):
        side = "train" if k < 8 else "test"
        kind = "tumor" if k % 2 else "normal"
        rows.append([name, kind, f"family{k // 2}", f"pair{k // 2}", side, str(40 + 3 * k)])
    return rows


def _matrix() -> list[list[str]]:
    values = np.random.default_rng(1).normal(8, 2, (len(GENES), len(SAMPLES)))
    rows = [[gene, *(f"{v:.3f}" for v in row)] for gene, row in zip(GENES, values, strict=True)]
    return [["gene", *SAMPLES], *rows]


@dataclass
class Study:
    """Tables as lists of rows; `files` overrides what a file holds."""

    root: Path
    sheet: list[list[str]] = field(default_factory=_sheet)
    matrix: list[list[str]] = field(default_factory=_matrix)
    config: dict[str, Any] = field(
        default_factory=lambda: {
            "expression": "expression.tsv",
            "samples": "samples.tsv",
            "label": "diagnosis",
            "splits": {"folds": 3, "inner_folds": 2, "repeats": 1, "subsamples": 4},
        }
    )
    files: dict[str, bytes] = field(default_factory=dict)

    def set(self, key: str, value: Any) -> None:
        """Set a dotted key of the config."""
        *sections, setting = key.split(".")
        place = self.config
        for section in sections:
            if not isinstance(place.get(section), dict):
                place[section] = {}
            place = place[section]
        place[setting] = value

    def column(self, name: str, values: list[str]) -> None:
        """Overwrite a column of the sample table."""
        place = self.sheet[0].index(name)
        for row, value in zip(self.sheet[1:], values, strict=True):
            row[place] = value

    def write(self) -> Path:
        """Write every file; return the config's path."""
        files = {
            "samples.tsv": as_text(self.sheet),
            "expression.tsv": as_text(self.matrix),
            "config.yaml": yaml.safe_dump(self.config).encode(),
        }
        write_files(self.root, files | self.files)
        return self.root / "config.yaml"


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write files, folders between them as needed."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def as_text(rows: list[list[str]], delimiter: str = "\t", end: str = "\n") -> bytes:
    """Write a table."""
    return "".join(delimiter.join(row) + end for row in rows).encode()


def zipped(rows: list[list[str]]) -> bytes:
    """Write a gzip file."""
    return gzip.compress(as_text(rows), mtime=0)


# A small data set of another study beside the one of `small_study`, to be broken in tests.

NAMES = [f"X{k}" for k in range(1, 9)]
WORDS = {"RA": "tumor", "control": "normal"}


def _cohort_sheet() -> list[list[str]]:
    rows = [[name, "RA" if k % 2 else "control", f"b{k // 4}"] for k, name in enumerate(NAMES)]
    return [["id", "status", "run"], *rows]


def _cohort_matrix() -> list[list[str]]:
    values = np.random.default_rng(2).normal(8, 2, (len(GENES), len(NAMES)))
    rows = [[gene, *(f"{v:.3f}" for v in row)] for gene, row in zip(GENES, values, strict=True)]
    return [["gene", *NAMES], *rows]


@dataclass
class Other:
    """Tables as lists of rows, and the item of the config's section ``external``."""

    sheet: list[list[str]] = field(default_factory=_cohort_sheet)
    matrix: list[list[str]] = field(default_factory=_cohort_matrix)
    item: dict[str, Any] = field(
        default_factory=lambda: {
            "name": "other",
            "expression": "other.tsv",
            "samples": "other_samples.tsv",
            "label": "status",
            "classes": dict(WORDS),
        }
    )

    def settings(self, **changes: Any) -> CohortSettings:
        """Return the settings of the item, with the defaults of the schema."""
        names = {"expression": "e.tsv", "samples": "s.tsv", "label": "l"}
        config = resolve_config({**names, "external": [self.item | changes]}, load_schema())
        return CohortSettings(**config["external"][0])

    def write(self, study: Study) -> None:
        """Write the study with this data set as its external one."""
        study.files |= {"other.tsv": as_text(self.matrix)}
        study.files |= {"other_samples.tsv": as_text(self.sheet)}
        study.set("external", [self.item])
        study.write()
