"""Several arrays of one chip: their perfect-match intensities side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from genesig.arrays import Array
from genesig.data.files.affy.cel import Cel
from genesig.errors import InvalidInput, Problem
from genesig.words import listing


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout of a chip.

    Attributes
    ----------
    chips : tuple of str
        Chip types as the file has them; empty where it has none (the binary CDF up to version 3).
    n_columns, n_rows : int
    names : tuple of str
        Probe sets, in the order of the file.
    cells : (n_probes,) int
        Cell of each perfect-match probe, ``y * n_columns + x``; a set's probes stand together. In
        a CDF file's layout they have the order of their atoms, which is makecdfenv's order.
    sets : (n_probes,) int, growing
        Number of each probe's set among `names`.
    left_out : str
        What of the file is no part of it, in words.
    """

    chips: tuple[str, ...]
    n_columns: int
    n_rows: int
    names: tuple[str, ...]
    cells: Array
    sets: Array
    left_out: str = ""


@dataclass(frozen=True, eq=False)
class Probes:
    """Raw intensities of the perfect-match probes.

    Attributes
    ----------
    X : (n_arrays, n_probes) float64
    names : tuple of str
        The first probe of a set has the set's name, the others ``name#2``, ``name#3``, ...: the
        name of a set is the name of the column that stands for it (see `MedianPolish.genes`).
    left_out : str
        That of the layout.
    """

    X: Array
    names: tuple[str, ...]
    left_out: str = ""


def probe_matrix(cels: Iterable[tuple[str, Cel]], layout: Layout, where: str) -> Probes:
    """Take the perfect-match cells of every array.

    Parameters
    ----------
    cels : pairs of (file, array)
        In the order of the rows; taken one after the other.
    layout : Layout
    where : str
        Its file.

    Raises
    ------
    InvalidInput
        Listing every array that is not of the chip of the layout.
    """
    rows = []
    problems = []
    for path, cel in cels:
        if misfit := _misfit(path, cel, layout, where):
            problems.append(misfit)
        else:
            rows.append(cel.intensity[layout.cells])
    if problems:
        raise InvalidInput(problems)
    starts = np.searchsorted(layout.sets, np.arange(len(layout.names)))
    within = np.arange(len(layout.sets)) - starts[layout.sets] + 1
    sets = (layout.names[number] for number in layout.sets)
    names = tuple(s if k == 1 else f"{s}#{k}" for s, k in zip(sets, within.tolist(), strict=True))
    return Probes(np.array(rows).reshape(len(rows), len(names)), names, layout.left_out)


def _misfit(path: str, cel: Cel, layout: Layout, where: str) -> Problem | None:
    size = (cel.n_columns, cel.n_rows)
    needed = (layout.n_columns, layout.n_rows)
    names = layout.chips or (re.split(r"[\\/]", where)[-1],)
    fits = not cel.chip or any(is_layout_of(cel.chip, name) for name in names)
    if size == needed and fits:
        return None
    what = (
        f"is an array of chip '{cel.chip or 'unknown'}' with {size[0]} × {size[1]} cells, but "
        f"{where} is the layout of {listing(names)} with {needed[0]} × {needed[1]}; give the "
        "layout of this chip"
    )
    return Problem(path, what)


def is_layout_of(chip: str, name: str) -> bool:
    """Tell whether a layout's name, or its file's, is the chip's name or begins with it.

    Case and the signs ``-``, ``_`` and blank do not count, so that ``hgu133a_hs_entrezg.cdf``, a
    layout with probe sets of one's own, belongs to the chip ``HG-U133A``.
    """
    letters = [re.escape(letter) for letter in re.sub(r"[-_ ]", "", chip)]
    pattern = "[-_ ]*".join(letters) + r"(?![A-Za-z0-9])"
    return re.match(pattern, name, re.IGNORECASE) is not None
