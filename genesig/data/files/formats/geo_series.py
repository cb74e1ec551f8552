"""GEO series matrix: lines are found by tags; those above the table describe the samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import PurePath

from genesig.data.files.delimited import Matrix, TextTable, parse_matrix
from genesig.data.files.formats.interface import Format
from genesig.errors import input_error
from genesig.words import as_read, counted, is_misspelt, listing

Tags = Iterable[tuple[str, str]]  # tag and value, such as ("title", "tumour 1"), of a sample
# Tags that are columns even if all samples have one value; addresses and protocols are not.
KEPT_TAGS = ("title", "source_name_ch1", "description", "platform_id")


def sample_table(samples: Mapping[str, Tags], line: int) -> TextTable:
    """Return a sample table of strings from the tags of GEO's samples.

    Each key of a characteristic is a column; so is each other tag that varies over the samples. A
    tag or key that a sample has twice is joined by "; ", one that it lacks is blank. A slash in a
    name becomes "_".

    samples: tags without ``!Sample_``, in the order of the file.
    line: where the file names its samples: the line of every row.
    """
    import pandas as pd

    # (whether it is a characteristic, name of the column) -> sample -> its texts
    columns: dict[tuple[bool, str], dict[str, list[str]]] = {}
    for sample, tags in samples.items():
        for tag, value in tags:
            key, text = _split_characteristic(tag, value)
            if text:
                is_characteristic = key != tag
                text_of_sample = columns.setdefault((is_characteristic, key), {})
                text_of_sample.setdefault(sample, []).append(text)
    joined_keys = _join_spellings(columns)
    table = pd.DataFrame(index=pd.Index(list(samples), name="geo_accession", dtype=object))
    for (is_characteristic, key), cells in columns.items():
        texts = ["; ".join(cells.get(sample, [])) for sample in samples]
        if is_characteristic or key in KEPT_TAGS or len(set(texts)) > 1:
            has_twin = is_characteristic and (False, key) in columns
            name = f"{key} (characteristic)" if has_twin else key
            table[name.replace("/", "_")] = texts  # h5ad files refuse slashes
    return TextTable(table, [line] * len(table), doubts=tuple(joined_keys))


def _join_spellings(columns: dict[tuple[bool, str], dict[str, list[str]]]) -> list[str]:
    """Join columns of one characteristic in two spellings, in place; return notes on them.

    Only if no sample has both. The more frequent spelling names the column.

    columns: (whether it is a characteristic, name) -> sample -> its texts.
    """
    characteristics = [key for is_characteristic, key in columns if is_characteristic]
    characteristics.sort(key=lambda key: -len(columns[True, key]))
    sentences = []
    for frequent, rare in combinations(characteristics, 2):
        if (True, frequent) not in columns or (True, rare) not in columns:
            continue
        is_same = _letters(frequent) == _letters(rare) or is_misspelt(frequent, rare)
        if is_same and columns[True, frequent].keys().isdisjoint(columns[True, rare]):
            columns[True, frequent] |= columns.pop((True, rare))
            sentences.append(
                f"the characteristics '{frequent}' and '{rare}' are one column, '{frequent}': no "
                "sample has both"
            )
    return sentences


def _letters(key: str) -> str:
    """Return a key without case, blanks and punctuation: "diseasestate" for "Disease_State"."""
    return re.sub(r"[\W_]+", "", as_read(key))


def _split_characteristic(tag: str, value: str) -> tuple[str, str]:
    """Return column and text of a tag: ('disease state', 'normal'), or (tag, value)."""
    if not tag.startswith("characteristics"):
        return tag, value
    key, colon, text = value.partition(":")
    if not colon or not key.strip():
        return "characteristics", value
    channel = "" if tag.endswith("ch1") or tag == "characteristics" else f" {tag[-3:]}"
    return key.strip() + channel, text.strip()


TABLE_BEGIN = "!series_matrix_table_begin"
TABLE_END = "!series_matrix_table_end"
SERIES_FILE = re.compile(r"(GSE\d+)(-GPL\d+)?_series_matrix\.txt(\.gz)?", re.IGNORECASE)
"""File name of a series matrix: accession and platform."""
DOWNLOAD_AGAIN = "download the file again"


def matrix(text: str, file_name: str, part: str | None) -> Matrix:
    """Return the table of a series matrix, probes × samples; "null" stays text beside a NaN.

    Raises InvalidInput: no table, more than one, one that is cut off or empty, samples of several
        platforms.
    """
    lines = text.split("\n")
    begin, end = _find_table(lines, file_name)
    platforms = sorted(
        {cell for _, cells in tagged_cells(lines[:begin], "!sample_platform_id") for cell in cells}
    )
    if len(platforms) > 1:
        raise input_error(
            file_name,
            f"holds samples of {len(platforms)} platforms: {listing(platforms)}; their probes "
            "differ, use one file for each platform",
        )
    if not any(line.strip() for line in lines[begin + 2 : end]):
        raise input_error(file_name, _empty_table_message(lines[:begin], file_name), begin + 1)
    # Only names are quoted, and a probe's or a sample's name holds no quotation mark.
    table = "\n".join(lines[begin + 1 : end]).replace('"', "")
    return parse_matrix(table, ".tsv", file_name, first_line=begin + 2)


def samples(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the lines above the table of a series matrix as a sample table (`sample_table`)."""
    head = text[:end] if (end := text.lower().find(TABLE_BEGIN)) >= 0 else text
    lines = head.split("\n")
    name_lines = list(tagged_cells(lines, "!sample_geo_accession"))
    if not name_lines:
        raise input_error(
            file_name, f"has no line !Sample_geo_accession, so no samples; {DOWNLOAD_AGAIN}"
        )
    number, names = name_lines[0]
    if len(set(names)) < len(names):
        raise input_error(
            file_name, f"!Sample_geo_accession names a sample twice; {DOWNLOAD_AGAIN}", number
        )
    tags: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for number, line in enumerate(lines, 1):
        tag, cells = _split_line(line)
        if not tag.startswith("!sample_") or tag == "!sample_geo_accession":
            continue
        if len(cells) != len(names):
            raise input_error(
                file_name,
                f"{tag} has {counted(len(cells), 'value')} for {counted(len(names), 'sample')}; "
                f"{DOWNLOAD_AGAIN}",
                number,
            )
        for name, cell in zip(names, cells, strict=True):
            tags[name].append((tag.removeprefix("!sample_"), cell))
    return sample_table(tags, name_lines[0][0])


def _find_table(lines: list[str], file_name: str) -> tuple[int, int]:
    """Return the positions of the lines that begin and end the table."""
    begins = [k for k, line in enumerate(lines) if line.strip().lower() == TABLE_BEGIN]
    ends = [k for k, line in enumerate(lines) if line.strip().lower() == TABLE_END]
    if not begins:
        raise input_error(
            file_name,
            f"has no line {TABLE_BEGIN}: it is cut off before the table, or is not a series "
            f"matrix; {DOWNLOAD_AGAIN}",
        )
    if len(begins) > 1:
        raise input_error(
            file_name,
            "holds two series matrix tables, as if files had been joined; use one file for each "
            "platform",
            begins[1] + 1,
        )
    if not ends or ends[0] < begins[0]:
        raise input_error(
            file_name,
            f"has no line {TABLE_END}: the table is cut off; {DOWNLOAD_AGAIN}",
            len(lines),
        )
    return begins[0], ends[0]


def _empty_table_message(head: Sequence[str], file_name: str) -> str:
    """Return the message that a series matrix has no values, and where they may be found."""
    path = PurePath(file_name)
    series = SERIES_FILE.fullmatch(path.name)
    command = f"genesig fetch {series[1]}{series[2] or ''} -d {path.parent}" if series else ""
    ncbi_advice = f"{command} takes NCBI's counts if there are any; else " if series else ""
    return (
        f"the table is empty, as in most series of RNA-seq; {ncbi_advice}download a supplementary "
        f"file{supplementary_files(head)} and name it as 'expression'"
    )


def supplementary_files(head: Sequence[str]) -> str:
    """Return the names of a series' supplementary files, in brackets, or ''."""
    tagged = tagged_cells(head, "!series_supplementary_file")
    names = [cell.rsplit("/", 1)[-1] for _, cells in tagged for cell in cells if "/" in cell]
    return f" ({listing(names)})" if names else ""


def tagged_cells(lines: Sequence[str], tag: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and values of each line whose tag begins with `tag` (lower case)."""
    for number, line in enumerate(lines, 1):
        if line.lower().startswith(tag):
            yield number, _split_line(line)[1]


def _split_line(line: str) -> tuple[str, list[str]]:
    """Return the tag of a line, in lower case, and its values without quotes."""
    tag, *cells = line.rstrip("\n").split("\t")
    return tag.lower(), [_unquoted(cell.strip()) for cell in cells]


def _unquoted(cell: str) -> str:
    """Return a cell without its quotation marks."""
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"').strip() if is_quoted else cell


SERIES = Format("a GEO series matrix", matrix, samples, opening=r"!(Series|Sample)_")
