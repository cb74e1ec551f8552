"""Columns that belong together: the probes of a probe set, the probe sets of a gene."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.errors import GenesigError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

# A probe's name: its set's, and from the second probe on its number (see `affy.arrays.Probes`).
PROBE = re.compile(r"#\d+$")


def numbered(step: str, by: Sequence[str] | None, n_columns: int) -> Array:
    """Give the columns' sets the numbers 0, 1, ... in the order in which they first occur.

    Parameters
    ----------
    step : str
        Who asks, for the message.
    by : (n_columns,) sequence of names, or None
        The set of each column; None makes each column a set of its own.
    n_columns : int

    Raises
    ------
    GenesigError
        If `by` does not name a set for each column.
    """
    if by is None:
        return np.arange(n_columns)
    if isinstance(by, str) or len(by) != n_columns:
        found = f"'{by}'" if isinstance(by, str) else f"{len(by)} names"
        raise GenesigError(f"{step}: needs the set of each of {n_columns} columns, found {found}")
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(str(name), len(numbers)) for name in by], dtype=np.int64)


def by_size(sets: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the sets of each size: (m,) numbers and (m, size) columns."""
    sizes = np.bincount(sets)
    order, starts = np.argsort(sets, kind="stable"), np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        numbers = np.flatnonzero(sizes == size)
        yield numbers, order[starts[numbers][:, None] + np.arange(size)]


def gene_columns(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of the gene table, but for symbols, by which steps take columns together.

    ``symbol`` is the study's, whatever its column is called.
    """
    return [step["by"] for step in steps if step.get("by") not in (None, "symbol")]


def with_sets(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Put the set of each column in place of the name of a gene table's column.

    Parameters
    ----------
    steps : list of steps
        A step with the setting ``by`` takes columns together. Null is the probe set in the probe's
        name for ``median_polish``, the column ``symbol`` for others.
    var : DataFrame, index = gene ids
        Of the genes as the first of the steps sees them; `fit_steps` follows what the others see.

    Raises
    ------
    GenesigError
        The gene table has no such column.
    """
    bound: list[dict[str, Any]] = []
    for step in steps:
        by = step.get("by")
        if "by" not in step or not (by is None or isinstance(by, str)):
            bound.append(dict(step))
            continue
        bound.append({**step, "by": _sets(str(step["step"]), by, var)})
    return bound


def _sets(step: str, by: str | None, var: pd.DataFrame) -> list[str]:
    if by is None and step == "median_polish":
        return [PROBE.sub("", str(name)) for name in var.index]
    column = by or "symbol"
    if column not in var.columns:
        names = ", ".join(f"'{name}'" for name in var.columns)
        near = did_you_mean(column, map(str, var.columns))
        raise GenesigError(
            f"normalise.folds: {step} by '{column}', but the gene table has {names}{near}"
        )
    return [str(name) for name in var[column]]
