"""Small studies whose sample tables are as portals and programs export them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from genesig.cli import main

N_GENES = 30
QUICK_SECTIONS: dict[str, Any] = {
    "splits": {"folds": 3, "inner_folds": 3, "repeats": 1, "subsamples": 0},
    "controls": {"permutations": 0},
    "signature": {"permutations": 0},
    "nonlinear": {"enabled": False},
}
Rows = Sequence[Sequence[str]]


def table_text(rows: Rows, delimiter: str = "\t") -> str:
    """Return the lines of a table."""
    return "".join(delimiter.join(row) + "\n" for row in rows)


def write_matrix(
    path: Path, names: Sequence[str], genes: Sequence[str] = (), seed: int = 1
) -> None:
    """Write logged values of genes in rows; the names head the columns."""
    genes = genes or [f"G{k:03}" for k in range(N_GENES)]
    values = np.random.default_rng(seed).normal(8, 1, (len(genes), len(names))).round(3)
    rows = [[gene, *map(str, line)] for gene, line in zip(genes, values.tolist(), strict=True)]
    path.write_text(table_text([["gene", *names], *rows]))


class OddStudy:
    """A folder with a matrix, a sample table and a config; runs the command line in it."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.capsys = capsys
        self.sheet = "s.tsv"
        monkeypatch.chdir(folder)

    def write(
        self, names: Sequence[str], sheet: str, file: str = "s.tsv", genes: Sequence[str] = ()
    ) -> None:
        """Write the matrix of these samples, and the text of their sample table."""
        write_matrix(self.folder / "e.tsv", names, genes)
        (self.folder / file).write_text(sheet)
        self.sheet = file

    def validate(self, label: Any = "diagnosis", **config: Any) -> tuple[str, str]:
        """Return the sentence and the problems of ``genesig validate``."""
        return self.validate_config(
            {"expression": "e.tsv", "samples": self.sheet, "label": label, **config}
        )

    def validate_config(self, config: dict[str, Any]) -> tuple[str, str]:
        """Return the same for a whole config."""
        Path("c.yaml").write_text(yaml.safe_dump({**QUICK_SECTIONS, **config}))
        self.capsys.readouterr()
        main(["validate", "c.yaml"])
        printed = self.capsys.readouterr()
        return printed.out, printed.err

    def init(self) -> dict[str, Any]:
        """Return the config that ``genesig init`` writes for the two files."""
        assert main(["init", "new", "--expression", "e.tsv", "--samples", self.sheet]) == 0
        config: dict[str, Any] = yaml.safe_load(Path("new/config.yaml").read_text())
        return config


@pytest.fixture
def odd_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> OddStudy:
    """Return an empty study in a folder of its own."""
    return OddStudy(tmp_path, monkeypatch, capsys)
