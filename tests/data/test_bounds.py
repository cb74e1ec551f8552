"""Oversized input is refused in one line: bombs, pipes, devices and huge numbers."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import yaml
from process_memory import peak_since
from small_study import Study

from genesig import machine
from genesig.cli import main
from genesig.data.files.content import read_content, unpack
from genesig.data.splits.given import (
    MAX_INNER_FOLDS,
    MAX_OUTER_SPLITS,
    MAX_SAMPLE_NAMES,
    excess_message,
)
from genesig.errors import InvalidInput


def _bomb(size: int) -> bytes:
    """Pack many zeros; each megabyte of them is a member of its own, alike."""
    return gzip.compress(bytes(1 << 20)) * (size >> 20)


def _aliases(study: Study) -> str:
    lines = [yaml.safe_dump(study.config), "a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    return "\n".join(
        lines + [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 9)]
    )


def _merges(study: Study) -> str:
    lines = [yaml.safe_dump(study.config), "a0: &a0 {x: 1}"]
    return "\n".join(
        lines + [f"a{k}: &a{k} {{<<: [{', '.join([f'*a{k - 1}'] * 9)}]}}" for k in range(1, 9)]
    )


def _seed(text: str) -> Callable[[Study], str]:
    return lambda study: f"{yaml.safe_dump(study.config)}\nseed: {text}\n"


TOO_MUCH = "is nested deeper than 20 levels or has more than 2000 values"
CONFIGS: dict[str, tuple[Callable[[Study], str], str]] = {
    "aliases": (_aliases, TOO_MUCH),
    "aliases of merges": (_merges, TOO_MUCH),
    "one long text many times": (
        lambda s: f"a: &a {'x' * 50_000}\nb: [{', '.join(['*a'] * 900)}]\n",
        TOO_MUCH,
    ),
    "in itself": (lambda s: "a: &a [*a, *a]\n", TOO_MUCH),
    "keyed by itself": (lambda s: "? &a [*a]\n: 1\n", TOO_MUCH),
    "deep": (lambda s: "a: " + "[" * 5000, TOO_MUCH),
    "deep and closed": (lambda s: "a: " + "[" * 200 + "]" * 200, TOO_MUCH),
    "deep by indents": (lambda s: "".join(" " * k + "a:\n" for k in range(300)), TOO_MUCH),
    "long": (lambda s: "label: [" + "a, " * 5000 + "]", TOO_MUCH),
    "large": (lambda s: "label: x\n" * 20_000, "is larger than 100 kB, as no config is"),
    "digits": (_seed("1" + "0" * 5000), "holds a value that YAML cannot read"),
    "no day": (_seed("2001-99-99"), "holds a value that YAML cannot read (month"),
    "no truth value": (_seed("!!bool maybe"), "holds a value that YAML cannot read"),
    "no time": (_seed("!!timestamp x"), "holds a value that YAML cannot read"),
    "no number": (_seed('!!int ""'), "holds a value that YAML cannot read"),
}


def _errors(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]


@pytest.mark.slow_cases("deep")
@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_is_no_larger_than_configs_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write, words = CONFIGS[name]
    Path("config.yaml").write_text(write(Study(tmp_path)))
    begun = time.monotonic()
    assert main(["validate", "config.yaml"]) == 1
    (line,) = _errors(capsys)
    assert line.startswith("error: config.yaml")
    assert words in line
    assert time.monotonic() - begun < 10


HUGE_SETTINGS = {
    "splits.repeats": 10**9,
    "splits.folds": 10**9,
    "splits.inner_folds": 10**9,
    "splits.subsamples": 10**10,
    "splits.batches": 20_000,
    "controls.permutations": 10**9,
    "linear.tau_count": 10**10,
    "nonlinear.tau_count": 10**10,
    "nonlinear.fvm_bins": 10**9,
    "nonlinear.max_iterations": 10**12,
    "seed": 10**30,
    "linear.lam": [float(k) for k in range(200)],
    "normalise.samples": [{"step": "log2"}] * 100,
}


def _refused(
    settings: dict[str, Any],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    """Return the lines that refuse a study of these settings."""
    monkeypatch.chdir(folder)
    study = Study(folder)
    for key, value in settings.items():
        study.set(key, value)
    study.write()
    assert main(["validate", "config.yaml"]) == 1
    return _errors(capsys)


@pytest.mark.parametrize("key", HUGE_SETTINGS)
def test_every_numeric_setting_has_an_upper_bound(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = _refused({key: HUGE_SETTINGS[key]}, tmp_path, monkeypatch, capsys)
    assert line.startswith(f"error: config.yaml, {key}: found ")
    assert "at most " in line


SETTINGS_THAT_CONFLICT = {
    "more jobs than splits": ({"splits.batches": 4}, "splits.batches: 4 jobs, but 3 outer splits"),
    "more jobs than samples": (
        {"splits.scheme": "leave_one_out", "splits.batches": 13},
        "splits.batches: 13 jobs, but 12 outer splits",
    ),
    "many splits": ({"splits.repeats": 1000}, "splits.repeats: 3000 outer splits, at most 2000"),
    "many folds": (
        {"splits.repeats": 600, "splits.inner_folds": 30},
        "splits.repeats: 1800 outer splits of 30 inner folds each are 54000 fits, at most 40000",
    ),
    "many jobs": (
        {"controls.permutations": 100_000, "controls.permutations_per_job": 1},
        "controls.permutations_per_job: makes 200000 jobs, at most 10000",
    ),
}


@pytest.mark.parametrize("name", SETTINGS_THAT_CONFLICT)
def test_settings_together_have_a_largest_size(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, words = SETTINGS_THAT_CONFLICT[name]
    lines = _refused(settings, tmp_path, monkeypatch, capsys)
    assert any(line.startswith(f"error: config.yaml, {words}") for line in lines)


def test_splits_are_counted_before_they_are_drawn() -> None:
    assert excess_message(MAX_OUTER_SPLITS, MAX_INNER_FOLDS // MAX_OUTER_SPLITS) is None
    assert excess_message(MAX_OUTER_SPLITS + 1, 2) is not None
    assert excess_message(1000, MAX_INNER_FOLDS // 1000 + 1) is not None
    assert excess_message(1000, 5, MAX_SAMPLE_NAMES // 5000) is None
    assert excess_message(1000, 5, MAX_SAMPLE_NAMES // 4000) is not None


@pytest.mark.parametrize("column", ["", "absent"])
@pytest.mark.parametrize("scheme", ["stratified_kfold", "predefined"])
def test_missing_column_gives_one_line(
    column: str,
    scheme: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.set("splits.column", column)
    study.set("splits.scheme", scheme)
    study.write()
    assert main(["validate", "config.yaml"]) == (scheme == "predefined")
    assert "column" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["expression", "samples", "data.annotation", "splits.file"])
@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device", "folder"])
def test_only_regular_files_are_read(
    kind: str,
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    path = tmp_path / "odd.tsv"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = path if kind.startswith("link") else Path("/dev/zero")
        if kind.startswith("link"):
            path.symlink_to("/dev/zero")
    study.set(key, str(path))
    study.write()
    assert main(["validate", "config.yaml"]) == 1
    if path.suffix or key == "splits.file":  # the name of a table is looked at before the file
        assert any(
            str(path) in line
            and ("is no file but a device, a pipe" in line or "is a folder" in line)
            for line in _errors(capsys)
        )


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("name", PACKERS)
def test_decompression_bomb_is_refused(name: str) -> None:
    packed = 40 * PACKERS[name](bytes(1 << 20))
    with pytest.raises(InvalidInput, match="f: unpacks to more than 100 times its size"):
        unpack(packed, "f")
    with pytest.raises(InvalidInput, match=rf"f: the {name} file is (truncated|damaged)"):
        unpack(packed[: max(20, len(packed) // 50)], "f")


def test_a_bomb_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv.gz"
    path.write_bytes(_bomb(3 << 30))
    with peak_since() as peak, pytest.raises(InvalidInput, match="100 times its size"):
        read_content(path)
    assert peak() < 200e6


def test_a_bomb_of_short_rows_is_refused_before_they_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "e.tsv.gz"
    path.write_bytes(gzip.compress(b"gene\ta\n" + b"g\t1\n" * 5_000_000))
    with pytest.raises(InvalidInput, match="100 times its size"):
        read_content(path)


def test_sizes_are_held_against_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "memory", lambda: 1_200_000)
    path = tmp_path / "e.tsv"
    path.write_bytes(b"1\t" * 50_000)
    assert len(read_content(path)) == 100_000
    path.write_bytes(b"1\t" * 50_001)
    with pytest.raises(InvalidInput, match=r"holds more than 100 kB; reading takes 12 times that"):
        read_content(path)
    with pytest.raises(InvalidInput, match=r"this process may have 1\.2 MB"):
        machine.check_size("f", 100_001, 100_001)


def _in_two_members(content: bytes) -> bytes:
    return gzip.compress(content[:50]) + gzip.compress(content[50:])


def _filled_members(content: bytes) -> bytes:
    """Fill up both members with zeros, as writers to tape did; the first is in several blocks."""
    return b"".join(gzip.compress(part, 1) + bytes(700_000) for part in (content, b"", content[:9]))


@pytest.mark.parametrize("packs", [gzip.compress, _in_two_members, bytes])
def test_decompressed_content_equals_the_original(
    packs: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    payload = np.random.default_rng(0).bytes(3 << 20)
    (tmp_path / "f").write_bytes(packs(payload))
    assert read_content(tmp_path / "f") == payload


def test_zeros_behind_a_member_are_no_member(tmp_path: Path) -> None:
    payload = np.random.default_rng(0).bytes(1 << 20)
    (tmp_path / "f").write_bytes(_filled_members(payload))
    assert read_content(tmp_path / "f") == payload + payload[:9]


def test_a_file_that_ends_anywhere_is_truncated() -> None:
    packed = _in_two_members(b"g1\t7.5\n" * 300)
    between = len(gzip.compress((b"g1\t7.5\n" * 300)[:50]))
    for end in {*range(3, len(packed))} - {between}:
        with pytest.raises(InvalidInput, match="f: the gzip file is truncated"):
            unpack(packed[:end], "f")


@pytest.mark.parametrize("sparse", [False, True])
def test_an_h5ad_that_only_declares_its_values_is_refused(
    sparse: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with h5py.File("e.h5ad", "w") as file:
        if sparse:
            group = file.create_group("X")
            group.attrs["encoding-type"] = "csr_matrix"
            group.attrs["shape"] = [1_000_000, 1_000_000]
            for name, kind in (("data", "f8"), ("indices", "i8"), ("indptr", "i8")):
                group.create_dataset(name, (2,), kind)
        else:
            file.create_dataset("X", (100_000, 30_000), "f8", chunks=(1000, 1000))
    study = Study(tmp_path)
    study.set("expression", "e.h5ad")
    study.write()
    with peak_since() as peak:
        assert main(["validate", "config.yaml"]) == 1
    assert any(
        "e.h5ad" in line and ("100 times" in line or "reading takes" in line)
        for line in _errors(capsys)
    )
    assert peak() < 300e6


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"a":' * 100_000, '{"seed": 1e400}'])
def test_split_file_no_program_writes_is_refused(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path)
    study.set("splits.file", "s.json")
    study.files["s.json"] = text.encode()
    study.write()
    assert main(["validate", "config.yaml"]) == 1
    (line,) = _errors(capsys)
    assert line.startswith("error: s.json: is not JSON as a program writes it: ")
