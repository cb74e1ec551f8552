"""Chromosomes and positions are read from the gene table, and each fault gives one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_study import GENES, Study

from genesig.cli import main
from genesig.data.files.readers import load_schema, read_config
from genesig.data.study.config_check import resolve_config
from genesig.data.study.dataset import read_dataset
from genesig.data.study.settings import StudySettings
from genesig.data.study.settings_check import check_settings
from genesig.results import Dataset

ON = ["1", "1", "1", "2", "2", "2", "X", "X"]
POSITIONS = ["100", "2e3", "30000", "5", "15.5", "250", "7", "0"]
TABLE = "genes.tsv"
KEYS = {"annotation": TABLE, "symbol": "symbol", "chromosome": "chr", "position": "start"}


def study(
    folder: Path,
    on: list[str] = ON,
    at: list[str] = POSITIONS,
    head: str = "chr\tstart",
    linear: dict[str, Any] | None = None,
    **keys: Any,
) -> Path:
    """Write a study whose eight genes lie on three chromosomes."""
    study_files = Study(folder)
    rows = zip(GENES, on, at, strict=False)
    lines = [f"gene\tsymbol\t{head}\tweight", *(f"{g}\tS{g}\t{o}\t{a}\t1" for g, o, a in rows)]
    study_files.files[TABLE] = ("\n".join(lines) + "\n").encode()
    study_files.set("data", {**KEYS, **keys})
    study_files.set("linear", {"penalty": "fused", **(linear or {})})
    return study_files.write()


def read(folder: Path) -> Dataset:
    config = resolve_config(read_config(str(folder / "config.yaml")), load_schema())
    return read_dataset(StudySettings.from_config(config))


def test_places_come_back_and_blanks_stand_alone(tmp_path: Path, monkeypatch: Any) -> None:
    study(tmp_path, [*ON[:6], "", "NA"], [*POSITIONS[:5], "---", "7", "8"])
    monkeypatch.chdir(tmp_path)
    dataset = read(tmp_path)
    dataset.save("d.h5ad")
    for dataset_read in (dataset, Dataset.load("d.h5ad")):
        names, places = dataset_read.places()
        assert names[:5].tolist() == ON[:5]
        np.testing.assert_array_equal(places[:5], [100, 2000, 30000, 5, 15.5])
        assert len(set(names[5:])) == 3
        assert all(name.startswith("\0") for name in names[5:])
        assert dataset_read.var["symbol"].tolist() == [f"S{gene}" for gene in GENES]
    assert any(
        "3 of the 8 genes have no place" in dataset_read
        for dataset_read in dataset.provenance["warnings"]
    )


def test_study_without_place_columns_has_no_places(tmp_path: Path, monkeypatch: Any) -> None:
    study(tmp_path, chromosome=None, position=None, linear={"penalty": "l1"})
    monkeypatch.chdir(tmp_path)
    dataset = read(tmp_path)
    assert not dataset.placed
    with pytest.raises(Exception, match=r"set data\.chromosome and data\.position"):
        dataset.places()


def test_the_next_column_is_the_symbol_where_none_is_named(
    tmp_path: Path, monkeypatch: Any
) -> None:
    study(tmp_path, symbol=None)
    table = tmp_path / TABLE
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    table.write_text("".join("\t".join([r[0], r[2], r[3], r[1]]) + "\n" for r in rows))
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path).var["symbol"].tolist() == [f"S{gene}" for gene in GENES]


def changed_places(values: list[str], place: int, cell: str) -> list[str]:
    return [*values[:place], cell, *values[place + 1 :]]


NEEDS = "data.position needs a number of bases from the chromosome's start, or a blank"
BAD = "start of 1 gene is no position"
PLACE_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no such chromosome column": (
        {"chromosome": "chrom"},
        f"{TABLE}: data.chromosome 'chrom' is not a column of {TABLE}; did you mean 'chr'?",
    ),
    "no such position column": (
        {"position": "begin"},
        f"{TABLE}: data.position 'begin' is not a column of {TABLE} (columns: symbol, chr, start,"
        " weight)",
    ),
    "the gene ids": (
        {"position": "gene"},
        f"{TABLE}: data.position 'gene' is not a column of {TABLE} but its row names; name"
        " another one",
    ),
    "a column twice": (
        {"head": "chr\tchr", "position": "weight"},
        f"{TABLE}: data.chromosome 'chr' is the name of 2 columns; rename all but one",
    ),
    "a word": (
        {"at": changed_places(POSITIONS, 1, "17q21")},
        f"{TABLE}: {BAD} ('gene2' is '17q21', not a number); {NEEDS}",
    ),
    "below 0": (
        {"at": changed_places(POSITIONS, 1, "-5")},
        f"{TABLE}: {BAD} ('gene2' is -5, below 0); {NEEDS}",
    ),
    "infinite": (
        {"at": changed_places(POSITIONS, 1, "inf")},
        f"{TABLE}: {BAD} ('gene2' is infinite ('inf')); {NEEDS}",
    ),
    "too large a number": (
        {"at": changed_places(POSITIONS, 1, "1e999")},
        f"{TABLE}: {BAD} ('gene2' is 1e999, larger than any measurement); {NEEDS}",
    ),
    "thousands": (
        {"at": changed_places(POSITIONS, 1, "12,345,678")},
        f"{TABLE}: {BAD} ('gene2' is '12,345,678', with a decimal comma or one of thousands; write"
        f" 12345678); {NEEDS}",
    ),
    "a range": (
        {"at": changed_places(POSITIONS, 1, "chr6:100-200")},
        f"{TABLE}: {BAD} ('gene2' is 'chr6:100-200', not a number); {NEEDS}",
    ),
    "several places": (
        {"at": changed_places(POSITIONS, 1, "5 /// 9")},
        f"{TABLE}: {BAD} ('gene2' is '5 /// 9', not a number) (of several, name the one that"
        f" counts); {NEEDS}",
    ),
    "exchanged": (
        {"chromosome": "start", "position": "chr"},
        f"{TABLE}: chr of 2 genes is no position ('gene7' is 'X', not a number); {NEEDS}",
    ),
    "exchanged, without X": (
        {"chromosome": "start", "position": "chr", "on": list("11122233")},
        f"{TABLE}: start has 8 values for 8 genes, '0', '100', '15.5' and 5 more; data.chromosome"
        " needs few, as 1 to 22, X and Y",
    ),
    "a blank column of positions": (
        {"at": [""] * 8},
        f"{TABLE}: no gene of the matrix has a chromosome and a position (start is blank); name"
        " other columns",
    ),
    "a blank column of chromosomes": (
        {"on": ["---"] * 8},
        f"{TABLE}: no gene of the matrix has a chromosome and a position (chr is blank); name other"
        " columns",
    ),
    "never both": (
        {"on": [*ON[:4], *[""] * 4], "at": [*[""] * 4, *POSITIONS[4:]]},
        f"{TABLE}: no gene of the matrix has a chromosome and a position (no gene has a cell in"
        " both chr and start); name other columns",
    ),
    "position alone": (
        {"chromosome": None},
        "config.yaml, data.chromosome: is missing: data.position is of use with both; name its"
        " column",
    ),
    "chromosome alone": (
        {"position": None},
        "config.yaml, data.position: is missing: data.chromosome is of use with both; name its"
        " column",
    ),
    "one column for both": (
        {"position": "chr"},
        "config.yaml, data.position: 'chr' is data.chromosome, too; name another column",
    ),
    "no place at all": (
        {"chromosome": None, "position": None},
        "config.yaml, linear.penalty: 'fused' needs to know where genes lie; set data.chromosome"
        " and data.position",
    ),
    "no gene table": (
        {"annotation": None, "symbol": None},
        "config.yaml, data.chromosome: names a column of the gene table; set data.annotation to its"
        " file",
    ),
    "prior weights": (
        {"prior_weights": "weight"},
        "config.yaml, data.prior_weights: weighs genes one by one; linear.penalty: fused has no"
        " such weights, take one of them away",
    ),
    "another solver": (
        {"linear": {"solver": "landweber"}},
        "config.yaml, linear.solver: 'landweber' is for linear.penalty: l1; fused has a solver of"
        " its own, leave this key out",
    ),
    "an end that pays": (
        {"linear": {"jump": -1}},
        "config.yaml, linear.jump: found -1, needs a number, at least 0 and at most 1000",
    ),
    "an unknown penalty": (
        {"linear": {"penalty": "fussed"}},
        "config.yaml, linear.penalty: found the text 'fussed', needs one of l1, fused; did you mean"
        " 'fused'?",
    ),
}


def test_place_faults_are_more_than_twenty() -> None:
    assert len(PLACE_FAULTS) >= 20


@pytest.mark.parametrize("name", PLACE_FAULTS)
def test_faulty_places_give_one_line(
    name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    changes, message = PLACE_FAULTS[name]
    study(tmp_path, **changes)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert f"error: {message}" in errors
    assert len(errors) == (2 if name == "no gene table" else 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"on": ["chr1", "1", *ON[2:]]}, "chr writes a chromosome in two ways"),
        (
            {"at": ["", *POSITIONS[1:]]},
            "1 of the 8 genes have no place, so each is a stretch by itself",
        ),
    ],
    ids=["two ways", "a blank"],
)
def test_doubtful_places_are_warned_of(
    changes: dict[str, Any], message: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    study(tmp_path, **changes)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 0
    assert f"warning: {TABLE}: {message}" in capsys.readouterr().err


def test_fused_penalty_is_refused_for_survival() -> None:
    raw = {
        "expression": "e.tsv",
        "samples": "s.tsv",
        "label": {"time": "t", "event": "e"},
        "data": {**KEYS, "task": "survival"},
        "linear": {"penalty": "fused"},
    }
    problems = check_settings(resolve_config(raw, load_schema()), "c.yaml")
    message = "error: c.yaml, linear.penalty: 'fused' is not offered for survival; set l1 or"
    assert [line for line in map(str, problems) if line.startswith(message)]
