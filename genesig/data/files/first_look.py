"""A first look at a matrix: what the config and the sample table of a new study can say already."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import (
    BATCH,
    are_codes,
    cells_of,
    class_columns,
    covariates,
    is_covariate,
    number_columns,
)
from genesig.data.files.config_text import on_top
from genesig.data.files.delimited import Matrix
from genesig.data.files.event_columns import Pair, pairs
from genesig.data.files.formats.geo_series import KEPT
from genesig.data.files.formats.interface import Format
from genesig.data.files.geo_counts import lack_of_values, present_counts
from genesig.data.files.headers import with_names_of
from genesig.data.files.layouts import orient
from genesig.data.files.names import FOLDER, fetch, is_series
from genesig.data.files.non_genes import Surroundings, leave_out_non_genes
from genesig.data.files.readers import format_of, parts_of_files, read_matrix, read_samples
from genesig.data.files.sample_names import table_of_matrix, without_absent
from genesig.data.steps.imputation import step_for_missing
from genesig.data.steps.scale import (
    genes_standardised,
    log2_step,
    looks_counted,
    looks_raw,
    never_logged,
    sizes,
    zeros_stand_apart,
)
from genesig.data.steps.zeros import ZEROS_AS_MISSING as ZEROS
from genesig.errors import InvalidInput, Problem, refuse
from genesig.response.design import label_columns
from genesig.results.files import cell
from genesig.results.new_study import Start
from genesig.words import (
    alike,
    as_word,
    control_first,
    flow,
    is_missing,
    is_number,
    listing,
    without_thousands,
)

if TYPE_CHECKING:
    import pandas as pd

FOLDS = 7
"""Samples that each of several classes needs: five outer folds leave enough for five inner ones."""
Label = str | dict[str, Any]
Lines = tuple[str, ...]
NO_NEW_SAMPLE = "no new sample can be put on this scale, and test samples took part in it"
# From this share of cells on that are words, a table is no matrix.
MOST_WORDS = 0.1
# The same with the columns that stand beside the genes, or say something of the samples.
MOST_WORDS_BESIDE = 1 / 3
RMA: dict[str, Any] = {
    "samples": [{"step": "rma_background"}],
    "folds": [{"step": s} for s in ("quantile", "median_polish", "centre", "unit_variance")],
}


def first_look(
    path: str, part: str | None, folder: str | Path, samples: str | None = None
) -> Start:
    """Read a matrix and return what a study of it begins with.

    A file that describes its samples is its own sample table, where none is named; for other files
    one is prepared. Proposed as label are columns of times and events, else the first column with
    two to six classes, else one of numbers. Usual covariates are named, and none is held fixed
    unasked.

    Parameters
    ----------
    path, part : str
        ``expression`` and ``data.part`` of the config; a series of GEO is downloaded.
    folder : path
        That of the study, from where the config sees its files.
    samples : str or None
        A sample table.

    Raises
    ------
    InvalidInput
        The matrix or the sample table cannot be read.
    """
    if is_series(path):
        series_matrix = fetch(path, Path(folder) / FOLDER)
        if reason := lack_of_values(series_matrix):
            raise refuse(series_matrix, reason)
        path = str(series_matrix)
    of_matrix, of_samples = parts_of_files(part, path, samples)
    matrix = read_matrix(path, of_matrix)
    table = None
    notes: list[Problem] = []
    if samples is not None:
        table = read_samples(samples, matrix.columns, of_samples)
        table, notes = table_of_matrix(table, matrix, samples)
        matrix = with_names_of(matrix, list(map(str, table.index)))
        table, _ = without_absent(table, (matrix.columns, matrix.rows), samples, path, notes)
        matrix = _of(table, samples, matrix, path)
    kind = kind_of(path)
    _check_numbers(matrix, path, MOST_WORDS_BESIDE)
    doubt = (f"{matrix.doubt[:1].upper()}{matrix.doubt[1:]}.",) if matrix.doubt else ()
    matrix, lines = _genes_only(matrix, path, table, kind)
    _check_numbers(matrix, path, MOST_WORDS)
    expression = _seen_from(folder, path)
    origin = _origin(path, matrix)
    if origin:  # where counts are known, their shape decides nothing
        normalise = {"samples": [{"step": "log_cpm"}]}
        why = origin
    else:
        normalise, why = _steps(matrix)
    lacking, more = _missing(matrix, counted=bool(origin))
    named_part = {} if part is None else {"data": {"part": part}}
    settings = on_top(named_part, {"normalise": normalise} if normalise else {}, lacking)
    why = (*why, *more, *doubt, *lines)
    if table is None and kind is not None and _describes(kind):
        table = _samples(path, part, matrix)
    if table is None:
        return Start(expression=expression, sheet=_sheet(matrix, kind), settings=settings, why=why)
    genes = {*matrix.rows, *matrix.columns}
    label, data, about = _proposed(table.loc[:, [name not in genes for name in table.columns]])
    if data:
        settings["data"] = settings.get("data", {}) | data
    if len(data.get("classes", ())) == 2 or "task" in data:
        about = (*about, *_covariates(table, label))
    where = expression if samples is None else _seen_from(folder, samples)
    names = tuple(f"{note.where}: {note.what}." for note in notes)
    return Start(expression, where, label, "", settings, (*why, *names, *about))


def _origin(path: str, matrix: Matrix) -> Lines:
    """Say that the values are counts where the file says so; nothing elsewhere."""
    files = present_counts(path)
    if files is not None:
        return (f"The values are counts that NCBI made: {files.counts.name}.",)
    return ("The values are counts, by the object in the file.",) if matrix.has_counts else ()


def _of(table: pd.DataFrame, samples: str, matrix: Matrix, path: str) -> Matrix:
    """Return the samples of a table, in rows: columns beside the ids say nothing of them."""
    problems: list[Problem] = []
    names = list(map(str, table.index))
    turned = orient(matrix, path, names, samples, problems)
    if turned is None:
        raise InvalidInput(problems)
    known = set(names)
    kept = turned.chosen([row for row, name in enumerate(turned.rows) if name in known])
    return replace(
        kept, line_word=matrix.line_word, doubt=matrix.doubt, has_counts=matrix.has_counts
    )


def kind_of(path: str) -> Format | None:
    """Return the format of a file, None for a folder."""
    return None if Path(path).is_dir() else format_of(path)


def _genes_only(
    matrix: Matrix, path: str, table: pd.DataFrame | None, kind: Format | None
) -> tuple[Matrix, Lines]:
    """Return a matrix as it lies in its file without what is no gene or sample, and what that is.

    Samples are in the rows where a sample table has put them there; else on the shorter side of a
    matrix that may lie either way.
    """
    in_rows = table is not None or _samples_are_rows(matrix, kind)
    oriented = matrix if in_rows else matrix.turn()
    genes, _, problems = leave_out_non_genes(oriented, path, Surroundings(table))
    lines = tuple(f"{problem.what[:1].upper()}{problem.what[1:]}." for problem in problems)
    return genes if in_rows else genes.turn(), lines


def _samples_are_rows(matrix: Matrix, kind: Format | None) -> bool:
    wide = len(matrix.columns) > len(matrix.rows)
    return wide and kind is not None and kind.either_way


def _check_numbers(matrix: Matrix, path: str, most: float) -> None:
    """Refuse a table with a column or row of words: it is one about samples or genes."""
    words = [text for text in matrix.texts.values() if not is_missing(text)]
    if len(words) >= most * max(matrix.cells.size, 1):
        what = f"{len(words)} of {matrix.cells.size} cells are no numbers ({listing(words)}); "
        commas = sum("," in text and is_number(text.replace(",", ".")) for text in words)
        table = "is it a table about samples or genes? Name the expression matrix"
        signs = sum(bool(without_thousands(text)) for text in words)
        if 2 * (commas + signs) > len(words):
            table = "export the table with decimal points"
            table = f"{table} and without signs of thousands" if signs else table
        what += table
        raise refuse(path, what)


def _seen_from(folder: str | Path, path: str) -> str:
    """Return the shorter way to write a file: from the study's folder, or from the root."""
    absolute = Path(path).resolve().as_posix()
    near = Path(os.path.relpath(absolute, Path(folder).resolve())).as_posix()
    return min(near, absolute, key=len)


def _describes(kind: Format) -> bool:
    return kind.samples is not None and kind.samples is not kind.genes  # as of plain tables


def _samples(path: str, part: str | None, matrix: Matrix) -> pd.DataFrame | None:
    try:
        table = read_samples(path, matrix.columns, part)
    except InvalidInput:  # a file of a format that may describe samples, and does not
        return None
    itself = not matrix.texts and tuple(map(str, table.columns)) == matrix.columns
    return None if itself else table  # a workbook whose only sheet is the matrix


def _steps(matrix: Matrix) -> tuple[dict[str, Any], Lines]:
    """Return the section ``normalise`` that the shape of the values calls for, and the reason."""
    if matrix.line_word == "probe":
        return RMA, ("Raw intensities of probes: RMA.",)
    X = _samples_in_rows(matrix)
    first: list[dict[str, Any]] = []
    if zeros_stand_apart(X):
        X = np.where(X == 0, np.nan, X)
        first = [{"step": ZEROS}]
    if standardised := genes_standardised(X):
        layers = f"; choose a layer by --part: {listing(matrix.parts)}" if matrix.parts else ""
        return {}, (f"The genes are {standardised} over all samples: {NO_NEW_SAMPLE}{layers}.",)
    steps, why = _logarithms(X)
    return {"samples": first + steps} if first or steps else {}, why


def _logarithms(X: Array) -> tuple[list[dict[str, Any]], Lines]:
    """Return the step that takes logarithms of X (n_samples, n_genes), and the reason."""
    cells = X[np.isfinite(X)]
    if not cells.size:
        return [], ()
    _, p99, largest = sizes(cells)
    size = f"99th percentile {p99:.4g}, maximum {largest:.4g}, median {np.median(cells):.4g}"
    if not never_logged(X):
        near = "though they are large: they lie close together"
        said = f"Values that look logged ({size}), {near}; nothing is done to them."
        return [], (said,) if looks_raw(p99, largest) else ()
    if looks_counted(cells):
        zeros = "zeros among whole numbers" if (cells == 0).any() else "whole numbers from near 0"
        why = f"Counts, never logged ({size}): {zeros}."
        return [{"step": "log_cpm"}], (why,)
    shape = "no zero" if (cells > 0).all() else "hardly any whole number"
    why = f"Values that were never logged ({size}), with {shape}; log_cpm is for counts."
    step = log2_step(X)
    return [step], (why, *_of_floor(X, step))


def _of_floor(X: Array, step: Mapping[str, Any]) -> Iterator[str]:
    """Say how many values lie below a floor that is not the default."""
    if "floor" in step:
        values = X[np.isfinite(X)]
        share = 100 * float(np.mean((values != 0) & (values < step["floor"])))
        yield f"The floor follows the data: {share:.2g} % of the values lie below, zeros aside."


def _samples_in_rows(matrix: Matrix) -> Array:
    """Return the cells as (n_samples, n_genes); what may lie either way has more genes."""
    return matrix.cells.T if len(matrix.columns) < len(matrix.rows) else matrix.cells


def _missing(matrix: Matrix, counted: bool) -> tuple[dict[str, Any], Lines]:
    """Return the settings that missing cells call for, and the reason; nothing without any.

    A zero of a matrix that is `counted` is a count.
    """
    X = np.where(np.isfinite(matrix.cells), matrix.cells, np.nan)
    zeros = not counted and zeros_stand_apart(X)
    X = _samples_in_rows(replace(matrix, cells=np.where(X == 0, np.nan, X) if zeros else X))
    lost = np.isnan(X)
    if not lost.any():
        return {}, ()
    step = step_for_missing(X)
    low = step == "left_censored"
    why = "they are of low genes: too small to be measured" if low else "filled in from genes alike"
    other = "knn_impute" if low else "left_censored"
    written = ", written as 0, with no small value beside them" if zeros else ""
    said = f"{int(lost.sum())} of {lost.size} cells are missing{written} "
    said += f"({why}; the other step is {other})."
    folds = [{"step": step}, {"step": "centre"}, {"step": "unit_variance"}]
    return {"data": {"missing": True}, "normalise": {"folds": folds}}, (said,)


def _sheet(matrix: Matrix, kind: Format | None) -> str:
    """Prepare a sample table; what may lie either way has more genes than samples."""
    names = matrix.rows if _samples_are_rows(matrix, kind) else matrix.columns
    return "sample\tdiagnosis\tpatient\n" + "".join(f"{cell(name)}\t\t\n" for name in names)


def _proposed(table: pd.DataFrame) -> tuple[Label, dict[str, Any], Lines]:
    """Return the label, what the section ``data`` says of it, and a line for each candidate.

    Times with events first, then classes, then numbers; what most studies hold fixed comes last.
    """
    found = pairs(table)
    numbers = list(number_columns(table))
    of_pairs = {name for pair in found for name in (pair.time, pair.event, *pair.follow_up_times)}
    classes = {name: counts for name, counts in class_columns(table) if name not in of_pairs}
    lines = (
        *(_of_pair(table, pair) for pair in found),
        *starmap(_of_classes, classes.items()),
        *(_of_numbers(table, name) for name in numbers if name not in of_pairs),
    )
    if found:
        first = found[0]
        event = {} if first.word is None else {"event": first.word}
        return first.label, {"task": "survival", **event}, lines
    # Of what GEO says of a sample, the characteristics are written for the purpose.
    named = sorted(classes, key=lambda name: (is_covariate(name), name in KEPT))
    if numbers and (not named or is_covariate(named[0])):
        return numbers[0], {"task": "regression"}, lines
    if named:
        return named[0], _of_these(classes[named[0]]), lines
    return "diagnosis", {}, (f"Columns of samples: {', '.join(table.columns)}.",)


def _of_these(counts: Counter[str]) -> dict[str, Any]:
    """Choose two classes; all of more where they are large enough; none where two may be one."""
    if alike(counts, as_word):
        return {}
    several = [word for word, n in counts.items() if n >= FOLDS]
    if len(several) > 2:
        return {} if len(several) == len(counts) else {"classes": sorted(several)}
    return {"classes": control_first([word for word, _ in counts.most_common(2)])}


def _of_pair(table: pd.DataFrame, pair: Pair) -> str:
    events = Counter(cells_of(table, pair.event))
    words = ", ".join(f"{word} ({n})" for word, n in events.most_common())
    taken = "1" if pair.word is None else pair.word
    text = f"Columns '{pair.time}' and '{pair.event}': {words}, of which {taken} is taken for the"
    return f"{text} event: survival, label: {flow(pair.label)}"


def _of_classes(name: str, counts: Counter[str]) -> str:
    """Name the classes, and two of more that could be compared."""
    text = f"Column '{name}': " + ", ".join(f"{word} ({n})" for word, n in counts.most_common())
    if same := alike(counts, as_word):
        return f"{text}; write {listing(same[0])} alike, which look like one class"
    if len(_of_these(counts).get("classes", counts)) < 3:
        return text
    two = control_first([word for word, _ in counts.most_common(2)])
    return f"{text}: several classes; data: {flow({'classes': two})} would compare two"


def _of_numbers(table: pd.DataFrame, name: str) -> str:
    values = [float(cell) for cell in cells_of(table, name)]
    return f"Column '{name}': {min(values):g} to {max(values):g}, numbers: data.task: regression"


def _covariates(table: pd.DataFrame, label: Label) -> Lines:
    """Return a line with the setting that holds usual covariates fixed, where there are such."""
    names = covariates(table, label_columns(label))
    lines = [
        f"Column '{name}' says which samples were processed together: data: {{batch: {name}}}"
        for name in map(str, table.columns)
        if BATCH.fullmatch(name)
    ]
    if not names:
        return tuple(lines)
    lacking = any(len(cells_of(table, name)) < len(table) for name in names)
    listed = json.dumps(names, ensure_ascii=False)
    more = ", missing_covariates: mean" if lacking else ""
    codes = [name for name in names if are_codes(name, cells_of(table, name))]
    if codes:
        more += f", categorical_covariates: {json.dumps(codes, ensure_ascii=False)}"
    ask = "Usual covariates; to hold them fixed, so that genes count for what they add to them:"
    return (*lines, ask, f"  data: {{covariates: {listed}{more}}}")
