"""From bytes to text: UTF-8 with Unix line ends, and no word processor's encodings."""

from __future__ import annotations

from genesig.errors import refuse

FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or zip file; save the sheet as tab-separated text",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as tab-separated text",
    b"\xff\xfe": "UTF-16 text (Excel's 'Unicode text'); save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"<!DOCTYPE html": "a web page (HTML); download the file itself",
    b"<html": "a web page (HTML); download the file itself",
    b"version https://git-lfs": "a pointer of Git LFS; get the file itself by git lfs pull",
    b"%PDF": "a PDF; export the table itself as tab-separated text",
    b"\x1f\x8b": "packed twice; unpack it once, by gunzip",
    b"BZh": "packed by bzip2; unpack it, or pack it by gzip",
    b"\xfd7zXZ": "packed by xz; unpack it, or pack it by gzip",
    b"\x89HDF": "an HDF5 file; if it is an AnnData file, rename it to .h5ad",
}


def as_text(content: bytes, where: str, *, old: bool = False) -> str:
    """Decode UTF-8 and take a byte order mark and carriage returns away.

    With `old`, for what scanners and GEO wrote before UTF-8, other bytes are Latin-1 (µ, é).
    """
    for magic, what in FOREIGN.items():
        if content[:30].lstrip().lower().startswith(magic.lower()):
            raise refuse(where, f"is {what}")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise refuse(where, "holds zero bytes, as after a download or a disk that failed; copy or "
                     "download it again", line)  # fmt: skip
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if old:
            return _unix(content.decode("latin-1"))
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse(where, f"byte {content[error.start]:#04x} is not UTF-8; save the file as "
                     "UTF-8 text", line=line) from None  # fmt: skip
    return _unix(text)


def opening(content: bytes) -> str:
    """Return the first lines, for a look at what they say."""
    return _unix(content[:100_000].decode("utf-8-sig", errors="replace"))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
