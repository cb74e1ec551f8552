"""R's .rds and .rda: matrices, data.frames and Bioconductor's sets, by the package rdata.

Bioconductor's containers hold closures, promises and whole environments beside their numbers. Slots
that are not needed are therefore removed before anything is converted.

Data are also published as a list of a matrix and a factor with its classes, as a data.frame of
genes with a column of classes, and as a matrix whose samples have no names. Such samples are named
by their numbers, from 1, as in R.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from genesig.data.files.content import COMPRESSIONS, unpack
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.summarized import (
    dense_matrix,
    is_summarized,
    read_assay,
    read_col_data,
    read_row_data,
)
from genesig.data.files.formats.text import number_matrix, text_of, text_table
from genesig.data.files.layouts import without_annotation
from genesig.errors import InvalidInput, did_you_mean, input_error
from genesig.machine import limited_memory, memory
from genesig.words import listing, size_of

if TYPE_CHECKING:
    import pandas as pd

# Advice for objects that hold more than a matrix.
SAVE_COMMAND = "in R: saveRDS(as.matrix(x), 'expression.rds')"
SUMMARIZED_SLOTS = ("class", "assays", "colData", "NAMES", "elementMetadata", "rowRanges")
"""Slots that are read of a SummarizedExperiment and of classes that extend it."""
UNREAD_SLOTS = ("metadata", "seqinfo")  # slots of objects that are not read: they may hold anything
STRINGS_WITH_NAMES = b"strings with names"  # a class that this module gives to strings, for rdata
ASCII_FLAG = 64  # of R's strings (R Internals, ASCII_MASK)
MAX_SEQUENCE_LENGTH = 10_000_000
"""Largest length of a sequence that a file stores by its ends: a damaged file can promise any."""


def read_objects(content: bytes, file_name: str) -> Any:
    """Return the object of an .rds file, or name -> object of an .rda file.

    An S4 object becomes a namespace of its slots, an environment a mapping.

    Raises InvalidInput: no package rdata, no R data, damaged, more than half of the memory, or
        objects that only R can hold.
    """
    import warnings

    try:
        rdata = import_module("rdata")
    except ImportError:
        raise input_error(
            file_name,
            "R's files are read by the package rdata, which is not installed: pip install "
            "'genesig[r]'",
        ) from None
    unpacked_content = unpack(content, file_name)
    if unpacked_content.startswith(tuple(COMPRESSIONS)):
        raise input_error(
            file_name, f"is packed three times over; unpack it, or save it again, {SAVE_COMMAND}"
        )
    try:
        with limited_memory(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about classes unknown to rdata: their slots are read
            syntax_tree = rdata.parser.parse_data(
                unpacked_content,
                altrep_constructor_dict=_bounded_sequences(rdata.parser.DEFAULT_ALTREP_MAP),
            )
            _remove_unread_slots(syntax_tree.object)
            _mark_named_strings(syntax_tree.object, rdata.parser)
            _check_columns(syntax_tree.object, file_name)
            return rdata.conversion.convert(
                syntax_tree, _constructors_with_names(rdata.conversion.DEFAULT_CLASS_MAP)
            )
    except InvalidInput:
        raise
    except MemoryError:
        message = f"takes more than half of the {size_of(memory())} that this process may have; "
        raise input_error(file_name, f"{message}save the values alone, {SAVE_COMMAND}") from None
    except Exception as error:  # a damaged file makes it raise anything
        raise _unreadable_error(error, file_name) from None


def _unreadable_error(error: Exception, file_name: str) -> InvalidInput:
    """Return the error about R data that the package rdata cannot convert."""
    reason = " ".join(str(error).split())[:120] or type(error).__name__
    if "RObjectType" in reason:  # the type, such as a closure, for which rdata has no conversion
        return input_error(
            file_name,
            f"holds R objects that cannot be read outside R ({reason}); save the values alone, in "
            "R: saveRDS(exprs(x), 'expression.rds') or saveRDS(as.matrix(x), 'expression.rds')",
        )
    return input_error(
        file_name,
        f"cannot be read as R data ({reason}); is it truncated? Save it again, {SAVE_COMMAND}",
    )


def _bounded_sequences(constructors: Any) -> dict[bytes, Any]:
    """Return rdata's constructors of compact vectors, without sequences longer than any data."""

    def bounded(expand: Any) -> Any:
        def sequence(state: Any) -> Any:
            if not 0 <= float(state.value[0]) <= MAX_SEQUENCE_LENGTH:
                raise ValueError("a sequence longer than any data")
            return expand(state)

        return sequence

    return {**constructors} | {
        name: bounded(constructors[name]) for name in (b"compact_intseq", b"compact_realseq")
    }


def _remove_unread_slots(root: Any) -> None:
    """Remove from every S4 object of a tree the slots that are not read, in place."""
    pending = [root]
    while pending:
        node = pending.pop()
        type_name = node.info.type.name
        if type_name == "S4":
            slots = list(_iterate_slots(node))
            names = {name for name, _ in slots}
            if {"assays", "colData"} <= names:  # a SummarizedExperiment
                read_cells = [cell for name, cell in slots if name in SUMMARIZED_SLOTS]
            else:
                read_cells = [cell for name, cell in slots if name not in UNREAD_SLOTS]
            _set_attributes(node, read_cells)
            pending += [cell.value[0] for cell in read_cells]
        elif type_name in ("LIST", "VEC"):
            pending += node.value


def _mark_named_strings(root: Any, parser: Any) -> None:
    """Give strings that have names the class STRINGS_WITH_NAMES, in place.

    Alone, rdata keeps the names of numbers, but drops the names of strings and factors. Strings in
    S4 objects and environments stay as they are.
    """

    def new_node(kind: Any, value: Any, **fields: Any) -> Any:
        info = parser.RObjectInfo(
            kind, object=False, attributes=False, tag="tag" in fields, gp=ASCII_FLAG, reference=0
        )
        return parser.RObject(info, value, attributes=None, **fields)

    kinds = parser.RObjectType
    pending = [root]
    while pending:
        node = pending.pop()
        if node.info.type.name in ("LIST", "VEC"):
            pending += node.value
        elif (
            node.info.type.name == "STR"
            and not node.info.object
            and "names" in {name for name, _ in _iterate_slots(node)}
        ):
            class_name = new_node(kinds.STR, [new_node(kinds.CHAR, STRINGS_WITH_NAMES)])
            tag = new_node(kinds.SYM, new_node(kinds.CHAR, b"class"))
            node.attributes = new_node(kinds.LIST, (class_name, node.attributes), tag=tag)
            node.info.object = True


def _check_columns(root: Any, file_name: str) -> None:
    """Raise InvalidInput for a data.frame with a column name twice: rdata keeps the last alone."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.info.type.name in ("LIST", "VEC"):
            pending += node.value
        if node.info.type.name == "S4":
            pending += [cell.value[0] for _, cell in _iterate_slots(node)]
        if node.info.type.name != "VEC" or not node.info.object:
            continue
        slots = {name: cell.value[0].value for name, cell in _iterate_slots(node)}
        if b"data.frame" not in [name.value for name in slots.get("class", [])]:
            continue
        name_counts = Counter(name.value for name in slots.get("names", []))
        repeated_names = [name for name, count in name_counts.items() if count > 1]
        if repeated_names:
            columns = listing(str(name or b"NA", errors="replace") for name in repeated_names)
            raise input_error(
                file_name,
                f"column {columns} of the data.frame comes twice; in R make the names unique: "
                "names(x) <- make.unique(names(x))",
            )


def _constructors_with_names(constructors: Mapping[str | bytes, Any]) -> dict[str | bytes, Any]:
    """Return rdata's constructors by class; strings and factors with names are labelled arrays."""
    import xarray

    def labelled_strings(strings: Any, attributes: Mapping[str, Any]) -> Any:
        values = np.asarray(strings, dtype=object)
        return xarray.DataArray(values, dims=["name"], coords={"name": attributes["names"]})

    def construct_factor(codes: Any, attributes: Mapping[str, Any]) -> Any:
        if "names" not in attributes:
            class_name = "ordered" if "ordered" in attributes["class"] else "factor"
            return constructors[class_name](codes, attributes)
        levels = [None, *attributes["levels"]]  # code 0 for missing values
        level_numbers = np.nan_to_num(np.asarray(codes, dtype=np.float64)).astype(int)
        return labelled_strings([levels[number] for number in level_numbers], attributes)

    return {
        **constructors,
        "factor": construct_factor,
        "ordered": construct_factor,
        STRINGS_WITH_NAMES.decode(): labelled_strings,
    }


def _iterate_slots(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and the cell of each attribute; a cell's value is (attribute, next cell)."""
    cell = node.attributes
    while cell is not None and cell.info.type.name == "LIST":
        tag = cell.tag.referenced_object or cell.tag  # a repeated symbol refers to its first node
        yield tag.value.value.decode(), cell
        cell = cell.value[1]


def _set_attributes(node: Any, cells: list[Any]) -> None:
    """Make these cells the attributes of a node, a linked list of R, in place.

    The last cell gets the end of the list from which it comes, R's NULL as the parser has it.
    """
    if cells:
        end = cells[-1].value[1]
        while end.info.type.name == "LIST":
            end = end.value[1]
        for cell, following in zip(cells, [*cells[1:], end], strict=True):
            cell.value = (cell.value[0], following)
    node.attributes = cells[0] if cells else None


# Names of objects that limma and edgeR keep beside the values, in a list.
LIMMA_OBJECTS = ("design", "weights", "offset", "genes", "samples", "targets")
LIBRARY_SIZE_COLUMN = "lib.size"  # column of the sample table of a DGEList
TABLE_OF_OTHER_AXIS = {
    "samples": re.compile(
        r"genes?|features?|.*(fData|rowData|probes?|annot(ation)?)", re.IGNORECASE
    ),
    "genes": re.compile(
        r"samples?|targets|.*(pData|colData|pheno\w*|clinical|meta\w*)", re.IGNORECASE
    ),
}
"""Axis -> names of tables that describe the other axis."""
# Numeric columns from which on a data.frame with words is expression, and no sample table.
MIN_EXPRESSION_COLUMNS = 100
READABLE_CLASSES = "a matrix, a data.frame, an ExpressionSet or a SummarizedExperiment"
# Python types of rdata for a matrix with names, without names, and with missing values.
ARRAY_CLASSES = ("DataArray", "ndarray", "MaskedArray")
NAMELESS_MESSAGE = (
    "the matrix has no names of rows and columns; set dimnames(x) in R and save it again"
)
SAVE_COMMAND_OF_CLASS = {"AffyBatch": "saveRDS(exprs(rma(x)), 'expression.rds')"}


def matrix(content: bytes, file_name: str, part: str | None) -> Matrix:
    """Return an R matrix or data.frame, or an assay of a Bioconductor object, as a matrix.

    `part` names an object of an .rda file, an element of a list or one of the assays; without it,
    the only matrix among them is meant, the exprs of an ExpressionSet, the counts of a
    DESeqDataSet.
    """
    value, other_objects, part = _choose_object(content, file_name, part)
    if is_summarized(value):
        return read_assay(value, file_name, part)
    if _class_name(value) == "ExpressionSet":
        assays = _as_mapping(value.assayData)
        if (name := part or "exprs") not in assays:
            raise input_error(
                file_name,
                f"the ExpressionSet has no {name}, but {listing(assays)}; choose by data.part",
                key="data.part",
            )
        value = assays[name]
    matrix_of_value = (
        _matrix_of_frame(value, file_name)
        if _is_data_frame(value)
        else _matrix_with_names(value, file_name)
    )
    return replace(matrix_of_value, has_counts=_is_beside_library_sizes(other_objects))


def _is_beside_library_sizes(other_objects: Mapping[str, Any]) -> bool:
    """Tell whether edgeR's table of samples lies beside a matrix: a DGEList, of counts."""
    table = other_objects.get("samples")
    return _is_data_frame(table) and LIBRARY_SIZE_COLUMN in map(str, getattr(table, "columns", ()))


def samples(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return the sample table: colData, pData, a data.frame, or a table beside a matrix."""
    value, other_objects, _ = _choose_object(content, file_name, part)
    if is_summarized(value):
        return read_col_data(value, file_name)
    is_array = hasattr(value, "shape")
    table = _find_table_beside(value, other_objects, file_name) if is_array else None
    if table is None and _is_data_frame(value) and _is_matrix(value) and _text_columns(value):
        table = value[_text_columns(value)]
    return _table_of_set(value if table is None else table, "phenoData", "sample", file_name)


def genes(content: bytes, file_name: str, part: str | None) -> TextTable:
    """Return the gene table: rowData, fData, a data.frame, or a table beside a matrix."""
    value, other_objects, _ = _choose_object(content, file_name, part)
    if is_summarized(value):
        return read_row_data(value, file_name)
    is_array = hasattr(value, "shape")
    table = _find_table_beside(value, other_objects, file_name, "genes") if is_array else None
    return _table_of_set(value if table is None else table, "featureData", "gene", file_name)


def _choose_object(
    content: bytes, file_name: str, part: str | None
) -> tuple[Any, dict[str, Any], str | None]:
    """Return the object that is meant, the others of its list, and the part left to choose.

    That part is None if it named the object.
    """
    objects = read_objects(content, file_name)
    if not isinstance(objects, dict):
        return objects, {}, part
    if (name := _choose_name(objects, part, file_name)) is None:
        raise _several_objects_error(objects, file_name)
    value = objects[name]
    is_named = name == part
    unused_part = None if is_named else part
    if isinstance(value, dict):
        element = _choose_name(value, unused_part, file_name)
        if element is None:
            return value, {}, unused_part
        unused_part = None if element == unused_part else unused_part
        return value[element], _other_objects(element, value), unused_part
    # If `part` names the object, the file is a workspace: its other objects are other data sets.
    return value, {} if is_named else _other_objects(name, objects), unused_part


def _other_objects(name: str, objects: Mapping[str, Any]) -> dict[str, Any]:
    """Return the objects but for one, by name."""
    return {
        str(object_name): value for object_name, value in objects.items() if object_name != name
    }


def _choose_name(objects: Mapping[str, Any], part: str | None, file_name: str) -> str | None:
    """Return the name of the part, the only object or the only matrix; None without a matrix.

    Raises InvalidInput: no such part, or several matrices.
    """
    names = list(objects)
    if part in names or len(names) == 1:
        return part if part in names else names[0]
    if part is not None:
        advice = did_you_mean(part, names) or f" (found: {', '.join(names)})"
        raise input_error(
            file_name, f"data.part '{part}' is not one of its objects{advice}", key="data.part"
        )
    matrices = [name for name in names if _is_matrix(objects[name])]
    if len(matrices) > 1:
        matrices = [name for name in matrices if name not in LIMMA_OBJECTS]
    if len(matrices) > 1:
        raise _several_objects_error(objects, file_name)
    return matrices[0] if matrices else None


def _several_objects_error(objects: Mapping[str, Any], file_name: str) -> InvalidInput:
    """Return the error that asks for one of several objects."""
    return input_error(
        file_name,
        f"holds {len(objects)} objects: {listing(map(str, objects), 6)}; choose one by data.part, "
        f"it must be {READABLE_CLASSES}",
        key="data.part",
    )


def _is_matrix(value: Any) -> bool:
    """Tell whether an object is expression: a number matrix or a data.frame of many numbers."""
    if _is_data_frame(value):
        return len(value.columns) - len(_text_columns(value)) >= MIN_EXPRESSION_COLUMNS
    return getattr(value, "ndim", 0) == 2 and value.dtype.kind in "iufb"


def _find_table_beside(
    value: Any,
    other_objects: Mapping[str, Any],
    file_name: str,
    axis: Literal["samples", "genes"] = "samples",
) -> pd.DataFrame | None:
    """Return the table or vectors beside a matrix with an entry for each sample, or for each gene.

    None if nothing fits. Samples are the shorter side of the matrix if anything fits that, genes
    are the longer one. A table with a name of the other axis (`genes` of a DGEList) is left out.

    Raises InvalidInput: the names of a vector are in part those of the matrix.
    """
    import pandas as pd

    if value.ndim != 2:
        return None
    axes = sorted(
        zip(_dimnames(value), _has_dimnames(value), strict=True),
        key=lambda names_of_axis: len(names_of_axis[0]),
        reverse=axis == "genes",
    )
    fitting_objects = {
        name: entry
        for name, entry in other_objects.items()
        if not TABLE_OF_OTHER_AXIS[axis].fullmatch(name)
    }
    for names, has_names in axes if axis == "samples" else axes[:1]:
        entries_of_length = {
            name: entry
            for name, entry in fitting_objects.items()
            if hasattr(entry, "ndim") and len(entry) == len(names)
        }
        tables: list[pd.DataFrame] = [
            entry for entry in entries_of_length.values() if _is_data_frame(entry)
        ]
        # A table with words first: one of numbers alone may be another matrix.
        for entry in sorted(tables, key=lambda table: not _text_columns(table)):
            if set(map(str, entry.index)) == set(map(str, names)):
                return entry
        vectors = {name: entry for name, entry in entries_of_length.items() if entry.ndim == 1}
        if vectors:
            cells = {
                name: _vector_cells(
                    vector, names if has_names else (), f"the vector {name}", file_name
                )
                for name, vector in vectors.items()
            }
            return pd.DataFrame(cells, index=pd.Index(names), dtype=object)
    return None


def _vector_cells(vector: Any, names: Sequence[Any], label: str, file_name: str) -> list[Any]:
    """Return the values of a vector, in the order of `names` if it has the same names.

    If no name of the vector is in `names`, or it has none, the values stay in the order of the
    file. Raises InvalidInput if only some are, or if names come twice in another order. label:
    words for the vector in messages.
    """
    values: list[Any] = np.asarray(vector).tolist()
    if not getattr(vector, "coords", None):  # without names
        return values
    vector_names = list(map(str, _dimnames(vector)[0]))
    matrix_names = list(map(str, names))
    value_of_name = dict(zip(vector_names, values, strict=True))
    if vector_names == matrix_names or value_of_name.keys().isdisjoint(matrix_names):
        return values
    if other_names := [name for name in matrix_names if name not in value_of_name]:
        fault = f"no value for {listing(other_names)} of the matrix, but for others of its names"
    elif len(set(matrix_names)) < len(values):
        fault = "names that come twice, in another order than in the matrix"
    else:
        return [value_of_name[name] for name in matrix_names]
    raise input_error(
        file_name,
        f"{label} has {fault}; in R give the vector the names of the matrix, or remove its names",
    )


def _class_name(value: Any) -> str:
    """Return the R class of an object that rdata returns as slots, else its Python type."""
    class_slot = getattr(value, "class", None)
    return type(value).__name__ if class_slot is None else str(np.ravel(class_slot)[0])


def _is_data_frame(value: Any) -> bool:
    """Tell whether an object is R's data.frame."""
    return type(value).__name__ == "DataFrame"


def _as_mapping(slot: Any) -> dict[str, Any]:
    """Return the entries of a list or an environment by their names."""
    mapping = slot if isinstance(slot, Mapping) else vars(slot)
    return {str(name): value for name, value in mapping.items()}


def _matrix_with_names(value: Any, file_name: str) -> Matrix:
    """Return a matrix with dimnames, for rdata a DataArray; raise InvalidInput for all else."""
    if _class_name(value) == "dgCMatrix":
        rows, columns = value.Dimnames
        if rows is None or columns is None:
            raise input_error(file_name, NAMELESS_MESSAGE)
        return number_matrix(rows, columns, dense_matrix(value, file_name))
    if type(value).__name__ not in ARRAY_CLASSES or value.ndim != 2:
        name = _class_name(value)
        if name in ARRAY_CLASSES:
            name = "vector or array, or matrix of text"
        name = "list" if name == "dict" else name
        command = SAVE_COMMAND_OF_CLASS.get(name, "saveRDS(as.matrix(x), 'expression.rds')")
        raise input_error(
            file_name, f"holds an object of class '{name}', not {READABLE_CLASSES}; in R: {command}"
        )
    if not getattr(value, "coords", ()):
        raise input_error(file_name, NAMELESS_MESSAGE)
    values = np.asarray(value)
    if values.dtype.kind not in "iufb":
        raise input_error(
            file_name, "the matrix holds text, not numbers; set mode(x) <- 'numeric' in R"
        )
    rows, columns = _dimnames(value)
    return number_matrix(rows, columns, values)


def _dimnames(value: Any) -> list[Any]:
    """Return the names of rows and columns; numbers from 1 if there are none."""
    if _is_data_frame(value):
        return [value.index, value.columns]
    coords = getattr(value, "coords", {})
    return [
        coords[dim].to_numpy() if dim in coords else list(map(str, range(1, size + 1)))
        for dim, size in zip(getattr(value, "dims", (0, 1)), value.shape, strict=True)
    ]


def _has_dimnames(value: Any) -> list[bool]:
    """Return whether rows, and columns, have names of their own, not numbers."""
    import pandas as pd

    if _is_data_frame(value):
        return [not isinstance(value.index, pd.RangeIndex), True]
    return [dim in getattr(value, "coords", {}) for dim in getattr(value, "dims", (0, 1))]


def _text_columns(frame: pd.DataFrame) -> list[Any]:
    """Return the columns of a data.frame that are not numeric."""
    return [name for name, kind in frame.dtypes.items() if kind.kind not in "iuf"]


def _matrix_of_frame(frame: pd.DataFrame, file_name: str) -> Matrix:
    """Return a data.frame as a matrix; a column of distinct words may name its rows.

    `without_annotation` takes out the columns that describe genes. Other words stay as text. But
    with many columns of numbers and no symbols, rows are taken for samples: words are left out, as
    they are classes.

    Raises InvalidInput: half of the columns are words, or rows that are genes have no names.
    """
    word_columns = _text_columns(frame)
    if not word_columns:
        return number_matrix(frame.index, frame.columns, _frame_numbers(frame))
    ids = _column_of_ids(frame, word_columns)
    rows = frame.index if ids is None else frame[ids]
    columns = frame if ids is None else frame.drop(columns=[ids])
    text_columns = {name for name in word_columns if name != ids}
    numbers = columns.assign(**dict.fromkeys(text_columns, np.nan))
    matrix_of_numbers = number_matrix(rows, columns.columns, _frame_numbers(numbers))
    texts = {
        (row, column): text_of(cell)
        for column, name in enumerate(columns.columns)
        if name in text_columns
        for row, cell in enumerate(columns.iloc[:, column].tolist())
    }
    parsed = without_annotation(replace(matrix_of_numbers, texts=texts), file_name)
    if ids is None and _is_matrix(frame) and not parsed.symbols:
        number_columns = [k for k, name in enumerate(parsed.columns) if name not in text_columns]
        return parsed.subset(range(len(frame)), number_columns)
    if 2 * len(word_columns) >= len(frame.columns) or (ids is None and _has_row_numbers(frame)):
        raise input_error(
            file_name,
            f"column {listing(map(str, word_columns))} of the data.frame is not numeric; name the "
            "rows by the genes, and keep numbers beside them",
        )
    return parsed


def _column_of_ids(frame: pd.DataFrame, text_columns: Sequence[Any]) -> Any:
    """Return the first text column of distinct cells if rows have no names; else None."""
    if not _has_row_numbers(frame):
        return None
    unique = (name for name in text_columns if frame[name].is_unique and frame[name].notna().all())
    return next(unique, None)


def _has_row_numbers(frame: pd.DataFrame) -> bool:
    """Tell whether the rows have numbers for names."""
    return all(str(name).isdigit() for name in frame.index)


def _frame_numbers(frame: pd.DataFrame) -> Any:
    """Return the cells of a table of numbers; missing ones are NaN."""
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def _table_of_set(value: Any, slot: str, index: str, file_name: str) -> TextTable:
    """Return a data.frame, or the one in the slot of an ExpressionSet, as a table of strings.

    index: what a row is, "sample" or "gene".
    """
    if _class_name(value) == "ExpressionSet":
        value = getattr(value, slot).data
    if not _is_data_frame(value):
        raise input_error(
            file_name,
            f"holds no table of {index}s; save a data.frame or an ExpressionSet, or name a TSV",
        )
    return text_table(value, index)


RDATA = Format(
    "an R data file",
    matrix,
    samples,
    genes,
    suffixes=(".rds", ".rda", ".rdata"),
    parts="object",
    binary=True,
    either_way=True,
)
