"""The command line as its users call it: exit codes, streams, speed, never a traceback."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT
from small_study import Study, as_text, zipped

from genesig import __version__
from genesig.cli import main
from genesig.data.files.config_text import merge_configs
from genesig.data.files.readers import load_schema
from genesig.data.study.config_check import parameter_table
from genesig.data.validate import (
    check_study,
    examine,
    examine_study,
    resolve_config,
    study_config,
)
from genesig.errors import InvalidInput

HEAVY = ("numpy", "pandas", "anndata", "sklearn", "matplotlib", "numba", "scipy", "yaml")


def _genesig(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "genesig.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_valid_study_ends_with_0_and_one_line(tmp_path: Path) -> None:
    Study(tmp_path).write()
    process = _genesig("validate", "config.yaml", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    line = (
        r"config\.yaml: 0 errors, 0 warnings; 12 samples \(6 normal, 6 tumor; positive: tumor\), "
        r"8 genes; takes about [\d.]+ (s|min) of one processor, \d+ MB for a job\n"
    )
    assert re.fullmatch(line, process.stdout)


@pytest.mark.slow
def test_several_configs_lie_upon_each_other_as_in_the_workflow(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.write()
    (tmp_path / "more.yaml").write_text("splits: {folds: 4}\nreport: {title: more}\n")
    process = _genesig("validate", "config.yaml", "more.yaml", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("config.yaml + more.yaml: 0 errors")
    (tmp_path / "more.yaml").write_text("splits: {folds: 40}\n")
    process = _genesig("validate", "config.yaml", "more.yaml", cwd=tmp_path)
    assert process.returncode == 1
    base_config = {"a": {"b": 1, "c": [1]}, "d": 2}
    second = {"a": {"c": [2]}, "d": {"e": 3}}
    assert merge_configs(base_config, second) == {"a": {"b": 1, "c": [2]}, "d": {"e": 3}}
    assert base_config == {"a": {"b": 1, "c": [1]}, "d": 2}


def test_problems_end_with_1_and_no_traceback(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.set("expression", "e.tsv.gz")
    study.files["e.tsv.gz"] = zipped(study.matrix)[:-20]
    study.column("diagnosis", ["tumor"] * 12)
    study.write()
    process = _genesig("validate", "config.yaml", cwd=tmp_path)
    assert process.returncode == 1
    assert [line.split(":")[:2] for line in process.stderr.splitlines()] == [
        ["error", " e.tsv.gz"],
        ["error", " samples.tsv, column 'diagnosis'"],
    ]
    assert process.stdout == "config.yaml: 2 errors, 0 warnings\n"


CONFIGS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "error: config.yaml: is empty; a study needs three keys: expression "),
    "comments": (b"# label: x\n", "error: config.yaml: is empty; a study needs three keys: "),
    "a list": (b"- label\n", "error: config.yaml: needs lines 'key: value'"),
    "a tab": (b"data:\n\tgroup: a\n", "error: config.yaml, line 2: is not YAML: "),
    "half a character": (
        b'label: "x\\ud800"\n',
        "error: config.yaml: holds half a character (\\ud800); write the whole one as it is",
    ),
    "half a character in a key": (
        b'"l\\udfffbel": x\n',
        "error: config.yaml: holds half a character (\\udfff); write the whole one as it is",
    ),
    "a key twice": (
        b"seed: 1\ndata: {}\nseed: 2\n",
        "error: config.yaml, line 3: the key 'seed' is already on line 1",
    ),
    "nothing that is needed": (
        b"seed: 1\n",
        "error: config.yaml, expression: the key 'expression'",
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_broken_config_is_reported_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, line = CONFIGS[name]
    (tmp_path / "config.yaml").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "config.yaml"]) == 1
    assert capsys.readouterr().err.splitlines()[0].startswith(line)


def test_missing_config_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "config/confg.yaml"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: config/confg.yaml: no such file")
    assert err.endswith("did you mean 'config.yaml'?\n")


def test_the_default_study_is_sound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["validate"]) == 0
    out, err = capsys.readouterr()
    assert "38 samples (27 ALL, 11 AML; positive: AML), 3051 genes" in out
    assert err == ""


def test_version_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"genesig {__version__}\n"
    assert main(["parameters"]) == 0
    assert capsys.readouterr().out == parameter_table(load_schema())


def test_a_closed_pipe_is_no_fault_of_the_user() -> None:
    command = f"{sys.executable} -m genesig.cli parameters | true"
    process = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert process.stderr == ""


@pytest.mark.parametrize(
    ("encoding", "folder", "line"),
    [("utf-8", b"st\xff", "st\\udcff"), ("ascii", "stü".encode(), "st\\xfc")],
)
def test_names_that_the_terminal_cannot_encode_are_escaped(
    encoding: str, folder: bytes, line: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "genesig.cli", "init", os.fsdecode(folder)]
    variables = {"PYTHONIOENCODING": f"{encoding}:strict", "PYTHONPATH": str(ROOT)}
    process = subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ | variables)
    assert (process.returncode, process.stderr) == (0, b"")
    assert process.stdout.decode().splitlines()[0] == f"{line}/config.yaml"


def test_control_codes_of_a_class_reach_neither_tables_nor_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.column("diagnosis", ["ill\x1b[31m", "well"] * 6)
    study.write()
    assert main(["validate", "config.yaml"]) == 1
    stderr = capsys.readouterr().err
    assert "'ill\\x1b[31m' holds a control code" in stderr
    assert "\x1b" not in stderr


def test_an_unknown_command_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as end:
        main(["validat"])
    assert end.value.code == 2


@pytest.mark.parametrize("module", ["genesig", "genesig.cli"])
def test_starting_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "[]\n"


@pytest.mark.slow
def test_validating_a_large_study_takes_less_than_5_seconds(tmp_path: Path) -> None:
    study = Study(tmp_path)
    values = np.random.default_rng(0).normal(8, 2, (7129, 72))
    names = [f"P{k}" for k in range(72)]
    rows = [[f"g{k}", *(f"{v:.4f}" for v in row)] for k, row in enumerate(values)]
    study.files["expression.tsv"] = as_text([["gene", *names], *rows])
    study.files["samples.tsv"] = as_text(
        [["sample", "diagnosis"], *([name, "ab"[k % 2]] for k, name in enumerate(names))]
    )
    study.write()
    # Processor time: a machine that is busy with other jobs says nothing of this one.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = _genesig("validate", "config.yaml", cwd=tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert "72 samples (36 a, 36 b; positive: b), 7129 genes" in process.stdout


def test_functions_report_the_same_as_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(tmp_path)
    study.set("controls.permutations", 9)
    study.column("diagnosis", ["", *["normal", "tumor"] * 5, "tumor"])
    study.write()
    monkeypatch.chdir(tmp_path)
    schema = load_schema()
    config = resolve_config(study.config, schema)
    problems = list(examine_study(config, "config").problems)
    assert [problem.level for problem in problems] == ["warning"] * 2
    files = [problem for problem in problems if problem.location.startswith("samples.tsv")]
    assert list(examine(study.config, schema, "config").problems) == problems
    problems_found = check_study(
        {key: value for key, value in config.items() if key != "report"}, "c.yaml"
    )
    assert problems_found == {
        "summary": "11 samples (5 normal, 6 tumor; positive: tumor), 8 genes; left out: 1 sample",
        # Not the one of controls.permutations: it would outlive a change of that setting.
        "warnings": [f"{files[0].location}: {files[0].message}"],
        "warning_codes": ["labels_missing"],
        "size": {"samples": 11, "genes": 8, "splits": 3, "training": 8},
    }
    with pytest.raises(InvalidInput, match="did you mean 'diagnosis'"):
        check_study({**config, "label": "diagnoses"}, "c.yaml")


def test_the_job_names_the_config_as_the_user_does(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.set("normalise.samples", [{"step": "log2", "floor": 60000}])
    study.write()
    raw = study.config | {
        key: str(tmp_path / study.config[key]) for key in ("expression", "samples")
    }
    with pytest.raises(InvalidInput, match=r"^error: mine\.yaml, normalise\.samples, item 1: "):
        check_study(resolve_config(raw, load_schema()), "mine.yaml")


@pytest.mark.parametrize("fault", [{"linear": {"tau_mim": 1}}, {"signature": {"mu": 7}}])
def test_config_of_the_workflow_is_named_in_its_errors(fault: dict[str, object]) -> None:
    raw = {"expression": "e.tsv", "samples": "s.tsv", "label": "class"} | fault
    for source in ("mine.yaml", "config"):
        with pytest.raises(InvalidInput, match=rf"^error: {source}, "):
            study_config(raw, load_schema(), source)
    with pytest.raises(InvalidInput, match=r"^error: config, "):
        study_config(raw, load_schema())
