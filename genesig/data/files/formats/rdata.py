"""R's .rds and .rda: a matrix, a data.frame or an ExpressionSet, through the package rdata."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.content import unpacked
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.strings import number_matrix, text_table
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd

KNOWN = "a matrix, a data.frame or an ExpressionSet"
SAVE = "in R: saveRDS(as.matrix(x), 'expression.rds')"
RESAVE = {
    "SummarizedExperiment": "saveRDS(assay(x), 'expression.rds')",
    "RangedSummarizedExperiment": "saveRDS(assay(x), 'expression.rds')",
    "SingleCellExperiment": "saveRDS(as.matrix(assay(x)), 'expression.rds')",
    "DESeqDataSet": "saveRDS(counts(x), 'expression.rds')",
    "DESeqTransform": "saveRDS(assay(x), 'expression.rds')",
    "DGEList": "saveRDS(x$counts, 'expression.rds')",
    "AffyBatch": "saveRDS(exprs(rma(x)), 'expression.rds')",
    "dgCMatrix": "saveRDS(as.matrix(x), 'expression.rds')",
}


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read an R matrix or data.frame with dimnames, or the exprs of an ExpressionSet.

    `part` names an object of an .rda file, an element of a list or of the assay data.
    """
    value = _object(content, where, part)
    if _class(value) == "ExpressionSet":
        assays = _mapping(value.assayData)
        if (name := part if part in assays else "exprs") not in assays:
            raise refuse(where, f"the ExpressionSet has no exprs, but {listing(assays)}; choose "
                         "by data.part")  # fmt: skip
        value = assays[name]
    return _frame(value, where) if _is_frame(value) else _named(value, where)


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read the pData of an ExpressionSet, or a data.frame."""
    return _table(_object(content, where, part), "phenoData", "sample", where)


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read the fData of an ExpressionSet, or a data.frame."""
    return _table(_object(content, where, part), "featureData", "gene", where)


def _object(content: bytes, where: str, part: str | None) -> Any:
    """Return the one object of a file, or the one that is asked for, as rdata converts it."""
    value = _convert(content, where)
    if not isinstance(value, dict):
        return value
    names = [str(name) for name in value]
    if part in names:
        return value[part]
    if len(names) == 1:
        return next(iter(value.values()))
    if part is None:
        raise refuse(where, f"holds {len(names)} objects: {listing(names, 6)}; choose one by "
                     f"data.part, it must be {KNOWN}")  # fmt: skip
    near = did_you_mean(part, names) or f" (found: {', '.join(names)})"
    raise refuse(where, f"data.part '{part}' is not one of its objects{near}")


def _convert(content: bytes, where: str) -> Any:
    import warnings

    try:
        rdata = import_module("rdata")
    except ImportError:
        raise refuse(where, "R's files are read by the package rdata, which is not installed: pip "
                     "install 'genesig[r]'") from None  # fmt: skip
    try:
        with warnings.catch_warnings():  # of classes that it does not know; we look at them
            warnings.simplefilter("ignore")
            return rdata.conversion.convert(rdata.parser.parse_data(unpacked(content, where)))
    except InvalidInput:
        raise
    except Exception as error:  # a damaged file makes it raise anything
        why = " ".join(str(error).split())[:120] or type(error).__name__
        if "RObjectType" in why:
            raise refuse(where, f"holds R objects that cannot be read outside R ({why}); save the "
                         "values alone, in R: saveRDS(exprs(x), 'expression.rds') or "
                         "saveRDS(as.matrix(x), 'expression.rds')") from None  # fmt: skip
        raise refuse(where, f"cannot be read as R data ({why}); is it truncated? Save it again, "
                     f"{SAVE}") from None  # fmt: skip


def _class(value: Any) -> str:
    """Return R's name of the class of an object that rdata gives as its bare slots."""
    named = getattr(value, "class", None)
    return type(value).__name__ if named is None else str(np.ravel(named)[0])


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame"


def _mapping(slot: Any) -> dict[str, Any]:
    found = slot if isinstance(slot, Mapping) else vars(slot)
    return {str(name): value for name, value in found.items()}


def _named(value: Any, where: str) -> Matrix:
    """Convert a matrix; rdata gives one with dimnames as a DataArray."""
    values = np.asarray(getattr(value, "values", value))
    if type(value).__name__ not in ("DataArray", "ndarray") or values.ndim != 2:
        name = _class(value)
        if name in ("DataArray", "ndarray"):
            name = "vector or array, or matrix of text"
        name = "list" if name == "dict" else name
        how = RESAVE.get(name, "saveRDS(as.matrix(x), 'expression.rds')")
        raise refuse(where, f"holds an object of class '{name}', not {KNOWN}; in R: {how}")
    names = [value.coords[dim].to_numpy() for dim in getattr(value, "dims", ())
             if dim in value.coords]  # fmt: skip
    if len(names) < 2:
        raise refuse(where, "the matrix has no names of rows and columns; set dimnames(x) in R and "
                     "save it again")  # fmt: skip
    if values.dtype.kind not in "iufb":
        raise refuse(where, "the matrix holds text, not numbers; set mode(x) <- 'numeric' in R")
    return number_matrix(names[0], names[1], values)


def _frame(frame: pd.DataFrame, where: str) -> Matrix:
    """Convert a data.frame; without row names, its one column of text names the rows."""
    words = [str(name) for name, kind in frame.dtypes.items() if kind.kind not in "iuf"]
    if not words:
        return number_matrix(frame.index, frame.columns, frame.to_numpy(dtype=np.float64))
    if words != [str(frame.columns[0])]:
        raise refuse(where, f"column {listing(words)} of the data.frame is not numeric; keep the "
                     "gene names first and numbers beside them")  # fmt: skip
    rows = frame.iloc[:, 0].tolist()
    return number_matrix(rows, frame.columns[1:], frame.iloc[:, 1:].to_numpy(dtype=np.float64))


def _table(value: Any, slot: str, index: str, where: str) -> pd.DataFrame:
    if _class(value) == "ExpressionSet":
        value = getattr(value, slot).data
    if not _is_frame(value):
        raise refuse(where, f"holds no table of {index}s; save a data.frame or an ExpressionSet, "
                     "or name a TSV")  # fmt: skip
    return text_table(value, index)


RDATA = Format(
    "an R data file", matrix, samples, genes, (".rds", ".rda", ".rdata"), parts="object",
    binary=True,
)  # fmt: skip
