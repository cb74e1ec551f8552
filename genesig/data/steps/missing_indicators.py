"""Whether a value, or a whole omic of a sample, is missing, as a variable of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import GenesigError
from genesig.results import Dataset
from genesig.results.dataset import OMIC

if TYPE_CHECKING:
    import pandas as pd

NAME = "missing_indicators"
SUFFIX = " missing"
"""What follows the name of a gene, or of an omic, in that of its indicator."""
GENE = "gene"


@dataclass(frozen=True, eq=False)
class MissingIndicators:
    """``x_ia = 1 where x_ij is missing, else 0``, a the column that stands for gene j.

    Where a column stands for several genes, those of an omic, it is 1 where all are missing.

    A column that is the same in all training samples of a split has no spread there, so that no
    model of it can select it.

    Attributes
    ----------
    of, added : (m,) int or None
        Columns of the genes, and of the indicator of each; None for none.
    """

    of: Array | None = None
    added: Array | None = None
    kind: ClassVar[Literal["sample"]] = "sample"
    genes: ClassVar[None] = None

    def transform(self, X: Array) -> Array:
        """Fill in the columns that are added; all others stay."""
        out = np.array(X, dtype=float)
        if self.of is not None and self.added is not None:
            for column, genes in by_column(self.of, self.added):
                out[:, column] = np.isnan(out[:, genes]).all(axis=1)
        return out

    def among(self, columns: Array) -> MissingIndicators:
        """Return the step where only some columns are left, which are numbered anew."""
        if self.of is None or self.added is None:
            return self
        number = {column: place for place, column in enumerate(columns.tolist())}
        pairs = zip(self.of.tolist(), self.added.tolist(), strict=True)
        left = [(number[j], number[a]) for j, a in pairs if j in number and a in number]
        return MissingIndicators(*np.array(left, dtype=np.int64).reshape(-1, 2).T)


def by_column(of: Array, added: Array) -> Iterator[tuple[int, Array]]:
    """Give each indicator's column with those of the genes that it stands for."""
    order = np.argsort(added, kind="stable")
    columns, starts = np.unique(added[order], return_index=True)
    yield from zip(columns.tolist(), np.split(of[order], starts)[1:], strict=True)


def with_columns(dataset: Dataset, steps: Sequence[Mapping[str, Any]]) -> Dataset:
    """Add a column, still empty, for each gene, or omic, that some samples miss and some have.

    A data set whose steps ask for no indicators is returned as it is.

    Raises
    ------
    GenesigError
        A gene has the name of another's indicator.
    """
    if (each := _each(steps)) is None:
        return dataset
    import pandas as pd

    about = _of_genes(dataset) if each == GENE else _of_omics(dataset)
    if taken := sorted(set(about.index) & set(dataset.genes)):
        raise GenesigError(f"{NAME}: there is a gene called '{taken[0]}' already; rename it")
    X = np.hstack([dataset.X, np.full((len(dataset.X), len(about)), np.nan)])
    return replace(dataset, X=X, var=pd.concat([dataset.var, about]))


def indicators(dataset: Dataset) -> int:
    """Count the columns that are indicators: what each stands for, gene or omic, is there, too."""
    known = {*dataset.genes, *dataset.omics}
    return sum(
        name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known for name in dataset.genes
    )


def _each(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Return what the step has an indicator for; None where it is not among the steps."""
    return next((step.get("each", GENE) for step in steps if step["step"] == NAME), None)


def _of_genes(dataset: Dataset) -> pd.DataFrame:
    lost = np.isnan(dataset.X)
    some = np.flatnonzero(lost.any(axis=0) & ~lost.all(axis=0))
    about = dataset.var.iloc[some].copy()
    about.index = about.index + SUFFIX
    about["symbol"] = about["symbol"] + SUFFIX
    return about


def _of_omics(dataset: Dataset) -> pd.DataFrame:
    """Describe the indicators as their omic's first gene is described, but for its name."""
    of = dataset.omic_of()
    first = [int(np.argmax(of == k)) for k, some in enumerate(lacking(dataset).T) if some.any()]
    about = dataset.var.iloc[first].copy()
    about.index = about[OMIC].astype(str) + SUFFIX
    about["symbol"] = about.index
    return about


def lacking(dataset: Dataset) -> Array:
    """Tell which samples miss every gene of which omic, (n_samples, n_omics) bool."""
    lost = np.isnan(dataset.X)
    of = dataset.omic_of() if dataset.omics else None
    found = [lost[:, of == omic].all(axis=1) for omic in range(len(dataset.omics))]
    return np.column_stack(found) if found else np.zeros((len(lost), 0), dtype=bool)


def with_indicators(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Tell the step which columns stand for which genes."""
    if (each := _each(steps)) is None:
        return list(map(dict, steps))
    genes = [str(gene) for gene in var.index]
    place = {gene: k for k, gene in enumerate(genes)}
    own = {gene: [place[gene]] for gene in genes}
    if each != GENE:
        omics = var[OMIC].astype(str).tolist()
        own = {
            omic: [k for k, of in enumerate(omics) if of == omic and genes[k] != omic + SUFFIX]
            for omic in set(omics)
        }
    pairs = [
        (k, place[name + SUFFIX])
        for name, some in own.items()
        if name + SUFFIX in place
        for k in some
    ]
    of, added = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    told = {"step": NAME, "of": of, "added": added}
    return [dict(told) if step["step"] == NAME else dict(step) for step in steps]
