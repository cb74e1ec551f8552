"""What the name of a file says: the sample of a file of one array, and the format."""

from __future__ import annotations

import re
from pathlib import Path, PurePath


def sample_name(where: str | PurePath) -> str:
    """Return the name of a file without its folder, ``.gz``, its ending and an IDAT's colour."""
    plain = _plain(where)
    colour = r"_(Grn|Red)$" if plain.suffix.lower() == ".idat" else r"$^"
    return re.sub(colour, "", plain.stem, flags=re.IGNORECASE)


def suffix_of(path: str | Path) -> str:
    """Return the lower-case suffix that says the format, ``.gz`` left aside."""
    return _plain(path).suffix.lower()


def _plain(path: str | PurePath) -> PurePath:
    path = PurePath(path)
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
