"""Files that are either complete or absent: arrays, tables, JSON.

A name in a table that a spreadsheet would compute as a formula is written with an apostrophe before
it, as spreadsheets mark text, and read back without it; so is a name that begins like a marked one.
Numbers, single signs and all other names are written as they are.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from zipfile import BadZipFile

import numpy as np

from genesig.arrays import Array
from genesig.errors import InvalidInput, input_error
from genesig.machine import free_bytes, refusal_problem
from genesig.words import is_number

if TYPE_CHECKING:
    import pandas as pd

FORMULA_START = re.compile(r"[=+\-@\t\r]")  # first letter of a formula, ``=SUM(A1)``
MARKED_NAME = re.compile(r"'+[=+\-@\t\r]")  # beginning of a marked name, ``'=SUM(A1)``


def mark_formula(name: Any) -> Any:
    """Return a name with an apostrophe before it if it is a formula or begins like a marked one.

    `unmark_formula` reverses this. Anything but a text is returned as it is.
    """
    if not isinstance(name, str) or name[:1] not in "'=+-@\t\r":
        return name
    formula = FORMULA_START.match(name) and len(name) > 1 and not is_number(name)
    return f"'{name}" if formula or MARKED_NAME.match(name) else name


def unmark_formula(text: Any) -> Any:
    """Return the name without the apostrophe of `mark_formula`; anything else as it is."""
    return text[1:] if isinstance(text, str) and MARKED_NAME.match(text) else text


@contextmanager
def whole_file(path: str | Path, needed_bytes: int = 0) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` (or its link target) on success.

    needed_bytes: bytes that must be free before the file is written.

    Raises InvalidInput: the disk is full, or may not be written to.
    """
    path = Path(path)
    # A link stays a link: its target is written.
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    temporary_path = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if free_bytes(path) < needed_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield temporary_path
        temporary_path.replace(target)
    except Exception as error:  # HDF5 says by a RuntimeError that the disk is full
        if problem := refusal_problem(error, path):
            raise InvalidInput([problem]) from error
        raise
    finally:
        with suppress(OSError):
            temporary_path.unlink(missing_ok=True)


def save_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8 with Unix line ends."""
    with whole_file(path) as temporary_path:
        temporary_path.write_text(text, encoding="utf-8", newline="\n")


def load_text(path: str | Path) -> str:
    """Return the text of a file that `save_text` wrote."""
    return Path(path).read_text(encoding="utf-8")


def save_json(path: str | Path, value: Any) -> None:
    """Write a JSON file; NaN and infinities are refused, because JSON has none."""
    save_text(path, json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def load_json(path: str | Path) -> Any:
    """Read a JSON file."""
    return json.loads(load_text(path))


def save_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a TSV without index, numbers with 10 significant digits, names by `mark_formula`."""
    with (
        whole_file(path) as temporary_path,
        temporary_path.open("w", encoding="utf-8", newline="") as stream,
    ):
        write_table(stream, table)


def write_table(stream: TextIO, table: pd.DataFrame) -> None:
    """Write a table to an open file in the format of `save_table`."""
    table = _change_names(table, mark_formula)
    table.to_csv(stream, sep="\t", index=False, float_format="%.10g", lineterminator="\n")


def save_tables(paths: Mapping[str, str | Path], tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each named table to the path of that name; a table without a path is not written."""
    for name, path in paths.items():
        save_table(path, tables[name])


def load_table(path: str | Path, text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a TSV; the columns named in `text` stay strings even if they look like numbers."""
    import pandas as pd

    # Only an empty cell is missing: a gene or a class may be called NA.
    table = pd.read_csv(
        path, sep="\t", dtype=dict.fromkeys(text, str), keep_default_na=False, na_values=[""]
    )
    return _change_names(table, unmark_formula)


def _change_names(table: pd.DataFrame, change_name: Callable[[Any], Any]) -> pd.DataFrame:
    """Return the table with the names in its columns of text changed; the argument stays."""
    for column in [name for name, dtype in table.dtypes.items() if dtype.kind == "O"]:
        names = table[column].tolist()
        changed = list(map(change_name, names))
        if changed != names:
            table = table.assign(**{str(column): np.array(changed, dtype=object)})
    return table


def load_tables(
    paths: Mapping[str, str], names: Sequence[str], text: Sequence[str] = ()
) -> dict[str, pd.DataFrame]:
    """Read the named tables; see `load_table`."""
    return {name: load_table(paths[name], text) for name in names}


def save_arrays(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays as an ``.npz`` file."""
    with whole_file(path) as temporary_path, temporary_path.open("wb") as stream:
        np.savez(stream, **arrays)


def load_arrays(path: str | Path) -> dict[str, Array]:
    """Return the arrays of a file that `save_arrays` wrote, by name.

    Raises InvalidInput: the file is damaged.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (BadZipFile, EOFError, ValueError):  # what numpy and zipfile say names no file
        raise input_error(path, "is damaged; delete it and run the study again") from None


def check_output(path: str | Path, inputs: Iterable[str]) -> None:
    """Raise InvalidInput if an output path is also an input path, is no file, or has no folder."""
    target = Path(path)
    if not target.parent.is_dir():
        raise input_error(path, "its folder is not there; make it, or name another file")
    if target.exists():
        if not target.is_file():
            raise input_error(path, "is a folder, a device or a pipe; name a file")
        if any(Path(name).exists() and target.samefile(name) for name in inputs):
            raise input_error(path, "is read here, and would be written over; name another file")
