"""Records of the splits of a study, of its gene sets, and of its half-sample lists."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.results.files import load_arrays, load_json, save_arrays, save_json


@dataclass(frozen=True)
class Split:
    """One outer split: names of its training and test samples and its inner folds.

    `inner` holds the validation samples of each inner fold; the other samples of `train` train.
    `seed` is the spawn key under the study's seed, by which the split can be drawn again.
    """

    name: str  # unique in the study, such as "r1f2", "final" or "s01a"
    repeat: int  # repeat of the cross-validation, from 1; 0 for all samples; pair of a half
    fold: int  # fold of that repeat, from 1; 0 for all samples; 1 or 2 for a half
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
    """Sets of genes that may overlap."""

    names: Array  # (n_sets,) str: name of each set
    descriptions: Array  # (n_sets,) str: description of each set
    n_listed: Array  # (n_sets,) int: number of genes that the file lists for a set
    # (n_sets,) int: number of these that the study measured; a gene may have several probes
    n_measured: Array
    indptr: Array  # (n_sets + 1,) int: index in `indices` at which each set begins
    # (nnz,) int: genes of the data set (columns of its matrix) in each set, ascending
    indices: Array
    warnings: Array  # (k,) str: warnings about the file, one sentence each

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self.names)

    def members(self, number: int) -> Array:
        """Return the column numbers of the genes of a set; `number` is its index in `names`."""
        return self.indices[row_entries(self.indptr, number)]

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> GeneSets:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))


INNER_FOLD_DRAWS = 5
"""Draws of the inner folds of all samples, by which the final model is chosen; others have one."""
PAIRS_OF_TRAINING_SET = 6  # pairs of half-samples of a training set, or of half of the samples
PAIRS_OF_ALL_SAMPLES = 25  # pairs of half-samples of all samples
PAIRS_OF_INNER_FOLD = 3
"""Pairs of half-samples of the training set of an inner fold, if its lists count in the choice of
the predictive list; otherwise there is one pair."""


@dataclass(frozen=True)
class HalfSampleStudy:
    """Half-sample lists of a study, under the observed labels and under B permutations.

    Row b of ``outer``, ``inner``, ``final``, ``final_inner``, ``half`` and ``half_inner`` has at t
    = 0 ... T the number of genes in at least t of T half-sample lists under permutation b.
    """

    number: Array  # (B,) int: number of each permutation
    outer: Array  # (B, T + 1) int: counts of the training set of an outer split
    inner: Array  # (B, T + 1) int: counts of the training set of one of its inner folds
    final: Array  # (B, T + 1) int: counts of all samples
    final_inner: Array  # (B, T + 1) int: counts of the training set of a fold of all samples
    half: Array  # (B, T + 1) int: counts of half of the samples; (B, 0) if no halves are drawn
    # (B, T + 1) int: counts of the training set of a fold of half of the samples, as above
    half_inner: Array
    # ((B + 1) T + 1,) int: index in `indices` at which each half-sample list of all samples begins,
    # those under the observed labels first
    indptr: Array
    indices: Array  # (nnz,) int: genes of these lists
    lists: Array  # () int: number T of half-sample lists of all samples
    # (d,) float: sum of each gene's absolute weights over the lists under the observed labels,
    # which orders genes with equal selection frequency
    strength: Array

    def __len__(self) -> int:
        """Return the number of permutations."""
        return len(self.number)

    def counts(self) -> Array:
        """Return the number of all samples' lists with each gene, (B + 1, d), observed first."""
        counts = np.zeros((len(self) + 1, len(self.strength)), dtype=np.int64)
        labels_of_list = np.arange(len(self.indptr) - 1) // int(self.lists)  # row of `counts`
        np.add.at(counts, (np.repeat(labels_of_list, np.diff(self.indptr)), self.indices), 1)
        return counts

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> HalfSampleStudy:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def none(cls) -> HalfSampleStudy:
        """Return the record without permutations, lists or genes."""
        no_numbers = np.zeros(0, dtype=np.int64)
        no_counts = np.zeros((0, 0), dtype=np.int64)
        return cls(
            number=no_numbers,
            outer=no_counts,
            inner=no_counts,
            final=no_counts,
            final_inner=no_counts,
            half=no_counts,
            half_inner=no_counts,
            indptr=np.zeros(1, dtype=np.int64),
            indices=no_numbers,
            lists=np.array(1),  # not 0: `counts` divides by it
            strength=np.zeros(0),
        )
