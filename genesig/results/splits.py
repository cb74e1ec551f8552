"""Records of the splits of a study, of its gene sets, and of its half-sample lists."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.results.files import load_arrays, load_json, save_arrays, save_json


@dataclass(frozen=True)
class Split:
    """One outer split: names of its training and test samples and its inner folds.

    `inner` holds the validation samples of each inner fold; the other samples of `train` train.
    `seed` is the spawn key under the study's seed, by which the split can be drawn again.
    """

    name: str
    repeat: int
    fold: int
    train: tuple[str, ...]
    test: tuple[str, ...]
    inner: tuple[tuple[str, ...], ...]
    seed: tuple[int, ...]

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Split:
        """Build a split from its JSON object."""
        inner = tuple(tuple(fold) for fold in raw["inner"])
        lists = {key: tuple(raw[key]) for key in ("train", "test", "seed")}
        return cls(raw["name"], raw["repeat"], raw["fold"], inner=inner, **lists)


@dataclass(frozen=True)
class Splits:
    """Every split of the study.

    `outer` assess the procedure. `final` trains on all samples, and its `test` is empty.
    `subsamples` are half-samples for stability, without test samples; numbers 2i and 2i + 1 are a
    pair of disjoint halves.
    """

    scheme: str
    inner_scheme: str
    seed: int
    outer: tuple[Split, ...]
    final: Split
    subsamples: tuple[Split, ...]

    def save(self, path: str | Path) -> None:
        """Write the splits as JSON, by sample name."""
        save_json(path, {"version": 1, **asdict(self)})

    @classmethod
    def load(cls, path: str | Path) -> Splits:
        """Read what `save` wrote."""
        return cls.from_json(load_json(path))

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Splits:
        """Build the splits from their JSON object."""
        split_lists = {
            key: tuple(map(Split.from_json, raw[key])) for key in ("outer", "subsamples")
        }
        return cls(
            raw["scheme"],
            raw["inner_scheme"],
            raw["seed"],
            final=Split.from_json(raw["final"]),
            **split_lists,
        )


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


DRAWS = 5
"""Draws of the inner folds of all samples, by which the final model is chosen; others have one."""
TRAINING = 6
"""Pairs of half-samples of a training set, or of half of the samples."""
FINAL = 25
"""Pairs of half-samples of all samples."""
FOLDS = 3
"""Pairs of half-samples of the training set of an inner fold, if its lists count in the choice of
the predictive list; otherwise there is one pair."""


@dataclass(frozen=True)
class Chance:
    """Half-sample lists under B permutations of the labels, and of all samples under the observed.

    Row b of ``outer``, ``inner``, ``final``, ``final_inner``, ``half`` and ``half_inner`` has at
    t = 0 ... T the number of genes in at least t of T half-sample lists.

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
        Genes of each of the T half-sample lists of all samples, under the observed labels first.
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
        """Return the number of lists of all samples with each gene, (B + 1, d), observed first."""
        counts = np.zeros((len(self) + 1, len(self.strength)), dtype=np.int64)
        list_number = np.repeat(
            np.arange(len(self.indptr) - 1) // int(self.lists), np.diff(self.indptr)
        )
        np.add.at(counts, (list_number, self.indices), 1)
        return counts

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> Chance:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def none(cls) -> Chance:
        """Return the record without permutations."""
        no_numbers = np.zeros(0, dtype=np.int64)
        no_tails = np.zeros((0, 0), dtype=np.int64)
        empty_indptr = np.zeros(1, dtype=np.int64)
        return cls(
            no_numbers,
            no_tails,
            no_tails,
            no_tails,
            no_tails,
            no_tails,
            no_tails,
            empty_indptr,
            no_numbers,
            np.array(1),
            np.zeros(0),
        )
