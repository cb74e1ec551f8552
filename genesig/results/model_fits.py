"""The models of many splits, in a few arrays: of nonlinear selection, or of gene sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array, row_entries
from genesig.results.files import load_arrays, save_arrays
from genesig.results.fits import refuse_gaps

FitRow = dict[str, Any]  # field of `ModelFits` -> its value, or values, for one fit

# Field with one value for each fit -> its type.
FIELDS_OF_ONE_VALUE = {
    "split": str,
    "message": str,
    "permutation": int,
    "tau": float,
    "gap": float,
    "mu": float,
    "screened": int,
    "nu": float,
    "width": float,
    "lam": float,
    "explained_by_none": float,
    "cut": int,
    "paths": int,
    "ended_early": bool,
    "fvm_genes": int,
}
# Field with several values for each fit -> its type, and the field of the pointers to the first.
FIELDS_OF_MANY_VALUES = {
    "indices": (int, "indptr"),
    "sizes": (float, "indptr"),
    "test_rows": (int, "test_indptr"),
    "scores": (float, "test_indptr"),
    "fvm_scores": (float, "test_indptr"),
}


@dataclass(frozen=True)
class NonlinearChoices:
    """The settings that m nonlinear fits chose, and the Feature Vector Machine beside them."""

    screened: Array  # (m,) int: number of genes in the training set of the model
    nu: Array  # (m,) float: chosen by the inner folds
    width: Array  # (m,) float: chosen by the inner folds
    lam: Array  # (m,) float: chosen by the inner folds; NaN without a ridge
    # (m,) float: share of the training variance of y that f fits without any gene; NaN without a
    # fit
    explained_by_none: Array
    # (m,) int: number of inner paths that ended because more genes than samples were selected
    cut: Array
    paths: Array  # (m,) int: number of all inner paths
    ended_early: Array  # (m,) bool: whether the path ended before the chosen tau
    fvm_genes: Array  # (m,) int: number of genes of the Feature Vector Machine
    # (t,) float: scores of the same samples by these genes; NaN if it was not run
    fvm_scores: Array


@dataclass(frozen=True)
class ModelFits:
    """The models of m (permutation, split) fits, and their scores of the split's test samples."""

    split: Array  # (m,) str: name of the split
    message: Array  # (m,) str: sentences about a path cut short and fits that did not converge
    permutation: Array  # (m,) int: 0 for the observed labels
    # (m,) float: chosen by the inner folds, as a fraction of tau_max; of the last fit of the path
    # in nonlinear selection, 1 if nothing could be selected
    tau: Array
    gap: Array  # (m,) float: relative duality gap of the model
    indptr: Array  # (m + 1,) int: index in `indices` at which each fit begins
    # (nnz,) int: selected genes, ascending; or selected blocks. Below the number of sets a block is
    # that set, from there on a single gene.
    indices: Array
    # (nnz,) float: size of f's derivative by each gene; or ||A_k v_k||, the part of each block in
    # the training scores
    sizes: Array
    test_indptr: Array  # (m + 1,) int: index in `test_rows` at which each fit begins
    test_rows: Array  # (t,) int: row numbers of the test samples
    # (t,) float: their scores less the threshold of the fit; for sets with several classes (t, T),
    # of which the largest decides
    scores: Array
    # (m,) float, of sets, in units of ||Z'Z||/n, Z their genes; None in nonlinear selection
    mu: Array | None = None
    nonlinear: NonlinearChoices | None = None  # None for sets

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def selected(self, fit: int) -> tuple[Array, Array]:
        """Return the genes (or blocks) that one fit selects, by number, and their sizes."""
        entries = row_entries(self.indptr, fit)
        return self.indices[entries], self.sizes[entries]

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that are not None, those of `nonlinear` too, by name."""
        values = dict(vars(self))
        choices = values.pop("nonlinear")
        values |= {} if choices is None else vars(choices)
        return {name: array for name, array in values.items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ModelFits:
        """Return the fits of the arrays that `arrays` returns."""
        names = {field.name for field in fields(NonlinearChoices)}
        choices = {name: array for name, array in arrays.items() if name in names}
        return cls(
            **{name: array for name, array in arrays.items() if name not in names},
            nonlinear=NonlinearChoices(**choices) if choices else None,
        )

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> ModelFits:
        """Read what `save` wrote."""
        return cls.from_arrays(load_arrays(path))

    @classmethod
    def from_rows(cls, rows: Sequence[FitRow]) -> ModelFits:
        """Return the record of fits, each a dict of its values in every array but the pointers."""
        arrays: dict[str, Array] = {}
        # All rows have the same names; a record without rows has every array, empty.
        for name in rows[0] if rows else [*FIELDS_OF_ONE_VALUE, *FIELDS_OF_MANY_VALUES]:
            if name in FIELDS_OF_ONE_VALUE:
                arrays[name] = np.array(
                    [row[name] for row in rows], dtype=FIELDS_OF_ONE_VALUE[name]
                )
            elif name in FIELDS_OF_MANY_VALUES:
                kind, pointers = FIELDS_OF_MANY_VALUES[name]
                values_of_fits: list[Array] = [np.asarray(row[name], dtype=kind) for row in rows]
                arrays[name] = np.concatenate(values_of_fits or [np.zeros(0, dtype=kind)])
                arrays[pointers] = np.cumsum([0, *map(len, values_of_fits)])
        return cls.from_arrays(arrays)

    def rows(self) -> list[FitRow]:
        """Return the fits as dicts, the argument of `from_rows`."""
        arrays = self.arrays()
        rows = list[FitRow]()
        for fit in range(len(self)):
            row: FitRow = {
                name: arrays[name][fit] for name in FIELDS_OF_ONE_VALUE if name in arrays
            }
            for name, (_, pointers) in FIELDS_OF_MANY_VALUES.items():
                if name in arrays:
                    row[name] = arrays[name][row_entries(arrays[pointers], fit)]
            rows.append(row)
        return rows

    @classmethod
    def joined(cls, batches: Sequence[ModelFits], splits: Sequence[str]) -> ModelFits:
        """Join batches, sorted by permutation, then in the order of the named splits.

        Raises GenesigError: a fit is missing or repeated; the message names it.
        """
        split_order = {name: number for number, name in enumerate(splits)}
        rows = [row for part in batches for row in part.rows()]
        rows.sort(key=lambda row: (row["permutation"], split_order[str(row["split"])]))
        pairs = [(int(row["permutation"]), str(row["split"])) for row in rows]
        refuse_gaps(pairs, splits)
        return cls.from_rows(rows)
