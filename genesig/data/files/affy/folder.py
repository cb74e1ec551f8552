"""A folder of CEL files: which sample is which file, which file is the chip's layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from genesig.data.files.affy.arrays import Probes, is_layout_of, probe_matrix
from genesig.data.files.affy.cdf import parse_cdf
from genesig.data.files.affy.cel import parse_cel
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.sample_name import sample_name
from genesig.errors import refuse
from genesig.words import counted, listing

Load = Callable[[str | Path], bytes]
ENDINGS = {"arrays": (".cel", ".cel.gz"), "layouts": (".cdf", ".cdf.gz")}


def matrix_of(folder: str | Path, load: Load, files: Mapping[str, Path] | None = None) -> Matrix:
    """Read the arrays of a folder: probes × samples, raw intensities.

    Parameters
    ----------
    folder : path
        Holds CEL files, and the CDF file of their chip.
    load : function (path) -> bytes
        Reads a whole file and unpacks it, as ``readers.read_bytes``.
    files : dict or None
        Sample -> CEL file, wherever it lies; None takes all of the folder, called as their files.

    Raises
    ------
    InvalidInput
        As `arrays_in`, `layout_in` and `read_arrays`.
    """
    files = arrays_in(folder) if files is None else files
    probes = read_arrays(files, layout_in(folder, list(files.values()), load), load)
    lines = tuple(range(1, len(probes.names) + 1))
    return Matrix(probes.names, tuple(files), probes.X.T, {}, lines, line_word="probe")


def read_arrays(files: Mapping[str, str | Path], cdf: str | Path, load: Load) -> Probes:
    """Read the arrays of some samples and take their perfect-match intensities.

    Parameters
    ----------
    files : dict
        Sample -> CEL file (may be gzipped), in the order of the rows.
    cdf : path
        Layout of their chip (may be gzipped).
    load : function (path) -> bytes

    Raises
    ------
    InvalidInput
        A file cannot be read, is damaged, or is an array of another chip.
    """
    layout = parse_cdf(load(cdf), str(cdf))
    cels = ((str(path), parse_cel(load(path), str(path))) for path in files.values())
    return probe_matrix(cels, layout, cdf_path=str(cdf))


def arrays_in(folder: str | Path) -> dict[str, Path]:
    """Return sample -> CEL file of a folder, by name; a sample is its file's name without ending.

    Raises
    ------
    InvalidInput
        There is no CEL file, or two of one sample.
    """
    files = _files(folder, "arrays")
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
    """Return the CDF file of a folder that belongs to the first of its arrays.

    Raises
    ------
    InvalidInput
        There is none; the message names the chip.
    """
    chip = parse_cel(load(arrays[0]), str(arrays[0])).chip or "unknown"
    layouts = _files(folder, "layouts")
    for path in layouts:
        if len(layouts) == 1 or is_layout_of(chip, path.name):
            return path
    found = f"only {listing(path.name for path in layouts)}" if layouts else "no CDF file"
    what = (f"holds {counted(len(arrays), 'array')} of chip '{chip}' but {found}; put {chip}.cdf "
            "here, from the chip's library files")  # fmt: skip
    raise refuse(folder, what)


def _files(folder: str | Path, kind: str) -> list[Path]:
    if not Path(folder).is_dir():
        raise refuse(folder, "is no folder; name the one of the CEL files")
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    return [path for path in files if path.name.lower().endswith(ENDINGS[kind])]


def _one_array(content: bytes, where: str, part: str | None) -> NoReturn:
    raise refuse(where, "is one array; name the folder that holds the arrays and their CDF file")


CEL = Format("an Affymetrix array", _one_array, suffixes=(".cel",), binary=True)
