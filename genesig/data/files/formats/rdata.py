"""R's .rds and .rda: matrices, data.frames and Bioconductor's sets, through the package rdata.

Bioconductor's containers hold closures, promises and whole environments beside their numbers; what
of them is not read is taken away before anything is converted.

Read also as such data are published: a list of a matrix and a factor with its classes, a data.frame
of genes with a column of classes, a matrix whose samples have no names. Such samples are called by
their numbers, from 1, as R does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from genesig.data.files.content import PACKED, unpacked
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.summarized import (
    assay,
    dense,
    genes_of,
    is_summarized,
    samples_of,
)
from genesig.data.files.formats.text import number_matrix, text_of, text_table
from genesig.data.files.layouts import without_annotation
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.machine import limited_memory, memory
from genesig.words import listing, size_of

if TYPE_CHECKING:
    import pandas as pd

# From `saveRDS(x)`, of which only the matrix is of interest.
SAVE = "in R: saveRDS(as.matrix(x), 'expression.rds')"
READ = ("class", "assays", "colData", "NAMES", "elementMetadata", "rowRanges")
"""Slots of a SummarizedExperiment, and of the classes that extend it, that are read."""
UNREAD = ("metadata", "seqinfo")
"""Slots of any other object that may hold anything, and are not read."""
LONGEST = 10_000_000
"""Numbers of a sequence that a file stores by its ends: a few bytes can promise any number."""


def objects(content: bytes, where: str) -> Any:
    """Return the object of an .rds file, or name -> object of an .rda file.

    An S4 object becomes a namespace of its slots, an environment a mapping.

    Raises
    ------
    InvalidInput
        No package rdata, no R data, damaged, more than memory holds, or what only R can hold.
    """
    import warnings

    try:
        rdata = import_module("rdata")
    except ImportError:
        raise refuse(
            where,
            "R's files are read by the package rdata, which is not installed: pip "
            "install 'genesig[r]'",
        ) from None
    plain = unpacked(content, where)
    if plain.startswith(tuple(PACKED)):
        raise refuse(where, f"is packed three times over; unpack it, or save it again, {SAVE}")
    try:
        with limited_memory(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that it does not know; we look at them
            tree = rdata.parser.parse_data(
                plain, altrep_constructor_dict=_sequences(rdata.parser.DEFAULT_ALTREP_MAP)
            )
            _prune(tree.object)
            return rdata.conversion.convert(tree)
    except InvalidInput:
        raise
    except MemoryError:
        what = f"takes more than half of the {size_of(memory())} that this process may have; save"
        raise refuse(where, f"{what} the values alone, {SAVE}") from None
    except Exception as error:  # a damaged file makes it raise anything
        raise _unreadable(error, where) from None


def _unreadable(error: Exception, where: str) -> InvalidInput:
    why = " ".join(str(error).split())[:120] or type(error).__name__
    if "RObjectType" in why:
        return refuse(
            where,
            f"holds R objects that cannot be read outside R ({why}); save the "
            "values alone, in R: saveRDS(exprs(x), 'expression.rds') or "
            "saveRDS(as.matrix(x), 'expression.rds')",
        )
    return refuse(
        where, f"cannot be read as R data ({why}); is it truncated? Save it again, {SAVE}"
    )


def _sequences(known: Any) -> dict[bytes, Any]:
    """Return rdata's table of compact vectors, in which no sequence is longer than any data."""

    def bounded(expand: Any) -> Any:
        def sequence(state: Any) -> Any:
            if not 0 <= float(state.value[0]) <= LONGEST:
                raise ValueError("a sequence longer than any data")
            return expand(state)

        return sequence

    return {**known} | {
        name: bounded(known[name]) for name in (b"compact_intseq", b"compact_realseq")
    }


def _prune(root: Any) -> None:
    """Take the slots that are not read out of every S4 object of a tree."""
    left = [root]
    while left:
        node = left.pop()
        kind = node.info.type.name
        if kind == "S4":
            slots = list(_slots(node))
            names = {name for name, _ in slots}
            of_data = {"assays", "colData"} <= names
            keep = [
                cell for name, cell in slots if (name in READ if of_data else name not in UNREAD)
            ]
            _chain(node, keep)
            left += [cell.value[0] for cell in keep]
        elif kind in ("LIST", "VEC"):
            left += node.value


def _slots(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and the cell of each attribute."""
    cell = node.attributes
    while cell is not None and cell.info.type.name == "LIST":
        tag = cell.tag.referenced_object or cell.tag
        yield tag.value.value.decode(), cell
        cell = cell.value[1]


def _chain(node: Any, cells: list[Any]) -> None:
    """Make these cells the list of a node's attributes."""
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        end = _end(cell) if following is None else following
        cell.value = (cell.value[0], end)
    node.attributes = cells[0] if cells else None


def _end(cell: Any) -> Any:
    """Return what ends the list that a cell is part of."""
    while cell.info.type.name == "LIST":
        cell = cell.value[1]
    return cell


# What limma and edgeR put beside the values.
OF_LIMMA = ("design", "weights", "offset", "genes", "samples", "targets")
LIBRARY_SIZE = "lib.size"
"""Column of the table of samples of a DGEList."""
OTHER_KIND = {
    "samples": re.compile(
        r"genes?|features?|.*(fData|rowData|probes?|annot(ation)?)", re.IGNORECASE
    ),
    "genes": re.compile(
        r"samples?|targets|.*(pData|colData|pheno\w*|clinical|meta\w*)", re.IGNORECASE
    ),
}
"""Names of the tables of a list that are of the other kind."""
# From so many numeric columns on, a data.frame with words is expression, and no table of samples.
EXPRESSION = 100
KNOWN = "a matrix, a data.frame, an ExpressionSet or a SummarizedExperiment"
ARRAYS = ("DataArray", "ndarray", "MaskedArray")  # with names, without, and with missing ones
NAMELESS = "the matrix has no names of rows and columns; set dimnames(x) in R and save it again"
RESAVE = {"AffyBatch": "saveRDS(exprs(rma(x)), 'expression.rds')"}


def matrix(content: bytes, where: str, part: str | None) -> Matrix:
    """Read an R matrix or data.frame, or what a set of Bioconductor has of its genes and samples.

    `part` names an object of an .rda file, an element of a list or one of the assays; without it,
    the only matrix among them is meant, the exprs of an ExpressionSet, the counts of a
    DESeqDataSet.
    """
    value, beside, part = _object(content, where, part)
    if is_summarized(value):
        return assay(value, where, part)
    if _class(value) == "ExpressionSet":
        assays = _mapping(value.assayData)
        if (name := part or "exprs") not in assays:
            raise refuse(
                where,
                f"the ExpressionSet has no {name}, but {listing(assays)}; choose by data.part",
            )
        value = assays[name]
    found = _frame(value, where) if _is_frame(value) else _named(value, where)
    return replace(found, has_counts=_is_beside_library_sizes(beside))


def _is_beside_library_sizes(beside: Mapping[str, Any]) -> bool:
    """Tell whether edgeR's table of samples lies beside a matrix: a DGEList, which has counts."""
    table = beside.get("samples")
    return _is_frame(table) and LIBRARY_SIZE in map(str, getattr(table, "columns", ()))


def samples(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read colData, pData, a data.frame, or what lies beside a matrix in a list."""
    value, beside, _ = _object(content, where, part)
    if is_summarized(value):
        return samples_of(value, where)
    found = _beside(value, beside) if hasattr(value, "shape") else None
    if found is None and _is_frame(value) and _is_matrix(value) and _words(value):
        found = value[_words(value)]
    return _table(value if found is None else found, "phenoData", "sample", where)


def genes(content: bytes, where: str, part: str | None) -> pd.DataFrame:
    """Read rowData, fData, or a data.frame."""
    value, beside, _ = _object(content, where, part)
    if is_summarized(value):
        return genes_of(value, where)
    found = _beside(value, beside, "genes") if hasattr(value, "shape") else None
    return _table(value if found is None else found, "featureData", "gene", where)


def _object(content: bytes, where: str, part: str | None) -> tuple[Any, dict[str, Any], str | None]:
    """Return the one object of a file or of a list in it, what else the list holds, and `part`.

    `part` is None where it named the object.
    """
    held = objects(content, where)
    if not isinstance(held, dict):
        return held, {}, part
    if (name := _choice(held, part, where)) is None:
        raise _several(held, where)
    value = held[name]
    asked = name == part
    left = None if asked else part
    if isinstance(value, dict):
        inside = _choice(value, left, where)
        return (
            (value, {}, left)
            if inside is None
            else (value[inside], _without(inside, value), None if inside == left else left)
        )
    # A file in which one must be chosen is a workspace, and no data set of parts that go together.
    return value, {} if asked else _without(name, held), left


def _without(name: str, objects: Mapping[str, Any]) -> dict[str, Any]:
    return {str(other): each for other, each in objects.items() if other != name}


def _choice(objects: Mapping[str, Any], part: str | None, where: str) -> str | None:
    """Return the name that is asked for, or that of the only object or the only matrix, if any."""
    names = list(objects)
    if part in names or len(names) == 1:
        return part if part in names else names[0]
    if part is not None:
        near = did_you_mean(part, names) or f" (found: {', '.join(names)})"
        raise refuse(where, f"data.part '{part}' is not one of its objects{near}")
    matrices = [name for name in names if _is_matrix(objects[name])]
    if len(matrices) > 1:
        matrices = [name for name in matrices if name not in OF_LIMMA]
    if len(matrices) > 1:
        raise _several(objects, where)
    return matrices[0] if matrices else None


def _several(objects: Mapping[str, Any], where: str) -> InvalidInput:
    return refuse(
        where,
        f"holds {len(objects)} objects: {listing(map(str, objects), 6)}; choose "
        f"one by data.part, it must be {KNOWN}",
    )


def _is_matrix(value: Any) -> bool:
    """Tell whether an object is expression: a matrix of numbers, or a data.frame of many."""
    if _is_frame(value):
        return len(value.columns) - len(_words(value)) >= EXPRESSION
    return getattr(value, "ndim", 0) == 2 and value.dtype.kind in "iufb"


def _beside(
    value: Any, beside: Mapping[str, Any], of: Literal["samples", "genes"] = "samples"
) -> pd.DataFrame | None:
    """Return the table or the vectors that have an entry for each sample, or for each gene.

    Samples are the shorter side of the matrix, where something fits it. A table that is called as
    the other kind (`genes` of a DGEList, `targets` of an EList) is left aside.
    """
    import pandas as pd

    if value.ndim != 2:
        return None
    sides = sorted(_dimnames(value), key=len, reverse=of == "genes")
    fitting = {name: each for name, each in beside.items() if not OTHER_KIND[of].fullmatch(name)}
    for names in sides if of == "samples" else sides[:1]:
        of_all = {
            name: each
            for name, each in fitting.items()
            if hasattr(each, "ndim") and len(each) == len(names)
        }
        tables: list[pd.DataFrame] = [each for each in of_all.values() if _is_frame(each)]
        # A table with words first: one of numbers alone may be another matrix.
        for each in sorted(tables, key=lambda table: not _words(table)):
            if set(map(str, each.index)) == set(map(str, names)):
                return each
        vectors = {name: list(each) for name, each in of_all.items() if each.ndim == 1}
        if vectors:
            return pd.DataFrame(vectors, index=pd.Index(names), dtype=object)
    return None


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
    if _class(value) == "dgCMatrix":
        rows, columns = value.Dimnames
        if rows is None or columns is None:
            raise refuse(where, NAMELESS)
        return number_matrix(rows, columns, dense(value, where))
    values = np.asarray(getattr(value, "values", value))
    if type(value).__name__ not in ARRAYS or values.ndim != 2:
        name = _class(value)
        if name in ARRAYS:
            name = "vector or array, or matrix of text"
        name = "list" if name == "dict" else name
        how = RESAVE.get(name, "saveRDS(as.matrix(x), 'expression.rds')")
        raise refuse(where, f"holds an object of class '{name}', not {KNOWN}; in R: {how}")
    if not getattr(value, "coords", ()):
        raise refuse(where, NAMELESS)
    if values.dtype.kind not in "iufb":
        raise refuse(where, "the matrix holds text, not numbers; set mode(x) <- 'numeric' in R")
    rows, columns = _dimnames(value)
    return number_matrix(rows, columns, values)


def _dimnames(value: Any) -> list[Any]:
    """Return the names of rows and columns, their numbers where there are none."""
    if _is_frame(value):
        return [value.index, value.columns]
    coords = getattr(value, "coords", {})
    return [
        coords[dim].to_numpy() if dim in coords else list(map(str, range(1, size + 1)))
        for dim, size in zip(getattr(value, "dims", (0, 1)), value.shape, strict=True)
    ]


def _words(frame: pd.DataFrame) -> list[Any]:
    return [name for name, kind in frame.dtypes.items() if kind.kind not in "iuf"]


def _frame(frame: pd.DataFrame, where: str) -> Matrix:
    """Convert a data.frame; without names of rows a column of different words names them.

    Other columns of words stay as text, unless the frame is one of samples with their classes.
    """
    words = _words(frame)
    ids = _column_of_ids(frame, words)
    if not words or (ids is None and _is_matrix(frame)):
        cells = frame.drop(columns=words)
        return number_matrix(frame.index, cells.columns, _numbers(cells))
    if 2 * len(words) >= len(frame.columns) or (ids is None and _has_row_numbers(frame)):
        raise refuse(
            where,
            f"column {listing(map(str, words))} of the data.frame is not numeric; "
            "name the rows by the genes, and keep numbers beside them",
        )
    rows = frame.index if ids is None else frame[ids]
    rest = frame if ids is None else frame.drop(columns=[ids])
    others = {name for name in words if name != ids}
    numbers = rest.assign(**{name: np.nan for name in others}) if others else rest
    named = number_matrix(rows, rest.columns, _numbers(numbers))
    texts = {
        (row, column): text_of(cell)
        for column, name in enumerate(rest.columns)
        if name in others
        for row, cell in enumerate(rest[name].tolist())
    }
    return without_annotation(replace(named, texts=texts), where)


def _column_of_ids(frame: pd.DataFrame, words: Sequence[Any]) -> Any:
    """Return the first column of different words that names the rows; None if they have names."""
    if not _has_row_numbers(frame):
        return None
    unique = (name for name in words if frame[name].is_unique and frame[name].notna().all())
    return next(unique, None)


def _has_row_numbers(frame: pd.DataFrame) -> bool:
    return all(str(name).isdigit() for name in frame.index)


def _numbers(frame: pd.DataFrame) -> Any:
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _table(value: Any, slot: str, index: str, where: str) -> pd.DataFrame:
    if _class(value) == "ExpressionSet":
        value = getattr(value, slot).data
    if not _is_frame(value):
        raise refuse(
            where,
            f"holds no table of {index}s; save a data.frame or an ExpressionSet, or name a TSV",
        )
    return text_table(value, index)


RDATA = Format(
    "an R data file",
    matrix,
    samples,
    genes,
    (".rds", ".rda", ".rdata"),
    parts="object",
    binary=True,
    either_way=True,
)
