"""Where GEO keeps the series matrix of an accession, and how to fetch it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from genesig.data.files.names import ENDING, SERIES
from genesig.errors import refuse
from genesig.results.download import check_kept, discard, download, is_gzip, keep, read_page
from genesig.words import listing

BASE = "https://ftp.ncbi.nlm.nih.gov/geo"
VARIABLE = "GENESIG_GEO_BASE"


def fetch(series: str, folder: str | Path) -> Path:
    """Download ``{folder}/{series}_series_matrix.txt.gz`` and return its path.

    Parameters
    ----------
    series : str
        ``GSE55235``; ``GSE781-GPL96`` where the series has several platforms.
    folder : path
        The SHA-256 of the file is written beside it; a file that is there already is held against
        it, and left alone.

    Raises
    ------
    InvalidInput
        No such series, several platforms to choose from, a download that is not whole, or an
        earlier one that is no longer what it was.
    """
    found = SERIES.fullmatch(series)
    if not found:
        raise refuse(series, "is no series of GEO; write GSE and a number, such as GSE55235 or "
                     "GSE781-GPL96")  # fmt: skip
    series = series.upper()
    path = Path(folder) / f"{series}{ENDING}"
    if path.exists():
        check_kept(path)
        return path
    address = series_address(found[1].upper())
    name = _choose(_names(read_page(address)), series, address)
    digest = download(address + name, path)
    if not is_gzip(path):
        discard(path)
        what = "came whole but is no sound gzip file; it was thrown away, run again"
        raise refuse(address + name, what)
    keep(path, digest)
    return path


def series_address(accession: str) -> str:
    """Return ``{base}/series/GSE55nnn/GSE55235/matrix/``; the base is an environment variable's."""
    base = (os.environ.get(VARIABLE) or BASE).rstrip("/")
    number = accession.removeprefix("GSE")
    return f"{base}/series/GSE{number[:-3]}nnn/{accession}/matrix/"


def _names(page: str) -> list[str]:
    links = [unquote(link) for link in re.findall(r'href="([^"]+)"', page, re.IGNORECASE)]
    return sorted({link.rsplit("/", 1)[-1] for link in links if link.endswith(ENDING)})


def _choose(names: list[str], series: str, address: str) -> str:
    if f"{series}{ENDING}" in names:
        return f"{series}{ENDING}"
    if not names:
        what = "holds no series matrix; the series has none, look at its supplementary files"
        raise refuse(address, what)
    if len(names) == 1 and "-" not in series:
        return names[0]
    plain = [name.removesuffix(ENDING) for name in names]
    what = f"has no file of {series}, but {listing(plain, 6)}; name one of them: one platform each"
    raise refuse(address, what)
