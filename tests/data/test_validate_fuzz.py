"""`genesig validate` answers random input with messages, within ten seconds and one gigabyte."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from process_memory import peak_since
from small_study import Study, as_text, zipped

from genesig.cli import main
from genesig.data.files.readers import load_schema

SECONDS = 10
BYTES = 1_000_000_000
SCHEMA = load_schema()
FILES = [
    "expression.tsv",
    "samples.tsv",
    "expression.tsv.gz",
    "absent.tsv",
    ".",
    "/",
    "/dev/zero",
    "pipe",
    "loop.tsv",
    "x" * 300 + ".tsv",
    "a\0b.tsv",
    "config.yaml",
    "",
    "../",
    "~",
    "{A}.tsv",
    "expression.h5ad",
    "expression.gct",
    "samples.cls",
    "expression.rds",
    "{}.csv",
]
WORDS = [
    "",
    "x",
    "diagnosis",
    "family",
    "matched",
    "set",
    "age",
    "sample",
    "tumor",
    "normal",
    "train",
    "{A}",
    "{",
    "=1+1",
    "é",
    "\u202e",
    "\ud800"[:0] + "\ufeff",
    "'",
    '"',
    "null",
    "GSE1",
    "1e-6",
    "\t",
    "\n",
    " ",
    "x" * 5000,
]
ODD_NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    10**3,
    10**9,
    10**30,
    -(10**30),
    0.5,
    1e-300,
    1e300,
    float("nan"),
    float("inf"),
    2.0,
    -0.0,
]
CELLS = [
    "",
    "NA",
    "1",
    "-1",
    "1e999",
    "-inf",
    "nan",
    "0x1F",
    "1,5",
    "1.000,5",
    "5e-324",
    "8.5",
    "1_0",
    "=A1",
    "tumor",
    "normal",
    "P01",
    "gene1",
    "?",
    "-999",
    "١٢",
    '"',
    '""',
    "x" * 3000,
    "2.31E+13",
    "1e308",
    "TRUE",
    "#N/A",
    "\0",
    "\r",
]

words = st.sampled_from(WORDS)
scalars = st.one_of(
    st.sampled_from(ODD_NUMBERS),
    words,
    st.sampled_from(FILES),
    st.booleans(),
    st.none(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
)
any_value = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=12,
)


def _value(node: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Draw what a key allows, or nearly: a good half of the configs is to come past the schema."""
    if "$ref" in node:
        steps = [name for name in SCHEMA["$defs"] if name != "step"]
        return st.sampled_from(steps).flatmap(lambda name: _section(SCHEMA["$defs"][name], name))
    if "enum" in node:
        return st.sampled_from(node["enum"])
    kinds = node.get("type", "string")
    options = [_kind(kind, node) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return st.one_of(options)


def _kind(kind: str, node: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "object":
        return _section(node)
    if kind == "array":
        return st.lists(_value(node["items"]), max_size=4)
    least = node.get("minimum", 0)
    maximum = node.get("maximum", 10**6)
    return {
        "integer": st.sampled_from([least, least + 1, 2, 4, maximum, maximum + 1, 10**10]),
        "number": st.sampled_from([least, 0.1, 0.5, 1.0, maximum, 1e-9, 1e12]),
        "boolean": st.booleans(),
        "null": st.none(),
        "string": words | st.sampled_from(FILES),
    }[kind]


def _section(node: dict[str, Any], step: str | None = None) -> st.SearchStrategy[Any]:
    step_name = {} if step is None else {"step": st.just(step)}
    keys = {key: _value(subnode) for key, subnode in node["properties"].items() if key != "step"}
    return st.fixed_dictionaries(step_name, optional=keys)


def _some_keys(node: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw one to three keys of the config, each of its kind or anything at all."""
    keys = {
        f"{section}.{key}": subnode
        for section, section_node in node["properties"].items()
        for key, subnode in section_node.get("properties", {}).items()
    }
    keys |= {
        key: subnode for key, subnode in node["properties"].items() if key not in node["required"]
    }
    single_change = st.sampled_from(sorted(keys)).flatmap(
        lambda key: st.tuples(st.just(key), _value(keys[key]) | _value(keys[key]) | any_value)
    )
    return st.lists(single_change, min_size=1, max_size=3).map(dict)


places = st.tuples(st.integers(0, 14), st.integers(0, 14), st.sampled_from(CELLS))
odd_tables = st.lists(places, max_size=6)
studies = st.fixed_dictionaries(
    {
        "keys": _some_keys(SCHEMA) | st.just({}),
        "more": st.dictionaries(scalars, any_value, max_size=2) | st.just({}),
        "sheet": odd_tables | st.just([]),
        "matrix": odd_tables | st.just([]),
        "names": st.fixed_dictionaries(
            {},
            optional={
                "expression": st.sampled_from(FILES),
                "samples": st.sampled_from(FILES),
                "label": words,
            },
        )
        | st.just({}),
        "delimiter": st.sampled_from(["\t", "\t", "\t", ",", ";", " "]),
        "end": st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n", ""]),
        "text": st.none() | st.none() | st.text(max_size=60) | st.binary(max_size=60),
    }
)


def _lay_out(folder: Path, drawn: dict[str, Any]) -> None:
    study = Study(folder)
    for key, value in drawn["keys"].items():
        study.set(key, value)
    study.config.update({key: v for key, v in drawn["more"].items() if key not in study.config})
    study.config.update(drawn["names"])
    for name, rows in (("sheet", study.sheet), ("matrix", study.matrix)):
        for row, column, cell in drawn[name]:
            if row < len(rows) and column < len(rows[row]):
                rows[row][column] = cell
        content = as_text(rows, drawn["delimiter"], drawn["end"])
        study.files[{"sheet": "samples.tsv", "matrix": "expression.tsv"}[name]] = content
    study.files["expression.tsv.gz"] = zipped(study.matrix)
    if drawn["text"] is not None:
        text = drawn["text"]
        study.files["expression.tsv"] = text if isinstance(text, bytes) else text.encode()
    study.write()
    os.mkfifo(folder / "pipe")
    (folder / "loop.tsv").symlink_to("loop.tsv")


@contextlib.contextmanager
def _at_once() -> Iterator[None]:
    def late(*_: object) -> None:
        raise AssertionError(f"no answer within {SECONDS} seconds")

    # Of processor time, as others may be at work here; what waits uses none, and has a minute.
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


@contextlib.contextmanager
def _without_output(stderr: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(io.StringIO()):
        yield


def exit_code_of(drawn: dict[str, Any]) -> int:
    """Validate one study in a folder of its own; its answer is lines, in time and in memory."""
    stderr = io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        _lay_out(Path(folder), drawn)
        os.chdir(folder)
        try:
            with _at_once(), _without_output(stderr), peak_since() as peak:
                code = main(["validate", "config.yaml"])
        finally:
            os.chdir(before)
    lines = stderr.getvalue().splitlines()
    assert all(line.startswith(("error: ", "warning: ", "note: ")) for line in lines)
    assert code == any(line.startswith("error: ") for line in lines)
    assert peak() < BYTES
    return code


def fuzz(cases: int) -> dict[int, int]:
    """Validate random studies and return the count of each exit code."""
    codes = {0: 0, 1: 0}

    @settings(
        max_examples=cases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(studies)
    def each(drawn: dict[str, Any]) -> None:
        codes[exit_code_of(drawn)] += 1

    each()
    return codes


@pytest.mark.parametrize(
    "cases", [6, pytest.param(500, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_validation_of_random_input_ends_with_an_exit_code(
    cases: int, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    codes = fuzz(cases)
    assert sum(codes.values()) >= cases
    assert min(codes.values()) > cases / 50, f"after {time.monotonic() - begun:.0f} s"
