"""The bytes of one file: regular, whole, unpacked, bounded; and a place in them that moves on."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import InvalidInput, did_you_mean, refuse
from genesig.machine import check_size
from genesig.results.download import check_download_digest

CHUNK = 1 << 20


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.read(CHUNK), b"")


def _gunzipped(packed: BinaryIO) -> Iterator[bytes]:
    """Unpack one gzip member after the other, in a fifth less time than `gzip.open` takes."""
    member = zlib.decompressobj(wbits=31)
    inside = False
    data = b""
    while data := data or packed.read(CHUNK // 4):
        data = data if inside else data.lstrip(b"\0")  # some writers fill up their last block
        inside = inside or bool(data)
        yield member.decompress(data, CHUNK)
        data = member.unconsumed_tail
        if member.eof:
            inside = False
            data = member.unused_data
            member = zlib.decompressobj(wbits=31)
    if inside:
        raise EOFError


PACKED: dict[bytes, tuple[str, Callable[[BinaryIO], Iterable[bytes]]]] = {
    b"\x1f\x8b": ("gzip", _gunzipped),
    b"BZh": ("bzip2", lambda packed: _blocks(bz2.BZ2File(packed))),
    b"\xfd7zXZ": ("xz", lambda packed: _blocks(lzma.LZMAFile(packed))),  # noqa: SIM115
}


def read_content(path: str | Path) -> bytes:
    """Read a file, unpacked if it is gzip.

    Raises
    ------
    InvalidInput
        No such file, none that is regular, cut off, damaged, or more than memory can hold.
    """
    with _opened(Path(path)) as stream:
        try:
            return _content(stream, path)
        except OSError as error:  # a disk that does not answer
            raise refuse(path, f"cannot be read: {error.strerror}") from None


def _content(stream: BinaryIO, path: str | Path) -> bytes:
    check_download_digest(Path(path))
    packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    if packed:
        return _unpacked(stream, str(path), b"\x1f\x8b")
    if str(path).lower().endswith(".gz"):
        raise refuse(path, "is named .gz but is not gzip; rename it, or compress it with gzip")
    return _whole(_blocks(stream), stream, str(path))


def leading_lines(path: Path, max_lines: int) -> Iterator[str]:
    """Yield the first lines of a text, gzip or not; fewer or none where it cannot be read."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
            for line in islice(stream, max_lines):
                yield line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error):
        return  # whoever reads the whole file says so


def unpacked(content: bytes, where: str) -> bytes:
    """Unpack what is gzip, bzip2 or xz, as R's files are inside; leave all else as it is."""
    for magic in PACKED:
        if content.startswith(magic):
            return _unpacked(BytesIO(content), where, magic)
    return content


def is_folder(path: str | Path) -> bool:
    """Tell whether there is a folder of this name; a name that can be none is no folder."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _opened(path: Path) -> BinaryIO:
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise refuse(
                path,
                "is no file but a device, a pipe or a socket; name a file, or write "
                "what it gives into one",
            )
        return path.open("rb")
    except FileNotFoundError:
        raise refuse(path, absent(path)) from None
    except IsADirectoryError:
        raise refuse(path, "is a folder; name a file in it") from None
    except OSError as error:
        raise refuse(path, f"cannot be read: {error.strerror}") from None
    except ValueError:  # a zero byte
        raise refuse(repr(str(path)), "is no name of a file; correct it") from None


def absent(path: Path) -> str:
    """Say that there is no such file, and which one may be meant."""
    near = [p.name for p in path.parent.iterdir()] if is_folder(path.parent) else []
    place = "" if path.is_absolute() else f" (looked for in {Path.cwd()})"
    series = re.fullmatch(r"(GSE\d+(-GPL\d+)?)(_series_matrix\.txt\.gz)?", path.name)
    from_geo = (
        f"; to download it: genesig fetch {series[1]} (its labels tell which kind of study it is)"
        if series
        else ""
    )
    advice = did_you_mean(path.name, near) or from_geo
    return f"no such file{place}{advice or '; correct the name, or put the file there'}"


def _unpacked(packed: BinaryIO, where: str, magic: bytes) -> bytes:
    name, opener = PACKED[magic]
    try:
        return _whole(opener(packed), packed, where)
    except EOFError:
        raise refuse(
            where, f"the {name} file is truncated (it ends too early); copy or download it again"
        ) from None
    except (zlib.error, lzma.LZMAError, OSError) as error:
        what = f"the {name} file is damaged ({error}); copy or download it again"
        raise refuse(where, what) from None


def _whole(blocks: Iterable[bytes], packed: BinaryIO, where: str) -> bytes:
    """Read to the end, and stop where it becomes too much; `packed` tells how far in the file."""
    kept = BytesIO()  # grows where it is, and gives its bytes away: joined blocks are there twice
    for block in blocks:
        check_size(where, kept.tell() + len(block), packed.tell())
        kept.write(block)
    return kept.getvalue()


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
            raise self.refuse(
                f"is a binary {kind} file of version {found}; version {read} read, "
                f"export the {kind} file in its text form"
            )
        return found

    def refuse(self, what: str) -> InvalidInput:
        """Return an error about this file."""
        return refuse(self.where, what)
