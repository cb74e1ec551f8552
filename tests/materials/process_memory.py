"""How much memory this process took at most while something was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _bytes(key: str) -> int:
    memory_line = re.search(rf"{key}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert memory_line is not None
    return 1000 * int(memory_line[1])


@contextmanager
def peak_since() -> Iterator[Callable[[], int]]:
    """Give a function that returns the bytes that the block took at most, on top of what was."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is what there is now
    except OSError:
        pytest.skip("the peak of memory cannot be reset here")
    before = _bytes("VmRSS")
    yield lambda: _bytes("VmHWM") - before
