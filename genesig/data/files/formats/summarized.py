"""Bioconductor's SummarizedExperiment, and the classes that extend it, such as DESeqDataSet.

Its assays are genes × samples; colData describes the samples and rowData, or the columns of its
ranges, the genes.

Source: Huber et al., Orchestrating high-throughput genomic analysis with Bioconductor, Nat. Methods
12:115 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.text import number_matrix, text_table
from genesig.errors import did_you_mean, refuse
from genesig.machine import check_size
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

COUNTS = "counts"
"""The assay of a DESeqDataSet that is data; the others are by-products of its fits."""
COPIES = 2
"""A sparse matrix, when dense, and its transpose."""


def is_summarized(value: Any) -> bool:
    """Tell whether an object is one, by its slots."""
    return hasattr(value, "assays")


def assay(value: Any, where: str, part: str | None) -> Matrix:
    """Read the assay that `part` names; without it the only one, or the counts of a DESeqDataSet.

    Raises
    ------
    InvalidInput
        Several assays, none of that name, no names of genes, sizes that contradict each other.
    """
    assays = _assays(value)
    name = _choice(assays, part, where, counts=_is_deseq(value))
    numbers, own = _numbers(assays[name], name, where)
    genes = _gene_names(value) or own[0]
    samples = _names(getattr(_columns(value), "rownames", None)) or own[1]
    if genes is None:
        raise refuse(
            where, "the rows have no names; in R: rownames(x) <- the gene ids, and save it again"
        )
    samples = samples or list(map(str, range(1, numbers.shape[1] + 1)))
    if numbers.shape != (len(genes), len(samples)):
        what = f"assay '{name}' is {numbers.shape[0]} × {numbers.shape[1]}, for "
        what += f"{counted(len(genes), 'gene')} and {counted(len(samples), 'sample')}"
        raise refuse(where, f"{what}; the object is damaged, save it again by saveRDS(x)")
    return replace(number_matrix(genes, samples, numbers), has_counts=name == COUNTS)


def samples_of(value: Any, where: str) -> pd.DataFrame:
    """Read colData."""
    table = _columns(value)
    return _table(table, _names(getattr(table, "rownames", None)), "sample", where)


def genes_of(value: Any, where: str) -> pd.DataFrame:
    """Read rowData."""
    ranges = getattr(value, "rowRanges", None)
    table = getattr(value, "elementMetadata", None) if ranges is None else ranges.elementMetadata
    return _table(table, _gene_names(value), "gene", where)


def _columns(value: Any) -> Any:
    return getattr(value, "colData", None)


def _is_deseq(value: Any) -> bool:
    return "DESeqDataSet" in map(str, np.ravel(getattr(value, "class", "")))


def _assays(value: Any) -> dict[str, Any]:
    """Return name -> assay; a reference class, as before 2020, keeps its data in an environment."""
    found = value.assays
    inside = getattr(found, ".xData", None)
    found = getattr(found, "data", found) if inside is None else inside.get("data")
    held = getattr(found, "listData", ())
    named = held if isinstance(held, dict) else dict(enumerate(held, 1))
    return {str(name): each for name, each in named.items()}


def _choice(assays: dict[str, Any], part: str | None, where: str, *, counts: bool) -> str:
    if part is not None and part not in assays:
        near = did_you_mean(part, assays) or f" (found: {listing(assays, 9)})"
        raise refuse(where, f"data.part '{part}' is not one of its assays{near}")
    if not assays:
        raise refuse(where, "holds no assay; in R: saveRDS(assay(x), 'expression.rds')")
    usual = COUNTS if counts and COUNTS in assays else None
    if (name := part or usual or (next(iter(assays)) if len(assays) == 1 else None)) is None:
        raise refuse(
            where,
            f"holds {len(assays)} assays: {listing(assays, 9)}; choose one by "
            "data.part, from a file of this object alone",
        )
    return name


def _numbers(value: Any, name: str, where: str) -> tuple[Array, tuple[Any, Any]]:
    """Return an assay as (genes, samples), and its own names of both."""
    at = f"{where}, assay '{name}'"
    if type(value).__name__ == "DataFrame":
        if not all(kind.kind in "iufb" for kind in value.dtypes):
            raise refuse(at, "holds text, not numbers")
        cells = value.to_numpy(dtype=np.float64, na_value=np.nan)
        return cells, (_names(value.index), _names(value.columns))
    if all(hasattr(value, slot) for slot in ("i", "p", "x", "Dim")):
        rows, columns = getattr(value, "Dimnames", None) or (None, None)
        return dense(value, at), (_names(rows), _names(columns))
    cells = getattr(value, "values", value)
    if getattr(cells, "ndim", 0) != 2 or cells.dtype.kind not in "iufb":
        kind = str(np.ravel(getattr(value, "class", type(value).__name__))[0])
        raise refuse(
            at,
            f"is of class '{kind}', no matrix of numbers in this file; in R: "
            "saveRDS(as.matrix(assay(x)), 'expression.rds')",
        )
    coords = getattr(value, "coords", {})
    own = [
        _names(coords[dim].to_numpy()) if dim in coords else None
        for dim in getattr(value, "dims", (0, 1))
    ]
    return np.ma.filled(np.ma.asarray(cells).astype(np.float64), np.nan), (own[0], own[1])


def dense(value: Any, where: str) -> Array:
    """Return a column-compressed sparse matrix (dgCMatrix) as it is without its compression.

    Raises
    ------
    InvalidInput
        Pointers that lead out of the matrix, or more cells than memory holds.
    """
    from scipy.sparse import csc_array

    shape = tuple(map(int, np.ravel(value.Dim)))
    size = 8 * shape[0] * shape[1]
    check_size(where, size, size, COPIES)
    try:
        sparse = csc_array((value.x, value.i, value.p), shape)
        sparse.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        why = " ".join(str(error).split())[:120]
        raise refuse(where, f"is a damaged sparse matrix ({why}); save it again") from None
    return np.asarray(sparse.toarray(), dtype=np.float64)


def _names(found: Any) -> list[str] | None:
    if found is None or isinstance(found, str) or not len(found):  # `NULL` is a word
        return None
    return list(map(str, found))


def _gene_names(value: Any) -> list[str] | None:
    """Return the names of the rows: the object's own, or those of its ranges."""
    ranges = getattr(value, "rowRanges", None)
    for place in (value, getattr(ranges, "ranges", None), getattr(ranges, "partitioning", None)):
        if names := _names(getattr(place, "NAMES", None)):
            return names
    return None


def _table(table: Any, names: Sequence[str] | None, index: str, where: str) -> pd.DataFrame:
    """Convert a DataFrame of Bioconductor; columns of lists, ranges or tables are left out."""
    import pandas as pd

    held = getattr(table, "listData", None) or {}
    if not isinstance(held, dict):
        raise refuse(
            where,
            f"the table of {index}s has columns without names; give them names in "
            "R and save it again",
        )
    count = len(names) if names is not None else int(np.ravel(getattr(table, "nrows", 0))[0])
    if names is None:
        names = list(map(str, range(1, count + 1)))
    columns = {}
    for name, each in held.items():
        if (cells := _cells(each, count)) is None:
            continue
        if len(cells) != count:
            what = f"column '{name}' is not as long as there are {index}s ({count}); the object is"
            raise refuse(where, f"{what} damaged, save it again by saveRDS(x)")
        columns[name] = cells
    return text_table(pd.DataFrame(columns, index=pd.Index(names), dtype=object), index)


def _cells(column: Any, most: int) -> list[Any] | None:
    """Return the cells of a vector, a factor or a run-length encoded one; None for all else.

    Of runs that are longer together than `most` there are no cells: lengths can promise any number.
    """
    if hasattr(column, "lengths") and hasattr(column, "values"):
        cells = _cells(column.values, most)
        lengths = np.ravel(column.lengths)
        if cells is None or len(cells) != len(lengths) or (lengths < 0).any():
            return None
        runs = zip(cells, lengths if lengths.sum() <= most else (), strict=False)
        return [cell for cell, times in runs for _ in range(times)]
    plain = column if type(column).__name__ == "Categorical" else getattr(column, "values", column)
    return list(plain.tolist()) if getattr(plain, "ndim", 0) == 1 else None
