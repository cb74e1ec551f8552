"""The gene sets of a study, as numbers of its genes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.results.files import load_arrays, save_arrays

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class GeneSets:
    """Sets of genes that may overlap.

    Attributes
    ----------
    names, about : (n_sets,) str
        Name and description.
    named, measured : (n_sets,) int
        Genes that the file names for a set, and those of them that the study measured; a gene may
        have several probes.
    indptr, indices : (n_sets + 1,), (nnz,) int
        Genes of the data set (columns of its matrix) in each set, ascending.
    said : (k,) str
        What a reader should know of the file: warnings, one sentence each.
    """

    names: Array
    about: Array
    named: Array
    measured: Array
    indptr: Array
    indices: Array
    said: Array

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self.names)

    def members(self, number: int) -> Array:
        """Return the genes of one set."""
        return self.indices[slice(*self.indptr[number:][:2])]

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> GeneSets:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))
