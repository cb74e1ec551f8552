"""GEO's SOFT: series families (one table for each sample), data sets (GDS), platforms (GPL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from genesig.data.files.cells import numbers
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.geo_series import sample_table
from genesig.data.files.formats.interface import Format
from genesig.errors import did_you_mean, refuse
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

AGAIN = "download the file again"


@dataclass
class Entity:
    """One entity of a SOFT file, ``^SAMPLE = GSM1``: its tags, and the lines of its table."""

    kind: str
    name: str
    line: int
    tags: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    first: int = 0

    def tag(self, name: str) -> str:
        """Return the first value of a tag, or ''."""
        return next((value for tag, value in self.tags if tag == name), "")

    def table(self, where: str) -> dict[int, list[str]]:
        """Return line of the file -> cells; the first line names the columns."""
        split = {k: line.split("\t") for k, line in enumerate(self.lines, self.first) if line}
        width = len(next(iter(split.values())))
        for k, cells in split.items():
            if len(cells) > width:
                raise refuse(
                    where,
                    f"{len(cells)} fields where the table of {self.name} has {width}; {AGAIN}",
                    k,
                )
            cells += [""] * (width - len(cells))
        return split


def entities(text: str, where: str) -> list[Entity]:
    """Read all entities in the order of the file.

    Raises
    ------
    InvalidInput
        There are none, or a table does not end.
    """
    found: list[Entity] = []
    lines = text.split("\n")
    begin = 0
    for k in (k for k, line in enumerate(lines) if line.startswith(("^", "!"))):
        word, _, value = (part.strip() for part in lines[k][1:].partition("="))
        if lines[k][0] == "^":
            found.append(Entity(word.upper(), value, k + 1))
        elif found and word.lower().endswith("_table_begin"):
            begin = k + 1
        elif found and begin and word.lower().endswith("_table_end"):
            found[-1].lines = lines[begin:k]
            found[-1].first = begin + 1
            begin = 0
        elif found:
            found[-1].tags.append((word.lower().partition("_")[2], value))
    if begin:
        raise refuse(
            where, "the table that begins here has no end: the file is cut off; " + AGAIN, begin
        )
    if not found:
        raise refuse(where, f"has no line such as ^SERIES = GSE1, so it is no SOFT file; {AGAIN}")
    return found


def matrix(text: str, where: str, part: str | None) -> Matrix:
    """Read probes × samples: the column VALUE of each sample of one platform, or a GDS table.

    A probe that a sample lacks is blank there, which the checks refuse by name.
    """
    found = entities(text, where)
    whole = [e for e in found if e.kind == "DATASET" and e.lines]
    if whole:
        return _of_dataset(whole[0], where)
    chosen = _of_platform(found, where, part)
    empty = [e.name for e in chosen if len(e.lines) < 2]
    if empty:
        raise refuse(
            where,
            f"{counted(len(empty), 'sample')} without values: {listing(empty)}; "
            "those of RNA-seq are in a supplementary file; download that and name it as "
            "'expression'",
        )
    places: dict[str, int] = {}
    columns = {}
    for sample in chosen:
        columns[sample.name], lines = _values(sample, where)
        places = lines | places
    return _matrix(places, columns)


def samples(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read the tags of the samples, or the subsets of a GDS, as a sample table."""
    found = entities(text, where)
    if any(e.kind == "SUBSET" for e in found):
        return _subsets(found)
    chosen = _of_platform(found, where, part)
    tags = {e.name: [tag for tag in e.tags if tag[0] != "geo_accession"] for e in chosen}
    return sample_table(tags, chosen[0].line)


def genes(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read the table of the platform; ``data.symbol`` names its column, such as Gene Symbol."""
    import pandas as pd

    found = entities(text, where)
    tables = [e for e in found if e.kind in ("PLATFORM", "ANNOTATION", "DATASET") and e.lines]
    counts = Counter(e.name for e in tables)
    if len(tables) > 1:
        tables = [e for e in tables if e.name == part]
    if not tables:
        raise refuse(
            where,
            _choose("tables of genes", counts, part)
            if counts
            else "holds no table of genes (a platform)",
        )
    header, *rows = tables[0].table(where).values()
    kept = [k for k, name in enumerate(header) if k and not name.startswith("GSM")]
    index = pd.Index([row[0].strip() for row in rows], name=header[0], dtype=object)
    cells = [[row[k].strip() for k in kept] for row in rows]
    table = pd.DataFrame(cells, index=index, columns=[header[k] for k in kept], dtype=object)
    table.attrs["lines"] = list(tables[0].table(where))[1:]
    return table


def _of_platform(found: list[Entity], where: str, part: str | None) -> list[Entity]:
    chosen = [e for e in found if e.kind == "SAMPLE"]
    counts = Counter(e.tag("platform_id") for e in chosen)
    if not chosen:
        raise refuse(
            where,
            f"holds no samples, but {listing(e.kind for e in found)}; a series "
            "family or a data set is needed",
        )
    if len(counts) > 1 or (part is not None and part not in counts):
        chosen = [e for e in chosen if e.tag("platform_id") == part]
    if not chosen:
        raise refuse(where, _choose("platforms", counts, part))
    return chosen


def _choose(what: str, counts: Mapping[str, int], part: str | None) -> str:
    found = ", ".join(f"{name} ({times})" for name, times in counts.items())
    if part is None:
        return f"holds {len(counts)} {what}: {found}; choose one by data.part: {next(iter(counts))}"
    return f"data.part '{part}' is not one of its {what}{did_you_mean(part, counts)} ({found})"


def _values(sample: Entity, where: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return probe -> value, and probe -> line of the file."""
    table = sample.table(where)
    header = [name.strip().upper() for name in table.pop(next(iter(table)))]
    if "VALUE" not in header:
        raise refuse(
            where,
            f"the table of {sample.name} has no column VALUE (columns: "
            f"{', '.join(header)}); use the series matrix instead",
            sample.first,
        )
    place = header.index("VALUE")
    found = {row[0].strip(): row[place].strip() for row in table.values()}
    if len(found) < len(table):
        raise refuse(where, f"the table of {sample.name} names a probe twice; {AGAIN}")
    return found, dict(zip(found, table, strict=True))


def _of_dataset(dataset: Entity, where: str) -> Matrix:
    table = dataset.table(where)
    header = table.pop(next(iter(table)))
    columns = {
        name: {row[0]: row[k] for row in table.values()}
        for k, name in enumerate(header)
        if name.startswith("GSM")
    }
    return _matrix(dict(zip([row[0] for row in table.values()], table, strict=True)), columns)


def _matrix(lines: Mapping[str, int], columns: Mapping[str, Mapping[str, str]]) -> Matrix:
    import pandas as pd

    texts = {name: [cells.get(probe, "") for probe in lines] for name, cells in columns.items()}
    cells, bad = numbers(pd.DataFrame(texts, dtype=object))
    return Matrix(tuple(lines), tuple(columns), cells, bad, tuple(lines.values()))


def _subsets(found: list[Entity]) -> pd.DataFrame:
    tags: dict[str, list[tuple[str, str]]] = {}
    subsets = [e for e in found if e.kind == "SUBSET"]
    for subset in subsets:
        key = f"{subset.tag('type')}: {subset.tag('description')}"
        for name in subset.tag("sample_id").split(","):
            tags.setdefault(name.strip(), []).append(("characteristics", key))
    return sample_table(tags, subsets[0].line)


SOFT = Format(
    "a GEO SOFT file",
    matrix,
    samples,
    genes,
    (".soft",),
    parts="platform",
    opening=r"\^(DATABASE|SERIES|PLATFORM|SAMPLE|DATASET|ANNOTATION)\s*=",
)
