"""A faulty table of gene groups gives one line before any job runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import Study

from genesig.cli import main
from genesig.data.study.gene_columns import read_groups

GROUP_FAULTS = {
    "no group": (
        "gene\tset\ngene1\t\n",
        "none of its 0 genes with a group is in the data (say 'gene1')",
    ),
    "two groups": (
        "gene\tset\ngene1\ta\ngene1\tb\n",
        "gene 'gene1' is in the groups 'a' and 'b'; groups must not overlap",
    ),
    "other genes": (
        "gene\tset\nx\ta\ny\t\n",
        "none of its 1 genes with a group is in the data (say 'gene1')",
    ),
}


def _study(tmp_path: Path, table: str, **settings: object) -> Study:
    study = Study(tmp_path)
    study.set("nonlinear", {"penalty": "group", "groups": "sets.tsv", **settings})
    study.files["sets.tsv"] = table.encode()
    study.write()
    return study


def _validate(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("name", GROUP_FAULTS)
def test_faulty_group_table_gives_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, message = GROUP_FAULTS[name]
    _study(tmp_path, table)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    assert f"error: sets.tsv: {message}" in _validate(capsys)


def test_a_missing_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _study(tmp_path, "gene\tset\ngene1\ta\n")
    (tmp_path / "sets.tsv").unlink()
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    assert any("sets.tsv" in line for line in _validate(capsys))


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        ({}, []),
        ({"enabled": False, "groups": "nowhere.tsv"}, []),
        (
            {"penalty": "lasso"},
            [
                "warning: config.yaml, nonlinear.groups: is not used with nonlinear.penalty: "
                "lasso; set nonlinear.penalty: group"
            ],
        ),
    ],
)
def test_sound_group_table_gives_only_the_expected_warnings(
    settings: dict[str, object],
    messages: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _study(tmp_path, "gene\tset\ngene1\ta\ngene2\ta\nunknown\ta\n", **settings)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    assert _validate(capsys) == messages


def test_genes_without_a_group_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_text("gene,set\ng1,a\ng2,\ng1,a\n")
    assert read_groups(str(tmp_path / "sets.csv"), ["g1"]) == {"g1": "a"}


def test_a_table_of_mostly_other_genes_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _study(tmp_path, "gene\tset\ngene1\ta\nx\ta\ny\tb\n")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    message = "warning: sets.tsv: 2 of its 3 genes with a group are not in the data: 'x', 'y'"
    assert _validate(capsys) == [message]
