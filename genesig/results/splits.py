"""The splits, gene sets and selection frequencies of a study, by names of samples and genes."""

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

    `inner` holds the validation samples of each inner fold; the rest of `train` trains.
    `seed` is the spawn key under the study's seed, enough to draw the split again.
    """

    name: str
    repeat: int
    fold: int
    train: tuple[str, ...]
    test: tuple[str, ...]
    inner: tuple[tuple[str, ...], ...]
    seed: tuple[int, ...]

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Split:
        """Build a split from its JSON object."""
        inner = tuple(tuple(fold) for fold in raw["inner"])
        lists = {key: tuple(raw[key]) for key in ("train", "test", "seed")}
        return cls(raw["name"], raw["repeat"], raw["fold"], inner=inner, **lists)


@dataclass(frozen=True)
class Splits:
    """Every split of the study.

    `outer` assess the procedure; `final` trains on all samples (its `test` is empty);
    `subsamples` are halves of the samples for stability (no test); 2i and 2i + 1 are disjoint, a
    pair.
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
        return cls.of(load_json(path))

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Splits:
        """Build the splits from their JSON object."""
        many = {key: tuple(map(Split.of, raw[key])) for key in ("outer", "subsamples")}
        return cls(
            raw["scheme"], raw["inner_scheme"], raw["seed"], final=Split.of(raw["final"]), **many
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
"""Of the inner folds of all samples, by which the final model chooses; every other has one."""
TRAINING = 6
FINAL = 25
FOLDS = 3
"""Pairs of halves of a training set (or of half the samples), of all samples, and of what trains an
inner fold where lists of folds have a say in which list predicts; otherwise there is one."""


@dataclass(frozen=True)
class Chance:
    """Lists of halves under B permutations of the labels and, of all samples, the observed ones.

    Row b of ``outer``, ``inner``, ``final``, ``final_inner``, ``half`` and ``half_inner`` has at
    t = 0 ... T the number of genes that at least t of T half-sample lists hold.

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
        no = np.zeros(0, dtype=np.int64)
        tail = np.zeros((0, 0), dtype=np.int64)
        start = np.zeros(1, dtype=np.int64)
        return cls(no, tail, tail, tail, tail, tail, tail, start, no, np.array(1), np.zeros(0))
