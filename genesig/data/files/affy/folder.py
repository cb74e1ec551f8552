"""A folder of CEL files: which sample is which file, which files are the chip's layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from genesig.data.files.affy.arrays import Layout, Probes, is_layout_of, probe_matrix
from genesig.data.files.affy.cdf import parse_cdf
from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.affy.pgf import parse_transcripts
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.formats.interface import Files, Format, Load
from genesig.errors import refuse
from genesig.words import counted, listing

# A layout is one file, or one of each of these: probe sets, places of probes, transcript clusters.
LIBRARY = (".pgf", ".clf", ".mps")


def matrix_of(
    folder: str | Path, load: Load, files: Files | None = None, part: str | None = None
) -> Matrix:
    """Read the arrays of a folder: probes × samples, raw intensities.

    Parameters
    ----------
    folder : path
        Holds CEL files, and the CDF file of their chip or its PGF, CLF and MPS files.
    load : function (path) -> bytes
        Reads a whole file and unpacks it, as ``readers.content_of``.
    files : dict or None
        Sample -> CEL file, wherever it lies; None takes all of the folder, called as their files.
    part : None
        The files have no parts.

    Raises
    ------
    InvalidInput
        As `arrays_in`, `layout_in` and `read_arrays`.
    """
    files = arrays_in(folder) if files is None else files
    probes = read_arrays(files, layout_in(folder, list(files.values()), load), load)
    lines = tuple(range(1, len(probes.names) + 1))
    return Matrix(
        probes.names, tuple(files), probes.X.T, {}, lines, line_word="probe", doubt=probes.left_out
    )


def read_arrays(files: Mapping[str, str | Path], layout: str | Path, load: Load) -> Probes:
    """Read the arrays of some samples and take their perfect-match intensities.

    Parameters
    ----------
    files : dict
        Sample -> CEL file (may be gzipped), in the order of the rows.
    layout : path
        CDF file of their chip, or its PGF file with the two others beside it (may be gzipped).
    load : function (path) -> bytes

    Raises
    ------
    InvalidInput
        A file cannot be read, is damaged, or is an array of another chip.
    """
    found = _layout(Path(layout), load)
    cels = ((str(path), parse_cel(load(path), str(path))) for path in files.values())
    return probe_matrix(cels, found, str(layout))


def _layout(path: Path, load: Load) -> Layout:
    if suffix_of(path) not in LIBRARY:
        return parse_cdf(load(path), str(path))
    paths = [path]
    for suffix in LIBRARY[1:]:
        beside = _files(path.parent, suffix)
        chip = path.name.split(".")[0]
        fitting = [p for p in beside if len(beside) == 1 or is_layout_of(chip, p.name)]
        if len(fitting) != 1:
            found = listing(p.name for p in beside) or "none"
            raise refuse(
                path,
                f"needs one {suffix} file beside it and there is {found}; put that "
                f"of {chip}'s library files here and keep one",
            )
        paths += fitting
    pgf, clf, mps = ((load(each), str(each)) for each in paths)
    return parse_transcripts(pgf, clf, mps)


def arrays_in(folder: str | Path) -> dict[str, Path]:
    """Return sample -> CEL file of a folder, by name; a sample is its file's name without ending.

    Raises
    ------
    InvalidInput
        There is no CEL file, or two of one sample.
    """
    files = _files(folder, ".cel")
    if not files:
        raise refuse(folder, "holds no CEL file (*.CEL or *.CEL.gz)")
    found = {sample_name(path): path for path in files}
    if len(found) < len(files):
        names = Counter(map(sample_name, files))
        twice = listing(name for name, times in names.items() if times > 1)
        what = f"holds two CEL files of {twice}; keep the one or the gzipped one"
        raise refuse(folder, what)
    return found


def layout_in(folder: str | Path, arrays: Sequence[Path], load: Load) -> Path:
    """Return the CDF or PGF file of a folder that belongs to the first of its arrays.

    Raises
    ------
    InvalidInput
        There is none, or more than one; the message names the chip.
    """
    chip = parse_cel(load(arrays[0]), str(arrays[0])).chip or "unknown"
    layouts = _files(folder, ".cdf", LIBRARY[0])
    fitting = [p for p in layouts if len(layouts) == 1 or is_layout_of(chip, p.name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        found = listing(path.name for path in fitting)
        raise refuse(folder, f"holds {len(fitting)} layouts of chip '{chip}': {found}; keep one")
    found = f"only {listing(path.name for path in layouts)}" if layouts else "no CDF file"
    what = (
        f"holds {counted(len(arrays), 'array')} of chip '{chip}' but {found}; put {chip}.cdf "
        f"here, or its {' '.join(LIBRARY)} files, from the chip's library files"
    )
    raise refuse(folder, what)


def _files(folder: str | Path, *suffixes: str) -> list[Path]:
    if not Path(folder).is_dir():
        raise refuse(folder, "is no folder; name the one of the CEL files")
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    return [path for path in files if suffix_of(path) in suffixes]


def _one_array(content: bytes, where: str, part: str | None) -> NoReturn:
    raise refuse(where, "is one array; name the folder that holds the arrays and their layout")


CEL = Format("an Affymetrix array", _one_array, suffixes=(".cel",), binary=True, folder=matrix_of)
