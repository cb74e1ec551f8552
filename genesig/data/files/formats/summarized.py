"""Bioconductor's SummarizedExperiment, and classes that extend it, such as DESeqDataSet.

Its assays are genes × samples; colData describes the samples, and rowData or the columns of its
ranges describe the genes.

The reader of R files returns the slots of an object as attributes; an environment, or a list with
names, as a mapping; a factor as a Categorical of pandas; a vector as an array, masked where it has
NA; an array or a vector with names as a DataArray of xarray, whose array is its `values`.

Source: Huber et al., Orchestrating high-throughput genomic analysis with Bioconductor, Nat. Methods
12:115 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.text import number_matrix, text_table
from genesig.errors import did_you_mean, input_error
from genesig.machine import check_size
from genesig.words import counted, listing

COUNTS_ASSAY = "counts"  # assay of a DESeqDataSet with data; its others are by-products of fits
COPIES_OF_DENSE = 2  # dense matrices in memory at a time: the matrix and its transpose


def is_summarized(value: Any) -> bool:
    """Tell whether an R object is a SummarizedExperiment, by its slots."""
    return hasattr(value, "assays")


def read_assay(value: Any, file_name: str, part: str | None) -> Matrix:
    """Return an assay as a matrix: the named one, the only one, or counts of a DESeqDataSet.

    Raises InvalidInput: several assays, none of that name, no names of genes, sizes that contradict
        each other.
    """
    assays = _assays(value)
    is_deseq = "DESeqDataSet" in map(str, np.ravel(getattr(value, "class", "")))
    name = _choose_assay(assays, part, file_name, prefers_counts=is_deseq)
    values, dimnames = _assay_values(assays[name], name, file_name)
    genes = _gene_names(value) or dimnames[0]
    samples = _texts(getattr(getattr(value, "colData", None), "rownames", None)) or dimnames[1]
    if genes is None:
        raise input_error(
            file_name,
            "the rows have no names; in R: rownames(x) <- the gene ids, and save it again",
        )
    samples = samples or list(map(str, range(1, values.shape[1] + 1)))
    if values.shape != (len(genes), len(samples)):
        raise input_error(
            file_name,
            f"assay '{name}' is {values.shape[0]} × {values.shape[1]}, for "
            f"{counted(len(genes), 'gene')} and {counted(len(samples), 'sample')}; the object is "
            "damaged, save it again by saveRDS(x)",
        )
    return replace(number_matrix(genes, samples, values), has_counts=name == COUNTS_ASSAY)


def read_col_data(value: Any, file_name: str) -> TextTable:
    """Return colData as the sample table."""
    table = getattr(value, "colData", None)
    return _text_table(table, _texts(getattr(table, "rownames", None)), "sample", file_name)


def read_row_data(value: Any, file_name: str) -> TextTable:
    """Return rowData, or the columns of the ranges, as the gene table."""
    ranges = getattr(value, "rowRanges", None)
    table = getattr(value, "elementMetadata", None) if ranges is None else ranges.elementMetadata
    return _text_table(table, _gene_names(value), "gene", file_name)


def _assays(value: Any) -> dict[str, Any]:
    """Return name -> assay; assays without names are numbered from 1.

    Their SimpleList is in the slot `data`; in objects from before 2020, whose `assays` is of a
    reference class, in the variable `data` of the environment `.xData`; or it is `assays` itself.
    """
    container = value.assays
    environment = getattr(container, ".xData", None)
    container = (
        getattr(container, "data", container) if environment is None else environment.get("data")
    )
    list_data = getattr(container, "listData", ())
    assay_of_name = list_data if isinstance(list_data, dict) else dict(enumerate(list_data, 1))
    return {str(name): assay for name, assay in assay_of_name.items()}


def _choose_assay(
    assays: dict[str, Any], part: str | None, file_name: str, *, prefers_counts: bool
) -> str:
    """Return the assay `part`, else the one called counts if `prefers_counts`, else the only one.

    Raises InvalidInput: no assay is called `part`, there is none, or none of several is preferred.
    """
    if part is not None and part not in assays:
        advice = did_you_mean(part, assays) or f" (found: {listing(assays, max_names=9)})"
        raise input_error(
            file_name, f"data.part '{part}' is not one of its assays{advice}", key="data.part"
        )
    if not assays:
        raise input_error(file_name, "holds no assay; in R: saveRDS(assay(x), 'expression.rds')")
    default_name = COUNTS_ASSAY if prefers_counts and COUNTS_ASSAY in assays else None
    if (name := part or default_name or (next(iter(assays)) if len(assays) == 1 else None)) is None:
        raise input_error(
            file_name,
            f"holds {len(assays)} assays: {listing(assays, max_names=9)}; choose one by data.part, "
            "and save the object alone if the file holds others",  # `part` names the object there
            key="data.part",
        )
    return name


def _assay_values(value: Any, name: str, file_name: str) -> tuple[Array, tuple[Any, Any]]:
    """Return the values of an assay, genes × samples, and its own names of both (None without)."""
    place = f"{file_name}, assay '{name}'"
    if type(value).__name__ == "DataFrame":
        if not all(kind.kind in "iufb" for kind in value.dtypes):
            raise input_error(place, "holds text, not numbers")
        cells = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return cells, (_texts(value.index), _texts(value.columns))
    if all(hasattr(value, slot) for slot in ("i", "p", "x", "Dim")):
        rows, columns = getattr(value, "Dimnames", None) or (None, None)
        return dense_matrix(value, place), (_texts(rows), _texts(columns))
    cells = getattr(value, "values", value)
    if getattr(cells, "ndim", 0) != 2 or cells.dtype.kind not in "iufb":
        kind = str(np.ravel(getattr(value, "class", type(value).__name__))[0])
        raise input_error(
            place,
            f"is of class '{kind}', no matrix of numbers in this file; in R: "
            "saveRDS(as.matrix(assay(x)), 'expression.rds')",
        )
    coords = getattr(value, "coords", {})
    dimnames = [
        _texts(coords[dim].to_numpy()) if dim in coords else None
        for dim in getattr(value, "dims", (0, 1))
    ]
    return np.ma.filled(np.ma.asarray(cells).astype(np.float64), np.nan), (dimnames[0], dimnames[1])


def dense_matrix(value: Any, file_name: str) -> Array:
    """Return a column-compressed sparse matrix (dgCMatrix) as a dense one.

    Raises InvalidInput: pointers that lead out of the matrix, or more cells than memory holds.
    """
    from scipy.sparse import csc_array

    shape = tuple(map(int, np.ravel(value.Dim)))
    size = 8 * shape[0] * shape[1]
    check_size(file_name, size, packed_size=size, reading_copies=COPIES_OF_DENSE)
    try:
        sparse = csc_array((value.x, value.i, value.p), shape)
        sparse.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise input_error(
            file_name, f"is a damaged sparse matrix ({reason}); save it again"
        ) from None
    return np.asarray(sparse.toarray(), dtype=np.float64)


def _texts(values: Any) -> list[str] | None:
    """Return names as a list; None for R's NULL, which the reader of R files returns as a word."""
    if values is None or isinstance(values, str) or not len(values):
        return None
    return list(map(str, values))


def _gene_names(value: Any) -> list[str] | None:
    """Return the names of the rows: those of the object, or of its ranges; None without."""
    ranges = getattr(value, "rowRanges", None)
    for holder in (value, getattr(ranges, "ranges", None), getattr(ranges, "partitioning", None)):
        if names := _texts(getattr(holder, "NAMES", None)):
            return names
    return None


def _text_table(table: Any, names: Sequence[str] | None, index: str, file_name: str) -> TextTable:
    """Return a Bioconductor DataFrame as a table; columns of lists or tables are left out.

    names: of the rows; None numbers them from 1. index: what a row is, "sample" or "gene".
    """
    import pandas as pd

    list_data = getattr(table, "listData", None) or {}
    if not isinstance(list_data, dict):
        raise input_error(
            file_name,
            f"the table of {index}s has columns without names; give them names in R and save it "
            "again",
        )
    n_rows = len(names) if names is not None else int(np.ravel(getattr(table, "nrows", 0))[0])
    if names is None:
        names = list(map(str, range(1, n_rows + 1)))
    columns = {}
    for name, column in list_data.items():
        if (cells := _column_cells(column, n_rows)) is None:
            continue
        if len(cells) != n_rows:
            message = f"column '{name}' is not as long as there are {index}s ({n_rows}); "
            message += "the object is damaged, save it again by saveRDS(x)"
            raise input_error(file_name, message)
        columns[name] = cells
    return text_table(pd.DataFrame(columns, index=pd.Index(names), dtype=object), index)


def _column_cells(column: Any, max_cells: int) -> list[Any] | None:
    """Return the cells of a vector, factor or run-length encoded column; None for other columns.

    [] is returned for runs of a damaged file: negative lengths, not one length for each value, or
    more than `max_cells` cells together.
    """
    if hasattr(column, "lengths") and hasattr(column, "values"):
        value_of_run = _column_cells(column.values, max_cells)
        if value_of_run is None:
            return None
        lengths = np.ravel(column.lengths)
        is_damaged = len(value_of_run) != len(lengths) or (lengths < 0).any()
        if is_damaged or lengths.sum() > max_cells:
            return []
        runs = zip(value_of_run, lengths, strict=True)
        return [cell for cell, n_times in runs for _ in range(n_times)]
    values = getattr(column, "values", column)
    return list(values.tolist()) if getattr(values, "ndim", 0) == 1 else None
