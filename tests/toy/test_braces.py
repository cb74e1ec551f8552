"""No string of the user is a wildcard: braces are words like others, or refused by validate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_runs import make_study, planned, run, write_config

from genesig.cli import main
from genesig.data.files.readers import load_schema

SCHEMA = load_schema()
# Each goes into the config as it stands; a wildcard of a rule's own must not be filled in either.
BRACED_WORDS = ["{A}", "{name} of {batch}", "{labels,a+}", "{", "a } b {"]
SMALL = {
    "splits": {"folds": 3, "repeats": 1, "inner_folds": 2, "subsamples": 2},
    "linear": {"tau_count": 3, "tau_min": 0.2, "mu": [1e-2]},
    "nonlinear": {"enabled": False},
    "controls": {"permutations": 2, "permutations_per_job": 2, "baselines": []},
}


def free_text_keys(
    node: Mapping[str, Any], place: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the keys of the schema that take any text, or a list of any texts."""
    for key, subschema in node.get("properties", {}).items():
        text = subschema.get("items", subschema)
        if "string" in text.get("type", ()) and not {"enum", "pattern"} & text.keys():
            yield (*place, key)
        yield from free_text_keys(subschema, (*place, key))


def hostile(word: str) -> dict[str, Any]:
    """Return a toy config whose names of columns, classes and title are all this word."""
    classes = [f"well {word}", f"ill {word}"]
    return {
        **SMALL,
        "label": f"diagnosis {word}",
        "report": {"title": f"Trial {word}"},
        "data": {"classes": classes, "group": f"patient {word}"},
        "splits": {**SMALL["splits"], "scheme": "stratified_group_kfold"},
    }


def study(folder: Path, word: str) -> Path:
    make_study(folder, hostile(word))
    table = pd.read_csv(folder / "samples.tsv", sep="\t", dtype=str)
    table["diagnosis"] = [f"{name} {word}" for name in table["diagnosis"]]
    table.columns = [f"{n} {word}" if n in ("diagnosis", "patient") else n for n in table.columns]
    table.to_csv(folder / "samples.tsv", sep="\t", index=False)
    return folder


def test_the_places_of_free_text_are_known() -> None:
    """A new key that takes any text is put into one of these tests."""
    files = {
        ("expression",),
        ("samples",),
        ("data", "annotation"),
        ("splits", "file"),
        ("nonlinear", "groups"),
        ("structured", "sets"),
        ("enrichment", "sets"),
        ("controls", "signatures"),
    }
    columns = {
        ("data", key)
        for key in (
            "group",
            "pair",
            "batch",
            "part",
            "files",
            "symbol",
            "prior_weights",
            "omic",
            "chromosome",
            "position",
            "weights",
            "covariates",
            "sample_names",
            "categorical_covariates",
        )
    }
    columns |= {("structured", "column"), ("label", "time"), ("label", "event")}
    words = {
        ("label",),
        ("report", "title"),
        ("data", "classes"),
        ("data", "event"),
        ("splits", "column"),
    }
    assert set(free_text_keys(SCHEMA)) == files | columns | words


@pytest.mark.slow
def test_dry_run_accepts_braces_in_values(tmp_path: Path) -> None:
    folder = study(tmp_path, "{A}")
    assert {"validate", "read", "split", "report"} <= planned(folder)


BRACED_CONFIG = {
    "data": {
        key: "{A}"
        for key in ("part", "files", "batch", "symbol", "prior_weights", "chromosome", "omic")
    }
    | {"position": "{B}", "omics": "learned"},
    "structured": {"sets": "samples.tsv", "column": "{A}"},
    "splits": {"scheme": "predefined", "column": "{A}"},
    "external": [
        {
            "name": "there",
            "expression": "expression.tsv.gz",
            "samples": "samples.tsv",
            "label": "{A}",
            "part": "{A}",
            "symbol": "{A}",
            "annotation": "samples.tsv",
            "classes": {"{A}": "{A}"},
            "combat": True,
            "batch": "{A}",
        }
    ],
}


@pytest.mark.slow
def test_a_dry_run_takes_braces_in_any_setting(tmp_path: Path) -> None:
    changes = {**BRACED_CONFIG, "data": {**BRACED_CONFIG["data"], "annotation": "samples.tsv"}}
    folder = make_study(tmp_path, changes)
    assert {"validate", "read", "split", "external"} <= planned(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"weights": "{A}", "covariates": ["{A}", "{B}"]}},
        {"label": {"time": "{A}", "event": "{B}"}, "data": {"task": "survival", "event": "{C}"}},
    ],
    ids=["covariates", "survival"],
)
def test_dry_run_accepts_braces_in_model_settings(tmp_path: Path, changes: Any) -> None:
    folder = make_study(tmp_path, {"nonlinear": {"enabled": False}, **changes})
    assert {"validate", "read", "split", "report"} <= planned(folder)


@pytest.mark.parametrize("word", BRACED_WORDS)
def test_names_of_files_with_braces_are_refused_before_anything_runs(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_study(tmp_path, {"expression": f"e {word}.tsv.gz"})
    (tmp_path / "expression.tsv.gz").rename(tmp_path / f"e {word}.tsv.gz")
    monkeypatch.chdir(tmp_path)
    assert main(["validate"]) == 1
    lines = capsys.readouterr().err.splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert line.startswith(f"error: config/config.yaml, expression: 'e {word}.tsv.gz' has braces")


@pytest.mark.slow
def test_every_name_of_a_file_with_braces_is_refused_by_the_workflow_too(tmp_path: Path) -> None:
    cohort = {"name": "there", "expression": "{C}", "samples": "{D}", "annotation": "{E}"}
    changes = {
        "samples": "{A}.tsv",
        "data": {"annotation": "{B}"},
        "splits": {"file": "{F}"},
        "nonlinear": {"groups": "{G}"},
        "structured": {"sets": "{H}"},
        "enrichment": {"sets": "{I}"},
        "external": [cohort],
    }
    folder = make_study(tmp_path, changes)
    process = run(folder, "--dry-run", check=False)
    assert process.returncode != 0
    lines = [
        line for line in (process.stdout + process.stderr).splitlines() if "has braces" in line
    ]
    assert len(lines) == 9
    assert "Traceback" not in process.stdout + process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("word", ["{A} of {batch}"])
def test_a_whole_study_with_braces_runs_to_its_end(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study(tmp_path, word)
    monkeypatch.chdir(folder)
    assert main(["validate"]) == 0
    run(folder)
    page = (folder / "results/report.html").read_text()
    assert f"<title>Trial {word}</title>" in page
    assert f"ill {word}" in (folder / "results/predictions.tsv").read_text() + page
    write_config(folder, hostile(word))
    assert planned(folder) == set()


@pytest.mark.slow
def test_run_refuses_values_that_yaml_reads_differently(tmp_path: Path) -> None:
    """Snakemake itself would take 010 for 8, and of two equal keys the last."""
    folder = make_study(tmp_path)
    path = folder / "config/config.yaml"
    text = path.read_text()
    for extra_config, words in (
        ("seed: 010\n", "'010' is 8 in YAML"),
        ("seed: 3\n" * 2, "already on line"),
    ):
        path.write_text(text.replace("seed: 3\n", "") + extra_config)
        process = run(folder, "--dry-run", check=False)
        assert process.returncode != 0
        assert words in process.stdout + process.stderr
        assert "Traceback" not in process.stdout + process.stderr
