"""Agilent Feature Extraction: one text file for each array, three blocks, the last the spots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.cells import numbers
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import sample_name
from genesig.data.files.formats.interface import Format
from genesig.data.steps.two_colour import loess_ratios
from genesig.errors import did_you_mean, refuse
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

TWO_COLOURS = "LogRatio"
ONE_COLOUR = "gProcessedSignal"
LOESS = "loess"
AS_LIMMA: dict[str, Any] = {"span": 0.3, "iterations": 4}
ABOUT_GENES = ("GeneName", "SystematicName", "Description")
AGAIN = "copy it again from the scanner's computer"


def features(text: str, where: str) -> pd.DataFrame:
    """Read the FEATURES block as text; index = line of the file.

    Raises
    ------
    InvalidInput
        No such block, no rows in it, a row that is cut off.
    """
    import pandas as pd

    lines = text.split("\n")
    start = next((k for k, line in enumerate(lines) if line.startswith("FEATURES\t")), None)
    if start is None:
        raise refuse(where, f"has no line FEATURES, so no spots: it is cut off; {AGAIN}")
    names = [name.strip() for name in lines[start].split("\t")]
    cells = {
        k + 1: lines[k].split("\t")
        for k in range(start + 1, len(lines))
        if lines[k].startswith("DATA")
    }
    for line, row in cells.items():
        if len(row) != len(names):
            raise refuse(
                where,
                f"{counted(len(row), 'field')} where the spots have {len(names)}; "
                f"the file is cut off, {AGAIN}",
                line,
            )
    if not cells:
        raise refuse(where, f"has no spots (lines DATA) below FEATURES: it is cut off; {AGAIN}")
    kept = [k for k, name in enumerate(names) if name and k]
    rows = [[row[k].strip() for k in kept] for row in cells.values()]
    return pd.DataFrame(rows, index=list(cells), columns=[names[k] for k in kept], dtype=object)


def matrix(text: str, where: str, part: str | None) -> Matrix:
    """Read one column: `part`, or LogRatio (log10 red / green), or gProcessedSignal of one colour.

    The part ``loess`` is log2 red / green of the median signals less their median backgrounds,
    without the array's trend with brightness, as limma has it; NA where one is not above its
    background. Control spots are left out; the spots of one probe become their median, that of
    their finite values. The sample is called as the file, without its endings.
    """
    spots = features(text, where)
    if part == LOESS:
        spots = spots.assign(**{LOESS: _loess(spots, where)})
    spots = _probes(spots, where)
    column = part or (TWO_COLOURS if TWO_COLOURS in spots else ONE_COLOUR)
    _need(spots, [column], where)
    values, bad = numbers(spots[[column]])
    groups: dict[str, list[int]] = {}
    for row, probe in enumerate(spots["ProbeName"]):
        groups.setdefault(probe, []).append(row)
    cells = np.array([[_median(values[rows, 0])] for rows in groups.values()])
    first = [rows[0] for rows in groups.values()]
    texts = {(k, 0): bad[first[k], 0] for k in map(int, np.flatnonzero(np.isnan(cells[:, 0])))}
    lines = tuple(int(spots.index[row]) for row in first)
    return Matrix(tuple(groups), (sample_name(where),), cells, texts, lines)


def genes(text: str, where: str, part: str | None) -> pd.DataFrame:
    """Read what the spots say of their genes."""
    spots = _probes(features(text, where), where).drop_duplicates("ProbeName")
    found = [name for name in ABOUT_GENES if name in spots]
    table = spots.set_index("ProbeName")[found]
    table.attrs["lines"] = [int(line) for line in spots.index]
    return table


def _probes(spots: pd.DataFrame, where: str) -> pd.DataFrame:
    _need(spots, ["ProbeName", "ControlType"], where)
    kept = spots[spots["ControlType"] == "0"]
    if kept.empty:
        raise refuse(
            where,
            "every spot is a control (ControlType is never 0); is the array's "
            "design file missing? Run Feature Extraction again with it",
        )
    return kept


def _loess(spots: pd.DataFrame, where: str) -> list[str]:
    """Return the ratio of each spot as text, as the columns of the file are."""
    columns = [f"{colour}{kind}" for colour in "rg" for kind in ("MedianSignal", "BGMedianSignal")]
    _need(spots, columns, where)
    red, red_glow, green, green_glow = numbers(spots[columns])[0].T
    ratios = loess_ratios((red - red_glow)[None], (green - green_glow)[None], **AS_LIMMA)
    return ["NA" if np.isnan(ratio) else repr(float(ratio)) for ratio in ratios[0]]


def _need(spots: pd.DataFrame, columns: Sequence[str], where: str) -> None:
    for name in columns:
        if name not in spots:
            near = did_you_mean(name, spots.columns)
            raise refuse(
                where,
                f"the spots have no column {name}{near}; export it by Feature "
                "Extraction, or choose another one by data.part",
            )


def _median(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if finite.size else float("nan")


AGILENT = Format(
    "an Agilent Feature Extraction file",
    matrix,
    None,
    genes,
    parts="column",
    opening=r"TYPE\t[^\n]*\nFEPARAMS\t",
)
