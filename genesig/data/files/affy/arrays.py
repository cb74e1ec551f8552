"""Several arrays of one chip: their perfect-match intensities side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.data.files.affy.cdf import Cdf
from genesig.data.files.affy.cel import Cel
from genesig.errors import InvalidInput, Problem

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Probes:
    """Raw intensities of the perfect-match probes.

    Attributes
    ----------
    X : (n_arrays, n_probes) float64
    names : tuple of str
        The first probe of a set has the set's name, the others ``name#2``, ``name#3``, ...: the
        name of a set is the name of the column that stands for it (see `MedianPolish.genes`).
    """

    X: Array
    names: tuple[str, ...]


def probe_matrix(cels: Iterable[tuple[str, Cel]], cdf: Cdf, *, cdf_path: str) -> Probes:
    """Take the perfect-match cells of every array.

    Parameters
    ----------
    cels : pairs of (file, array)
        In the order of the rows; taken one after the other.
    cdf : Cdf
    cdf_path : str
        Its file.

    Raises
    ------
    InvalidInput
        Listing every array that is not of the chip of the CDF.
    """
    rows, problems = [], []
    for path, cel in cels:
        if misfit := _misfit(path, cel, cdf, cdf_path):
            problems.append(misfit)
        else:
            rows.append(cel.intensity[cdf.cells])
    if problems:
        raise InvalidInput(problems)
    starts = np.searchsorted(cdf.sets, np.arange(len(cdf.names)))
    within = np.arange(len(cdf.sets)) - starts[cdf.sets] + 1
    sets = (cdf.names[number] for number in cdf.sets)
    names = tuple(s if k == 1 else f"{s}#{k}" for s, k in zip(sets, within.tolist(), strict=True))
    return Probes(np.array(rows).reshape(len(rows), len(names)), names)


def _misfit(path: str, cel: Cel, cdf: Cdf, cdf_path: str) -> Problem | None:
    size, needed = (cel.n_columns, cel.n_rows), (cdf.n_columns, cdf.n_rows)
    name = cdf.chip or re.split(r"[\\/]", cdf_path)[-1]
    if size == needed and (not cel.chip or is_layout_of(cel.chip, name)):
        return None
    what = (f"is an array of chip '{cel.chip or 'unknown'}' with {size[0]} × {size[1]} cells, but "
            f"{cdf_path} is the layout of '{name}' with {needed[0]} × {needed[1]}; give the CDF "
            "file of this chip")  # fmt: skip
    return Problem(path, what)


def is_layout_of(chip: str, name: str) -> bool:
    """Tell whether a layout's name, or its file's, is the chip's name or begins with it.

    Case and the signs ``-``, ``_`` and blank do not count, so that ``hgu133a_hs_entrezg.cdf``, a
    layout with probe sets of one's own, belongs to the chip ``HG-U133A``.
    """
    letters = [re.escape(letter) for letter in re.sub(r"[-_ ]", "", chip)]
    pattern = "[-_ ]*".join(letters) + r"(?![A-Za-z0-9])"
    return re.match(pattern, name, re.IGNORECASE) is not None
