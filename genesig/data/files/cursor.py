"""A place in a binary file that moves on as it is read, and never past the end."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from genesig.errors import InvalidInput, refuse

Array = np.ndarray[Any, Any]


@dataclass
class Cursor:
    """Bytes of a file and the next one to be read.

    Attributes
    ----------
    content : bytes
    where : str
        The file, for messages.
    order : {"<", ">"}
        Least or most significant byte first.
    at : int
        Offset of the next byte.
    """

    content: bytes
    where: str
    order: Literal["<", ">"]
    at: int = 0

    def take(self, count: int) -> bytes:
        """Read `count` bytes."""
        if count < 0 or self.at + count > len(self.content):
            raise self.refuse(
                f"ends too early: {count} bytes are announced at byte {self.at} of "
                f"{len(self.content)}; copy or download it again"
                if count >= 0
                else f"is damaged: byte {self.at} announces {count} bytes; copy it again"
            )
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self, code: str) -> int:
        """Read one number, `code` as in the module struct."""
        size = struct.calcsize(self.order + code)
        return int(struct.unpack(self.order + code, self.take(size))[0])

    def array(self, dtype: np.dtype[Any], count: int) -> Array:
        """Read `count` records."""
        return np.frombuffer(self.take(count * dtype.itemsize), dtype)

    def floats(self, dtype: np.dtype[Any], count: int, field: str | None = None) -> Array:
        """Read `count` records and return them, or a field of them, as float64."""
        records = self.array(dtype, count)
        with np.errstate(invalid="ignore"):  # of a damaged file; the caller looks for NaN
            return (records if field is None else records[field]).astype(np.float64)

    def text(self) -> str:
        """Read a text of one-byte characters behind its length."""
        return self.take(self.number("i")).decode("latin-1")

    def wide_text(self) -> str:
        """Read a text of two-byte characters behind its length."""
        raw = self.take(2 * self.number("i"))
        return raw.decode("utf-16-be" if self.order == ">" else "utf-16-le", errors="replace")

    def jump(self, place: int) -> None:
        """Go to an offset that the file names."""
        if not 0 < place <= len(self.content):
            raise self.refuse(
                f"points to byte {place} but has {len(self.content)}; copy or download it again"
            )
        self.at = place

    def version(self, kind: str, known: Sequence[int]) -> int:
        """Skip the magic number of a file and read its version, which must be a known one."""
        self.take(4)
        found = self.number("i")
        if found not in known:
            read = f"{known[0]} to {known[-1]} are" if len(known) > 1 else f"{known[0]} is"
            raise self.refuse(f"is a binary {kind} file of version {found}; version {read} read, "
                              f"export the {kind} file in its text form")  # fmt: skip
        return found

    def refuse(self, what: str) -> InvalidInput:
        """Return an error about this file."""
        return refuse(self.where, what)
