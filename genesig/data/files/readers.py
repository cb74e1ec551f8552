"""The one place of the data floor that opens files: tables, matrices, folders of arrays, config.

A reader finds out what a file is from its name and its first bytes, and refuses what does not
fit together; it never guesses silently. Every failure is an `InvalidInput` with one line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from genesig.data.files.config_text import parse_json, parse_yaml
from genesig.data.files.content import is_folder, read_content
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats import arrays, cls, geo_series
from genesig.data.files.formats.arrays import suffix_of
from genesig.data.files.formats.interface import PARTIAL_ATTRIBUTE, FileOfSample, Format, ReadFile
from genesig.data.files.formats.table import TABLES
from genesig.data.files.formats.text import as_text, as_utf8
from genesig.data.files.geo_counts import present_counts, read_counts, with_counts_only
from genesig.data.files.gmt import SET_PARSERS, NamedSet, parse_sets
from genesig.data.files.known import FORMATS, READERS, format_by_opening
from genesig.data.files.layouts import sets_of_column
from genesig.data.files.plugin_settings import with_plugins
from genesig.data.files.table_shape import files_in_subfolders
from genesig.errors import GenesigError, InvalidInput, did_you_mean, refuse, refuse_codes
from genesig.words import listing
from genesig.workflow import shipped_folder

if TYPE_CHECKING:
    import pandas as pd


MatrixReader = Callable[[Path], Matrix]


def read_folder(
    folder: Path,
    part: str | None,
    files: FileOfSample | None,
    only_file: Path | None,
    load: ReadFile,
    read_file: MatrixReader,
) -> Matrix:
    """Read a folder with a file for each array; files of other endings are not looked at.

    Parameters
    ----------
    folder : Path
    part : str or None
        ``data.part`` of the config.
    files : dict or None
        Sample -> file, as ``data.files`` of the config says; None takes all of the folder, each
        sample called as its file.
    only_file : Path or None
        The one file of the folder that could be a matrix, if there is just one.
    load : function (path) -> bytes
    read_file : function (path) -> Matrix
        Readers of a whole file: its content, and what it holds.
    """
    folder_files = sorted(path for path in folder.iterdir() if path.is_file())
    array_files = folder_files if files is None else files.values()
    endings = {suffix_of(path) for path in array_files}
    for file_format in FORMATS:
        if file_format.folder is None or endings.isdisjoint(file_format.suffixes):
            continue
        if part is not None and not file_format.parts:
            name = file_format.suffixes[0][1:].upper()
            raise refuse(
                folder, f"holds {name} files, which have no parts; take data.part '{part}' away"
            )
        return file_format.folder(folder, load, files, part)
    tables = [path for path in folder_files if suffix_of(path) in TABLES]
    if files is None and not tables:
        tables = files_in_subfolders(folder)
    if files is None and not tables:
        _refuse_folder(folder, only_file)
    files_to_read = {str(path): path for path in tables} if files is None else files
    matrix_of_sample = {name: (path, read_file(path)) for name, path in files_to_read.items()}
    for path, matrix in matrix_of_sample.values():
        if len(matrix.columns) > 1:
            _refuse_several_arrays(path, folder, only_file)
    if files is not None:
        matrix_of_sample = {
            name: (path, replace(matrix_of_file, columns=(name,)))
            for name, (path, matrix_of_file) in matrix_of_sample.items()
        }
    return arrays.join_arrays(
        [(str(path), matrix_of_file) for path, matrix_of_file in matrix_of_sample.values()],
        str(folder),
    )


def files_by_sample(column: pd.Series[str], folder: str, sample_file: str) -> dict[str, Path]:
    """Return sample -> file, as a column of the sample table has it; a blank cell names none.

    Parameters
    ----------
    column : Series of strings, by sample
        Names of files, seen from the folder.
    folder, sample_file : str
        The folder of the arrays; the file of the sample table.

    Raises
    ------
    InvalidInput
        No file in the column, or one file for two samples.
    """
    cells = {str(name): str(cell) for name, cell in column.items() if cell}
    place = f"{sample_file}, column '{column.name}'"
    if not cells:
        raise refuse(place, "names no file; give each sample the file of its array")
    repeated = [cell for cell, times in Counter(cells.values()).items() if times > 1]
    if repeated:
        names = listing(name for name, cell in cells.items() if cell == repeated[0])
        raise refuse(place, f"'{repeated[0]}' is the file of {names}; each sample needs its own")
    return {name: _file_below(Path(folder), cell) for name, cell in cells.items()}


def _file_below(folder: Path, name: str) -> Path:
    """Return a file of a folder, or the one of its name in a subfolder, where the GDC puts it."""
    path_in_folder = folder / name
    if not is_folder(folder) or Path(name).name != name or path_in_folder.exists():
        return path_in_folder
    paths_in_subfolders = [
        path / name for path in folder.iterdir() if path.is_dir() and (path / name).is_file()
    ]
    return paths_in_subfolders[0] if len(paths_in_subfolders) == 1 else path_in_folder


def _refuse_folder(folder: Path, only_file: Path | None) -> NoReturn:
    if only_file:
        raise refuse(folder, f"is a folder; name the file in it: {only_file}")
    raise refuse(
        folder,
        "is a folder without files of arrays (.txt, .CEL, .idat); name a file, or "
        "the folder of the scanner's files",
    )


def _refuse_several_arrays(path: Path, folder: Path, only_file: Path | None) -> NoReturn:
    if only_file:
        raise refuse(folder, f"is a folder; name the file in it: {path}")
    raise refuse(
        path,
        "holds more than one array, and files that are read together hold one "
        "each; name this file alone, or move it elsewhere",
    )


SAVE_AS_TABLE = "; save the values as a table with tabs (.tsv)"
# Endings of what people have instead.
UNREAD_SUFFIXES = {
    **dict.fromkeys(
        (".mtx", ".loom", ".zarr", ".h5", ".parquet", ".feather", ".json"), SAVE_AS_TABLE
    ),
    **dict.fromkeys((".sav", ".dta", ".sas7bdat", ".dat", ".mat", ".npy", ".pkl"), SAVE_AS_TABLE),
    **dict.fromkeys(
        (".bam", ".sam", ".fastq", ".fq", ".vcf", ".bed", ".gtf", ".gff"),
        "; count the reads of each gene, and name that table",
    ),
    ".ods": "; save the sheet as tab-separated text (.tsv)",
    **dict.fromkeys((".pcl", ".cdt"), "; it is a text with tabs: rename it to .txt"),
    ".adat": SAVE_AS_TABLE,
    ".rcc": "; export the counts of all lanes as one table, by nSolver (.csv)",
    **dict.fromkeys(
        (".raw", ".mzml", ".wiff"), "; name the table of a program that quantifies the spectra"
    ),
    **dict.fromkeys((".tar", ".tgz", ".zip"), "; unpack it, and name a file or the folder"),
    **dict.fromkeys((".bz2", ".xz", ".zst"), "; unpack it, or pack it by gzip"),
}


def read_unpacked(path: str | Path) -> bytes:
    """Read a whole file, unpacked if it is gzip.

    Raises
    ------
    InvalidInput
        The file is absent, empty, unreadable, truncated or not what its name says.
    """
    content = read_content(path)
    if not content or content.isspace():
        advice = "it needs a header line and at least one row"
        advice = advice if suffix_of(path) in TABLES else "copy or download it again"
        raise refuse(path, f"is empty; {advice}")
    return content


def read_text(path: str | Path) -> str:
    """Read UTF-8 text with Unix line ends; a byte order mark is taken away."""
    return as_text(read_unpacked(path), str(path))


def read_matrix(
    path: str | Path,
    part: str | None = None,
    files: Mapping[str, Path] | None = None,
    *,
    partial: bool = False,
) -> Matrix:
    """Read an expression matrix as it lies in the file, either way round.

    Parameters
    ----------
    path : str or Path
        A folder of files of one array each is read as one matrix.
    part : str or None
        ``data.part`` of the config: which one, where a file holds several matrices.
    files : dict or None
        Sample -> file of its array, where the sample table names them (``data.files``).
    partial : bool
        Whether samples that lack a part of the file are kept, with NaN there; else left out.
    """
    if is_folder(path):
        matrix = read_folder(
            Path(path),
            part,
            files,
            _only_readable_file(Path(path)),
            read_unpacked,
            lambda file: read_matrix(file, part),
        )
    elif files is not None:
        raise refuse(
            path,
            "is no folder; data.files names files of arrays, so 'expression' is "
            "the folder that they are in",
        )
    else:
        matrix = _read_one_file(path, part)
    refuse_codes([*matrix.rows, *matrix.columns, *matrix.symbols.values()], path)
    return matrix if partial else matrix.without_partial_samples()


def _read_one_file(path: str | Path, part: str | None) -> Matrix:
    file_format, content = _read_format_and_content(path)
    if part is not None and not file_format.parts:
        raise refuse(
            path, f"is {file_format.name}, which has no parts; take data.part '{part}' away"
        )
    counts = present_counts(path) if file_format is geo_series.SERIES else None
    if counts is not None:
        described = geo_series.samples(content, str(path), None)
        return read_counts(counts, list(described.index), read_unpacked)
    return file_format.matrix(content, str(path), part)


def _only_readable_file(folder: Path) -> Path | None:
    """Return the one file of a folder whose ending is known, if there is just one."""
    files = [p for p in folder.iterdir() if p.is_file() and suffix_of(p) in READERS]
    return files[0] if len(files) == 1 else None


def read_samples(
    path: str | Path, names: Sequence[str] | None, part: str | None, *, partial: bool = False
) -> pd.DataFrame:
    """Read a sample table: a table of text, or what a matrix's file says of its samples.

    `names` are those of the matrix, which a CLS file needs; None where it could not be read. A
    series whose values are NCBI's counts is described without the samples that have no counts.
    `partial` is as for `read_matrix`.
    """
    if suffix_of(path) == ".cls":
        if names is None:
            raise refuse(
                path, "names no samples, and the matrix whose samples it describes cannot be read"
            )
        return _refuse_control_codes(cls.samples(read_text(path), str(path), names), path)
    file_format, content = _read_format_and_content(path, [".cls"])
    if file_format.samples is None:
        raise refuse(
            path, f"is {file_format.name}, which says nothing of samples; write a sample table"
        )
    table = _refuse_control_codes(file_format.samples(content, str(path), part), path)
    if file_format is geo_series.SERIES and names is not None:
        table = with_counts_only(table, path, names)
    partial_samples = table.attrs.pop(PARTIAL_ATTRIBUTE, ())
    return table if partial or not partial_samples else table.drop(index=list(partial_samples))


def _refuse_control_codes(table: pd.DataFrame, path: str | Path) -> pd.DataFrame:
    """Refuse a table of text that would move a terminal's cursor, or colour it."""
    refuse_codes([str(table.index.name), *table.index, *table.columns], path)
    for _, column in table.items():
        refuse_codes(column, path)
    return table


def read_genes(path: str | Path, part: str | None) -> pd.DataFrame:
    """Read a gene table: a table of text, or what a matrix's file says of its genes."""
    file_format, content = _read_format_and_content(path)
    if file_format.genes is None:
        raise refuse(path, f"is {file_format.name}, which says nothing of genes; name a gene table")
    return _refuse_control_codes(file_format.genes(content, str(path), part), path)


def read_sets(path: str | Path, column: str | None) -> list[NamedSet]:
    """Read the gene sets of a GMT or GMX file, or of a column of a gene table."""
    if column is not None:
        return sets_of_column(read_genes(path, None), column, str(path))
    suffix = suffix_of(path)
    if is_folder(path):
        raise refuse(path, "is a folder; name the file of gene sets in it")
    if suffix not in SET_PARSERS:
        fault = f"the ending '{suffix}' is not known" if suffix else "the name has no ending"
        message = (
            f"{fault} for gene sets (known: {', '.join(SET_PARSERS)}; also gzipped); save them as "
        )
        raise refuse(
            path, f"{message}GMT: name, description and genes of a set on one line, tabs between"
        )
    return parse_sets(
        as_text(read_unpacked(path), str(path), legacy_encoding=True), suffix, str(path)
    )


def format_of(path: str | Path) -> Format:
    """Return the format of a file, told by its ending and its opening."""
    return _read_format_and_content(path)[0]


def assign_part(
    part: str | None, expression: str, *other_files: str | None
) -> tuple[str | None, ...]:
    """Return which part of the matrix's file, and of each other file, ``data.part`` names.

    It is the matrix's if its file may have parts, and that of another file only if this is the same
    one; else it is that of the other files which have parts.
    """
    same_file = [part if path == expression else None for path in other_files]
    suffixes = [suffix_of(path) if path else "" for path in other_files]
    files_have_parts = [suffix in READERS and bool(READERS[suffix].parts) for suffix in suffixes]
    if (
        part is None
        or not any(files_have_parts)
        or expression in other_files
        or _may_have_parts(expression)
    ):
        return part, *same_file
    return None, *(part if has_parts else None for has_parts in files_have_parts)


def _may_have_parts(path: str) -> bool:
    """Tell whether files of a format have parts; of one that cannot be read, say yes."""
    try:
        return is_folder(path) or bool(format_of(path).parts)
    except InvalidInput:
        return True


def _read_format_and_content(
    path: str | Path, further_suffixes: Sequence[str] = ()
) -> tuple[Format, Any]:
    """Return the format of a file, told by its ending and its opening, and its content."""
    suffix = suffix_of(path)
    if is_folder(path):
        only_file = _only_readable_file(Path(path))
        raise refuse(
            path,
            "is a folder; name "
            + (f"the file in it: {only_file}" if only_file else "a file in it"),
        )
    if suffix not in READERS:
        raise _unknown_suffix_error(path, [*READERS, *further_suffixes])
    content = read_unpacked(path)
    file_format = READERS[suffix]
    if suffix in TABLES:
        content = as_utf8(content, str(path))
        file_format = format_by_opening(content) or file_format
    return file_format, content if file_format.binary else as_text(
        content, str(path), legacy_encoding=True
    )


def read_config(path: str | Path) -> dict[str, Any]:
    """Read the config file (YAML) as it is, without defaults."""
    return parse_yaml(as_text(read_content(path), str(path)), str(path))


def read_json(path: str | Path) -> Any:
    """Read a JSON file of the user."""
    return parse_json(as_text(read_content(path), str(path)), str(path))


def load_schema(name: str = "config") -> dict[str, Any]:
    """Load ``workflow/schemas/{name}.schema.yaml``: every key, default, bound and description."""
    path = shipped_folder() / "workflow" / "schemas" / f"{name}.schema.yaml"
    if not path.is_file():
        raise GenesigError(f"{path} is not there, so genesig is not whole; install it again")
    schema: dict[str, Any] = json.loads(_yaml_as_json(path.read_text(encoding="utf-8")))
    return with_plugins(schema) if name == "config" else schema


@cache
def _yaml_as_json(text: str) -> str:
    """Return a YAML text as JSON: to read that anew is faster than `deepcopy`."""
    import yaml

    return json.dumps(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _unknown_suffix_error(path: str | Path, suffixes: list[str]) -> InvalidInput:
    suffix = suffix_of(path)
    if not suffix and not Path(path).exists():
        read_content(path)  # says so, and what is near
    fault = f"the ending '{suffix}' is not known" if suffix else "the name has no ending"
    names = f"{', '.join(suffixes)}; also gzipped, such as .csv.gz"
    advice = (
        UNREAD_SUFFIXES.get(suffix) or did_you_mean(suffix, suffixes) or "; save it as one of these"
    )
    return refuse(path, f"{fault} (known: {names}){advice}")
