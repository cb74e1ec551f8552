"""Exports of programs and portals that a new user names first, through init and validate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from genesig.cli import main

SAMPLES = [f"P{k:02d}" for k in range(16)]
LABELS = ["control", "case"] * 8
GENES = [f"G{k:03d}" for k in range(40)]
TEXT = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(name: str, rows: Sequence[Sequence[object]]) -> None:
    Path(name).write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))


def _sheet(
    labels: Sequence[str] = LABELS, label: str = "group", samples: Sequence[str] = SAMPLES
) -> None:
    _write("s.tsv", [["sample", label], *zip(samples, labels, strict=True)])


def _logged(n: int = len(SAMPLES)) -> list[list[float]]:
    values = np.random.default_rng(0).normal(8, 1.3, (len(GENES), n)).round(3)
    return [list(map(float, row)) for row in values]


def _matrix(header: Sequence[str], name: str = "e.tsv") -> None:
    rows = [[gene, *row] for gene, row in zip(GENES, _logged(len(header) - 1), strict=True)]
    _write(name, [header, *rows])


def _validate(capsys: TEXT, expression: str = "e.tsv", label: str = "group") -> tuple[int, str]:
    config = {"expression": expression, "samples": "s.tsv", "label": label}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    code = main(["validate", "c.yaml"])
    said = capsys.readouterr()
    return code, said.out + said.err


def _init(capsys: TEXT, expression: str = "e.tsv") -> tuple[int, str]:
    code = main(["init", "new", "-e", expression, "-s", "s.tsv"])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_blank_header_cell_without_a_shared_sample_is_one_line(capsys: TEXT) -> None:
    _matrix(["gene", "", *[f"other{k}" for k in range(15)]])
    _sheet()
    for code, said in (_init(capsys), _validate(capsys)):
        assert code == 1
        assert said.count("e.tsv: no sample of s.tsv is here") == 1
        assert "name the samples alike in both" in said
