"""Whether a value is missing, as a variable of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from genesig.errors import GenesigError
from genesig.results import Dataset

Array = np.ndarray[Any, Any]

NAME = "missing_indicators"
SUFFIX = " missing"
"""What follows the name of a gene in that of its indicator."""


@dataclass(frozen=True, eq=False)
class MissingIndicators:
    """``x_ia = 1 where x_ij is missing, else 0``, a the column that stands for gene j.

    A column that is the same in all training samples of a split has no spread there, so that no
    model of it can select it.

    Attributes
    ----------
    of, added : (m,) int or None
        Columns of the genes, and those of their indicators; None for none.
    """

    of: Array | None = None
    added: Array | None = None
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Fill in the columns that are added; all others stay."""
        out = np.array(X, dtype=float)
        if self.of is not None and len(self.of):
            out[:, self.added] = np.isnan(out[:, self.of])
        return out

    def among(self, columns: Array) -> MissingIndicators:
        """Return the step where only some columns are left, which are numbered anew."""
        if self.of is None or self.added is None:
            return self
        number = {column: place for place, column in enumerate(columns.tolist())}
        pairs = zip(self.of.tolist(), self.added.tolist(), strict=True)
        left = [(number[j], number[a]) for j, a in pairs if j in number and a in number]
        return MissingIndicators(*np.array(left, dtype=np.int64).reshape(-1, 2).T)


def with_columns(dataset: Dataset, steps: Sequence[Mapping[str, Any]]) -> Dataset:
    """Add a column, still empty, for each gene that some samples miss and some have.

    A data set whose steps ask for no indicators is returned as it is.

    Raises
    ------
    GenesigError
        A gene has the name of another's indicator.
    """
    if all(step["step"] != NAME for step in steps):
        return dataset
    import pandas as pd

    lost = np.isnan(dataset.X)
    about = dataset.var[lost.any(axis=0) & ~lost.all(axis=0)].copy()
    about.index = about.index + SUFFIX
    about["symbol"] = about["symbol"] + SUFFIX
    if taken := sorted(set(about.index) & set(dataset.genes)):
        raise GenesigError(f"{NAME}: there is a gene called '{taken[0]}' already; rename it")
    X = np.hstack([dataset.X, np.full((len(dataset.X), len(about)), np.nan)])
    return replace(dataset, X=X, var=pd.concat([dataset.var, about]))


def indicators(names: Sequence[str]) -> int:
    """Count the names that are those of indicators: the gene of each is in the data, too."""
    known = set(names)
    return sum(name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known for name in names)


def with_indicators(
    steps: Sequence[Mapping[str, Any]], genes: Sequence[str]
) -> list[dict[str, Any]]:
    """Tell the step which columns stand for which gene."""
    if all(step["step"] != NAME for step in steps):
        return list(map(dict, steps))
    place = {gene: k for k, gene in enumerate(genes)}
    added = [gene for gene in genes
             if gene.endswith(SUFFIX) and gene.removesuffix(SUFFIX) in place]  # fmt: skip
    told = {"of": np.array([place[gene.removesuffix(SUFFIX)] for gene in added], dtype=np.int64),
            "added": np.array([place[gene] for gene in added], dtype=np.int64)}  # fmt: skip
    return [{**step, **told} if step["step"] == NAME else dict(step) for step in steps]
