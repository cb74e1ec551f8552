"""`genesig init` writes a folder that becomes a study once the matrix is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from format_files import Numbers, gct12, h5ad, series_matrix, tabbed
from places import ROOT

from genesig.cli import main
from genesig.data.files.columns import usual_covariates
from genesig.data.files.config_text import merge_configs
from genesig.data.files.delimited import Matrix
from genesig.data.files.first_look import (
    _check_numbers,
    _covariate_lines,
    _find_patient_column,
    _floor_reasons,
    _propose_group,
    _propose_label,
    _propose_normalisation,
)
from genesig.data.files.readers import load_schema
from genesig.data.study.scale_check import check_scale
from genesig.data.validate import resolve_config
from genesig.errors import InvalidInput, Problem
from genesig.results.new_study import Start

ROWS = ["gene\tsample_1\tsample_2\tsample_3\tsample_4", "g1\t1\t2\t3\t4.5", "g2\t2\t1\t5\t3"]


def test_the_folder_lacks_the_matrix_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "mine")]) == 0
    monkeypatch.chdir(tmp_path / "mine")
    files = sorted(p.as_posix() for p in Path().rglob("*") if p.is_file())
    assert files == ["README.md", "config.yaml", "data/README.md", "samples.tsv"]
    capsys.readouterr()
    assert main(["validate", "config.yaml"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("error: data/expression.tsv: no such file")
    Path("data/expression.tsv").write_text("\n".join(ROWS))
    text = Path("config.yaml").read_text()
    Path("config.yaml").write_text(text + "splits: {folds: 2, inner_folds: 2, subsamples: 0}\n")
    main(["validate", "config.yaml"])
    assert not [line for line in capsys.readouterr().err.splitlines() if "expression.tsv" in line]


def test_proposed_settings_are_valid() -> None:
    """Each commented line, taken out of its comment, is a valid config."""
    text = Start().config()
    _, proposed = text.split("need.\n#\n")
    lines = [line.removeprefix("# ") for line in proposed.splitlines()]
    raw = yaml.safe_load(text) | yaml.safe_load("\n".join(lines))
    config = resolve_config(raw, load_schema())
    assert config["splits"]["scheme"] == "stratified_group_kfold"
    assert config["data"]["classes"] == ["control", "case"]


def test_resume_hint_is_the_run_command() -> None:
    """The lock lies in the study's folder, so the commands differ by --unlock alone."""
    text = Start().readme()
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("genesig run ")]
    run, unlock, resume_line = lines
    assert run.split()[2] == "config.yaml"
    assert (unlock, resume_line) == (f"{run} --unlock", run)
    assert text.index("`cd`") < text.index(run)
    assert "a folder of its own" in text


@pytest.mark.parametrize("kind", ["folder with a file", "file"])
def test_init_overwrites_no_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "config.yaml" if kind == "file" else tmp_path
    (tmp_path / "config.yaml").write_text("mine")
    assert main(["init", str(place)]) == 1
    assert "is not an empty folder" in capsys.readouterr().err
    assert (tmp_path / "config.yaml").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_unwritable_place_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["init", str(tmp_path / "file" / "study")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("column", "expected_covariate"), [("age", True), ("gender", True), ("agent", False)]
)
def test_usual_covariates_are_proposed_but_not_set(
    column: str, expected_covariate: bool, tmp_path: Path
) -> None:
    import anndata

    (tmp_path / "e.h5ad").write_bytes(h5ad(NUMBERS))
    data = anndata.read_h5ad(tmp_path / "e.h5ad")
    data.obs = data.obs[["class"]].assign(**{column: [str(40 + k) for k in range(data.n_obs)]})
    data.write_h5ad(tmp_path / "e.h5ad")
    study = tmp_path / "mine"
    assert main(["init", str(study), "--expression", str(tmp_path / "e.h5ad")]) == 0
    text = (study / "config.yaml").read_text()
    assert (f'#   data: {{covariates: ["{column}"]}}' in text) == expected_covariate
    assert "covariates" not in yaml.safe_load(text).get("data", {})


NUMBERS = Numbers(
    genes=[f"g{k}" for k in range(12)],
    rows=[[(7 * g + 3 * s * s) % 13 + 0.5 + s / 16 for s in range(8)] for g in range(12)],
)
RAW = replace(NUMBERS, rows=[[100 * cell + 0.5 for cell in row] for row in NUMBERS.rows])
COUNTS = replace(NUMBERS, rows=[[round(100 * cell) - 50 for cell in row] for row in NUMBERS.rows])
TABLE = [
    ["gene", *NUMBERS.samples],
    *([g, *r] for g, r in zip(NUMBERS.genes, RAW.rows, strict=True)),
]
TRANSPOSED = [["sample", *NUMBERS.genes], *list(zip(*TABLE, strict=True))[1:]]
LOG2 = {"samples": [{"step": "log2"}]}
CPM = {"samples": [{"step": "log_cpm"}]}
FEW_FOLDS = {"folds": 4, "inner_folds": 3}  # four samples of each class
OPTION_FILES: dict[str, tuple[str | bytes, str, dict[str, Any]]] = {
    # file: what it holds, the label that is proposed, sections that are set
    "GSE1_series_matrix.txt": (
        series_matrix(RAW),
        "disease state",
        {"normalise": LOG2, "data": {"classes": ["normal", "tumor"]}, "splits": FEW_FOLDS},
    ),
    "e.h5ad": (
        h5ad(NUMBERS),
        "class",
        {"data": {"classes": ["normal", "tumor"]}, "splits": FEW_FOLDS},
    ),
    "e.gct": (gct12(NUMBERS), "diagnosis", {}),
    "e.tsv": (tabbed(TABLE), "diagnosis", {"normalise": LOG2}),
    "t.tsv": (tabbed(TRANSPOSED), "diagnosis", {"normalise": LOG2}),
    "c.gct": (gct12(COUNTS), "diagnosis", {"normalise": CPM}),
}


@pytest.mark.parametrize("name", OPTION_FILES)
def test_a_matrix_fills_the_folder_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, label, sections = OPTION_FILES[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    study = tmp_path / "mine"
    assert main(["init", str(study), "--expression", str(tmp_path / name)]) == 0
    text = (study / "config.yaml").read_text()
    raw = yaml.safe_load(text)
    itself = label != "diagnosis"
    assert raw == {
        "expression": f"../{name}",
        "samples": f"../{name}" if itself else "samples.tsv",
        "label": label,
        **sections,
    }
    assert ("99th percentile" in text) is ("normalise" in sections)
    assert all(f"# {key}:" not in text for key in sections)
    assert (study / "samples.tsv").exists() is not itself
    monkeypatch.chdir(study)
    capsys.readouterr()
    if "splits" not in sections:
        small = "splits: {folds: 2, inner_folds: 2, repeats: 1, subsamples: 0}\n"
        Path("config.yaml").write_text(text + small)
    if itself:
        assert main(["validate", "config.yaml"]) == 0
        return
    rows = [line.split("\t") for line in Path("samples.tsv").read_text().splitlines()]
    assert rows == [["sample", "diagnosis", "patient"], *([s, "", ""] for s in NUMBERS.samples)]
    assert main(["validate", "config.yaml"]) == 1
    assert "no sample has a label; two classes are needed" in capsys.readouterr().err
    filled = [
        "\t".join([row[0], word, ""]) for row, word in zip(rows[1:], NUMBERS.labels, strict=True)
    ]
    Path("samples.tsv").write_text("\n".join(["\t".join(rows[0]), *filled]))
    assert main(["validate", "config.yaml"]) == 0


def test_unreadable_matrix_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "e.tsv")]) == 1
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}/e.tsv: no such file")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("transposed", [False, True])
def test_sample_table_equal_to_the_matrix_is_not_used(transposed: bool, tmp_path: Path) -> None:
    sheet = pd.DataFrame(RAW.rows, RAW.genes, RAW.samples)
    (sheet.T if transposed else sheet).to_excel(tmp_path / "e.xlsx")
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "e.xlsx")]) == 0
    raw = yaml.safe_load((tmp_path / "mine/config.yaml").read_text())
    assert (raw["samples"], raw["label"]) == ("samples.tsv", "diagnosis")
    rows = (tmp_path / "mine/samples.tsv").read_text().splitlines()
    assert [row.split("\t")[0] for row in rows] == ["sample", *RAW.samples]


def test_arrays_of_a_scanner_get_their_steps(tmp_path: Path) -> None:
    arrays = ROOT / "resources/examples/arrays"
    assert main(["init", str(tmp_path / "mine"), "-e", str(arrays)]) == 0
    raw = yaml.safe_load((tmp_path / "mine/config.yaml").read_text())
    config = resolve_config(raw, load_schema())
    assert [step["step"] for step in config["normalise"]["folds"]][:2] == [
        "quantile",
        "median_polish",
    ]
    assert (
        (tmp_path / "mine/samples.tsv")
        .read_text()
        .startswith("sample\tdiagnosis\tpatient\nGSM9000")
    )


def test_the_class_to_compare_with_stands_first(tmp_path: Path) -> None:
    text = series_matrix(NUMBERS).replace("normal", "untreated cells").replace("tumor", "treated")
    (tmp_path / "GSE1_series_matrix.txt").write_text(text)
    matrix = tmp_path / "GSE1_series_matrix.txt"
    assert main(["init", str(tmp_path / "mine"), "-e", str(matrix)]) == 0
    raw = yaml.safe_load((tmp_path / "mine/config.yaml").read_text())
    assert raw["data"]["classes"] == ["untreated cells", "treated"]


def test_larger_of_two_numbers_is_the_positive_class() -> None:
    table = pd.DataFrame({"group": ["2", "1", "2", "1", "2", "1", "2"]})
    assert _propose_label(table, None)[:2] == ("group", {"classes": ["1", "2"]})


def test_a_table_of_words_is_no_matrix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["sample", "state", "age"], *([f"s{k}", "ill", str(k)] for k in range(9))]
    (tmp_path / "sheet.tsv").write_text("\n".join("\t".join(row) for row in rows))
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "sheet.tsv")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    message = (
        f"error: {tmp_path / 'sheet.tsv'}: 9 of 18 cells are no numbers ('ill', 'ill', 'ill' and"
    )
    assert line.startswith(message)
    assert not (tmp_path / "mine").exists()


def test_table_with_decimal_commas_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.tsv").write_text(
        "\n".join(ROWS[:1] + [f"g{k}\t1,25\t2,5\t3,1\t4,5" for k in "ab"])
    )
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "e.tsv")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "no numbers ('1,25', '1,25', '2,5' and 5 more); export the table with decimal points"
    )
    (tmp_path / "e.tsv").write_text("\n".join([*ROWS[:1], "a" + "\t1,234.5" * 4]))
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "e.tsv")]) == 1
    assert capsys.readouterr().err.endswith("points and without signs of thousands\n")


def test_id_columns_are_no_samples_and_repeated_words_no_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A merged column is blank below its first cell: no measurement is missing for that."""
    names = [f"P {k}" for k in range(24)]
    rng = np.random.default_rng(0)
    rows = [
        [f"g{g}", "chr1" if g == 0 else "", *(f"{v:.3f}" for v in rng.normal(8, 1, 24))]
        for g in range(30)
    ]
    (tmp_path / "e.tsv").write_text(tabbed([["gene", "Chr", *names], *rows]))
    words = ["Yes", "No", "yes", "NO"] * 6
    table = [["sample", "response"], *map(list, zip(names, words, strict=True))]
    (tmp_path / "s.tsv").write_text(tabbed(table))
    options = ["-e", str(tmp_path / "e.tsv"), "-s", str(tmp_path / "s.tsv")]
    assert main(["init", str(tmp_path / "mine"), *options]) == 0
    text = (tmp_path / "mine/config.yaml").read_text()
    raw = yaml.safe_load(text)
    assert raw["label"] == "response"
    assert not {"data", "normalise"} & set(raw)
    assert "write 'Yes', 'yes' alike, which look like one class" in text


@pytest.mark.parametrize("command", [["init", "mine", "-e"], ["predict", "model.json"]])
def test_a_command_without_a_config_names_its_option_for_a_part(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("e.tsv").write_text("\n".join(ROWS))
    Path("model.json").write_text("{}")
    assert main([*command, "e.tsv", "--part", "raw"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "error: e.tsv: is a table (.tsv), which has no parts; take --part 'raw' away"


@pytest.mark.parametrize("file_exists", [False, True])
def test_readme_asks_for_missing_files_only(
    file_exists: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.tsv").write_text("\n".join(ROWS))
    matrix = ["-e", str(tmp_path / "e.tsv")] * file_exists
    assert main(["init", str(tmp_path / "mine"), *matrix]) == 0
    text = (tmp_path / "mine/README.md").read_text()
    assert ("1. Expression matrix: put it into `data/`" in text) != file_exists
    assert ("1. Expression matrix: `../e.tsv`" in text) == file_exists
    assert "2. Sample table: fill in `samples.tsv`" in text
    assert "3. Outcome: the study predicts the column `diagnosis`" in text
    assert (
        capsys.readouterr().out.splitlines()[-1] == f"next: cd {tmp_path}/mine and follow README.md"
    )


def test_readme_names_the_columns_of_survival() -> None:
    text = Start(label={"time": "years", "event": "status"}).readme()
    assert "survival from the columns `years` and `status`" in text


YEARS = [f"{0.7 * k + k * k % 5:.1f}" for k in range(24)]
TABLES: dict[str, tuple[dict[str, list[str]], Any, dict[str, Any], str]] = {
    # columns, the label that is proposed, the section data, words of the reason
    "a pair with one name": (
        {"sex": ["f", "m"] * 12, "os_time": YEARS, "os_event": ["1", "0", "1"] * 8},
        {"time": "os_time", "event": "os_event"},
        {"task": "survival"},
        "'os_time' and 'os_event': 1 (16), 0 (8), of which 1 is taken for the event",
    ),
    "a pair of points": (
        {"er": ["0", "1"] * 12, "t.dmfs": YEARS, "e.dmfs": ["0", "1", "0"] * 8},
        {"time": "t.dmfs", "event": "e.dmfs"},
        {"task": "survival"},
        "'t.dmfs' and 'e.dmfs'",
    ),
    "times and events with slips": (
        {"os_time": [*YEARS[:22], "-4", "?"], "os_event": ["1", "0"] * 11 + ["2", "1"]},
        {"time": "os_time", "event": "os_event"},
        {"task": "survival", "event": "1"},
        "1 (12), 0 (11), 2 (1), of which 1 is taken for the event",
    ),
    "years and a status in words": (
        {"follow_up_years": YEARS, "status": ["Alive", "Dead", "Alive"] * 8},
        {"time": "follow_up_years", "event": "status"},
        {"task": "survival", "event": "Dead"},
        "Dead is taken for the event",
    ),
    "three words": (
        {"age": [str(40 + k) for k in range(24)], "tumour": ["a", "b", "c"] * 8},
        "tumour",
        {},
        "Column 'tumour': a (8), b (8), c (8): several classes; data: {classes: [a, b]} would",
    ),
    "three numbers": (
        {"kind": ["1", "2", "3"] * 8},
        "kind",
        {},
        "data: {classes: ['1', '2']} would compare two",
    ),
    "three words, one of them rare": (
        {"tumour": ["a", "b"] * 11 + ["c", "c"]},
        "tumour",
        {"classes": ["a", "b"]},
        "a (11), b (11), c (2)",
    ),
    "numbers": (
        {"sex": ["f", "m"] * 12, "expression_of_ki67": YEARS},
        "expression_of_ki67",
        {"task": "regression"},
        "Column 'expression_of_ki67': 0 to 20.1, numbers",
    ),
    "two words beside age": (
        {"age": [str(40 + k) for k in range(24)], "state": ["ill", "well"] * 12},
        "state",
        {"classes": ["ill", "well"]},
        'data: {covariates: ["age"]}',
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_sample_table_determines_the_kind_and_its_proposal_is_valid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns, label, data, reason = TABLES[name]
    samples = [f"P{k}" for k in range(24)]
    rng = np.random.default_rng(2)
    matrix = [
        ["gene", *samples],
        *([f"g{g}", *(f"{v:.3f}" for v in rng.normal(8, 1, 24))] for g in range(12)),
    ]
    (tmp_path / "e.tsv").write_text(tabbed(matrix))
    rows = [
        ["sample", *columns],
        *([s, *row] for s, row in zip(samples, zip(*columns.values(), strict=True), strict=True)),
    ]
    (tmp_path / "s.tsv").write_text(tabbed(rows))
    options = ["-e", str(tmp_path / "e.tsv"), "-s", str(tmp_path / "s.tsv")]
    assert main(["init", str(tmp_path / "mine"), *options]) == 0
    monkeypatch.chdir(tmp_path / "mine")
    text = Path("config.yaml").read_text()
    raw = yaml.safe_load(text)
    assert raw == {
        "expression": "../e.tsv",
        "samples": "../s.tsv",
        "label": label,
        **({"data": data} if data else {}),
    }
    assert reason in text
    Path("config.yaml").write_text(text + "splits: {folds: 3, inner_folds: 2}\n")
    capsys.readouterr()
    slips = "-4" in columns.get("os_time", ())
    assert main(["validate", "config.yaml"]) == slips, capsys.readouterr().err
    for line in [line[2:] for line in text.splitlines() if line.startswith("#   data: {cov")]:
        merged = merge_configs(raw, yaml.safe_load(line))
        Path("config.yaml").write_text(yaml.safe_dump(merged))
        assert main(["validate", "config.yaml"]) == 0, capsys.readouterr().err


PATIENTS = [f"D{k // 2}" for k in range(24)]
RESPONSES_OF_PATIENTS = [["R", "NR"][k // 2 % 2] for k in range(24)]
PATIENT_TABLES: dict[str, tuple[dict[str, list[str]], str, dict[str, Any]]] = {
    "parts of a patient": (
        {"Proband": PATIENTS, "section": ["a", "b"] * 12, "response": RESPONSES_OF_PATIENTS},
        "response",
        {"classes": ["R", "NR"], "group": "Proband"},
    ),
    "numbers called patients": (
        {"Individual.ID": [str(k // 2 + 101) for k in range(24)], "dx": RESPONSES_OF_PATIENTS},
        "dx",
        {"classes": ["R", "NR"], "group": "Individual.ID"},
    ),
    "tumours and normal tissue": (
        {"patient": PATIENTS, "tissue": ["normal", "tumour"] * 12, "dx": RESPONSES_OF_PATIENTS},
        "tissue",
        {"classes": ["normal", "tumour"], "pair": "patient"},
    ),
}


@pytest.mark.parametrize("kind", PATIENT_TABLES)
def test_label_and_group_of_patients_with_several_samples_are_proposed(kind: str) -> None:
    columns, expected_label, expected_data = PATIENT_TABLES[kind]
    table = pd.DataFrame(columns, index=[f"S{k}" for k in range(24)])
    patient_column = _find_patient_column(table)
    assert patient_column is not None
    label, data, _ = _propose_label(table, patient_column)
    settings, reason = _propose_group(table, label, data, patient_column)
    assert label == expected_label
    assert data | settings["data"] == expected_data
    assert settings["splits"] == {"scheme": "stratified_group_kfold"}
    assert "12 values for 24 samples" in reason


def test_dates_of_plates_are_neither_patients_nor_is_the_plate_a_label_proposed() -> None:
    plates = [f"{k // 6}" for k in range(24)]
    dates = [f"2020-01-{1 + k // 2:02}" for k in range(24)]
    classes = ["control", "case"] * 12
    table = pd.DataFrame({"plate": plates, "date": dates, "diagnosis": classes})
    assert _find_patient_column(table) is None
    assert _propose_label(table, None)[0] == "diagnosis"


@pytest.mark.parametrize(
    "cells",
    [[f"D{k}" for k in range(24)], [f"kind {k % 7}" for k in range(24)], ["x"] * 24],
    ids=["a value each", "kinds that cross the classes", "a single value"],
)
def test_column_of_other_values_is_not_proposed_as_patients(cells: list[str]) -> None:
    table = pd.DataFrame({"kind": cells, "dx": RESPONSES_OF_PATIENTS})
    assert _find_patient_column(table) is None


def test_a_sample_table_alone_is_no_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path / "mine"), "-s", str(tmp_path / "s.tsv")]) == 1
    assert capsys.readouterr().err.startswith("error: --samples: needs the matrix, too")
    assert not (tmp_path / "mine").exists()


def matrix_of(kind: str) -> np.ndarray:
    """Draw 300 genes × 12 samples on a scale."""
    rng = np.random.default_rng(7)
    logs = rng.normal(0, 2, (300, 1)) + rng.normal(0, 0.5, (300, 12))
    counts = rng.negative_binomial(2, 0.5 / (0.5 + 2.0 ** (logs + 3)))
    shared = counts + np.where(rng.random(counts.shape) < 0.4, rng.random(counts.shape), 0.0)
    lost = rng.random(counts.shape) < 0.3
    return {
        "logarithms of an array": 8 + logs,
        "logarithms of 60 genes, with a row of ages": np.vstack(
            [8 + logs[:59], rng.integers(28, 80, 12)]
        ),
        "logarithms of masses": 27 + logs,
        "intensities": 2.0 ** (9 + logs),
        "whole intensities": np.ceil(2.0 ** (9 + logs)),
        "whole intensities less a background": np.ceil(2.0 ** (9 + logs)) - np.where(lost, 99, 0),
        "intensities of masses": 2.0 ** (27 + logs),
        "intensities of masses, zeros missing": np.where(lost, 0, 2.0 ** (27 + logs)),
        "logarithms of masses, zeros missing": np.where(lost, 0, 27 + logs),
        "whole counts without zeros": 40 * counts + rng.integers(20, 60, logs.shape),
        "concentrations": 2.0 ** (logs - 2),
        "percentages": 100 / (1 + np.exp(-2 * logs)),
        "counts": counts.astype(float),
        "counts shared out among genes": np.where(counts > 0, shared, 0.0),
        "rates": 1e6 * shared / shared.sum(axis=0),
        "logarithms of rates": np.log2(1 + 1e6 * shared / shared.sum(axis=0)),
    }[kind]


SCALES = {
    "logarithms of an array": (None, ""),
    "logarithms of 60 genes, with a row of ages": (None, ""),
    "logarithms of masses": (None, "they lie close together"),
    "intensities": ("log2", "never logged"),
    "whole intensities": ("log2", "no zero"),
    "whole intensities less a background": ("log2", "values below 0"),
    "intensities of masses": ("log2", "never logged"),
    "intensities of masses, zeros missing": ("zeros_as_missing log2", "never logged"),
    "logarithms of masses, zeros missing": ("zeros_as_missing", "lie close together"),
    "whole counts without zeros": ("log_cpm", "whole numbers from near 0"),
    "concentrations": ("log2", "never logged"),
    "percentages": (None, ""),
    "counts": ("log_cpm", "zeros among whole numbers"),
    "counts shared out among genes": ("log_cpm", "zeros among whole numbers"),
    "rates": ("log2", "hardly any whole number"),
    "logarithms of rates": (None, ""),
}


@pytest.mark.parametrize("kind", SCALES)
def test_the_scale_is_judged_by_shape(kind: str) -> None:
    X = matrix_of(kind)
    (step, why) = SCALES[kind]
    genes, samples = (tuple(f"{axis}{k}" for k in range(n)) for axis, n in enumerate(X.shape))
    normalisation, warnings_given = _propose_normalisation(
        Matrix(samples, genes, X.T, {}, tuple(range(2, len(X) + 2)), transposed=True)
    )
    names = [proposed_step["step"] for proposed_step in normalisation.get("samples", ())]
    assert names == ([] if step is None else step.split())
    assert why in " ".join(warnings_given)
    warned = [p.message for p in check_scale(X.T, {"samples": [], "folds": []}, "e.tsv")]
    assert bool(warned) == (step is not None)
    assert any("vst" in warning for warning in warned) == (
        "counts" in kind and "shared" not in kind
    )


@pytest.mark.parametrize("low", [True, False])
def test_missing_values_are_reported_with_the_step_needed(low: bool, tmp_path: Path) -> None:
    X = matrix_of("logarithms of masses")
    rng = np.random.default_rng(3)
    order = X.mean(axis=1).argsort()
    at = order[:60] if low else rng.permutation(300)[:60]
    X[at, rng.integers(0, 12, 60)] = np.nan
    rows = [[f"g{k}", *("NA" if v != v else f"{v:.3f}" for v in x)] for k, x in enumerate(X)]
    table = [["gene", *(f"s{k}" for k in range(12))], *rows]
    (tmp_path / "e.tsv").write_text(tabbed(table))
    assert main(["init", str(tmp_path / "mine"), "-e", str(tmp_path / "e.tsv")]) == 0
    text = (tmp_path / "mine/config.yaml").read_text()
    raw = yaml.safe_load(text)
    assert raw["data"] == {"missing": True}
    assert raw["normalise"]["folds"][0] == {"step": "left_censored" if low else "knn_impute"}
    assert "60 of 3600 cells are missing" in text


def test_a_column_of_batches_is_no_covariate() -> None:
    table = pd.DataFrame({"state": ["ill", "well"] * 12, "age": YEARS, "batch": list("123") * 8})
    assert usual_covariates(table, ["state"]) == ["age"]
    assert "data: {batch: batch}" in " ".join(_covariate_lines(table, "state"))


def test_sample_table_of_other_samples_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.tsv").write_text("\n".join(ROWS))
    (tmp_path / "s.tsv").write_text("sample\tstate\nSample-1\ta\nSample-2\tb\n")
    options = ["-e", str(tmp_path / "e.tsv"), "-s", str(tmp_path / "s.tsv")]
    assert main(["init", str(tmp_path / "mine"), *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "e.tsv: no sample of" in line
    assert not (tmp_path / "mine").exists()


def test_values_at_the_floor_are_not_counted_below_it() -> None:
    (text,) = _floor_reasons(np.array([[8.0, 16.0, 32.0, 0.0]]), {"floor": 16.0})
    assert "25 % of the values lie below" in text


def test_problem_with_option_names_the_option_of_its_own_setting_only():
    part = Problem("e.h5ad", "has no X; choose a layer by data.part: 'raw'", key="data.part")
    assert part.with_option({"data.part": "--part"}).message.endswith("a layer by --part: 'raw'")
    assert part.with_option({}) == part
    file_problem = Problem("data.part.tsv", "is the file data.part.tsv, which is empty")
    assert file_problem.with_option({"data.part": "--part"}) == file_problem


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["a a a", "1 2 3", "4 5 6"], "samples or genes"),  # the word is in one gene alone
        (["a 1 2", "a 3 4", "a 5 6"], "samples or genes"),  # and in one sample
        (["a 1 2", "3 a 4", "5 6 7"], "'a' says that nothing was measured"),
        (["a 1 2", "3 b 4", "5 6 7"], "samples or genes"),
        (["a 1", "2 a", "3 4"], "samples or genes"),  # two columns may describe the genes
        (["a 1 2", "3 a 4", "5 6 7", "8 9 1"], "samples or genes"),
        (["a 1 2 3", "3 a 4 5", "5 6 7 8"], "samples or genes"),
        (["--- 1 2", "3 unknown 4", "5 6 7"], "'---' says that nothing was measured"),
        (["1% 2% 3", "4 5 6"], "take the percent signs out"),
        (["<1 >2 x", "4 5 6"], "write NA for a value beyond a limit of detection"),
        (["<1 x 2", "4 5 6"], "samples or genes"),
        (["1,5 2,25 3", "4 5 6"], "export the table with decimal points"),
        (["1,5 x 3", "4 5 6"], "samples or genes"),
        (["a,b 1 3", "4 5 6"], "samples or genes"),
        (["1,500.5 2,250.5 3", "4 5 6"], "decimal points and without signs of thousands"),
        (["1,500 2,250 3", "4 5 6"], "with decimal points and without signs of thousands"),
    ],
)
def test_words_in_a_matrix_are_advised_on_by_their_kind_and_places(
    cells: list[str], advice: str
) -> None:
    rows = [line.split() for line in cells]
    texts = {
        (row, column): text
        for row, line in enumerate(rows)
        for column, text in enumerate(line)
        if not text.isdigit()
    }
    names = tuple(f"s{k}" for k in range(len(rows[0])))
    genes = tuple(f"g{k}" for k in range(len(rows)))
    values = np.zeros((len(genes), len(names)))
    matrix = Matrix(genes, names, values, texts, lines=tuple(range(2, len(rows) + 2)))
    share = len(texts) / values.size
    _check_numbers(matrix, "e.tsv", max_share=share + 0.01)
    for table in (matrix, matrix.transpose()):
        with pytest.raises(InvalidInput) as error:
            _check_numbers(table, "e.tsv", max_share=share)
        (problem,) = error.value.problems
        assert problem.message.startswith(f"{len(texts)} of {values.size} cells are no numbers (")
        assert advice in problem.message
