"""GEO's SOFT files: series (one table for each sample), data sets (GDS) and platforms (GPL)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from genesig.data.files.cells import parse_numbers
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.geo_series import DOWNLOAD_AGAIN, sample_table
from genesig.data.files.formats.interface import Format
from genesig.errors import did_you_mean, input_error
from genesig.words import counted, listing


@dataclass
class Entity:
    """One entity of a SOFT file, such as ``^SAMPLE = GSM1``."""

    kind: str  # upper case: SERIES, PLATFORM, SAMPLE, DATASET, SUBSET, ...
    name: str
    line: int  # of the file
    tags: list[tuple[str, str]] = field(default_factory=list)  # lower case, without the kind
    lines: list[str] = field(default_factory=list)  # of its table, the headers first
    first_line: int = 0  # line of the file of `lines[0]`

    def tag(self, name: str) -> str:
        """Return the first value of a tag, or ''."""
        return next((value for tag, value in self.tags if tag == name), "")

    def table(self, file_name: str) -> dict[int, list[str]]:
        """Return line of the file -> cells of the entity's table, its headers first.

        Rows are filled up to the width of the headers. Raises InvalidInput: a longer row, or none.
        """
        cells_of_line = {
            line_number: line.split("\t")
            for line_number, line in enumerate(self.lines, self.first_line)
            if line
        }
        if not cells_of_line:
            raise input_error(
                file_name, f"the table of {self.name} is empty; {DOWNLOAD_AGAIN}", self.first_line
            )
        width = len(next(iter(cells_of_line.values())))
        for line_number, cells in cells_of_line.items():
            if len(cells) > width:
                raise input_error(
                    file_name,
                    f"{len(cells)} fields where the table of {self.name} has {width}; "
                    f"{DOWNLOAD_AGAIN}",
                    line_number,
                )
            cells += [""] * (width - len(cells))
        return cells_of_line


def entities(text: str, file_name: str) -> list[Entity]:
    """Return all entities of a SOFT file, in its order.

    Raises InvalidInput: there are none, or a table does not end.
    """
    all_entities: list[Entity] = []
    lines = text.split("\n")
    begin = 0  # index of the first line of a table, which is the number of the line above it
    for k, line in enumerate(lines):
        if not line.startswith(("^", "!")):
            continue
        word, _, value = (part.strip() for part in line[1:].partition("="))
        if begin and (line[0] == "^" or word.lower().endswith("_table_begin")):
            break  # the table before has no end
        if line[0] == "^":
            all_entities.append(Entity(word.upper(), value, k + 1))
        elif all_entities and word.lower().endswith("_table_begin"):
            begin = k + 1
        elif all_entities and begin and word.lower().endswith("_table_end"):
            all_entities[-1].lines = lines[begin:k]
            all_entities[-1].first_line = begin + 1
            begin = 0
        elif all_entities:  # the tag of !Sample_title is "title"
            all_entities[-1].tags.append((word.lower().partition("_")[2], value))
    if begin:
        raise input_error(
            file_name,
            "the table that begins here has no end: the file is cut off; " + DOWNLOAD_AGAIN,
            begin,
        )
    if not all_entities:
        raise input_error(
            file_name,
            f"has no line such as ^SERIES = GSE1, so it is no SOFT file; {DOWNLOAD_AGAIN}",
        )
    return all_entities


def matrix(text: str, file_name: str, part: str | None) -> Matrix:
    """Return probes × samples: the column VALUE of all samples of a platform, or a GDS table.

    The cell of a probe that a sample lacks is blank; later checks refuse it by name.
    """
    all_entities = entities(text, file_name)
    datasets = [entity for entity in all_entities if entity.kind == "DATASET" and entity.lines]
    if datasets:
        return _matrix_of_dataset(datasets[0], file_name)
    samples_of_part = _samples_of_platform(all_entities, file_name, part)
    empty = [entity.name for entity in samples_of_part if len(entity.lines) < 2]
    if empty:
        raise input_error(
            file_name,
            f"{counted(len(empty), 'sample')} without values: {listing(empty)}; those of RNA-seq "
            "are in a supplementary file; download that and name it as 'expression'",
        )
    line_of_probe: dict[str, int] = {}
    columns = {}
    for sample in samples_of_part:
        columns[sample.name], lines = _values_of_sample(sample, file_name)
        line_of_probe = lines | line_of_probe  # the line of the first sample that has the probe
    return _make_matrix(line_of_probe, columns)


def samples(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the sample table: the tags of the samples, or the subsets of a GDS."""
    all_entities = entities(text, file_name)
    if any(entity.kind == "SUBSET" for entity in all_entities):
        return _subset_table(all_entities)
    samples_of_part = _samples_of_platform(all_entities, file_name, part)
    tags = {
        entity.name: [tag for tag in entity.tags if tag[0] != "geo_accession"]
        for entity in samples_of_part
    }
    return sample_table(tags, samples_of_part[0].line)


def genes(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the table of the platform; ``data.symbol`` names its column, such as Gene Symbol.

    `part` only chooses among several: it may be the platform of another file, the matrix.
    """
    import pandas as pd

    all_entities = entities(text, file_name)
    tables = [
        entity
        for entity in all_entities
        if entity.kind in ("PLATFORM", "ANNOTATION", "DATASET") and entity.lines
    ]
    counts = Counter(entity.name for entity in tables)
    if len(tables) > 1:
        tables = [entity for entity in tables if entity.name == part]
    if not tables:
        raise input_error(
            file_name,
            _choice_message("tables of genes", counts, part)
            if counts
            else "holds no table of genes (a platform)",
            key="data.part",
        )
    header, *rows = tables[0].table(file_name).values()
    described_columns = [k for k, name in enumerate(header) if k and not name.startswith("GSM")]
    index = pd.Index([row[0].strip() for row in rows], name=header[0], dtype=object)
    cells = [[row[k].strip() for k in described_columns] for row in rows]
    columns = [header[k] for k in described_columns]
    return TextTable(pd.DataFrame(cells, index=index, columns=columns, dtype=object))


def _samples_of_platform(
    all_entities: list[Entity], file_name: str, part: str | None
) -> list[Entity]:
    """Return the samples, at least one, of the platform that `part` names, or of the only one."""
    samples_of_part = [entity for entity in all_entities if entity.kind == "SAMPLE"]
    counts = Counter(entity.tag("platform_id") for entity in samples_of_part)
    if not samples_of_part:
        raise input_error(
            file_name,
            f"holds no samples, but {listing(entity.kind for entity in all_entities)}; a series "
            "family or a data set is needed",
        )
    if len(counts) > 1 or (part is not None and part not in counts):
        samples_of_part = [
            entity for entity in samples_of_part if entity.tag("platform_id") == part
        ]
    if not samples_of_part:
        raise input_error(file_name, _choice_message("platforms", counts, part), key="data.part")
    names = Counter(entity.name for entity in samples_of_part)
    if repeated := [name for name, count in names.items() if count > 1]:
        message = f"sample {listing(repeated)} stands there twice; keep one"
        raise input_error(file_name, message)
    return samples_of_part


def _choice_message(parts: str, counts: Mapping[str, int], part: str | None) -> str:
    """Return the message that asks to choose one of several parts, or corrects the choice.

    parts: noun, such as "platforms". counts: name of each part -> number of its samples or tables.
    """
    counts_text = ", ".join(f"{name} ({number})" for name, number in counts.items())
    if part is None:
        first_part = next(iter(counts))
        return f"holds {len(counts)} {parts}: {counts_text}; choose one by data.part: {first_part}"
    return (
        f"data.part '{part}' is not one of its {parts}{did_you_mean(part, counts)} ({counts_text})"
    )


def _values_of_sample(sample: Entity, file_name: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return probe -> text of its value, and probe -> line of the file."""
    table = sample.table(file_name)
    header = [name.strip().upper() for name in table.pop(next(iter(table)))]
    if "VALUE" not in header:
        raise input_error(
            file_name,
            f"the table of {sample.name} has no column VALUE (columns: {', '.join(header)}); use "
            "the series matrix instead",
            sample.first_line,
        )
    value_column = header.index("VALUE")
    line_of_probe = _line_of_probe(sample, table, file_name)
    values = (row[value_column].strip() for row in table.values())
    return dict(zip(line_of_probe, values, strict=True)), line_of_probe


def _line_of_probe(
    entity: Entity, table: Mapping[int, list[str]], file_name: str
) -> dict[str, int]:
    """Return probe -> line of the file from the rows of a table; raise for a repeated probe."""
    line_of_probe = {row[0].strip(): line for line, row in table.items()}
    if len(line_of_probe) < len(table):
        raise input_error(
            file_name, f"the table of {entity.name} names a probe twice; {DOWNLOAD_AGAIN}"
        )
    return line_of_probe


def _matrix_of_dataset(dataset: Entity, file_name: str) -> Matrix:
    """Return the table of a GDS as a matrix: its columns GSM... are samples."""
    table = dataset.table(file_name)
    header = table.pop(next(iter(table)))  # blank lines may stand above it
    line_of_probe = _line_of_probe(dataset, table, file_name)
    columns = {
        name: {probe: table[line][column] for probe, line in line_of_probe.items()}
        for column, name in enumerate(header)
        if name.startswith("GSM")
    }
    return _make_matrix(line_of_probe, columns)


def _make_matrix(
    line_of_probe: Mapping[str, int], columns: Mapping[str, Mapping[str, str]]
) -> Matrix:
    """Return a matrix from probe -> line and sample -> probe -> text."""
    import pandas as pd

    texts = {
        name: [cells.get(probe, "") for probe in line_of_probe] for name, cells in columns.items()
    }
    cells, not_finite = parse_numbers(pd.DataFrame(texts, dtype=object))
    return Matrix(
        tuple(line_of_probe), tuple(columns), cells, not_finite, tuple(line_of_probe.values())
    )


def _subset_table(all_entities: list[Entity]) -> TextTable:
    """Return a sample table with the subsets of a GDS as characteristics of their samples."""
    tags: dict[str, list[tuple[str, str]]] = {}
    subsets = [entity for entity in all_entities if entity.kind == "SUBSET"]
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
    suffixes=(".soft",),
    parts="platform",
    opening=r"\^(DATABASE|SERIES|PLATFORM|SAMPLE|DATASET|ANNOTATION)\s*=",
)
