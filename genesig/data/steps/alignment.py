"""Each study by itself to one location and spread of each gene, without a look at its labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

FEWEST = 10
"""Samples that a study, or a batch of new samples, needs for moments of its own."""


@dataclass(frozen=True, eq=False)
class AlignStudies:
    """x - m of each gene, divided by s if the spread is to be the same, too.

    m and s (ddof 0) are those of the sample's own study, over all its samples and none other: what
    is held out has no part in what trains, because studies are held out whole. Where the mix of
    classes differs between studies, part of what tells the classes apart goes with m.

    Attributes
    ----------
    column : str
        Column of the sample table that names the studies. Samples without one are a study.
    spread : bool
        Whether s is divided by. A gene that is constant in a study becomes 0 there.
    """

    column: str
    spread: bool
    kind: ClassVar[Literal["study"]] = "study"
    genes: ClassVar[None] = None

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Align the rows of each study; what is missing stays so, and has no part in m and s."""
        out = np.empty(X.shape)
        for rows in self._studies(len(X), about):
            own = X[rows]
            known = np.maximum(np.isfinite(own).sum(axis=0), 1)
            out[rows] = own - np.nansum(own, axis=0) / known
            if self.spread:
                deviation = np.sqrt(np.nansum(out[rows] ** 2, axis=0) / known)
                flat = deviation <= np.finfo(float).eps * np.abs(own).max(axis=0, initial=0.0)
                out[rows] *= np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
        return out

    def _studies(self, n: int, about: pd.DataFrame | None) -> Iterator[Array]:
        if about is None or self.column not in about:
            yield np.arange(n)
            return
        names = about[self.column].astype(str).to_numpy(dtype=object)
        for name in np.unique(names):
            yield np.flatnonzero(names == name)


ALIGNED: dict[str, tuple[dict[str, Any], ...]] = {
    "none": (),
    "centre": ({"step": "align_studies", "spread": False},),
    "standardise": ({"step": "align_studies", "spread": True},),
    "rank": ({"step": "rank_samples"},),
}
"""What ``across.align`` does, as steps after the row-wise ones."""
