"""Whatever the files hold, the answer is lines for people: no exception, no half a message."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from small_study import Study

from genesig.cli import main

PIECES = [
    b"", b"\t", b",", b"\n", b"\r", b'"', b"'", b"\0", b"\xff", b"-", b"1e999", b"nan", b"1",
    b"P01", b"gene1", b"tumor", b"{", b"[", b": ", b"null", b"true", b"  ", b"#", b"&a *a",
    b"<<: ", b"? ", b"!!python/object:x ",
]  # fmt: skip


def _spoil(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(content) + 1)
        content[start : start + draw.choice([0, 1, 3, 30, 200])] = draw.choice(PIECES)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("name", ["config.yaml", "samples.tsv", "expression.tsv"])
def test_spoiled_files_end_in_lines_for_people(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    codes = set()
    for seed in range(12):
        Study(tmp_path).write()
        _spoil(tmp_path / name, random.Random(seed))
        code = main(["validate", "config.yaml"])
        lines = capsys.readouterr().err.splitlines()
        assert code == any(line.startswith("error: ") for line in lines), seed
        assert all(line.startswith(("error: ", "warning: ")) for line in lines), seed
        codes.add(code)
    assert 1 in codes
