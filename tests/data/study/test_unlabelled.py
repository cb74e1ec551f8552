"""Few blank labels are left out; many blank labels, or those of one centre, stop the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from genesig.cli import main

SAMPLE_NAMES = [f"S{k:02}" for k in range(36)]
CLASS_OF_SAMPLE = ["control", "case"] * 18


def write_matrix(samples: Sequence[str] = SAMPLE_NAMES) -> str:
    """Write logged values of 20 genes and return them as text."""
    values = np.random.default_rng(0).normal(8, 1, (20, len(samples)))
    rows = [[f"G{k}", *(f"{value:.3f}" for value in line)] for k, line in enumerate(values)]
    text = "\n".join("\t".join(row) for row in [["gene", *samples], *rows]) + "\n"
    Path("e.tsv").write_text(text)
    return text


def validate(
    capsys: pytest.CaptureFixture[str],
    columns: dict[str, Sequence[str]],
    label: str = "diagnosis",
    **data: Any,
) -> tuple[str, str]:
    """Return the problems and the last sentence of ``genesig validate``."""
    write_matrix()
    rows = zip(SAMPLE_NAMES, *columns.values(), strict=True)
    lines = ["\t".join(row) for row in [("sample", *columns), *rows]]
    Path("s.tsv").write_text("\n".join(lines) + "\n")
    config = {"expression": "e.tsv", "samples": "s.tsv", "label": label, "data": data}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    capsys.readouterr()
    main(["validate", "c.yaml"])
    printed = capsys.readouterr()
    return printed.err, printed.out


@pytest.fixture(autouse=True)
def _in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def blank_at(rows: Sequence[int], word: str = "") -> list[str]:
    """Return the classes without those of some rows."""
    return [word if k in rows else name for k, name in enumerate(CLASS_OF_SAMPLE)]


def test_few_blank_labels_are_left_out_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    problems, sentence = validate(capsys, {"diagnosis": blank_at([1, 8, 9])})
    assert problems.startswith("warning: s.tsv, line 3, column 'diagnosis': no label for 'S01'")
    assert "left out of the study (3 of 36)" in problems
    assert "33 samples (16 case" in sentence or "33 samples (17 control" in sentence


def test_blank_labels_above_a_third_stop_the_study(capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"diagnosis": blank_at([k for k in range(36) if k % 5 < 2])}
    problems, _ = validate(capsys, columns)
    assert problems.startswith("error: s.tsv, line 2, column 'diagnosis': no label for")
    assert "(15 of 36)" in problems
    assert "data.unlabelled: leave_out" in problems
    problems, sentence = validate(capsys, columns, unlabelled="leave_out")
    assert problems.startswith("warning")
    assert "21 samples" in sentence


def test_blank_labels_of_one_centre_stop_the_study(capsys: pytest.CaptureFixture[str]) -> None:
    centres = ["north" if k < 28 else "south" for k in range(36)]
    columns = {"diagnosis": blank_at(range(28, 36)), "centre": centres}
    problems, _ = validate(capsys, columns)
    assert problems.startswith("error")
    assert "they go together with 'south' in column 'centre'" in problems


def test_blank_labels_spread_over_centres_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    centres = ["north" if k % 3 else "south" for k in range(36)]
    columns = {"diagnosis": blank_at(range(28, 36)), "centre": centres}
    problems, _ = validate(capsys, columns)
    assert problems.startswith("warning")


def test_column_that_holds_the_other_labels_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    other_labels = [name if k >= 28 else "" for k, name in enumerate(CLASS_OF_SAMPLE)]
    columns = {"diagnosis": blank_at(range(28, 36)), "status": other_labels}
    problems, _ = validate(capsys, columns)
    assert problems.startswith("error")
    assert "column 'status' has a value for these samples alone" in problems


@pytest.mark.parametrize("other_labels", [["WT"], ["WT", "het"]])
def test_genotype_called_null_is_named_with_its_setting(
    capsys: pytest.CaptureFixture[str], other_labels: list[str]
) -> None:
    words = [*other_labels, "null"]
    genotypes = [words[k % len(words)] for k in range(36)]
    problems, _ = validate(capsys, {"genotype": genotypes}, label="genotype")
    setting = f"if 'null' is a class, write data: {{classes: [{', '.join(other_labels)}, 'null']}}"
    assert setting in problems
    problems, sentence = validate(capsys, {"genotype": genotypes}, label="genotype", classes=words)
    assert "no label" not in problems
    assert "36 samples" in sentence


@pytest.mark.parametrize(
    "other_spelling", ["Disease State", "disease_state", "diseasestate", "desease state"]
)
def test_key_of_geo_spelt_in_two_ways_is_one_column(
    capsys: pytest.CaptureFixture[str], other_spelling: str
) -> None:
    names = [f"GSM{k + 100}" for k in range(24)]
    keys = ["disease state" if k < 16 else other_spelling for k in range(24)]
    states = [f"{key}: {name}" for key, name in zip(keys, CLASS_OF_SAMPLE, strict=False)]
    head = [
        ["!Series_title", "A study"],
        ["!Sample_geo_accession", *names],
        ["!Sample_platform_id", *["GPL570"] * 24],
        ["!Sample_characteristics_ch1", *states],
        ["!series_matrix_table_begin"],
    ]
    lines = ["\t".join(f'"{cell}"' if k else cell for k, cell in enumerate(row)) for row in head]
    table = write_matrix(names).replace("gene\t", "ID_REF\t", 1)
    Path("m.txt").write_text("\n".join([*lines, table.strip(), "!series_matrix_table_end"]) + "\n")
    config = {"expression": "m.txt", "samples": "m.txt", "label": "disease state"}
    Path("c.yaml").write_text(yaml.safe_dump(config))
    main(["validate", "c.yaml"])
    printed = capsys.readouterr()
    assert "24 samples (12 control, 12 case" in printed.out
    assert f"'disease state' and '{other_spelling}' are one column" in printed.err


def write_cohort(diagnosis: Sequence[str]) -> None:
    """Write a cohort of 36 other samples; each of two centres has 18."""
    names = [f"X{k:02}" for k in range(36)]
    values = np.random.default_rng(7).normal(8, 1, (20, 36))
    rows = [[f"G{k}", *(f"{value:.3f}" for value in line)] for k, line in enumerate(values)]
    Path("x.tsv").write_text("\n".join(map("\t".join, [["gene", *names], *rows])) + "\n")
    lines = zip(names, diagnosis, ["west"] * 18 + ["east"] * 18, strict=True)
    text = "\n".join(map("\t".join, [("sample", "diagnosis", "centre"), *lines])) + "\n"
    Path("xs.tsv").write_text(text)


@pytest.mark.parametrize("answer", ["refuse", "leave_out"])
@pytest.mark.parametrize("of", ["external", "studies"])
def test_many_blank_labels_of_another_data_set_stop_the_study(
    of: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    validate(capsys, {"diagnosis": CLASS_OF_SAMPLE})
    write_cohort(blank_at(range(18, 33)))  # fifteen, of one centre
    config = yaml.safe_load(Path("c.yaml").read_text())
    cohort = {"name": "berlin", "expression": "x.tsv", "samples": "xs.tsv"}
    if of == "external":
        config["external"] = [cohort | {"unlabelled": answer}]
        setting = "unlabelled"
    else:
        first_study = {"name": "boston", "expression": "e.tsv", "samples": "s.tsv"}
        config = {
            "studies": [first_study, cohort],
            "label": "diagnosis",
            "data": {"unlabelled": answer},
        }
        setting = "data.unlabelled"
    Path("c.yaml").write_text(yaml.safe_dump(config))
    code = main(["validate", "c.yaml"])
    problems = capsys.readouterr().err
    message = "xs.tsv, line 20, column 'diagnosis': no label for 'X18', 'X19', 'X20' and 12 more"
    if answer == "leave_out":
        assert code == 0, problems
        assert f"warning: {message}; left out of the study (15 of 36)" in problems
        return
    assert code == 1
    assert (
        f"error: {message} (15 of 36); they go together with 'east' in column 'centre'; fill"
        in (problems)
    )
    assert f"to leave these samples out set {setting}: leave_out" in problems
