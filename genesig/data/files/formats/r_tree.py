"""The objects of an R file as the package rdata parses them: bounded, and never run.

Bioconductor's containers hold closures, promises and whole environments beside their numbers; what
of them is not read is taken away before anything is converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from genesig.data.files.content import PACKED, unpacked
from genesig.errors import InvalidInput, refuse
from genesig.machine import limited_memory, memory
from genesig.words import size_of

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
        raise refuse(where, "R's files are read by the package rdata, which is not installed: pip "
                     "install 'genesig[r]'") from None  # fmt: skip
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
        return refuse(where, f"holds R objects that cannot be read outside R ({why}); save the "
                      "values alone, in R: saveRDS(exprs(x), 'expression.rds') or "
                      "saveRDS(as.matrix(x), 'expression.rds')")  # fmt: skip
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

    return {**known} | {name: bounded(known[name]) for name in (b"compact_intseq",
                                                                b"compact_realseq")}  # fmt: skip


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
            keep = [cell for name, cell in slots
                    if (name in READ if of_data else name not in UNREAD)]  # fmt: skip
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
