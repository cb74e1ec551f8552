"""Read the bytes of one file, unpacked and bounded by memory; a `Cursor` reads binary formats."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np

from genesig.arrays import Array
from genesig.errors import InvalidInput, did_you_mean, input_error
from genesig.machine import check_size
from genesig.results.download import check_download_digest

READ_BLOCK_BYTES = 1 << 20
COPY_AGAIN = "copy or download it again"  # advice for damaged files


def _read_blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Return the blocks of bytes that are left in a stream."""
    return iter(lambda: stream.read(READ_BLOCK_BYTES), b"")


def _gunzip(packed: BinaryIO) -> Iterator[bytes]:
    """Yield the unpacked blocks of all gzip members, a fifth faster than `gzip.open`.

    Raises EOFError: the last member is cut off.
    """
    member = zlib.decompressobj(wbits=31)  # 31: with the header of gzip
    in_member = False
    data = b""
    while data := data or packed.read(READ_BLOCK_BYTES // 4):
        data = data if in_member else data.lstrip(b"\0")  # some writers fill up their last block
        in_member = in_member or bool(data)
        yield member.decompress(data, READ_BLOCK_BYTES)
        data = member.unconsumed_tail
        if member.eof:
            in_member = False
            data = member.unused_data
            member = zlib.decompressobj(wbits=31)
    if in_member:
        raise EOFError


GZIP_MAGIC = b"\x1f\x8b"
# first bytes of a file -> name of the compression, function that yields the unpacked blocks
COMPRESSIONS: dict[bytes, tuple[str, Callable[[BinaryIO], Iterable[bytes]]]] = {
    GZIP_MAGIC: ("gzip", _gunzip),
    b"BZh": ("bzip2", lambda packed: _read_blocks(bz2.BZ2File(packed))),
    b"\xfd7zXZ": ("xz", lambda packed: _read_blocks(lzma.LZMAFile(packed))),  # noqa: SIM115
}


def read_content(path: str | Path) -> bytes:
    """Return the content of a file, unpacked if it is gzip.

    Raises InvalidInput: no such file, none that is regular, cut off, damaged, changed since its
        download, or more than memory can hold.
    """
    with _open_regular_file(Path(path)) as stream:
        try:
            check_download_digest(Path(path))
            is_gzip = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            stream.seek(0)
            if is_gzip:
                return _read_stream(stream, str(path), GZIP_MAGIC)
            if str(path).lower().endswith(".gz"):
                advice = "rename it, or compress it with gzip"
                raise input_error(path, f"is named .gz but is not gzip; {advice}")
            return _read_stream(stream, str(path))
        except OSError as error:  # a disk that does not answer
            raise input_error(path, f"cannot be read: {error.strerror}") from None


def leading_lines(path: Path, max_lines: int) -> Iterator[str]:
    """Yield the first lines of a text, gzip or not; none if it cannot be read."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
            for line in islice(stream, max_lines):
                yield line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error):
        return  # `read_content` raises the error


def unpack(content: bytes, file_name: str) -> bytes:
    """Return content unpacked if it is gzip, bzip2 or xz, as R's files are; any other as it is."""
    for magic in COMPRESSIONS:
        if content.startswith(magic):
            return _read_stream(BytesIO(content), file_name, magic)
    return content


def is_folder(path: str | Path) -> bool:
    """Tell whether there is a folder of this name; a name that can be none is no folder."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _open_regular_file(path: Path) -> BinaryIO:
    """Return an open file; raise InvalidInput for devices, folders and impossible names."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():  # `open` refuses a folder
            raise input_error(
                path,
                "is no file but a device, a pipe or a socket; name a file, or write what it gives "
                "into one",
            )
        return path.open("rb")
    except FileNotFoundError:
        raise input_error(path, missing_file_message(path)) from None
    except IsADirectoryError:
        raise input_error(path, "is a folder; name a file in it") from None
    except OSError as error:
        raise input_error(path, f"cannot be read: {error.strerror}") from None
    except ValueError:  # a zero byte
        raise input_error(repr(str(path)), "is no name of a file; correct it") from None


def missing_file_message(path: Path) -> str:
    """Return the message that a file does not exist: a similar name beside it, or how to get it."""
    sibling_names: list[str] = []
    with suppress(OSError):  # a folder that does not exist, or may not be listed
        sibling_names += [sibling.name for sibling in path.parent.iterdir()]
    looked_in = "" if path.is_absolute() else f" (looked for in {Path.cwd()})"
    series = re.fullmatch(r"(GSE\d+(-GPL\d+)?)(_series_matrix\.txt\.gz)?", path.name)
    geo_advice = f"; to download it: genesig fetch {series[1]}" if series else ""
    advice = did_you_mean(path.name, sibling_names) or geo_advice
    return f"no such file{looked_in}{advice or '; correct the name, or put the file there'}"


def _read_stream(stream: BinaryIO, file_name: str, magic: bytes | None = None) -> bytes:
    """Return the unpacked bytes of a stream; raise an error once they would exceed the memory.

    magic: its first bytes, a key of `COMPRESSIONS`; None if it is not packed.
    """
    name, block_reader = COMPRESSIONS[magic] if magic else ("", _read_blocks)
    # A BytesIO grows in place and hands over its bytes; joined blocks would be in memory twice.
    content = BytesIO()
    try:
        for block in block_reader(stream):
            check_size(file_name, content.tell() + len(block), stream.tell())
            content.write(block)
        return content.getvalue()
    except EOFError:
        raise input_error(
            file_name,
            f"the {name} file is truncated (it ends too early); copy or download it again",
        ) from None
    except (zlib.error, lzma.LZMAError, OSError) as error:
        if not magic:
            raise
        message = f"the {name} file is damaged ({error}); copy or download it again"
        raise input_error(file_name, message) from None


@dataclass
class Cursor:
    """The bytes of a file and the position of the next one to be read."""

    content: bytes
    file_name: str  # in messages
    byte_order: Literal["<", ">"]  # least or most significant byte first
    offset: int = 0  # of the next byte

    def take(self, n_bytes: int) -> bytes:
        """Read the next `n_bytes` bytes; raise InvalidInput if so many are not left."""
        if n_bytes < 0 or self.offset + n_bytes > len(self.content):
            raise self.error(
                f"ends too early: {n_bytes} bytes are announced at byte {self.offset} of "
                f"{len(self.content)}; copy or download it again"
                if n_bytes >= 0
                else f"is damaged: byte {self.offset} announces {n_bytes} bytes; copy it again"
            )
        self.offset += n_bytes
        return self.content[self.offset - n_bytes : self.offset]

    def number(self, code: str) -> int:
        """Read one whole number; `code` is its type in the module struct, as "i" for four bytes."""
        size = struct.calcsize(self.byte_order + code)
        return int(struct.unpack(self.byte_order + code, self.take(size))[0])

    def array(self, dtype: np.dtype[Any], n_records: int) -> Array:
        """Read `n_records` records of a dtype."""
        return np.frombuffer(self.take(n_records * dtype.itemsize), dtype)

    def floats(self, dtype: np.dtype[Any], n_records: int, field: str | None = None) -> Array:
        """Read `n_records` records and return them, or a field of them, as float64."""
        records = self.array(dtype, n_records)
        with np.errstate(invalid="ignore"):  # of a damaged file; the caller looks for NaN
            return (records if field is None else records[field]).astype(np.float64)

    def text(self) -> str:
        """Read a text of one-byte characters, behind a four-byte number with its length."""
        return self.take(self.number("i")).decode("latin-1")

    def wide_text(self) -> str:
        """Read a text of two-byte characters, behind a four-byte number with its length."""
        raw = self.take(2 * self.number("i"))
        return raw.decode("utf-16-be" if self.byte_order == ">" else "utf-16-le", errors="replace")

    def jump(self, offset: int) -> None:
        """Move to an offset that the file states; raise InvalidInput for 0 and beyond its end."""
        if not 0 < offset <= len(self.content):
            raise self.error(
                f"points to byte {offset} but has {len(self.content)}; copy or download it again"
            )
        self.offset = offset

    def read_version(self, kind: str, versions: Sequence[int]) -> int:
        """Skip the magic number (4 bytes) and return the version, one of the rising `versions`.

        Raises InvalidInput: another version; the message names the `kind` of file.
        """
        self.take(4)
        version = self.number("i")
        if version not in versions:
            readable = (
                f"{versions[0]} to {versions[-1]} are" if len(versions) > 1 else f"{versions[0]} is"
            )
            raise self.error(
                f"is a binary {kind} file of version {version}; version {readable} read, export "
                f"the {kind} file in its text form"
            )
        return version

    def error(self, message: str) -> InvalidInput:
        """Return an error about this file."""
        return input_error(self.file_name, message)
