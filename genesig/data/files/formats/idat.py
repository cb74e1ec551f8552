"""Illumina methylation arrays: two IDAT files for each array, one a colour, and a manifest."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from genesig.arrays import Array
from genesig.data.files.content import COPY_AGAIN, Cursor
from genesig.data.files.delimited import Matrix, lines_of
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.formats.interface import FileOfSample, Format, ReadFile
from genesig.data.files.formats.text import as_text
from genesig.errors import did_you_mean, input_error
from genesig.words import counted, listing

METHYLATION_VALUES: dict[str, Callable[[Array, Array], Array]] = {
    "beta": lambda M, U: M / (M + U + 100),
    "M": lambda M, U: np.log2((M + 1) / (U + 1)),
}
"""Value -> function of methylated and unmethylated signal, with offsets of GenomeStudio, minfi."""
COLOURS = ("Grn", "Red")
# Codes of the fields of an IDAT file.
COUNT_CODE = 1000
IDS_CODE = 102
MEANS_CODE = 104
SLIDE_CODE = 402
POSITION_CODE = 404
FIELD_RECORD = np.dtype([("code", "<u2"), ("place", "<i8")])  # place: offset in the file
MANIFEST_HEADERS = ("AddressA_ID", "AddressB_ID", "Infinium_Design_Type", "Color_Channel")
MAX_ADDRESS = 2**31 - 1  # arrays store addresses in 32 bits


@dataclass(frozen=True, eq=False)
class Idat:
    """One colour of one array."""

    ids: Array  # (n_addresses,) int32: address of each type of bead, ascending
    means: Array  # (n_addresses,) uint16: mean intensity of its beads
    name: tuple[str, ...]  # slide and position on it; empty if the file does not state them


@dataclass(frozen=True, eq=False)
class _Manifest:
    """The probes of a chip."""

    file_name: str  # in messages
    names: tuple[str, ...]
    # (n_probes, 4): line, address A, address B, index in `COLOURS` (-1: type II, both colours)
    numbers: Array


def parse_idat(content: bytes, file_name: str) -> Idat:
    """Return one colour of an array from an IDAT file of version 3.

    Raises InvalidInput: another kind or version, no addresses or means in it, an address twice, an
    early end.

    Source: M. L. Smith et al. (2013), illuminaio: An open source IDAT parsing tool, F1000Research
    2:264.
    """
    cursor = Cursor(content, file_name, "<")
    if not content.startswith(b"IDAT"):
        raise cursor.error(f"is no IDAT file: it does not begin with IDAT; {COPY_AGAIN}")
    cursor.take(4)
    version = cursor.number("i")
    cursor.take(4)  # upper half of the version, which has 64 bits
    if version != 3:
        raise cursor.error(
            f"is an IDAT file of version {version}, and version 3 is read: those of expression "
            "arrays are encrypted; export their Sample Probe Profile, with AVG_Signal, by "
            "GenomeStudio"
        )
    offset_of_field = dict(cursor.array(FIELD_RECORD, cursor.number("i")).tolist())
    if {COUNT_CODE, IDS_CODE, MEANS_CODE} - offset_of_field.keys():
        raise cursor.error(f"lacks the number of its beads, their addresses or means; {COPY_AGAIN}")
    cursor.jump(offset_of_field[COUNT_CODE])
    count = cursor.number("i")
    cursor.jump(offset_of_field[IDS_CODE])
    ids = cursor.array(np.dtype("<i4"), count)
    cursor.jump(offset_of_field[MEANS_CODE])
    means = cursor.array(np.dtype("<u2"), count)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if not count or (np.diff(ids) == 0).any():
        raise cursor.error(f"holds no address, or one twice; {COPY_AGAIN}")
    name = [
        _read_text(cursor, offset_of_field[code])
        for code in (SLIDE_CODE, POSITION_CODE)
        if code in offset_of_field
    ]
    return Idat(ids, means[order], tuple(name))


def _read_text(cursor: Cursor, offset: int) -> str:
    """Return the text at an offset, behind its length in bytes of seven bits, the lowest first."""
    cursor.jump(offset)
    length = 0
    shift = 0
    while (byte := cursor.number("B")) & 128 and shift < 28:
        length = length | (byte & 127) << shift
        shift = shift + 7
    return cursor.take(length | byte << shift).decode("latin-1")


def read_idat_folder(
    folder: Path, load: ReadFile, files: FileOfSample | None, part: str | None
) -> Matrix:
    """Return the beta or M values of the arrays of a folder, probes × samples.

    Of type I, address A is that of the unmethylated and B that of the methylated signal, both in
    the probe's colour; of type II, A has both, the methylated one in green. Probes whose addresses
    an array lacks, and those of genotypes (``rs…``), are left out and counted.

    folder: holds the manifest of the chip, a CSV file.
    files: sample -> one of the two files of its array, beside which the other one lies; None reads
        all of the folder.
    part: ``M / (M + U + 100)`` (the default) or ``log2((M + 1) / (U + 1))``.

    Raises InvalidInput: no manifest, a broken one, one of another chip; an array without its other
        colour.
    """
    value_name = part or "beta"
    if value_name not in METHYLATION_VALUES:
        advice = did_you_mean(value_name, METHYLATION_VALUES)
        raise input_error(
            folder,
            f"data.part '{value_name}' is no value of methylation{advice}; choose one of "
            f"{', '.join(METHYLATION_VALUES)}",
            key="data.part",
        )
    pairs = _colour_files(folder, files)
    manifest = _find_manifest(folder, load, len(pairs))
    cells = np.empty((len(manifest.names), len(pairs)))
    for column, (green, red) in enumerate(pairs.values()):
        signals = _read_signals(green, red, load, manifest.numbers)
        cells[:, column] = METHYLATION_VALUES[value_name](*signals)
    is_complete: Array = ~np.isnan(cells.sum(axis=1))
    if 2 * is_complete.sum() < len(is_complete):
        raise input_error(
            manifest.file_name,
            f"names {len(is_complete)} probes, of which the arrays have {is_complete.sum()}; put "
            "the manifest of their chip here",
        )
    is_methylation = np.array([not name.startswith("rs") for name in manifest.names])
    kept_probes = np.flatnonzero(is_complete & is_methylation)
    n_incomplete = int((~is_complete).sum())
    n_genotypes = int((is_complete & ~is_methylation).sum())
    left_out = []
    if n_incomplete:
        left_out.append(f"{counted(n_incomplete, 'probe')} of the manifest not on every array")
    if n_genotypes:
        left_out.append(f"{counted(n_genotypes, 'probe')} of genotypes (rs…)")
    names = tuple(manifest.names[k] for k in kept_probes)
    lines = manifest.numbers[kept_probes, 0].tolist()
    return Matrix(
        names,
        tuple(pairs),
        cells[kept_probes],
        {},
        tuple(lines),
        doubt=f"{', '.join(left_out)}: left out" if left_out else "",
    )


def _colour_files(folder: Path, files: FileOfSample | None) -> dict[str, tuple[Path, Path]]:
    """Return sample -> its green and its red file; raise an error if one of them is missing."""
    if files is None:
        folder_files = sorted(
            path for path in folder.iterdir() if path.is_file() and suffix_of(path) == ".idat"
        )
        files = {sample_name(path): path for path in folder_files}
    pairs = {}
    for name, path in files.items():
        match = re.fullmatch(r"(.+_)(Grn|Red)(\.idat(?:\.gz)?)", path.name, re.IGNORECASE)
        if match is None:
            raise input_error(
                path,
                "is not named by its colour; name the files of an array NAME_Grn.idat and "
                "NAME_Red.idat",
            )
        both_files = [path.with_name(f"{match[1]}{colour}{match[3]}") for colour in COLOURS]
        for file in both_files:
            if path.exists() and not file.exists():
                raise input_error(
                    file,
                    f"is not there, and {path.name} is one colour of its array; put both files "
                    "into the folder",
                )
        pairs[name] = (both_files[0], both_files[1])
    return pairs


def _read_signals(green: Path, red: Path, load: ReadFile, numbers: Array) -> tuple[Array, Array]:
    """Return methylated and unmethylated signal of each probe; NaN if an array lacks an address.

    numbers: as `_Manifest.numbers`.
    """
    arrays = [parse_idat(load(path), str(path)) for path in (green, red)]
    fault = ""
    if arrays[0].name != arrays[1].name:
        green_name, red_name = (" ".join(array.name) or "unnamed" for array in arrays)
        fault = f"they are of the arrays '{green_name}' and '{red_name}'"
    elif not np.array_equal(arrays[0].ids, arrays[1].ids):
        fault = "the addresses of their beads differ"
    if fault:
        message = f"is not the other colour of {red.name}: {fault}; {COPY_AGAIN}, and keep the "
        raise input_error(green, f"{message}files' names")
    ids = arrays[0].ids
    _, *addresses, colour = numbers.T
    intensities = np.array([array.means for array in arrays], dtype=np.float64)
    places = [np.searchsorted(ids, address).clip(max=len(ids) - 1) for address in addresses]
    is_present = [ids[place] == address for place, address in zip(places, addresses, strict=True)]
    has_both = is_present[0] & is_present[1]
    # Type II (-1) has the methylated signal in green, 0, and the unmethylated one in red, 1.
    methylated = intensities[np.maximum(colour, 0), places[1]]
    unmethylated = intensities[np.where(colour < 0, 1, colour), places[0]]
    return np.where(has_both, methylated, np.nan), np.where(has_both, unmethylated, np.nan)


def _find_manifest(folder: Path, load: ReadFile, n_arrays: int) -> _Manifest:
    """Return the manifest in a folder: the one CSV file with addresses."""
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and suffix_of(path) == ".csv"
    )
    manifests = [manifest for path in files if (manifest := _parse_manifest(load(path), str(path)))]
    if len(manifests) == 1:
        return manifests[0]
    if manifests:
        manifest_files = listing(manifest.file_name for manifest in manifests)
        raise input_error(
            folder,
            f"holds {len(manifests)} manifests: {manifest_files}; keep that of the arrays' chip",
        )
    message = (
        f"holds {counted(n_arrays, 'array')} of methylation but no manifest of their chip; put "
    )
    raise input_error(
        folder, f"{message}the CSV file with {MANIFEST_HEADERS[0]} that Illumina has for it here"
    )


def _parse_manifest(content: bytes, file_name: str) -> _Manifest | None:
    """Return the manifest in a CSV file; None if the file is none."""
    rows = csv.reader(lines_of(as_text(content, file_name, legacy_encoding=True)))
    names = list[str]()
    numbers = list[tuple[int, ...]]()
    try:
        header = next((row for row in rows if MANIFEST_HEADERS[0] in row), None)
        if header is None:
            return None
        columns = _manifest_columns(header, file_name, rows.line_num)
        for row in rows:
            if row and row[0].startswith("["):
                break
            if any(row):
                names.append(row[columns[0]].strip())
                numbers.append(
                    (rows.line_num, *_probe_addresses(*(row[k].strip() for k in columns[1:])))
                )
    except (IndexError, ValueError, csv.Error):
        raise input_error(
            file_name,
            "the row is cut off, or its addresses do not fit its design type (I or II) and colour "
            f"(Grn or Red); {COPY_AGAIN}",
            rows.line_num,
        ) from None
    if len(set(names)) < len(names) or not all(names):
        raise input_error(file_name, f"names a probe twice, or not at all; {COPY_AGAIN}")
    return _Manifest(file_name, tuple(names), np.array(numbers, dtype=np.int64).reshape(-1, 4))


def _manifest_columns(header: Sequence[str], file_name: str, line: int) -> list[int]:
    """Return the positions of the probe name and of `MANIFEST_HEADERS`; line: for messages."""
    columns = ("IlmnID" if "IlmnID" in header else "Name", *MANIFEST_HEADERS)
    if absent := [column for column in columns if column not in header]:
        raise input_error(file_name, f"has no column {listing(absent)}; {COPY_AGAIN}", line)
    return [header.index(column) for column in columns]


def _probe_addresses(text_a: str, text_b: str, design: str, colour: str) -> tuple[int, int, int]:
    """Return address A, address B and the number of the colour of a probe, -1 for both colours.

    Raises ValueError: the texts do not fit together.
    """
    if design not in {"I", "II"}:
        raise ValueError
    address_a = int(text_a)
    address_b, colour_number = (
        (address_a, -1) if design == "II" else (int(text_b), COLOURS.index(colour))
    )
    if not 0 <= min(address_a, address_b) <= max(address_a, address_b) <= MAX_ADDRESS:
        raise ValueError
    return address_a, address_b, colour_number


def _refuse_single_colour(content: bytes, file_name: str, part: str | None) -> NoReturn:
    """Raise InvalidInput: one IDAT file is no array, which needs both (as `Format.matrix`)."""
    raise input_error(
        file_name,
        "is one colour of one array; name the folder that holds both files of each array and the "
        "manifest of their chip",
    )


IDAT = Format(
    "one colour of an Illumina array",
    _refuse_single_colour,
    suffixes=(".idat",),
    parts="value",
    binary=True,
    folder=read_idat_folder,
)
