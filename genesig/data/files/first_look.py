"""A first look at a matrix: what the config and the sample table of a new study can say already."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.interface import Format
from genesig.data.files.formats.sample_tags import KEPT
from genesig.data.files.formats.table import TABLES
from genesig.data.files.geo_archive import fetch
from genesig.data.files.names import FOLDER, is_series
from genesig.data.files.readers import format_of, read_matrix, read_samples
from genesig.data.steps.scale import looks_raw, sizes
from genesig.errors import InvalidInput, refuse
from genesig.results.cells import cell
from genesig.results.new_study import Start
from genesig.words import control_first, is_missing, is_number, listing

if TYPE_CHECKING:
    import pandas as pd

# Fewer samples of a class cannot be split outside and inside.
LEAST = 3
# What most studies of people would hold fixed.
COVARIATES = re.compile(
    r"(age|sex|gender|bmi|smok\w*|centre|center|site|batch|grade|stage|size)\b.*", re.IGNORECASE
)
# From this share of cells on that are words, a table is no matrix.
MOST_WORDS = 0.1
RMA: dict[str, Any] = {
    "samples": [{"step": "rma_background"}],
    "folds": [{"step": s} for s in ("quantile", "median_polish", "centre", "unit_variance")],
}


def first_look(path: str, part: str | None, folder: str | Path) -> Start:
    """Read a matrix and return what a study of it begins with.

    A file that describes its samples is its own sample table. Its first column with two to six
    classes is proposed as label, with the two that have most samples. For other files a sample
    table is prepared. Columns that are usual covariates are named, and none is held fixed unasked.

    Parameters
    ----------
    path, part : str
        ``expression`` and ``data.part`` of the config; a series of GEO is downloaded.
    folder : path
        That of the study, from where the config sees its files.

    Raises
    ------
    InvalidInput
        The matrix cannot be read.
    """
    if is_series(path):
        path = str(fetch(path, Path(folder) / FOLDER))
    matrix = read_matrix(path, part)
    _check_numbers(matrix, path)
    kind = None if Path(path).is_dir() else format_of(path)
    expression = _seen_from(folder, path)
    normalise, why = _steps(matrix)
    settings: dict[str, Any] = {} if part is None else {"data": {"part": part}}
    if normalise:
        settings["normalise"] = normalise
    table = _samples(path, part, matrix) if kind is not None and _describes(kind) else None
    if table is None:
        return Start(expression=expression, sheet=_sheet(matrix, kind), settings=settings, why=why)
    label, classes, about = _labels(table)
    if classes:
        settings.setdefault("data", {})["classes"] = classes
    about = (*about, *_covariates(table, label))
    return Start(expression, expression, label, "", settings, (*why, *about))


def _check_numbers(matrix: Matrix, path: str) -> None:
    """Refuse a table with a column or row of words: it is one about samples or genes."""
    words = [text for text in matrix.texts.values() if not is_missing(text)]
    if len(words) >= MOST_WORDS * max(matrix.cells.size, 1):
        what = f"{len(words)} of {matrix.cells.size} cells are no numbers ({listing(words)}); "
        commas = sum("," in text and is_number(text.replace(",", ".")) for text in words)
        table = "is it a table about samples or genes? Name the expression matrix"
        what += "export the table with decimal points" if 2 * commas > len(words) else table
        raise refuse(path, what)


def _seen_from(folder: str | Path, path: str) -> str:
    """Return the shorter way to write a file: from the study's folder, or from the root."""
    absolute = Path(path).resolve().as_posix()
    near = Path(os.path.relpath(absolute, Path(folder).resolve())).as_posix()
    return min(near, absolute, key=len)


def _describes(kind: Format) -> bool:
    return kind.samples is not None and kind not in TABLES.values()


def _samples(path: str, part: str | None, matrix: Matrix) -> pd.DataFrame | None:
    try:
        return read_samples(path, matrix.columns, part)
    except InvalidInput:  # a file of a format that may describe samples, and does not
        return None


def _steps(matrix: Matrix) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the section ``normalise`` that the size of the values calls for, and the reason."""
    cells = matrix.cells[np.isfinite(matrix.cells)]
    if matrix.line_word == "probe":
        return RMA, ("Raw intensities of probes: RMA.",)
    if not cells.size:
        return {}, ()
    least, p99, most = sizes(cells)
    if not looks_raw(p99, most):
        return {}, ()
    size = f"99th percentile {p99:.4g}, maximum {most:.4g}"
    if least >= 0 and bool((cells == np.round(cells)).all()):
        step = "log_cpm"
        why = (
            f"Whole numbers that were never logged ({size}), read as counts; take log2 for arrays."
        )
    else:
        step, why = "log2", f"Values that were never logged ({size})."
    return {"samples": [{"step": step}]}, (why,)


def _sheet(matrix: Matrix, kind: Format | None) -> str:
    """Prepare a sample table; what may lie either way has more genes than samples."""
    wide = len(matrix.columns) > len(matrix.rows)
    names = matrix.rows if wide and kind is not None and kind.either_way else matrix.columns
    return "sample\tdiagnosis\tpatient\n" + "".join(f"{cell(name)}\t\t\n" for name in names)


def _labels(table: pd.DataFrame) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the first column that may be a label, its classes, and a line for each such column."""
    found: dict[str, Counter[str]] = {}
    # Of what GEO says of a sample, the characteristics are written for the purpose.
    for name in sorted(table.columns, key=lambda name: name in KEPT):
        counts = Counter(cell for cell in table[name] if not is_missing(cell))
        if 2 <= len(counts) <= 6 and counts.most_common(2)[1][1] >= LEAST:
            found[str(name)] = counts
    if not found:
        return "diagnosis", [], (f"Columns of samples: {', '.join(table.columns)}.",)
    lines = tuple(
        f"Column '{name}': " + ", ".join(f"{word} ({n})" for word, n in counts.most_common())
        for name, counts in found.items()
    )
    label = next(iter(found))
    two = [word for word, _ in found[label].most_common(2)]
    return label, control_first(two), lines


def _covariates(table: pd.DataFrame, label: str) -> tuple[str, ...]:
    """Return a line with the setting that holds usual covariates fixed, where there are such."""
    names = []
    for name in map(str, table.columns):
        cells = [cell for cell in table[name] if not is_missing(cell)]
        few = len(set(cells)) <= len(cells) // LEAST or all(map(is_number, cells))
        if name != label and COVARIATES.fullmatch(name) and len(set(cells)) > 1 and few:
            names.append(name)
    if not names:
        return ()
    listed = json.dumps(names, ensure_ascii=False)
    ask = "Usual covariates; to hold them fixed, so that genes count for what they add to them:"
    return (ask, f"  data: {{covariates: {listed}}}, and nonlinear: {{enabled: false}}")
