"""Bytes of a file, replaced here and there by what readers stumble over."""

from __future__ import annotations

import random
from pathlib import Path

PIECES = [
    b"", b"\t", b",", b"\n", b"\r", b'"', b"'", b"\0", b"\xff", b"-", b"1e999", b"nan", b"1",
    b"P01", b"gene1", b"tumor", b"{", b"[", b": ", b"null", b"true", b"  ", b"#", b"&a *a",
    b"<<: ", b"? ", b"!!python/object:x ",
]  # fmt: skip


def spoil(path: Path, draw: random.Random) -> None:
    """Put up to four pieces into a file, or in place of what is there."""
    content = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(content) + 1)
        content[start : start + draw.choice([0, 1, 3, 30, 200])] = draw.choice(PIECES)
    path.write_bytes(bytes(content))
