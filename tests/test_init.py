"""`genesig init` writes a folder that becomes a study once the matrix is there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from genesig.cli import main
from genesig.data.readers import load_schema
from genesig.data.validate import resolve_config
from genesig.results.new_study import CONFIG, FILES

ROWS = ["gene\tsample_1\tsample_2\tsample_3\tsample_4", "g1\t1\t2\t3\t4.5", "g2\t2\t1\t5\t3"]


def test_the_folder_lacks_the_matrix_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "mine")]) == 0
    monkeypatch.chdir(tmp_path / "mine")
    assert sorted(p.as_posix() for p in Path().rglob("*") if p.is_file()) == sorted(FILES)
    capsys.readouterr()
    assert main(["validate", "config.yaml"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("error: data/expression.tsv: no such file")
    Path("data/expression.tsv").write_text("\n".join(ROWS))
    Path("config.yaml").write_text(CONFIG + "splits: {folds: 2, inner_folds: 2, subsamples: 0}\n")
    main(["validate", "config.yaml"])
    assert not [line for line in capsys.readouterr().err.splitlines() if "expression.tsv" in line]


def test_the_settings_it_proposes_exist() -> None:
    """Each commented line, taken out of its comment, is a valid config."""
    _, proposed = CONFIG.split("need.\n#\n")
    lines = [line.removeprefix("# ") for line in proposed.splitlines()]
    raw = yaml.safe_load(CONFIG) | yaml.safe_load("\n".join(lines))
    config = resolve_config(raw, load_schema())
    assert config["splits"]["scheme"] == "stratified_group_kfold"
    assert config["data"]["classes"] == ["control", "case"]


def test_the_way_to_resume_is_the_command_that_runs() -> None:
    """The lock lies in the study's folder, so the commands differ by --unlock alone."""
    readme = FILES["README.md"]
    lines = [line.strip() for line in readme.splitlines() if line.strip().startswith("snakemake ")]
    run, unlock, again = lines
    assert "--configfile config.yaml" in run
    assert (unlock, again) == (f"{run} --unlock", run)
    assert readme.index("`cd`") < readme.index(run)
    assert "a folder of its own" in readme


@pytest.mark.parametrize("kind", ["folder with a file", "file"])
def test_nothing_is_overwritten(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "config.yaml" if kind == "file" else tmp_path
    (tmp_path / "config.yaml").write_text("mine")
    assert main(["init", str(place)]) == 1
    assert "is not an empty folder" in capsys.readouterr().err
    assert (tmp_path / "config.yaml").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["init", str(tmp_path / "file" / "study")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
