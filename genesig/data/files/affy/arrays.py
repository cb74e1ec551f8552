"""Perfect-match intensities of several Affymetrix arrays of one chip, side by side."""

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
    """The layout of a chip."""

    # chip types as the file has them; empty if it has none (the binary CDF up to version 3)
    chips: tuple[str, ...]
    n_columns: int
    n_rows: int
    names: tuple[str, ...]  # probe sets, in the order of the file
    # (n_probes,) int: cell of each perfect-match probe, `y * n_columns + x`, set by set. In the
    # layout of a CDF file the probes of a set have the order of their atoms, as in makecdfenv.
    cells: Array
    sets: Array  # (n_probes,) int, ascending: number of each probe's set in `names`
    left_out: str = ""  # sentence that counts what was left out of the file; '' if nothing was


@dataclass(frozen=True, eq=False)
class Probes:
    """Raw intensities of the perfect-match probes."""

    X: Array  # (n_arrays, n_probes) float64
    # The first probe of a set has the set's name, the others `name#2`, `name#3`, ... So the set's
    # name is that of the column that stands for the set (see `MedianPolish.genes`).
    names: tuple[str, ...]
    left_out: str = ""  # `Layout.left_out`


def probe_matrix(cels: Iterable[tuple[str, Cel]], layout: Layout, layout_file: str) -> Probes:
    """Return the perfect-match intensities of all arrays.

    cels: in the order of the rows; taken one after the other.
    layout_file: name of the layout's file, for messages.

    Raises InvalidInput: listing every array that is not of the chip of the layout.
    """
    rows = []
    problems = []
    for path, cel in cels:
        if problem := _chip_mismatch(path, cel, layout, layout_file):
            problems.append(problem)
        else:
            rows.append(cel.intensity[layout.cells])
    if problems:
        raise InvalidInput(problems)
    first_probe = np.searchsorted(layout.sets, np.arange(len(layout.names)))
    number_in_set = np.arange(len(layout.sets)) - first_probe[layout.sets] + 1
    set_names = (layout.names[number] for number in layout.sets)
    names = tuple(
        set_name if number == 1 else f"{set_name}#{number}"
        for set_name, number in zip(set_names, number_in_set.tolist(), strict=True)
    )
    return Probes(np.array(rows).reshape(len(rows), len(names)), names, layout.left_out)


def _chip_mismatch(path: str, cel: Cel, layout: Layout, layout_file: str) -> Problem | None:
    """Return the problem that an array is not of the layout's chip; None if it is."""
    size = (cel.n_columns, cel.n_rows)
    layout_size = (layout.n_columns, layout.n_rows)
    layout_names = layout.chips or (re.split(r"[\\/]", layout_file)[-1],)
    fits = not cel.chip or any(is_layout_of_chip(cel.chip, name) for name in layout_names)
    if size == layout_size and fits:
        return None
    message = (
        f"is an array of chip '{cel.chip or 'unknown'}' with {size[0]} × {size[1]} cells, but "
        f"{layout_file} is the layout of {listing(layout_names)} with {layout_size[0]} × "
        f"{layout_size[1]}; give the layout of this chip"
    )
    return Problem(path, message)


def is_layout_of_chip(chip: str, name: str) -> bool:
    """Tell whether the name of a layout, or of its file, belongs to a chip.

    It begins with the chip's name; case, ``-``, ``_`` and blanks do not count: the file
    ``hgu133a_hs_entrezg.cdf`` has custom probe sets of the chip ``HG-U133A``.
    """
    letters = [re.escape(letter) for letter in re.sub(r"[-_ ]", "", chip)]
    pattern = "[-_ ]*".join(letters) + r"(?![A-Za-z0-9])"
    return re.match(pattern, name, re.IGNORECASE) is not None
