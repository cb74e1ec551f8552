"""The forms of an Affymetrix file, told by its first bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from genesig.data.files.cursor import Cursor
from genesig.errors import refuse

T = TypeVar("T")
Binary = Mapping[bytes, tuple[Literal["<", ">"], Callable[[Cursor], T]]]


def parse_form(
    content: bytes, where: str, kind: str, text: Callable[[str, str], T], binary: Binary[T],
    others: str,
) -> T:  # fmt: skip
    """Parse a file that is text with the opening ``[kind]``, or binary.

    Parameters
    ----------
    content : bytes
        The whole file, unpacked.
    where : str
        Its name, for messages.
    kind : str
        As in "is no CEL file".
    text : function (text, where) -> record
    binary : dict
        First bytes -> order of bytes, function (cursor) -> record.
    others : str
        The binary forms in words.

    Raises
    ------
    InvalidInput
        The file is of no form.
    """
    if content.startswith(f"[{kind}]".encode()):
        return text(content.decode("latin-1"), where)
    for magic, (order, parse) in binary.items():
        if content.startswith(magic):
            return parse(Cursor(content, where, order))
    raise refuse(where, f"is no {kind} file: it begins neither with [{kind}] nor as {others}; "
                 "copy or download it again")  # fmt: skip
