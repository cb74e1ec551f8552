"""Steps group genes by any column of the gene table, in validation and in the study."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import GENES, Study

from genesig.cli import main
from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.data.validate import resolve_config

TABLE = "gene\tsymbol\tentrez\n" + "".join(
    f"{gene}\tS{k}\t{k // 2 or ''}\n" for k, gene in enumerate(GENES)
)


def study(folder: Path, by: str) -> Study:
    study_files = Study(folder)
    study_files.set("data.annotation", "genes.tsv")
    steps = [{"step": "collapse", "by": by}, {"step": "centre"}, {"step": "unit_variance"}]
    study_files.set("normalise.folds", steps)
    study_files.files["genes.tsv"] = TABLE.encode()
    study_files.write()
    return study_files


def test_requested_gene_column_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study(tmp_path, "entrez")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    assert capsys.readouterr().err == ""
    config = resolve_config(read_config("config.yaml"), load_schema())
    gene_table = read_dataset(StudySettings.from_config(config), ["entrez"]).var
    assert gene_table["symbol"].tolist() == [f"S{k}" for k in range(len(GENES))]
    expected = [gene if k < 2 else str(k // 2) for k, gene in enumerate(GENES)]
    assert gene_table["entrez"].tolist() == expected


def test_symbol_is_the_study_s_whatever_its_column_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study_files = study(tmp_path, "symbol")
    study_files.files["genes.tsv"] = TABLE.replace("symbol", "name").encode()
    study_files.write()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    assert capsys.readouterr().err == ""


def test_symbols_are_those_of_the_setting_beside_another_column_of_this_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_files = study(tmp_path, "symbol")
    study_files.set("data.symbol", "name")
    named = TABLE.replace("symbol", "name").splitlines()
    lines = [named[0] + "\tsymbol", *(f"{line}\tother" for line in named[1:])]
    study_files.files["genes.tsv"] = ("\n".join(lines) + "\n").encode()
    study_files.write()
    monkeypatch.chdir(tmp_path)
    config = resolve_config(read_config("config.yaml"), load_schema())
    gene_table = read_dataset(StudySettings.from_config(config), ["symbol"]).var
    assert gene_table["symbol"].tolist() == [f"S{k}" for k in range(len(GENES))]


def test_a_column_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study(tmp_path, "entres")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "error: genes.tsv: normalise.folds, by 'entres' is not a column of genes.tsv; did you mean "
        "'entrez'?"
    )
