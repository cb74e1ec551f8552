"""Files with damaged bytes, and the messages that readers must give."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from genesig.cli import main

TABLES = [
    b"",
    b"\t",
    b",",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"\0",
    b"\xff",
    b"-",
    b"1e999",
    b"nan",
    b"1",
    b"P01",
    b"gene1",
    b"tumor",
    b"{",
    b"[",
    b": ",
    b"null",
    b"true",
    b"  ",
    b"#",
    b"&a *a",
    b"<<: ",
    b"? ",
    b"!!python/object:x ",
]
FORMATS = [
    b"",
    b"\t",
    b"\n",
    b'"',
    b"\0",
    b"\xff",
    b"-",
    b"1e999",
    b"1",
    b"0",
    b"GSM1",
    b"g1",
    b"!",
    b"^SAMPLE = GSM1\n",
    b"!sample_table_begin\n",
    b"!series_matrix_table_end\n",
    b"=",
    b"#1.3\n",
    b"DATA\t",
    b"FEATURES\t",
    b"AVG_Signal",
    b"[Header]\n",
]


def spoilt(content: bytes, pieces: Sequence[bytes], seed: int) -> bytes:
    """Put up to four pieces into a file or in place of what is there, and cut every third one."""
    draw = random.Random(seed)
    spoiled = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        # Most of what a reader believes stands at the beginning.
        start = draw.randrange(draw.choice([200, len(spoiled) + 1]))
        spoiled[start : start + draw.choice([0, 1, 3, 30, 200])] = draw.choice(pieces)
    return bytes(spoiled[: draw.choice([None, None, len(spoiled) // 2])])


def answers(
    path: Path, pieces: Sequence[bytes], times: int, capsys: pytest.CaptureFixture[str]
) -> set[int]:
    """Spoil a file of the study here again and again: lines for people each time.

    Return the exit codes of `genesig validate config.yaml`.
    """
    content = path.read_bytes()
    codes = set()
    for seed in range(times):
        path.write_bytes(spoilt(content, pieces, seed))
        code = main(["validate", "config.yaml"])
        lines = capsys.readouterr().err.splitlines()
        assert code == any(line.startswith("error: ") for line in lines), seed
        assert all(line.startswith(("error: ", "warning: ", "note: ")) for line in lines), seed
        codes.add(code)
    return codes
