"""Illumina methylation arrays: two IDAT files an array, one for each colour, and a manifest."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from genesig.arrays import Array
from genesig.data.files.content import Cursor
from genesig.data.files.delimited import Matrix, lines_of
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.formats.interface import Files, Format, Load
from genesig.data.files.formats.text import as_text
from genesig.errors import did_you_mean, refuse
from genesig.words import counted, listing

VALUES: dict[str, Callable[[Array, Array], Array]] = {
    "beta": lambda M, U: M / (M + U + 100),
    "M": lambda M, U: np.log2((M + 1) / (U + 1)),
}
"""From the methylated and the unmethylated signal: the usual offsets of GenomeStudio and minfi."""
COLOURS = ("Grn", "Red")
COUNT = 1000
IDS = 102
MEANS = 104
SLIDE = 402
PLACE = 404
FIELD = np.dtype([("code", "<u2"), ("place", "<i8")])
NEEDED = ("AddressA_ID", "AddressB_ID", "Infinium_Design_Type", "Color_Channel")
LARGEST = 2**31 - 1
"""Address: arrays have them in 32 bits."""
AGAIN = "copy or download it again"


@dataclass(frozen=True, eq=False)
class Idat:
    """One colour of one array.

    Attributes
    ----------
    ids, means : (n_addresses,) int32, uint16
        Address of each kind of bead, growing, and the mean of its intensities.
    name : tuple of str
        Slide and place on it; empty where the file does not say them.
    """

    ids: Array
    means: Array
    name: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Manifest:
    """Probes of a chip: name, line, address A and B, and their colour (-1: type II, both)."""

    where: str
    names: tuple[str, ...]
    numbers: Array  # (n_probes, 4)


def parse_idat(content: bytes, where: str) -> Idat:
    """Parse an IDAT file of version 3.

    Raises
    ------
    InvalidInput
        Another kind or version, no addresses or means in it, an address twice, an early end.

    Notes
    -----
    M. L. Smith et al. (2013), illuminaio: An open source IDAT parsing tool, F1000Research 2:264.
    """
    cursor = Cursor(content, where, "<")
    if not content.startswith(b"IDAT"):
        raise cursor.refuse(f"is no IDAT file: it does not begin with IDAT; {AGAIN}")
    cursor.take(4)
    version = cursor.number("i")
    _ = cursor.number("i")
    if version != 3:
        what = f"is an IDAT file of version {version}, and version 3 is read: those of expression "
        raise cursor.refuse(
            f"{what}arrays are encrypted; export their Sample Probe Profile, with "
            "AVG_Signal, by GenomeStudio"
        )
    fields = dict(cursor.array(FIELD, cursor.number("i")).tolist())
    if {COUNT, IDS, MEANS} - fields.keys():
        raise cursor.refuse(f"lacks the number of its beads, their addresses or means; {AGAIN}")
    cursor.jump(fields[COUNT])
    count = cursor.number("i")
    cursor.jump(fields[IDS])
    ids = cursor.array(np.dtype("<i4"), count)
    cursor.jump(fields[MEANS])
    means = cursor.array(np.dtype("<u2"), count)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if not count or (np.diff(ids) == 0).any():
        raise cursor.refuse(f"holds no address, or one twice; {AGAIN}")
    name = [_text(cursor, fields[code]) for code in (SLIDE, PLACE) if code in fields]
    return Idat(ids, means[order], tuple(name))


def _text(cursor: Cursor, place: int) -> str:
    """Read a text behind its length, of which each byte has seven bits, the lowest first."""
    cursor.jump(place)
    length = 0
    shift = 0
    while (byte := cursor.number("B")) & 128 and shift < 28:
        length = length | (byte & 127) << shift
        shift = shift + 7
    return cursor.take(length | byte << shift).decode("latin-1")


def matrix_of(folder: Path, load: Load, files: Files | None, part: str | None) -> Matrix:
    """Read the arrays of a folder: probes × samples, beta or M values.

    Of type I, address A is that of the unmethylated and B that of the methylated signal, both in
    the probe's colour; of type II, A has both, the methylated one in green. Probes whose addresses
    an array lacks, and those of genotypes (``rs…``), are left out and counted.

    Parameters
    ----------
    folder : path
        Holds the manifest of the chip, a CSV file.
    load : function (path) -> bytes
    files : dict or None
        Sample -> one of the two files of its array, beside which the other one lies; None takes
        all of the folder.
    part : {"beta", "M"} or None
        ``M / (M + U + 100)``, which None takes, or ``log2((M + 1) / (U + 1))``.

    Raises
    ------
    InvalidInput
        No manifest, a broken one, one of another chip; an array without its other colour.
    """
    value = part or "beta"
    if value not in VALUES:
        near = did_you_mean(value, VALUES)
        raise refuse(
            folder,
            f"data.part '{value}' is no value of methylation{near}; choose one of "
            f"{', '.join(VALUES)}",
        )
    pairs = _pairs(folder, files)
    manifest = _manifest_in(folder, load, len(pairs))
    cells = np.empty((len(manifest.names), len(pairs)))
    for column, (green, red) in enumerate(pairs.values()):
        signals = _signals(green, red, load, manifest.numbers)
        cells[:, column] = VALUES[value](*signals)
    whole: Array = ~np.isnan(cells.sum(axis=1))
    if 2 * whole.sum() < len(whole):
        raise refuse(
            manifest.where,
            f"names {len(whole)} probes, of which the arrays have "
            f"{whole.sum()}; put the manifest of their chip here",
        )
    measured = np.array([not name.startswith("rs") for name in manifest.names])
    kept = np.flatnonzero(whole & measured)
    lacking = int((~whole).sum())
    other = int((whole & ~measured).sum())
    said = [f"{counted(lacking, 'probe')} of the manifest not on every array"] if lacking else []
    said += [f"{counted(other, 'probe')} of genotypes (rs…)"] if other else []
    names = tuple(manifest.names[k] for k in kept)
    lines = manifest.numbers[kept, 0].tolist()
    return Matrix(
        names,
        tuple(pairs),
        cells[kept],
        {},
        tuple(lines),
        doubt=f"{', '.join(said)}: left out" if said else "",
    )


def _pairs(folder: Path, files: Files | None) -> dict[str, tuple[Path, Path]]:
    """Return sample -> its green and its red file."""
    if files is None:
        inside = sorted(p for p in folder.iterdir() if p.is_file() and suffix_of(p) == ".idat")
        files = {sample_name(path): path for path in inside}
    pairs = {}
    for name, path in files.items():
        found = re.fullmatch(r"(.+_)(Grn|Red)(\.idat(?:\.gz)?)", path.name, re.IGNORECASE)
        if found is None:
            raise refuse(
                path,
                "is not named by its colour; name the files of an array "
                "NAME_Grn.idat and NAME_Red.idat",
            )
        both = [path.with_name(f"{found[1]}{colour}{found[3]}") for colour in COLOURS]
        for other in both:
            if path.exists() and not other.exists():
                raise refuse(
                    other,
                    f"is not there, and {path.name} is one colour of its array; "
                    "put both files into the folder",
                )
        pairs[name] = (both[0], both[1])
    return pairs


def _signals(green: Path, red: Path, load: Load, numbers: Array) -> tuple[Array, Array]:
    """Return the methylated and the unmethylated signal of each probe; NaN where it has none."""
    arrays = [parse_idat(load(path), str(path)) for path in (green, red)]
    if arrays[0].name != arrays[1].name or not np.array_equal(arrays[0].ids, arrays[1].ids):
        one, other = (" ".join(each.name) or "unnamed" for each in arrays)
        raise refuse(
            green,
            f"is not the other colour of {red.name}: they are of the arrays "
            f"'{one}' and '{other}'; {AGAIN}, and keep the files' names",
        )
    ids = arrays[0].ids
    _, first, second, colour = numbers.T
    light = np.array([each.means for each in arrays], dtype=np.float64)
    places = [np.searchsorted(ids, each).clip(max=len(ids) - 1) for each in (first, second)]
    there = [ids[place] == each for place, each in zip(places, (first, second), strict=True)]
    both = there[0] & there[1]
    methylated = light[np.maximum(colour, 0), places[1]]
    unmethylated = light[np.where(colour < 0, 1, colour), places[0]]
    return np.where(both, methylated, np.nan), np.where(both, unmethylated, np.nan)


def _manifest_in(folder: Path, load: Load, n_arrays: int) -> _Manifest:
    """Return the manifest of a folder: the one CSV file with addresses in it."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and suffix_of(p) == ".csv")
    found = [each for path in files if (each := _manifest(load(path), str(path)))]
    if len(found) == 1:
        return found[0]
    if found:
        raise refuse(
            folder,
            f"holds {len(found)} manifests: {listing(m.where for m in found)}; "
            "keep that of the arrays' chip",
        )
    what = f"holds {counted(n_arrays, 'array')} of methylation but no manifest of their chip; put "
    raise refuse(folder, f"{what}the CSV file with {NEEDED[0]} that Illumina has for it here")


def _manifest(content: bytes, where: str) -> _Manifest | None:
    rows = csv.reader(lines_of(as_text(content, where, old=True)))
    names = list[str]()
    numbers = list[tuple[int, ...]]()
    try:
        head = next((row for row in rows if NEEDED[0] in row), None)
        if head is None:
            return None
        at = _columns(head, where, rows.line_num)
        for row in rows:
            if row and row[0].startswith("["):
                break
            if any(row):
                names.append(row[at[0]].strip())
                numbers.append((rows.line_num, *_addresses(*(row[k].strip() for k in at[1:]))))
    except (IndexError, ValueError, csv.Error):
        raise refuse(
            where,
            "the row is cut off, or its addresses do not fit its design type (I or "
            f"II) and colour (Grn or Red); {AGAIN}",
            rows.line_num,
        ) from None
    if len(set(names)) < len(names) or not all(names):
        raise refuse(where, f"names a probe twice, or not at all; {AGAIN}")
    return _Manifest(where, tuple(names), np.array(numbers, dtype=np.int64).reshape(-1, 4))


def _columns(head: Sequence[str], where: str, line: int) -> list[int]:
    with suppress(ValueError):
        return [head.index("IlmnID" if "IlmnID" in head else "Name"), *map(head.index, NEEDED)]
    lacking = [name for name in ("Name", *NEEDED) if name not in head]
    raise refuse(where, f"has no column {listing(lacking)}; {AGAIN}", line)


def _addresses(first: str, second: str, design: str, colour: str) -> tuple[int, int, int]:
    """Return both addresses and the number of the colour, -1 for both.

    Raises
    ------
    ValueError
        They do not fit.
    """
    if design not in {"I", "II"}:
        raise ValueError
    one = int(first)
    other, at = (one, -1) if design == "II" else (int(second), COLOURS.index(colour))
    if not 0 <= min(one, other) <= max(one, other) <= LARGEST:
        raise ValueError
    return one, other, at


def _one_colour(content: bytes, where: str, part: str | None) -> NoReturn:
    raise refuse(
        where,
        "is one colour of one array; name the folder that holds both files of each "
        "array and the manifest of their chip",
    )


IDAT = Format(
    "one colour of an Illumina array",
    _one_colour,
    suffixes=(".idat",),
    parts="value",
    binary=True,
    folder=matrix_of,
)
