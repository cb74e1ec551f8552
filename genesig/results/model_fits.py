"""One model of each of many splits, in a few arrays: of nonlinear selection, or of gene sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.results.files import load_arrays, save_arrays
from genesig.results.fits import refuse_gaps

Row = dict[str, Any]

# What a fit has one value of; and what it has several of, with the pointers to where they begin.
ONE = {
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
    "fvm_genes": int,
}
SEVERAL = {
    "indices": (int, "indptr"),
    "sizes": (float, "indptr"),
    "test_rows": (int, "test_indptr"),
    "scores": (float, "test_indptr"),
    "fvm_scores": (float, "test_indptr"),
}


@dataclass(frozen=True)
class ModelFits:
    """The model of each of m (permutation, split) fits, and its scores of the split's test samples.

    Attributes
    ----------
    split, message : (m,) str
        Name of the split; sentences about a path cut short or fits that did not converge.
    permutation : (m,) int
        0 for the observed labels.
    tau, gap : (m,) float
        Chosen by the inner folds, as a fraction of tau_max; relative duality gap of the model.
    indptr, indices, sizes : (m + 1,), (nnz,), (nnz,)
        What each model selects, ascending, and the size of it. Genes, and that of f's derivative
        by each; or blocks and ||A_k v_k||, what each adds to the training scores: below the
        number of sets a block is that set, from there on a gene by itself.
    test_indptr, test_rows, scores : (m + 1,), (t,), (t,)
        Row numbers of the test samples and their scores, less the threshold of their fit; of sets
        with several classes (t, T), the largest of which decides.
    mu : (m,) float, or None
        Of sets, in units of ||Z'Z||/n. The others are None there, and this one without sets.
    screened, cut, paths : (m,) int
        Genes that the model was given; inner paths that ended because more genes than samples were
        selected, of so many.
    nu, width, lam : (m,) float
        Chosen by the inner folds; tau is that of the last fit there, 1 where nothing could be
        selected, and lam NaN without a ridge.
    explained_by_none : (m,) float
        Share of the training variance of y that f fits with no gene at all; NaN without a fit.
    fvm_genes, fvm_scores : (m,) int, (t,) float
        The same samples scored by the Feature Vector Machine's genes; NaN where it was not run.
    """

    split: Array
    message: Array
    permutation: Array
    tau: Array
    gap: Array
    indptr: Array
    indices: Array
    sizes: Array
    test_indptr: Array
    test_rows: Array
    scores: Array
    mu: Array | None = None
    screened: Array | None = None
    nu: Array | None = None
    width: Array | None = None
    lam: Array | None = None
    explained_by_none: Array | None = None
    cut: Array | None = None
    paths: Array | None = None
    fvm_genes: Array | None = None
    fvm_scores: Array | None = None

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def selected(self, fit: int) -> tuple[Array, Array]:
        """Return (what one fit selects, the size of each)."""
        part = slice(*self.indptr[fit:][:2])
        return self.indices[part], self.sizes[part]

    def arrays(self) -> dict[str, Array]:
        """Return what there is, by name."""
        every = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: array for name, array in every.items() if array is not None}

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> ModelFits:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def of(cls, rows: Sequence[Row]) -> ModelFits:
        """Collect the fits, each a dict with what it adds to every array but the pointers."""
        found: dict[str, Array] = {}
        for name in rows[0] if rows else [f.name for f in fields(cls)]:
            if name in ONE:
                found[name] = np.array([row[name] for row in rows], dtype=ONE[name])
            elif name in SEVERAL:
                kind, pointers = SEVERAL[name]
                parts: list[Array] = [np.asarray(row[name], dtype=kind) for row in rows]
                found[name] = np.concatenate(parts or [np.zeros(0, dtype=kind)])
                found[pointers] = np.cumsum([0, *map(len, parts)])
        return cls(**found)

    def rows(self) -> list[Row]:
        """Return the fits as `of` takes them."""
        known = self.arrays()
        out = list[Row]()
        for fit in range(len(self)):
            row: Row = {name: known[name][fit] for name in ONE if name in known}
            for name, (_, pointers) in SEVERAL.items():
                if name in known:
                    row[name] = known[name][slice(*known[pointers][fit:][:2])]
            out.append(row)
        return out

    @classmethod
    def joined(cls, parts: Sequence[ModelFits], splits: Sequence[str]) -> ModelFits:
        """Join batches, sorted by permutation, then in the order of the named splits.

        Raises
        ------
        GenesigError
            Naming what is not there exactly once.
        """
        place = {name: number for number, name in enumerate(splits)}
        rows = [row for part in parts for row in part.rows()]
        rows.sort(key=lambda row: (row["permutation"], place[str(row["split"])]))
        found = [(int(row["permutation"]), str(row["split"])) for row in rows]
        refuse_gaps(found, splits)
        return cls.of(rows)
