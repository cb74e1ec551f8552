"""Open and read the user's files: matrices, sample and gene tables, gene sets, config.

`FORMATS` is the registry of file formats: a new one is a file in formats/ and its line here.
No other module of `genesig.data` opens a file, but for `content.py`. A reader finds the format by
the name and the first bytes of a file, and refuses a file that does not fit; it never guesses
silently. Every failure is an `InvalidInput` with one line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from genesig.data.files.affy.folder import CEL
from genesig.data.files.config_text import parse_json, parse_yaml
from genesig.data.files.content import is_folder, read_content
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats import arrays, cls, geo_series
from genesig.data.files.formats.agilent import AGILENT
from genesig.data.files.formats.arrays import suffix_of
from genesig.data.files.formats.excel import EXCEL
from genesig.data.files.formats.gct import GCT
from genesig.data.files.formats.genomestudio import GENOMESTUDIO
from genesig.data.files.formats.h5ad import H5AD
from genesig.data.files.formats.h5mu import H5MU
from genesig.data.files.formats.idat import IDAT
from genesig.data.files.formats.interface import FileOfSample, Format
from genesig.data.files.formats.rdata import RDATA
from genesig.data.files.formats.soft import SOFT
from genesig.data.files.formats.table import TABLES
from genesig.data.files.formats.text import as_text, as_utf8, opening_text
from genesig.data.files.formats.xls import XLS
from genesig.data.files.geo_counts import present_counts, read_counts, with_counts_only
from genesig.data.files.gmt import SET_PARSERS, NamedSet, parse_sets
from genesig.data.files.layouts import sets_of_column
from genesig.data.files.table_shape import find_counter_files
from genesig.errors import GenesigError, InvalidInput, did_you_mean, input_error, refuse_codes
from genesig.plugins import Registry, entry_points_of
from genesig.words import listing
from genesig.workflow import shipped_folder

if TYPE_CHECKING:
    import pandas as pd

# In the order in which messages list their endings, and in which openings are tried.
FORMATS: tuple[Format, ...] = (
    *TABLES.values(),
    EXCEL,
    XLS,
    CEL,
    IDAT,
    geo_series.SERIES,
    GCT,
    SOFT,
    H5AD,
    H5MU,
    RDATA,
    AGILENT,
    GENOMESTUDIO,
)
READERS: Registry[Format] = Registry(
    "formats", {suffix: kind for kind in FORMATS for suffix in kind.suffixes}
)
SchemaNode = dict[str, Any]  # a part of a JSON schema


def _read_folder(folder: Path, part: str | None, files: FileOfSample | None) -> Matrix:
    """Return the matrix of a folder with one file for each array; other files are not read.

    part: ``data.part`` of the config.
    files: sample -> file, from ``data.files`` of the config; None reads all files of the folder,
        and names each sample after its file.
    """
    folder_files = sorted(path for path in folder.iterdir() if path.is_file())
    _refuse_sparse_matrix(folder)
    array_files = folder_files if files is None else files.values()
    endings = {suffix_of(path) for path in array_files}
    for file_format in FORMATS:
        if file_format.folder is None or endings.isdisjoint(file_format.suffixes):
            continue
        if part is not None and not file_format.parts:
            name = file_format.suffixes[0][1:].upper()
            raise input_error(
                folder,
                f"holds {name} files, which have no parts; take data.part '{part}' away",
                key="data.part",
            )
        return file_format.folder(folder, read_unpacked, files, part)
    tables = [path for path in folder_files if suffix_of(path) in TABLES]
    if files is None and not tables:
        tables = find_counter_files(folder)
    if files is None and not tables:
        _refuse_folder(folder)
    files_to_read = {str(path): path for path in tables} if files is None else files
    file_matrices: list[tuple[str, Matrix]] = []
    for name, path in files_to_read.items():
        matrix = read_matrix(path, part)
        if len(matrix.columns) > 1:
            _refuse_several_arrays(path, folder)
        named_matrix = matrix if files is None else replace(matrix, columns=(name,))
        file_matrices.append((str(path), named_matrix))
    return arrays.join_arrays(file_matrices, str(folder))


def files_by_sample(column: pd.Series[str], folder: str, sample_file: str) -> dict[str, Path]:
    """Return sample -> path of its file from a column of the sample table; not for blank cells.

    column: names of files, seen from the folder; index = sample names.
    folder, sample_file: the folder of the arrays; the file of the sample table.

    Raises InvalidInput: no file in the column, or one file for two samples.
    """
    cells = {str(name): str(cell) for name, cell in column.items() if cell}
    place = f"{sample_file}, column '{column.name}'"
    if not cells:
        raise input_error(place, "names no file; give each sample the file of its array")
    repeated = [cell for cell, times in Counter(cells.values()).items() if times > 1]
    if repeated:
        names = listing(name for name, cell in cells.items() if cell == repeated[0])
        raise input_error(
            place, f"'{repeated[0]}' is the file of {names}; each sample needs its own"
        )
    return {name: _find_file(Path(folder), cell) for name, cell in cells.items()}


def _find_file(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, or in the one subfolder that has it (GDC)."""
    path_in_folder = folder / name
    if not is_folder(folder) or Path(name).name != name or path_in_folder.exists():
        return path_in_folder
    paths_in_subfolders = [
        path / name for path in folder.iterdir() if path.is_dir() and (path / name).is_file()
    ]
    return paths_in_subfolders[0] if len(paths_in_subfolders) == 1 else path_in_folder


def _refuse_sparse_matrix(folder: Path) -> None:
    """Raise an error if a folder, or one of its subfolders, has a file of Matrix Market."""
    sparse_files = sorted(folder.glob("*.mtx*"))
    for subfolder in sorted(path for path in folder.iterdir() if path.is_dir()):
        with suppress(OSError):  # it may be closed to readers, or deleted meanwhile
            sparse_files += sorted(subfolder.glob("*.mtx*"))
    if sparse_files:
        name = sparse_files[0].relative_to(folder)
        message = f"is a sparse matrix of Matrix Market ({name}), with its names in other files"
        raise input_error(folder, f"{message}{SUM_UP_CELLS}")


def _refuse_folder(folder: Path) -> NoReturn:
    """Raise InvalidInput: a folder has no arrays; its only readable file is named, if any."""
    if only_file := _only_readable_file(folder):
        raise input_error(folder, f"is a folder; name the file in it: {only_file}")
    raise input_error(
        folder,
        "is a folder without files of arrays (.txt, .CEL, .idat); name a file, or the folder of "
        "the scanner's files",
    )


def _refuse_several_arrays(path: Path, folder: Path) -> NoReturn:
    """Raise InvalidInput: a file of a folder holds several arrays; alone there, it can be read."""
    if _only_readable_file(folder):
        raise input_error(folder, f"is a folder; name the file in it: {path}")
    raise input_error(
        path,
        "holds more than one array, and files that are read together hold one each; name this "
        "file alone, or move it elsewhere",
    )


SAVE_AS_TABLE = "; save the values as a table with tabs (.tsv)"
SUM_UP_CELLS = (
    f"; if its columns are single cells, sum up those of each sample (pseudobulk){SAVE_AS_TABLE}"
)
# Ending of a file that is not read -> advice.
UNREAD_SUFFIXES = {
    **dict.fromkeys((".mtx", ".loom", ".zarr", ".h5"), SUM_UP_CELLS),
    **dict.fromkeys((".parquet", ".feather", ".json"), SAVE_AS_TABLE),
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
    """Return the content of a file, unpacked if it is gzip; an empty file is refused.

    Raises InvalidInput: the file is absent, empty, unreadable, truncated or not what its name says.
    """
    content = read_content(path)
    if not content or content.isspace():
        advice = "it needs a header line and at least one row"
        advice = advice if suffix_of(path) in TABLES else "copy or download it again"
        raise input_error(path, f"is empty; {advice}")
    return content


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file with Unix line ends and without a byte order mark."""
    return as_text(read_unpacked(path), str(path))


def read_matrix(
    path: str | Path,
    part: str | None = None,
    files: Mapping[str, Path] | None = None,
    *,
    partial: bool = False,
) -> Matrix:
    """Return an expression matrix as it lies in its file, genes in rows or in columns.

    path: a folder of files of one array each is read as one matrix.
    part: ``data.part`` of the config: the matrix to read, if a file holds several.
    files: sample -> file of its array, if the sample table names these (``data.files``).
    partial: whether samples that lack a part of the file are kept, with NaN there.
    """
    if is_folder(path):
        matrix = _read_folder(Path(path), part, files)
    else:
        if files is not None:
            raise input_error(
                path,
                "is no folder; data.files names files of arrays, so 'expression' is the folder "
                "that they are in",
            )
        file_format, content = _read_format_and_content(path)
        if part is not None and not file_format.parts:
            raise input_error(
                path,
                f"is {file_format.name}, which has no parts; take data.part '{part}' away",
                key="data.part",
            )
        # NCBI's counts may lie beside a series of GEO without values.
        counts = present_counts(path) if file_format is geo_series.SERIES else None
        if counts is None:
            matrix = file_format.matrix(content, str(path), part)
        else:
            series_samples = geo_series.samples(content, str(path), None).cells.index
            matrix = read_counts(counts, list(series_samples), read_unpacked)
    refuse_codes([*matrix.rows, *matrix.columns, *matrix.symbols.values()], path)
    return matrix if partial or not matrix.partial else matrix.without_partial_samples()


def _only_readable_file(folder: Path) -> Path | None:
    """Return the file of a folder that has the ending of a format; None if not just one has."""
    files = [path for path in folder.iterdir() if path.is_file() and suffix_of(path) in READERS]
    return files[0] if len(files) == 1 else None


def read_samples(path: str | Path, names: Sequence[str] | None, part: str | None) -> pd.DataFrame:
    """Return the cells of a sample table; the arguments are those of `read_sample_table`."""
    return read_sample_table(path, names, part).cells


def read_sample_table(
    path: str | Path, names: Sequence[str] | None, part: str | None, *, partial: bool = False
) -> TextTable:
    """Return a sample table: a table of text, or the sample data of an expression file.

    `names` are the samples of the matrix, which a CLS file needs; None if it could not be read.
    Samples of a GEO series that have no counts of NCBI are left out. `partial` is as for
    `read_matrix`.
    """
    if suffix_of(path) == ".cls":
        if names is None:
            raise input_error(
                path, "names no samples, and the matrix whose samples it describes cannot be read"
            )
        return _refuse_control_codes(cls.samples(read_text(path), str(path), names), path)
    file_format, content = _read_format_and_content(path, [".cls"])
    if file_format.samples is None:
        raise input_error(
            path, f"is {file_format.name}, which says nothing of samples; write a sample table"
        )
    table = _refuse_control_codes(file_format.samples(content, str(path), part), path)
    if file_format is geo_series.SERIES and names is not None:
        table = with_counts_only(table, path, names)
    return table if partial or not table.partial else table.without_partial_samples()


def _refuse_control_codes(table: TextTable, path: str | Path) -> TextTable:
    """Return a table of text; raise an error if a cell would move the cursor of a terminal."""
    cells = table.cells
    refuse_codes([str(cells.index.name), *cells.index, *cells.columns], path)
    for _, column in cells.items():
        refuse_codes(column, path)
    return table


def read_genes(path: str | Path, part: str | None) -> pd.DataFrame:
    """Return the cells of a gene table: a table of text, or the gene data of an expression file."""
    file_format, content = _read_format_and_content(path)
    if file_format.genes is None:
        raise input_error(
            path, f"is {file_format.name}, which says nothing of genes; name a gene table"
        )
    return _refuse_control_codes(file_format.genes(content, str(path), part), path).cells


def read_sets(path: str | Path, column: str | None) -> list[NamedSet]:
    """Return the gene sets of a GMT or GMX file, or of a column of a gene table if one is named."""
    if column is not None:
        return sets_of_column(read_genes(path, part=None), column, str(path))
    suffix = suffix_of(path)
    if is_folder(path):
        raise input_error(path, "is a folder; name the file of gene sets in it")
    if suffix not in SET_PARSERS:
        fault = f"the ending '{suffix}' is not known" if suffix else "the name has no ending"
        raise input_error(
            path,
            f"{fault} for gene sets (known: {', '.join(SET_PARSERS)}; also gzipped); save them as "
            "GMT: name, description and genes of a set on one line, tabs between",
        )
    return parse_sets(
        as_text(read_unpacked(path), str(path), legacy_encoding=True), suffix, str(path)
    )


def format_of(path: str | Path) -> Format | None:
    """Return the format of a file, by its ending and its first words; None for a folder."""
    return None if is_folder(path) else _read_format_and_content(path)[0]


def assign_part(
    part: str | None, expression: str, *other_files: str | None
) -> tuple[str | None, ...]:
    """Return which part to read of the expression file, and of each other file, by ``data.part``.

    The part belongs to the expression file if its format may have parts, and then to another file
    only if it is the same file. Else it belongs to the other files whose formats have parts.
    """
    same_file = [part if path == expression else None for path in other_files]
    suffixes = [suffix_of(path) if path else "" for path in other_files]
    files_have_parts = [suffix in READERS and bool(READERS[suffix].parts) for suffix in suffixes]
    if (  # in this order, as the last condition opens the file
        part is None
        or not any(files_have_parts)
        or expression in other_files
        or _may_have_parts(expression)
    ):
        return part, *same_file
    return None, *(part if has_parts else None for has_parts in files_have_parts)


def _may_have_parts(path: str) -> bool:
    """Tell whether a file may have parts, by its format; yes for a folder or an unreadable file."""
    try:
        file_format = format_of(path)
    except InvalidInput:
        return True
    return file_format is None or bool(file_format.parts)


def _read_format_and_content(
    path: str | Path, further_suffixes: Sequence[str] = ()
) -> tuple[Format, Any]:
    """Return the format of a file, by its ending and its first words, and its content.

    The content is bytes if the format is `binary`, else text. `further_suffixes` are endings that
    the caller reads itself; messages list them, too.
    """
    suffix = suffix_of(path)
    if is_folder(path):
        only_file = _only_readable_file(Path(path))
        raise input_error(
            path,
            "is a folder; name "
            + (f"the file in it: {only_file}" if only_file else "a file in it"),
        )
    if suffix not in READERS:
        raise _unknown_suffix_error(path, [*READERS, *further_suffixes])
    content = read_unpacked(path)
    file_format = READERS[suffix]
    if suffix in TABLES:  # exports of many programs, which their first words tell
        content = as_utf8(content, str(path))
        text = opening_text(content)
        for exported in FORMATS:
            if exported.opening and re.match(r"\s*" + exported.opening, text, re.IGNORECASE):
                file_format = exported
                break
    return file_format, content if file_format.binary else as_text(
        content, str(path), legacy_encoding=True
    )


def read_config(path: str | Path) -> dict[str, Any]:
    """Return the config file (YAML) as it is written, without defaults."""
    return parse_yaml(as_text(read_content(path), str(path)), str(path))


def read_json(path: str | Path) -> Any:
    """Return the value of a user's JSON file."""
    return parse_json(as_text(read_content(path), str(path)), str(path))


def load_schema() -> dict[str, Any]:
    """Return ``config.schema.yaml``: each key of the config, default, bounds and description."""
    path = shipped_folder() / "workflow" / "schemas" / "config.schema.yaml"
    if not path.is_file():
        raise GenesigError(f"{path} is not there, so genesig is not whole; install it again")
    schema: dict[str, Any] = json.loads(_yaml_as_json(path.read_text(encoding="utf-8")))
    return _with_plugins(schema)


def _with_plugins(schema: SchemaNode) -> SchemaNode:
    """Return the config's schema, to which names and settings of other packages are added in place.

    Raises InvalidInput: a step cannot be loaded.
    """
    sections = schema["properties"]
    baselines = sections["controls"]["properties"]["baselines"]["items"]["enum"]
    penalties = sections["nonlinear"]["properties"]["penalty"]["enum"]
    for group, enum in (("baselines", baselines), ("penalties", penalties)):
        enum += [name for name in entry_points_of(group) if name not in enum]
    if steps := [name for name in entry_points_of("steps") if name not in schema["$defs"]]:
        from genesig.data.steps.normalise import NORMALISERS

        for name in steps:
            _add_step(schema["$defs"], name, NORMALISERS[name])
    return schema


def _add_step(definitions: SchemaNode, name: str, step: Any) -> None:
    """Add the settings of a step of another package to the definitions of the config's schema.

    step: its class, whose `settings` are name -> JSON schema.
    """
    description = (step.__doc__ or name).strip().split("\n")[0]
    definitions[name] = {
        "type": "object",
        "additionalProperties": False,
        "description": description,
        "properties": {"step": {"const": name}, **step.settings},
    }
    definitions["step"]["properties"]["step"]["enum"].append(name)
    definitions["step"]["allOf"].append(
        {
            "if": {"properties": {"step": {"const": name}}, "required": ["step"]},
            "then": {"$ref": f"#/$defs/{name}"},
        }
    )


@cache
def _yaml_as_json(text: str) -> str:
    """Return a YAML text as JSON, which is parsed faster than a dict is copied by `deepcopy`."""
    import yaml

    return json.dumps(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _unknown_suffix_error(path: str | Path, suffixes: list[str]) -> InvalidInput:
    """Return the error about a file whose ending no format has; `suffixes` are those that do."""
    suffix = suffix_of(path)
    if not suffix and not Path(path).exists():
        read_content(path)  # raises the error that there is no such file, with similar names
    fault = f"the ending '{suffix}' is not known" if suffix else "the name has no ending"
    names = f"{', '.join(suffixes)}; also gzipped, such as .csv.gz"
    advice = (
        UNREAD_SUFFIXES.get(suffix) or did_you_mean(suffix, suffixes) or "; save it as one of these"
    )
    return input_error(path, f"{fault} (known: {names}){advice}")
