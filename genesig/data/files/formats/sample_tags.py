"""GEO's tags of samples as a sample table: `disease state: normal` becomes a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

Tags = Iterable[tuple[str, str]]
# Everything else that is the same for all samples (addresses, protocols) says nothing of them.
KEPT = ("title", "source_name_ch1", "description", "platform_id")


def sample_table(samples: Mapping[str, Tags], line: int) -> pd.DataFrame:
    """Make a table of strings, one row for each sample.

    Each key of a characteristic is a column; so is each other tag that varies over the samples.
    A tag or key that a sample has twice is joined by "; ", one that it lacks is blank. A slash in
    a name becomes "_". ``attrs["lines"]`` is the given line for every sample.

    Parameters
    ----------
    samples : mapping of sample name to (tag, value) pairs
        Tags without ``!Sample_``, in the order of the file.
    line : int
        Where the file names its samples.
    """
    import pandas as pd

    columns: dict[tuple[bool, str], dict[str, list[str]]] = {}
    for name, tags in samples.items():
        for tag, value in tags:
            key, text = _characteristic(tag, value)
            if text:
                columns.setdefault((key != tag, key), {}).setdefault(name, []).append(text)
    table = pd.DataFrame(index=pd.Index(list(samples), name="geo_accession", dtype=object))
    for (special, key), cells in columns.items():
        texts = ["; ".join(cells.get(name, [])) for name in samples]
        if special or key in KEPT or len(set(texts)) > 1:
            twin = special and (False, key) in columns
            table[_column(f"{key} (characteristic)" if twin else key)] = texts
    table.attrs["lines"] = [line] * len(table)
    return table


def _characteristic(tag: str, value: str) -> tuple[str, str]:
    """Return column and text: ('disease state', 'normal') or (tag, value)."""
    if not tag.startswith("characteristics"):
        return tag, value
    key, colon, text = value.partition(":")
    if not colon or not key.strip():
        return "characteristics", value
    channel = "" if tag.endswith("ch1") or tag == "characteristics" else f" {tag[-3:]}"
    return key.strip() + channel, text.strip()


def _column(name: str) -> str:
    return name.replace("/", "_")
