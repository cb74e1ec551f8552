"""Failures of the machine are reported in one line: place, cause, remedy."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from small_study import Study

from genesig.data.files import content
from genesig.errors import InvalidInput
from genesig.machine import check_writable, interruption_problem, memory, refusal_problem
from genesig.results import save_arrays, save_table, save_text
from genesig.words import size_of

LINES: dict[str, tuple[BaseException, str]] = {
    "disk": (OSError(errno.ENOSPC, "x", "r/a.tsv"), r"r/a.tsv: the disk is full ("),
    "quota": (OSError(errno.EDQUOT, "x", "a"), "a: the quota is used up ("),
    "file size": (OSError(errno.EFBIG, "x", "a"), "a: files may not be larger than "),
    "rights": (PermissionError(errno.EACCES, "x", "a"), "a: cannot be read or written (Permission"),
    "read-only": (OSError(errno.EROFS, "x", "a"), "a: cannot be read or written (Read-only"),
    "descriptors": (OSError(errno.EMFILE, "x", "a"), "a: no file descriptor is left, of "),
    "of a library": (ImportError("libx.so: Error 24"), "this machine: no file descriptor is left"),
    "memory": (MemoryError(), "this machine: not enough memory, of which this process may have "),
    "memory of a library": (
        ImportError("libx.so: failed to map segment from shared object"),
        "this machine: not enough memory",
    ),
    "threads": (RuntimeError("can't start new thread"), "this machine: not enough memory"),
    "stale": (OSError(errno.ESTALE, "x", "a"), "a: the disk does not answer as it should"),
    "HDF5": (
        OSError("(file write failed: errno = 28, error message = 'x')"),
        "this machine: the d",
    ),
    "HDF5 at the end": (
        RuntimeError("flush failed (file write failed: errno = 28, error message = 'No space')"),
        "this machine: the disk is full: free some",
    ),
    "numpy": (OSError("4000 requested and 1024 written"), "this machine: the disk is full"),
}


@pytest.mark.parametrize("name", LINES)
def test_error_names_place_cause_and_remedy(name: str) -> None:
    error, begins = LINES[name]
    line = str(refusal_problem(error))
    assert line.startswith(f"error: {begins}")
    assert line.endswith("run again: what is finished is kept")
    assert "\n" not in line


def test_impossible_file_name_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too long") as caught:
        (tmp_path / ("x" * 300)).write_text("")
    assert re.match(
        r"error: /.*: is no name for this \(File name too long\): choose another$",
        str(refusal_problem(caught.value)),
    )


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), OSError("x"), FileNotFoundError(2, "x", "a")]
)
def test_program_error_is_no_machine_problem(error: Exception) -> None:
    assert refusal_problem(error) is None
    assert interruption_problem(error) is None


def test_failed_write_names_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); "
    write = "import sys; from genesig.log import log_to; log_to('log'); import numpy as np; "
    write += "from genesig.results import save_arrays; "
    write += "save_arrays('r/a.npz', {'x': np.zeros(100_000)})"
    process = subprocess.run(
        [sys.executable, "-c", limit + write],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
        # Bytecode that the limit cuts off would stop the tests that import it afterwards.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert process.returncode == 1
    assert process.stderr.startswith("error: r/a.npz: files may not be larger than 50 kB here")
    assert len(process.stderr.splitlines()) == 1
    assert process.stderr in (tmp_path / "log").read_text()
    assert list((tmp_path / "r").iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EMFILE])
def test_every_writer_names_its_file_in_errors(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **words: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    import pandas as pd

    monkeypatch.setattr(pd.DataFrame, "to_csv", refuse)
    for name, save in {
        "a.txt": lambda path: save_text(path, "x"),
        "a.tsv": lambda path: save_table(path, pd.DataFrame()),
        "a.npz": lambda path: save_arrays(path, {}),
    }.items():
        with pytest.raises(InvalidInput, match=f"error: {tmp_path / name}: "):
            save(tmp_path / name)


def test_a_log_on_a_full_disk_leaves_the_terminal() -> None:
    code = "from genesig.log import log_to; log_to('/dev/full'); raise KeyboardInterrupt"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode != 0
    assert process.stderr.startswith("error: this job: was interrupted (Ctrl-C")


def _genesig(folder: Path, limits: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f"{limits}; exec {sys.executable} -m genesig.cli validate config.yaml"]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


@pytest.mark.parametrize("kind", ["file", "link to nowhere", "link to a file"])
def test_results_path_that_is_no_folder_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    if kind == "file":
        Path("results").touch()
    else:
        Path("results").symlink_to("file" if kind.endswith("file") else "nowhere")
    message = "is a link to nowhere: make" if kind == "link to nowhere" else "is a file, where"
    with pytest.raises(InvalidInput, match=f"^error: results: {message}"):
        check_writable("logs", "results")


def test_disk_that_fails_while_reading_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stops(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "e.tsv").write_bytes(b"a\tb\n1\t2\n")
    monkeypatch.setattr(content, "_read_stream", stops)
    with pytest.raises(InvalidInput, match=r"e\.tsv: cannot be read: Input/output error"):
        content.read_content(tmp_path / "e.tsv")


@pytest.mark.slow_cases(
    "exec > /dev/full-the disk is full",
)
@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ("ulimit -v 100000", "not enough memory"),
        ("ulimit -v 300000", "not enough memory"),
        ("exec > /dev/full", "the disk is full"),
    ],
)
def test_command_line_reports_write_failures(limits: str, word: str, tmp_path: Path) -> None:
    Study(tmp_path).write()
    output = _genesig(tmp_path, limits)
    assert output.returncode == 1
    assert word in output.stderr
    assert len(output.stderr.splitlines()) == 1


def test_sizes_are_written_with_units_and_memory_is_known() -> None:
    sizes = [size_of(number) for number in (0, 999, 1000, 14_000_000, 3.2e9, 23e9)]
    assert sizes == ["0 bytes", "999 bytes", "1 kB", "14 MB", "3.2 GB", "23 GB"]
    assert memory() > 1e8
