"""Reading and writing whole files: one appears under its name only when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path to write to; rename it to `path` when the block ends well."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8 with Unix line ends."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def save_json(path: str | Path, value: Any) -> None:
    """Write a JSON file; NaN and infinities are refused, because JSON has none."""
    save_text(path, json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False) + "\n")


def load_json(path: str | Path) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def save_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a TSV without index, numbers with 10 significant digits."""
    with whole_file(path) as part:
        table.to_csv(part, sep="\t", index=False, float_format="%.10g", lineterminator="\n")


def load_table(path: str | Path, text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a TSV; the columns named in `text` stay strings, whatever they look like."""
    import pandas as pd

    return pd.read_csv(path, sep="\t", dtype=dict.fromkeys(text, str), keep_default_na=False,
                       na_values=[""])  # fmt: skip
