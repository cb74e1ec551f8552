"""A folder of CEL files: the file of each sample, and the layout of their chip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.layouts import (
    Layout,
    Probes,
    is_layout_of_chip,
    parse_cdf,
    parse_transcripts,
    probe_matrix,
)
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.formats.interface import FileOfSample, Format, ReadFile
from genesig.errors import input_error
from genesig.words import counted, listing

# A layout is a CDF file, or one file of each of these endings: probe sets, places of probes,
# transcript clusters.
LIBRARY_SUFFIXES = (".pgf", ".clf", ".mps")


def read_cel_folder(
    folder: str | Path, load: ReadFile, files: FileOfSample | None = None, part: str | None = None
) -> Matrix:
    """Return the raw intensities of the arrays of a folder, probes × samples.

    folder: holds CEL files, and the CDF file of their chip or its PGF, CLF and MPS files.
    load: reads a whole file and unpacks it, as ``readers.read_unpacked``.
    files: sample -> CEL file, wherever it lies; None reads all of the folder, called as their
        files.
    part: the files have no parts.

    Raises InvalidInput: as `find_arrays`, `find_layout` and `read_arrays`.
    """
    files = find_arrays(folder) if files is None else files
    probes = read_arrays(files, find_layout(folder, list(files.values()), load), load)
    probe_numbers = tuple(range(1, len(probes.names) + 1))
    matrix = Matrix(probes.names, tuple(files), probes.X.T, {}, probe_numbers, line_word="probe")
    return matrix.with_doubt(probes.left_out)


def read_arrays(files: Mapping[str, str | Path], layout_path: str | Path, load: ReadFile) -> Probes:
    """Return the perfect-match intensities of the arrays of some samples.

    files: sample -> CEL file (may be gzipped), in the order of the rows.
    layout_path: CDF file of their chip, or its PGF file with the two others beside it (may be
        gzipped).

    Raises InvalidInput: a file cannot be read, is damaged, or is an array of another chip.
    """
    chip_layout = _read_layout(Path(layout_path), load)
    cels = ((str(path), parse_cel(load(path), str(path))) for path in files.values())
    return probe_matrix(cels, chip_layout, str(layout_path))


def _read_layout(path: Path, load: ReadFile) -> Layout:
    """Return the layout in a CDF file, or in a PGF file with the CLF and MPS files beside it."""
    if suffix_of(path) not in LIBRARY_SUFFIXES:
        return parse_cdf(load(path), str(path))
    paths = [path]
    for suffix in LIBRARY_SUFFIXES[1:]:
        candidates = _files_with_suffix(path.parent, suffix)
        chip = path.name.split(".")[0]
        fitting_paths = [
            candidate
            for candidate in candidates
            if len(candidates) == 1 or is_layout_of_chip(chip, candidate.name)
        ]
        if len(fitting_paths) != 1:
            candidate_names = listing(candidate.name for candidate in candidates) or "none"
            raise input_error(
                path,
                f"needs one {suffix} file beside it and there is {candidate_names}; put that of "
                f"{chip}'s library files here and keep one",
            )
        paths += fitting_paths
    pgf, clf, mps = ((load(library_file), str(library_file)) for library_file in paths)
    return parse_transcripts(pgf, clf, mps)


def find_arrays(folder: str | Path) -> dict[str, Path]:
    """Return sample -> CEL file of a folder; samples are named after their files.

    Raises InvalidInput: there is no CEL file, or two of one sample.
    """
    files = _files_with_suffix(folder, ".cel")
    if not files:
        raise input_error(folder, "holds no CEL file (*.CEL or *.CEL.gz)")
    path_of_sample = {sample_name(path): path for path in files}
    if len(path_of_sample) < len(files):
        names = Counter(map(sample_name, files))
        duplicates = listing(name for name, times in names.items() if times > 1)
        message = f"holds two CEL files of {duplicates}; keep one of them"
        raise input_error(folder, message)
    return path_of_sample


def find_layout(folder: str | Path, arrays: Sequence[Path], load: ReadFile) -> Path:
    """Return the CDF or PGF file in a folder that belongs to the chip of its arrays.

    Raises InvalidInput: there is none, or more than one; the message names the chip.
    """
    chip = parse_cel(load(arrays[0]), str(arrays[0])).chip or "unknown"
    layouts = _files_with_suffix(folder, ".cdf", LIBRARY_SUFFIXES[0])
    fitting_paths = [
        path for path in layouts if len(layouts) == 1 or is_layout_of_chip(chip, path.name)
    ]
    if len(fitting_paths) == 1:
        return fitting_paths[0]
    if fitting_paths:
        description = listing(path.name for path in fitting_paths)
        raise input_error(
            folder, f"holds {len(fitting_paths)} layouts of chip '{chip}': {description}; keep one"
        )
    description = f"only {listing(path.name for path in layouts)}" if layouts else "no CDF file"
    message = (
        f"holds {counted(len(arrays), 'array')} of chip '{chip}' but {description}; put {chip}.cdf "
        f"here, or its {' '.join(LIBRARY_SUFFIXES)} files, from the chip's library files"
    )
    raise input_error(folder, message)


def _files_with_suffix(folder: str | Path, *suffixes: str) -> list[Path]:
    """Return the files of a folder with one of these endings, sorted.

    suffixes: as `suffix_of` gives them, in lower case and without ``.gz``.
    """
    if not Path(folder).is_dir():
        raise input_error(folder, "is no folder; name the one of the CEL files")
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    return [path for path in files if suffix_of(path) in suffixes]


def _refuse_single_array(content: bytes, file_name: str, part: str | None) -> NoReturn:
    """Raise InvalidInput: a CEL file alone lacks the layout of its chip (as `Format.matrix`)."""
    raise input_error(
        file_name, "is one array; name the folder that holds the arrays and their layout"
    )


CEL = Format(
    "an Affymetrix array",
    _refuse_single_array,
    suffixes=(".cel",),
    binary=True,
    folder=read_cel_folder,
)
