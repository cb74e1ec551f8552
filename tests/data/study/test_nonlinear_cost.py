"""Hours of nonlinear selection are said beforehand, by `genesig validate`."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from genesig.cli import main


def said(folder: Path, n: int, capsys: pytest.CaptureFixture[str], **nonlinear: object) -> str:
    names = [f"S{k:03d}" for k in range(n)]
    values = np.random.default_rng(0).normal(8, 2, (3, n))
    rows = [f"g{j}\t" + "\t".join(f"{v:.3f}" for v in row) for j, row in enumerate(values)]
    (folder / "e.tsv").write_text("\n".join(["gene\t" + "\t".join(names), *rows]) + "\n")
    sheet = [f"{name}\t{'ab'[k % 2]}" for k, name in enumerate(names)]
    (folder / "s.tsv").write_text("\n".join(["sample\tclass", *sheet]) + "\n")
    config = {"expression": "e.tsv", "samples": "s.tsv", "label": "class", "nonlinear": nonlinear}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", "config.yaml"]) == 0
    return capsys.readouterr().err


def test_many_samples_take_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "config.yaml, nonlinear: takes about" in said(tmp_path, 800, capsys)
    assert "hours of one processor" in said(tmp_path, 800, capsys)
    assert "nonlinear" not in said(tmp_path, 800, capsys, enabled=False)
    assert "nonlinear" not in said(tmp_path, 60, capsys)
