"""Indicator columns: 1 if a gene's value, or a whole omic of a sample, is missing, otherwise 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.transforms import RowWiseStep
from genesig.errors import GenesigError
from genesig.results import Dataset
from genesig.results.dataset import OMIC

if TYPE_CHECKING:
    import pandas as pd

MISSING_INDICATORS = "missing_indicators"
INDICATOR_SUFFIX = " missing"  # behind a gene or an omic in the name of its indicator
GENE_SOURCE = "gene"


@dataclass(frozen=True, eq=False)
class MissingIndicators(RowWiseStep):
    """``x_ia = 1 where x_ij is missing, else 0``, a the column that stands for gene j.

    The indicator of an omic is 1 where all genes of the omic are missing.

    An indicator that is constant over the training samples of a split has no variance there, so
    that no model of that split selects it.
    """

    # (m,) int: columns of the genes that have an indicator; None if there are no indicators
    gene_columns: Array | None = None
    indicator_columns: Array | None = None  # (m,) int: column of each of these genes' indicator

    def transform(self, X: Array) -> Array:
        """Fill in the indicator columns; all other columns stay."""
        filled = np.array(X, dtype=float)
        if self.gene_columns is not None and self.indicator_columns is not None:
            for indicator, genes in genes_by_indicator(self.gene_columns, self.indicator_columns):
                filled[:, indicator] = np.isnan(filled[:, genes]).all(axis=1)
        return filled

    def among(self, columns: Array) -> MissingIndicators:
        """Return the step for a matrix of only the given columns, in this order."""
        if self.gene_columns is None or self.indicator_columns is None:
            return self
        new_number = {column: position for position, column in enumerate(columns.tolist())}
        pairs = zip(self.gene_columns.tolist(), self.indicator_columns.tolist(), strict=True)
        remaining = [
            (new_number[gene], new_number[indicator])
            for gene, indicator in pairs
            if gene in new_number and indicator in new_number
        ]
        genes, indicators = np.array(remaining, dtype=np.int64).reshape(-1, 2).T
        return MissingIndicators(genes, indicators)


def genes_by_indicator(
    gene_columns: Array, indicator_columns: Array
) -> Iterator[tuple[int, Array]]:
    """Yield the column of each indicator and the columns (m,) of its genes.

    The arguments are fields of `MissingIndicators`: an indicator of an omic is in them many times.
    """
    order = np.argsort(indicator_columns, kind="stable")
    # `starts` begin at 0, so that the first part of the division has no gene.
    columns, starts = np.unique(indicator_columns[order], return_index=True)
    yield from zip(columns.tolist(), np.split(gene_columns[order], starts)[1:], strict=True)


def with_columns(dataset: Dataset, steps: Sequence[Mapping[str, Any]]) -> Dataset:
    """Return the data set with a column for each gene, or omic, that only some samples have.

    The columns are NaN until `MissingIndicators.transform` fills them in. Without the step of
    indicators, the data set is returned as it is.

    Raises GenesigError: a gene has the name of another's indicator.
    """
    if (source := _indicator_source(steps)) is None:
        return dataset
    import pandas as pd

    indicator_rows = (
        _gene_indicators(dataset) if source == GENE_SOURCE else _omic_indicators(dataset)
    )
    if clashes := sorted(set(indicator_rows.index) & set(dataset.genes)):
        raise GenesigError(
            f"{MISSING_INDICATORS}: there is a gene called '{clashes[0]}' already; rename it"
        )
    X = np.hstack([dataset.X, np.full((len(dataset.X), len(indicator_rows)), np.nan)])
    return replace(dataset, X=X, var=pd.concat([dataset.var, indicator_rows]))


def count_indicators(dataset: Dataset) -> int:
    """Return the number of columns whose name is that of an indicator of a gene or an omic."""
    sources = {*dataset.genes, *dataset.omics}
    return sum(
        name.endswith(INDICATOR_SUFFIX) and name.removesuffix(INDICATOR_SUFFIX) in sources
        for name in dataset.genes
    )


def _indicator_source(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Return "gene" or "omic", the setting of the step of indicators; None without that step."""
    return next(
        (step.get("each", GENE_SOURCE) for step in steps if step["step"] == MISSING_INDICATORS),
        None,
    )


def _gene_indicators(dataset: Dataset) -> pd.DataFrame:
    """Return gene-table rows for indicators of the genes that only some samples have.

    Each is a copy of the row of its gene, with the indicator's name and symbol.
    """
    is_missing = np.isnan(dataset.X)
    partly_missing = np.flatnonzero(is_missing.any(axis=0) & ~is_missing.all(axis=0))
    indicator_rows = dataset.var.iloc[partly_missing].copy()
    indicator_rows.index = indicator_rows.index + INDICATOR_SUFFIX
    indicator_rows["symbol"] = indicator_rows["symbol"] + INDICATOR_SUFFIX
    return indicator_rows


def _omic_indicators(dataset: Dataset) -> pd.DataFrame:
    """Return gene-table rows for indicators of the omics that some samples lack.

    Each is a copy of the row of the omic's first gene, with the indicator's name and symbol.
    """
    omic_of_gene = dataset.omic_of()  # (n_genes,) int, numbers in `dataset.omics`
    first_genes = [
        int(np.argmax(omic_of_gene == omic))
        for omic, lacks_omic in enumerate(lacks_omics(dataset).T)
        if lacks_omic.any()
    ]
    indicator_rows = dataset.var.iloc[first_genes].copy()
    indicator_rows.index = indicator_rows[OMIC].astype(str).rename("gene") + INDICATOR_SUFFIX
    indicator_rows["symbol"] = indicator_rows.index
    return indicator_rows


def lacks_omics(dataset: Dataset) -> Array:
    """Return which samples lack every gene of an omic, (n_samples, n_omics) bool."""
    is_missing = np.isnan(dataset.X)
    omic_of_gene = dataset.omic_of() if dataset.omics else None
    lacks_omic = [
        is_missing[:, omic_of_gene == omic].all(axis=1) for omic in range(len(dataset.omics))
    ]
    return np.column_stack(lacks_omic) if lacks_omic else np.zeros((len(is_missing), 0), dtype=bool)


def with_indicators(steps: Sequence[Mapping[str, Any]], var: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the steps with the columns of genes and indicators as settings of their step."""
    if (source := _indicator_source(steps)) is None:
        return list(map(dict, steps))
    genes = [str(gene) for gene in var.index]
    position = {gene: column for column, gene in enumerate(genes)}
    columns_of_source = {gene: [position[gene]] for gene in genes}
    if source != GENE_SOURCE:
        omics = var[OMIC].astype(str).tolist()
        columns_of_source = {
            omic: [
                column
                for column, omic_of_column in enumerate(omics)
                if omic_of_column == omic and genes[column] != omic + INDICATOR_SUFFIX
            ]
            for omic in set(omics)
        }
    pairs = [
        (column, position[name + INDICATOR_SUFFIX])
        for name, columns in columns_of_source.items()
        if name + INDICATOR_SUFFIX in position
        for column in columns
    ]
    gene_columns, indicator_columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    indicator_step = {
        "step": MISSING_INDICATORS,
        "gene_columns": gene_columns,
        "indicator_columns": indicator_columns,
    }
    return [dict(indicator_step if step["step"] == MISSING_INDICATORS else step) for step in steps]
