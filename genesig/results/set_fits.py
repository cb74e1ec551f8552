"""Selection of gene sets on many splits, in a few arrays."""

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
class SetFits:
    """The model of each of m (permutation, split) fits, and its scores of the split's test samples.

    Attributes
    ----------
    split, message : (m,) str
        Name of the split; a sentence about a path that did not converge.
    permutation : (m,) int
        0 for the observed labels.
    tau, mu : (m,) float
        What the inner folds chose: tau as a fraction of tau_max, mu in units of ||Z'Z||/n.
    gap : (m,) float
        Relative duality gap of the model.
    indptr, indices, sizes : (m + 1,), (nnz,), (nnz,)
        Blocks of each model, ascending, and ||A_k v_k||, what each adds to the training scores.
        Below the number of sets a block is that set, from there on a gene by itself.
    test_indptr, test_rows, scores : (m + 1,), (t,), (t,)
        Row numbers of the test samples and their scores, less the threshold of their fit.
    """

    split: Array
    message: Array
    permutation: Array
    tau: Array
    mu: Array
    gap: Array
    indptr: Array
    indices: Array
    sizes: Array
    test_indptr: Array
    test_rows: Array
    scores: Array

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self.split)

    def selected(self, fit: int) -> tuple[Array, Array]:
        """Return (blocks, their share of the score) of one fit; the shares add up to 1."""
        part = slice(*self.indptr[fit:][:2])
        sizes = self.sizes[part]
        return self.indices[part], sizes / (sizes.sum() or 1.0)

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` file."""
        save_arrays(path, {f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> SetFits:
        """Read what `save` wrote."""
        return cls(**load_arrays(path))

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> SetFits:
        """Collect the fits, each a dict with what it adds to every array but the pointers."""
        return cls(**SHAPE.arrays(rows))

    @classmethod
    def joined(cls, parts: Sequence[SetFits], splits: Sequence[str]) -> SetFits:
        """Join batches, sorted by permutation, then in the order of the named splits.

        Raises
        ------
        GenesigError
            Naming what is not there exactly once: a mean over fewer would look like a result.
        """
        rows = [row for part in parts for row in SHAPE.rows(part)]
        place = {name: number for number, name in enumerate(splits)}
        rows.sort(key=lambda row: (row["permutation"], place[str(row["split"])]))
        found = [(int(row["permutation"]), str(row["split"])) for row in rows]
        numbers = sorted({number for number, _ in found})
        wanted = [(number, name) for number in numbers for name in splits]
        if found != wanted:
            wrong = [pair for pair in wanted if found.count(pair) != 1]
            shown = ", ".join(f"split {name} of permutation {number}" for number, name in wrong[:5])
            raise GenesigError(f"gene sets: {len(wrong)} fits missing or there twice: {shown}")
        return cls.of(rows)


SHAPE = Shape(
    {"split": str, "message": str, "permutation": int, "tau": float, "mu": float, "gap": float},
    {"indices": (int, "indptr"), "sizes": (float, "indptr"), "test_rows": (int, "test_indptr"),
     "scores": (float, "test_indptr")},
)  # fmt: skip
