"""The sample that a file of one array stands for."""

from __future__ import annotations

from pathlib import PurePath


def sample_name(where: str) -> str:
    """Return the name of a file without its folder, ``.gz`` and its ending."""
    path = PurePath(where)
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem
