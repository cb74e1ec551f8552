"""Agilent Feature Extraction: one text file for each array, whose last block has the spots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.cells import parse_numbers
from genesig.data.files.delimited import Matrix, TextTable
from genesig.data.files.formats.arrays import sample_name
from genesig.data.files.formats.interface import Format
from genesig.data.steps.two_colour import loess_ratios
from genesig.errors import did_you_mean, input_error
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

TWO_COLOUR_COLUMN = "LogRatio"
ONE_COLOUR_COLUMN = "gProcessedSignal"
LOESS_PART = "loess"  # `data.part` for ratios without the array's trend with brightness
LIMMA_LOESS_SETTINGS: dict[str, Any] = {"span": 0.3, "iterations": 4}  # defaults of limma
GENE_HEADERS = ("GeneName", "SystematicName", "Description")
COPY_FROM_SCANNER = "copy it again from the scanner's computer"


def read_features(text: str, file_name: str) -> pd.DataFrame:
    """Return the FEATURES block as a table of strings; index = line of the file.

    Raises InvalidInput: no such block, no rows in it, a row that is cut off.
    """
    import pandas as pd

    lines = text.split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("FEATURES\t")), None)
    if start is None:
        raise input_error(
            file_name, f"has no line FEATURES, so no spots: it is cut off; {COPY_FROM_SCANNER}"
        )
    names = [name.strip() for name in lines[start].split("\t")]
    cells = {
        k + 1: lines[k].split("\t")
        for k in range(start + 1, len(lines))
        if lines[k].startswith("DATA")
    }
    for line, row in cells.items():
        if len(row) != len(names):
            raise input_error(
                file_name,
                f"{counted(len(row), 'field')} where the spots have {len(names)}; the file is cut "
                f"off, {COPY_FROM_SCANNER}",
                line,
            )
    if not cells:
        raise input_error(
            file_name,
            f"has no spots (lines DATA) below FEATURES: it is cut off; {COPY_FROM_SCANNER}",
        )
    named_columns = [k for k, name in enumerate(names) if name and k]  # column 0 has "DATA"
    rows = [[row[k].strip() for k in named_columns] for row in cells.values()]
    return pd.DataFrame(
        rows, index=list(cells), columns=[names[k] for k in named_columns], dtype=object
    )


def matrix(text: str, file_name: str, part: str | None) -> Matrix:
    """Return one column as probes × one sample: `part`, or LogRatio, or gProcessedSignal.

    LogRatio is log10 red / green. The part ``loess`` is log2 red / green of the median signals less
    their median backgrounds, without the array's trend with brightness, as in limma; NA for a spot
    that is not above its background. Control spots are left out; the spots of one probe become the
    median of their finite values. The sample is named after the file, without its endings.
    """
    spots = read_features(text, file_name)
    if part == LOESS_PART:
        spots = spots.assign(**{LOESS_PART: _loess_ratios(spots, file_name)})
    spots = _without_controls(spots, file_name)
    header = part or (TWO_COLOUR_COLUMN if TWO_COLOUR_COLUMN in spots else ONE_COLOUR_COLUMN)
    _check_columns(spots, [header], file_name)
    values, not_finite = parse_numbers(spots[[header]])
    rows_of_probe: dict[str, list[int]] = {}
    for row, probe in enumerate(spots["ProbeName"]):
        rows_of_probe.setdefault(probe, []).append(row)
    cells = np.array([[_median_of_finite(values[rows, 0])] for rows in rows_of_probe.values()])
    first_rows = [rows[0] for rows in rows_of_probe.values()]
    texts = {  # of probes without a number: the text of their first spot
        (number, 0): not_finite[first_rows[number], 0]
        for number in map(int, np.flatnonzero(np.isnan(cells[:, 0])))
    }
    lines = tuple(int(spots.index[row]) for row in first_rows)
    return Matrix(tuple(rows_of_probe), (sample_name(file_name),), cells, texts, lines)


def genes(text: str, file_name: str, part: str | None) -> TextTable:
    """Return the columns that describe genes, one row for each probe that is no control."""
    spots = _without_controls(read_features(text, file_name), file_name).drop_duplicates(
        "ProbeName"
    )
    headers = [name for name in GENE_HEADERS if name in spots]
    return TextTable(spots.set_index("ProbeName")[headers])


def _without_controls(spots: pd.DataFrame, file_name: str) -> pd.DataFrame:
    """Return the spots that are no controls; raise InvalidInput if there are none."""
    _check_columns(spots, ["ProbeName", "ControlType"], file_name)
    probes = spots[spots["ControlType"] == "0"]
    if probes.empty:
        raise input_error(
            file_name,
            "every spot is a control (ControlType is never 0); is the array's design file "
            "missing? Run Feature Extraction again with it",
        )
    return probes


def _loess_ratios(spots: pd.DataFrame, file_name: str) -> list[str]:
    """Return log2 red / green of each spot as text, as the other columns of the file are."""
    columns = [
        f"{colour}{signal}" for colour in "rg" for signal in ("MedianSignal", "BGMedianSignal")
    ]
    _check_columns(spots, columns, file_name)
    red, red_background, green, green_background = parse_numbers(spots[columns])[0].T
    ratios = loess_ratios(
        (red - red_background)[None], (green - green_background)[None], **LIMMA_LOESS_SETTINGS
    )
    return ["NA" if np.isnan(ratio) else repr(float(ratio)) for ratio in ratios[0]]


def _check_columns(spots: pd.DataFrame, columns: Sequence[str], file_name: str) -> None:
    """Raise InvalidInput if spots lack one of the columns."""
    for name in columns:
        if name not in spots:
            advice = did_you_mean(name, spots.columns)
            raise input_error(
                file_name,
                f"the spots have no column {name}{advice}; export it by Feature Extraction, or "
                "choose another one by data.part",
                key="data.part",
            )


def _median_of_finite(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the median of the finite values; NaN if there are none."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else float("nan")


AGILENT = Format(
    "an Agilent Feature Extraction file",
    matrix,
    genes=genes,
    parts="column",
    opening=r"TYPE\t[^\n]*\nFEPARAMS\t",
)
