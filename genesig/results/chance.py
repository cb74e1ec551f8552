"""How often halves of the samples list each gene, and how often they do by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.results.files import load_arrays, save_arrays

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Chance:
    """Half-frequencies under B permutations of the labels, at every size of training set; and
    those of all samples under the observed labels.

    Row b of ``outer``, ``inner``, ``final``, ``final_inner`` and ``half`` has at t = 0 ... T the
    number of genes that at least t of T halves list.

    Attributes
    ----------
    number : (B,) int
        Of each permutation.
    outer, inner : (B, T + 1) int
        Of the training set of an outer split, and of what trains one of its folds.
    final, final_inner : (B, T + 1) int
        Of all samples, and of what trains a fold of them.
    half : (B, T + 1) int
        Of half the samples; (B, 0) where no halves are drawn, and so of what has no folds.
    indptr, indices, times : (B + 1,), (nnz,), (nnz,) int
        How many halves of all samples list each gene that any does.
    observed, strength : (d,) int, (d,) float
        The same under the observed labels, and the sum of each gene's absolute weights.
    """

    number: Array
    outer: Array
    inner: Array
    final: Array
    final_inner: Array
    half: Array
    indptr: Array
    indices: Array
    times: Array
    observed: Array
    strength: Array

    def __len__(self) -> int:
        """Return the number of permutations."""
        return len(self.number)

    def of_genes(self, n_genes: int) -> Array:
        """Return how many halves of all samples list each gene under each permutation, (B, d)."""
        out = np.zeros((len(self), n_genes), dtype=np.int64)
        out[np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.indices] = self.times
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
        return cls(no, tail, tail, tail, tail, tail, start, no, no, no, np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence[Chance]) -> Chance:
        """Join permutations, in their order."""
        parts = [part for part in parts if len(part)] or [cls.none()]
        parts = sorted(parts, key=lambda part: int(part.number.min(initial=0)))
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        shared = {name: getattr(parts[0], name) for name in ("observed", "strength")}
        shared["indptr"] = np.concatenate([[0], np.cumsum(counts)])
        whole = {f.name: np.concatenate([getattr(part, f.name) for part in parts])
                 for f in fields(cls) if f.name not in shared}  # fmt: skip
        return cls(**shared, **whole)
