"""Files as R's saveRDS writes them (serialisation format 3, XDR), made without R.

Source: R Internals, section Serialization Formats.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping, Sequence

SYMBOL = 1
PAIRS = 2
CLOSURE = 3
ENVIRONMENT = 4
PROMISE = 5
CALL = 6
CHARACTERS = 9
LOGICAL = 10
INTEGER = 13
REAL = 14
STRINGS = 16
LIST = 19
RAW = 24
S4 = 25
EMPTY = 242
GLOBAL = 253
NIL = 254
COMPACT = 238
OBJECT = 1 << 8
ATTRIBUTES = 1 << 9
TAG = 1 << 10
NA = -(2**31)


def _int(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


def characters(text: str | None) -> bytes:
    """Write one string; None is NA."""
    content = b"" if text is None else text.encode()
    return _int(CHARACTERS | (8 << 12), -1 if text is None else len(content)) + content


def symbol(name: str) -> bytes:
    return _int(SYMBOL) + characters(name)


NULL = _int(NIL)
NULL_SLOT = symbol("\x01NULL\x01")
"""What a slot of an S4 object has in place of NULL."""


def pairs(items: Mapping[str, bytes]) -> bytes:
    """Write a list of tags and values, as attributes and slots are."""
    cells = [_int(PAIRS | TAG) + symbol(name) + value for name, value in items.items()]
    return b"".join(cells) + NULL


def _made(kind: int, body: bytes, attributes: Mapping[str, bytes], flags: int = 0) -> bytes:
    flags |= ATTRIBUTES if attributes else 0
    return _int(kind | flags) + body + (pairs(attributes) if attributes else b"")


def integers(values: Sequence[int], **attributes: bytes) -> bytes:
    return _made(INTEGER, _int(len(values), *values), attributes)


def reals(values: Sequence[float], **attributes: bytes) -> bytes:
    return _made(REAL, _int(len(values)) + struct.pack(f">{len(values)}d", *values), attributes)


def strings(values: Sequence[str | None], **attributes: bytes) -> bytes:
    return _made(STRINGS, _int(len(values)) + b"".join(map(characters, values)), attributes)


def listed(values: Sequence[bytes], names: Sequence[str] = (), **attributes: bytes) -> bytes:
    names_attribute = {"names": strings(names)} if names else {}
    return _made(LIST, _int(len(values)) + b"".join(values), names_attribute | attributes)


def factor(
    values: Sequence[str | None],
    levels: Sequence[str],
    *,
    ordered: bool = False,
    **attributes: bytes,
) -> bytes:
    codes = [NA if value is None else levels.index(value) + 1 for value in values]
    classes = ["ordered", "factor"] if ordered else ["factor"]
    attributes |= {"levels": strings(levels), "class": strings(classes)}
    return _made(INTEGER, _int(len(codes), *codes), attributes, OBJECT)


def of_class(name: str, package: str, **slots: bytes) -> bytes:
    """Write an S4 object."""
    class_attributes = {"class": strings([name], package=strings([package]))}
    return _made(S4, b"", slots | class_attributes, OBJECT | (1 << 16))


def data_frame(columns: Mapping[str, bytes], rows: Sequence[str] | int) -> bytes:
    """Write a data.frame; rows without names are counted, as R writes them."""
    row_names = integers([NA, -rows]) if isinstance(rows, int) else strings(rows)
    attributes = {
        "names": strings([*columns]),
        "row.names": row_names,
        "class": strings(["data.frame"]),
    }
    return _made(LIST, _int(len(columns)) + b"".join(columns.values()), attributes, OBJECT)


def matrix(
    rows: Sequence[Sequence[float]],
    names: tuple[Sequence[str], Sequence[str]] | None,
    *,
    as_table: bool = False,
) -> bytes:
    """Write a matrix; its values stand column by column."""
    values = [row[k] for k in range(len(rows[0])) for row in rows]
    attributes = {"dim": integers([len(rows), len(rows[0])])}
    if names is not None:
        attributes["dimnames"] = listed(
            [strings(axis_names) if axis_names else NULL for axis_names in names]
        )
    if as_table:
        return integers([NA if v != v else int(v) for v in values], **attributes)
    return reals(values, **attributes)


def sparse(
    rows: Sequence[Sequence[float]], names: tuple[Sequence[str], Sequence[str]], **changed: bytes
) -> bytes:
    """Write a dgCMatrix."""
    columns = [[(k, row[c]) for k, row in enumerate(rows) if row[c]] for c in range(len(rows[0]))]
    starts = [sum(map(len, columns[:k])) for k in range(len(columns) + 1)]
    cells = [cell for column in columns for cell in column]
    slots = {
        "i": integers([k for k, _ in cells]),
        "p": integers(starts),
        "Dim": integers([len(rows), len(rows[0])]),
        "Dimnames": listed([*map(strings, names)]),
        "x": reals([v for _, v in cells]),
        "factors": listed([]),
    }
    return of_class("dgCMatrix", "Matrix", **(slots | changed))


def table(columns: Mapping[str, bytes], rows: Sequence[str] | None, count: int) -> bytes:
    """Write a DataFrame of Bioconductor."""
    return of_class(
        "DFrame",
        "S4Vectors",
        rownames=NULL_SLOT if rows is None else strings(rows),
        nrows=integers([count]),
        listData=listed([*columns.values()], [*columns]),
        elementType=strings(["ANY"]),
        elementMetadata=NULL_SLOT,
        metadata=listed([]),
    )


def run_length(values: Sequence[str], lengths: Sequence[int]) -> bytes:
    return of_class(
        "Rle",
        "S4Vectors",
        values=strings(values),
        lengths=integers(lengths),
        elementMetadata=NULL_SLOT,
        metadata=listed([]),
    )


def simple_assays(assays: Mapping[str, bytes]) -> bytes:
    """Write assays as since Bioconductor 3.10; without names where they have none."""
    names = [name for name in assays if name]
    data = of_class(
        "SimpleList",
        "S4Vectors",
        listData=listed([*assays.values()], names),
        elementType=strings(["ANY"]),
        elementMetadata=NULL_SLOT,
        metadata=listed([]),
    )
    return of_class("SimpleAssays", "SummarizedExperiment", data=data)


def shallow_assays(assays: Mapping[str, bytes]) -> bytes:
    """Write assays as before: a reference class, whose fields are in an environment."""
    data = of_class("SimpleList", "S4Vectors", listData=listed([*assays.values()], [*assays]))
    frame = listed([pairs({"data": data})])
    fields = _int(ENVIRONMENT, 0) + _int(EMPTY) + NULL + frame + NULL
    return of_class("ShallowSimpleListAssays", "SummarizedExperiment", **{".xData": fields})


def ranges(names: Sequence[str], columns: bytes, count: int) -> bytes:
    """Write the GRanges of the rows."""
    ones = integers([1] * count)
    places = of_class("IRanges", "IRanges", start=ones, width=ones, NAMES=strings(names))
    return of_class(
        "GRanges",
        "GenomicRanges",
        seqnames=run_length(["1"], [count]),
        ranges=places,
        elementMetadata=columns,
        metadata=listed([closure()]),
    )


def closure() -> bytes:
    """Write a function whose environment holds a promise: what rdata cannot convert."""
    promise = _int(PROMISE) + NULL + symbol("x")
    promise_binding = _int(PAIRS | TAG) + symbol("later") + promise + NULL
    environment_bytes = _int(ENVIRONMENT, 0) + _int(GLOBAL) + promise_binding + NULL + NULL
    body = _int(CALL) + symbol("stop") + NULL
    return _int(CLOSURE | TAG) + environment_bytes + NULL + body


def sequence(count: float) -> bytes:
    """Write 1:count as R stores it, by its ends."""
    about = _int(PAIRS) + symbol("compact_intseq") + _int(PAIRS) + symbol("base")
    about += _int(PAIRS) + integers([INTEGER]) + NULL
    return _int(COMPACT) + about + reals([count, 1, 1]) + NULL


def saved(content: bytes, *, packed: bool = True) -> bytes:
    """Return the bytes of a file that holds one object."""
    head = b"X\n" + _int(3, 0x40301, 0x30500, 5) + b"UTF-8"
    return gzip.compress(head + content, mtime=0) if packed else head + content
