"""How often halves of the samples list each gene, and how often they do by chance."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.results.files import load_arrays, save_arrays

Array = np.ndarray[Any, Any]

TRAINING, FINAL, FOLDS = 6, 25, 3
"""Pairs of halves of a training set (or of half the samples), of all samples, and of what trains an
inner fold where lists of folds have a say in which list predicts; otherwise there is one."""


@dataclass(frozen=True)
class Chance:
    """Lists of halves under B permutations of the labels and, of all samples, the observed ones.

    Row b of ``outer``, ``inner``, ``final``, ``final_inner``, ``half`` and ``half_inner`` has at
    t = 0 ... T the number of genes that at least t of T lists of halves hold.

    Attributes
    ----------
    number : (B,) int
        Of each permutation.
    outer, inner : (B, T + 1) int
        Of the training set of an outer split, and of what trains one of its folds.
    final, final_inner : (B, T + 1) int
        Of all samples, and of what trains a fold of them.
    half, half_inner : (B, T + 1) int
        Of half the samples, and of what trains a fold of them; (B, 0) where no halves are drawn.
    indptr, indices : ((B + 1) T + 1,), (nnz,) int
        Genes of each of the T lists of halves of all samples, under the observed labels first.
    lists : () int
        T of all samples.
    strength : (d,) float
        Sum of each gene's absolute weights over the lists under the observed labels, by which
        genes that are listed equally often are told apart.
    """

    number: Array
    outer: Array
    inner: Array
    final: Array
    final_inner: Array
    half: Array
    half_inner: Array
    indptr: Array
    indices: Array
    lists: Array
    strength: Array

    def __len__(self) -> int:
        """Return the number of permutations."""
        return len(self.number)

    def times(self) -> Array:
        """Return how many lists of all samples hold each gene, (B + 1, d), observed ones first."""
        out = np.zeros((len(self) + 1, len(self.strength)), dtype=np.int64)
        of = np.repeat(np.arange(len(self.indptr) - 1) // int(self.lists), np.diff(self.indptr))
        np.add.at(out, (of, self.indices), 1)
        return out

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> Chance:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def none(cls) -> Chance:
        """Return the record of no permutation."""
        no, tail = np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
        start = np.zeros(1, dtype=np.int64)
        return cls(no, tail, tail, tail, tail, tail, tail, start, no, np.array(1), np.zeros(0))
