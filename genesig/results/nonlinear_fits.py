"""Nonlinear selection on many splits, in a few arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from genesig.errors import GenesigError
from genesig.results.files import load_arrays, save_arrays
from genesig.results.ragged import Shape

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class NonlinearFits:
    """The model of each of m splits, and its scores of the split's test samples.

    Attributes
    ----------
    split, message : (m,) str
        Name of the split; sentences about a path cut short or fits that did not converge.
    screened : (m,) int
        Genes that the model was given.
    tau, nu, width, lam : (m,) float
        What the inner folds chose: the tau of the last fit, as a fraction of tau_max (1 where
        nothing could be selected), and lam NaN without a ridge.
    explained_by_none : (m,) float
        Share of the training variance of y that f fits with no gene at all; NaN without a fit.
    gap : (m,) float
        Relative duality gap of the last fit.
    cut, paths : (m,) int
        Inner paths that ended because more genes than samples were selected, of so many.
    indptr, indices, norms : (m + 1,), (nnz,), (nnz,)
        Selected genes of each model, ascending, and the size of f's derivative by each.
    test_indptr, test_rows, scores : (m + 1,), (t,), (t,)
        Row numbers of the test samples and their scores, less the threshold of their fit.
    fvm_genes, fvm_scores : (m,) int, (t,) float
        The same samples scored by the Feature Vector Machine's genes; NaN where it was not run.
    """

    split: Array
    message: Array
    screened: Array
    tau: Array
    nu: Array
    width: Array
    lam: Array
    explained_by_none: Array
    gap: Array
    cut: Array
    paths: Array
    indptr: Array
    indices: Array
    norms: Array
    test_indptr: Array
    test_rows: Array
    scores: Array
    fvm_genes: Array
    fvm_scores: Array

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def selected(self, fit: int) -> tuple[Array, Array]:
        """Return (genes, derivative norms) of one fit."""
        part = slice(*self.indptr[fit:][:2])
        return self.indices[part], self.norms[part]

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> NonlinearFits:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> NonlinearFits:
        """Collect the fits, each a dict with what it adds to every array but the pointers."""
        return cls(**SHAPE.arrays(rows))

    @classmethod
    def joined(cls, parts: Sequence[NonlinearFits], splits: Sequence[str]) -> NonlinearFits:
        """Join batches in the order of the named splits.

        Raises
        ------
        GenesigError
            Naming the splits that are missing: a mean over fewer would look like a result.
        """
        rows = {row["split"]: row for part in parts for row in part.rows()}
        if missing := [name for name in splits if name not in rows]:
            raise GenesigError(f"nonlinear fits: {len(missing)} missing: {', '.join(missing[:5])}")
        return cls.of([rows[name] for name in splits])

    def rows(self) -> list[dict[str, Any]]:
        """Return the fits as `of` takes them."""
        return [row | {"split": str(row["split"])} for row in SHAPE.rows(self)]


SHAPE = Shape(
    {
        "split": str, "message": str, "screened": int, "tau": float, "nu": float, "width": float,
        "lam": float, "explained_by_none": float, "gap": float, "cut": int, "paths": int,
        "fvm_genes": int,
    },
    {
        "indices": (int, "indptr"), "norms": (float, "indptr"), "test_rows": (int, "test_indptr"),
        "scores": (float, "test_indptr"), "fvm_scores": (float, "test_indptr"),
    },
)  # fmt: skip
