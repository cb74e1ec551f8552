"""The one place of the data floor that opens files: tables, matrices, config and schema.

A reader finds out what a file is from its name and its first bytes, and refuses what does not
fit together; it never guesses silently. Every failure is an `InvalidInput` with one line.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genesig.errors import GenesigError, InvalidInput, Problem, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from genesig.data.delimited import Matrix

GZIP = b"\x1f\x8b"
FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or zip file; save the sheet as tab-separated text",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as tab-separated text",
    b"\xff\xfe": "UTF-16 text (Excel's 'Unicode text'); save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x89HDF": "an HDF5 file; only text tables are read",
    b"!Series_": "a GEO series matrix; save the table in it as tab-separated text",
    b"#1.2": "a GCT file; save it without its first two lines and the Description column",
}


def suffix_of(path: str | Path) -> str:
    """Return the lower-case suffix that says the format, ``.gz`` left aside."""
    path = Path(path)
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file, unpacked if it is gzip.

    Raises
    ------
    InvalidInput
        The file is absent, empty, unreadable, truncated or not what its name says.
    """
    content = _open(Path(path))
    if content.startswith(GZIP):
        content = _unpack(str(path), content)
    elif str(path).lower().endswith(".gz"):
        raise _refuse(path, "is named .gz but is not gzip; rename it, or compress it with gzip")
    if not content.strip():
        raise _refuse(path, "is empty; it needs a header line and at least one row")
    return content


def read_text(path: str | Path) -> str:
    """Read UTF-8 text with Unix line ends; a byte order mark is taken away."""
    content = read_bytes(path)
    for magic, what in FOREIGN.items():
        if content.startswith(magic):
            raise _refuse(path, f"is {what}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refuse(path, f"byte {content[error.start]:#04x} is not UTF-8; save the file as "
                      "UTF-8 text", line=line) from None  # fmt: skip
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table of text: index = first column, every cell a string without outer blanks."""
    from genesig.data.delimited import DELIMITERS, parse_table

    if suffix_of(path) not in DELIMITERS:
        raise _unknown_suffix(path, list(DELIMITERS))
    return parse_table(read_text(path), suffix_of(path), str(path))


def read_matrix(path: str | Path) -> Matrix:
    """Read an expression matrix as it lies in the file, either way round."""
    if suffix_of(path) not in READERS:
        raise _unknown_suffix(path, list(READERS))
    return READERS[suffix_of(path)](path)


def _read_delimited(path: str | Path) -> Matrix:
    from genesig.data.delimited import parse_matrix

    return parse_matrix(read_text(path), suffix_of(path), str(path))


def read_config(path: str | Path) -> dict[str, Any]:
    """Read the config file (YAML) as it is, without defaults."""
    import yaml

    text = read_text(path)
    try:
        raw, tree = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        advice = f"is not YAML: {what}; look at indents (spaces, no tabs), colons and quotes"
        raise _refuse(path, advice, line=mark.line + 1 if mark else None) from None
    if not isinstance(raw, dict):
        raise _refuse(path, "needs lines 'key: value' such as 'label: diagnosis'")
    for key, first, again in _repeated(tree):
        what = f"the key '{key}' is already on line {first}; YAML would forget the first one"
        raise _refuse(path, what, line=again)
    return raw


def read_json(path: str | Path) -> Any:
    """Read a JSON file of the user."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise _refuse(path, f"is not JSON: {error.msg.lower()}", line=error.lineno) from None


def load_schema(name: str = "config") -> dict[str, Any]:
    """Load ``workflow/schemas/{name}.schema.yaml``: every key, default, bound and description."""
    import yaml

    within = Path("workflow", "schemas", f"{name}.schema.yaml")
    for root in (Path(__file__).parents[2], Path.cwd()):
        if (root / within).is_file():
            return dict(yaml.safe_load((root / within).read_text(encoding="utf-8")))
    raise GenesigError(f"{within} is not here; run genesig in the folder of the study's workflow")


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, as they lie on disk."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _repeated(node: Any) -> Iterator[tuple[str, int, int]]:
    """Yield each key that a YAML mapping has twice, with its two lines."""
    lines: dict[str, int] = {}
    for key, value in node.value if node.id == "mapping" else ():
        line = key.start_mark.line + 1
        if key.value in lines:
            yield key.value, lines[key.value], line
        lines[key.value] = line
        yield from _repeated(value)


def _open(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        place = "" if path.is_absolute() else f" (looked for in {Path.cwd()})"
        raise _refuse(path, f"no such file{place}{did_you_mean(path.name, near)}") from None
    except IsADirectoryError:
        raise _refuse(path, "is a folder; name a file in it") from None
    except OSError as error:
        raise _refuse(path, f"cannot be read: {error.strerror}") from None


def _unpack(path: str, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except EOFError:
        raise _refuse(path, "the gzip file is truncated (it ends too early); copy or download it "
                      "again") from None  # fmt: skip
    except (zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip file is damaged ({error}); copy or download it again"
        raise _refuse(path, what) from None


def _refuse(path: str | Path, what: str, line: int | None = None) -> InvalidInput:
    where = f"{path}, line {line}" if line else str(path)
    return InvalidInput([Problem(where, what)])


def _unknown_suffix(path: str | Path, known: list[str]) -> InvalidInput:
    suffix = suffix_of(path)
    found = f"the ending '{suffix}' is not known" if suffix else "the name has no ending"
    names = ", ".join(f"{k} or {k}.gz" for k in known)
    return _refuse(path, f"{found}{did_you_mean(suffix, known)} (known: {names})")


READERS: dict[str, Callable[[str | Path], Matrix]] = {
    ".tsv": _read_delimited,
    ".txt": _read_delimited,
    ".tab": _read_delimited,
    ".csv": _read_delimited,
}
