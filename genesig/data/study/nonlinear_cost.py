"""What nonlinear selection will cost, said before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from genesig.errors import Problem
from genesig.results import Splits

SECONDS, AT, POWER = 0.5, 100, 2.7
"""Time of one path of 12 tau on so many training samples, and how it grows with their number.

Measured at 64, 128 and 256 samples with 300 genes; the number of genes hardly matters.
"""

HOURS = 1.0
"""Of one processor, above which it is said."""


def hours(splits: Splits, section: dict[str, Any]) -> float:
    """Return the hours of one processor that all paths of all splits take, about."""
    settings = len(section["nu"]) * len(section["width"])
    paths = [(len(s.train) - len(fold), settings) for s in (*splits.outer, splits.final)
             for fold in s.inner]  # fmt: skip
    paths += [(len(s.train), 1) for s in (*splits.outer, splits.final)]
    each = SECONDS * section["tau_count"] / 12 / 3600
    return float(sum(each * count * (samples / AT) ** POWER for samples, count in paths))


def check_cost(config: dict[str, Any], splits: Splits, source: str) -> Iterator[Problem]:
    """Yield a warning where nonlinear selection takes hours."""
    section = config.get("nonlinear", {})
    if section.get("enabled") and (much := hours(splits, section)) > HOURS:
        what = (
            f"takes about {much:.2g} hours of one processor on these samples; one value of"
            " nonlinear.nu, fewer splits.repeats or nonlinear.enabled: false make it shorter"
        )
        yield Problem(f"{source}, nonlinear", what, "warning")
