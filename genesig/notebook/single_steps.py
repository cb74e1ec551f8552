"""Single steps of a study: read a file, normalise a matrix."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.new_matrix import check_names
from genesig.data.files.content import absent
from genesig.data.files.delimited import Matrix
from genesig.data.files.layouts import orient
from genesig.data.files.readers import (
    format_of,
    load_schema,
    read_genes,
    read_matrix,
    read_samples,
)
from genesig.data.files.sample_names import table_of_matrix
from genesig.data.steps.normalise import NORMALISERS, bind_steps, fit_steps
from genesig.data.steps.scale import LOG_STEPS
from genesig.data.study.config_check import resolve_config
from genesig.data.study.scale_check import check_scale, rehearse_steps
from genesig.errors import InvalidInput, Problem, refuse
from genesig.results import Dataset, Design
from genesig.results.annotated import dense
from genesig.words import counted, is_missing, listing, number_fault
from genesig.workflow import home

if TYPE_CHECKING:
    import anndata
    import pandas as pd

NO_STUDY = {"expression": "-", "samples": "-", "label": "-"}


def example(name: str) -> Path:
    """Return a file or folder of the example data that come with genesig.

    Parameters
    ----------
    name : str
        As the example studies name it: ``"resources/golub_expression.tsv.gz"``.

    Raises
    ------
    InvalidInput
        There is none of this name.

    Examples
    --------
    >>> sheet = example("config/samples.tsv")
    >>> sheet.is_file()
    True
    """
    path = home() / name
    if not path.exists():
        raise refuse(name, absent(path))
    return path


def read(
    expression: str | Path, samples: str | Path | None = None, *, part: str | None = None
) -> anndata.AnnData:
    """Read an expression matrix of any format, samples in rows.

    Parameters
    ----------
    expression : path
        A file, or a folder of files of one array each.
    samples : path, optional
        The sample table. None takes what the file says of its samples; of a table that may lie
        either way round, the longer side is the genes.
    part : str, optional
        Which matrix of a file that holds several.

    Returns
    -------
    AnnData
        In the order of the sample table, its columns as text in ``obs``; what the file says of its
        genes is in ``var``. Samples that only one of the two files has are left out, and warned of.

    Raises
    ------
    InvalidInput
        What cannot be read, with its place; a cell that is neither a number nor missing.

    Examples
    --------
    >>> expression = example("resources/golub_expression.tsv.gz")
    >>> read(expression, example("config/samples.tsv")).shape
    (38, 3051)
    """
    import anndata
    import pandas as pd

    where = str(expression)
    matrix = read_matrix(expression, part)
    kind = None if Path(expression).is_dir() else format_of(expression)
    alone = None if kind is None or kind.either_way else kind
    about = None
    if samples is not None or (alone is not None and alone.samples is not None):
        own = samples is None or samples == expression
        about = read_samples(samples or expression, matrix.columns, part if own else None)
        about, notes = table_of_matrix(about, matrix, str(samples or expression))
        for problem in notes:
            if problem.level != "note":
                warnings.warn(f"{problem.where}: {problem.what}", stacklevel=2)
        check_names(list(map(str, about.index)), str(samples or expression))
    matrix = _samples_in_rows(matrix, where, about, str(samples or expression))
    check_names(matrix.rows, where)
    _check_cells(matrix, where)
    var = pd.DataFrame(index=pd.Index(matrix.columns, dtype=object))
    if alone is not None and alone.genes is not None:
        known = read_genes(expression, part)
        var = var.join(known[~known.index.duplicated()]).fillna("")
    names = pd.Index(matrix.rows, dtype=object)
    if about is None:
        return anndata.AnnData(matrix.cells, obs=pd.DataFrame(index=names), var=var)
    if len(lone := names.symmetric_difference(about.index)):
        what = f"{counted(len(lone), 'sample')} in one of the two files only, left out"
        warnings.warn(f"{where}: {what}: {listing(lone)}", stacklevel=2)
    obs = about[about.index.isin(names)].rename_axis(None)
    return anndata.AnnData(matrix.cells[names.get_indexer(obs.index)], obs=obs, var=var)


def _check_cells(matrix: Matrix, where: str) -> None:
    """Refuse a cell that is neither a number nor missing."""
    for row, column in np.argwhere(~np.isfinite(matrix.cells)).tolist():
        text = matrix.text(row, column)
        if not is_missing(text):
            at = f"{where}, gene '{matrix.columns[column]}', sample '{matrix.rows[row]}'"
            raise refuse(at, f"the value {number_fault(text)}")


def _samples_in_rows(matrix: Matrix, where: str, about: pd.DataFrame | None, sheet: str) -> Matrix:
    if about is None:
        return matrix if len(matrix.columns) > len(matrix.rows) else matrix.turn()
    problems: list[Problem] = []
    turned = orient(matrix, where, list(about.index), sheet, problems)
    if turned is None:
        raise InvalidInput(problems)
    return turned


def normalise(
    data: anndata.AnnData,
    steps: Sequence[str | Mapping[str, Any]],
    *,
    train: Sequence[Any] | np.ndarray[Any, Any] | None = None,
    batch: str | None = None,
) -> anndata.AnnData:
    """Apply normalisation steps, each learned from the training samples only.

    Parameters
    ----------
    data : AnnData
        Not modified.
    steps : list of names, or of dicts as in the config
        ``["log2", {"step": "variance_filter", "keep": 500}, "unit_variance"]``; what a step is not
        told is its default.
    train : list of sample names or numbers, or mask, optional
        Rows that steps may learn from; None is all of them.
    batch : str, optional
        Column of ``obs``, for a step that corrects batches.

    Returns
    -------
    AnnData
        The genes that are left, with their rows of ``var``.

    Raises
    ------
    InvalidInput
        A step or a setting is not known, there is no training sample, or the values are logarithms
        already and the steps would flatten them; values that look so are warned of.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> adata = AnnData(np.array([[32.0, 64.0], [128.0, 64.0], [512.0, 256.0]]))
    >>> normalise(adata, ["log2", "centre"], train=[0, 1]).X
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  2.]])
    """
    import anndata

    if not hasattr(data, "obs_names"):
        raise refuse("data", f"is a {type(data).__name__}; give an AnnData: anndata.AnnData(frame)")
    if isinstance(steps, str) or not all(isinstance(each, str | Mapping) for each in steps):
        raise refuse("steps", "are no list of names or dicts; write them as ['log2', 'centre']")
    listed = [{"step": each} if isinstance(each, str) else dict(each) for each in steps]
    raw = {**NO_STUDY, "normalise": {"samples": [], "folds": listed}}
    told = resolve_config(raw, load_schema(), "genesig.normalise")["normalise"]["folds"]
    var = data.var if "symbol" in data.var else data.var.assign(symbol=data.var_names)
    design = Design("", "regression", None, None, None, batch)
    known = Dataset(dense(data.X, "the AnnData"), data.obs, var, design, {})
    _check_size(known, told)
    rows = slice(None) if train is None else train
    try:
        learned = data[rows].obs_names
    except (IndexError, KeyError, ValueError) as error:
        what = f"is no choice of the {data.n_obs} samples ({' '.join(str(error).split())[:120]}); "
        what += "give names, row numbers from 0, or a mask of all samples"
        raise refuse("train", what) from None
    if not len(learned):
        raise refuse("train", "names no sample; steps learn from at least one")
    at = known.rows(list(learned))
    fitted = fit_steps(known.X[at], bind_steps(told, replace(known)), known.obs.iloc[at])
    return anndata.AnnData(
        fitted.transform(known.X, known.obs), obs=data.obs.copy(), var=data.var.iloc[fitted.genes]
    )


def _check_size(data: Dataset, steps: Sequence[dict[str, Any]]) -> None:
    """Say what `genesig validate` says of steps that take logarithms, or counts."""
    asked = {step["step"] for step in steps}
    where = "genesig.normalise"
    first = list(takewhile(lambda step: NORMALISERS[step["step"]].kind == "sample", steps))
    found: list[Problem] = []
    if asked & LOG_STEPS and np.isfinite(data.X).any():
        found += check_scale(data.X, {"samples": [], "folds": steps}, where)
        found += rehearse_steps(data.X, {"samples": first, "folds": []}, where, None, data.var)
    if errors := [problem for problem in found if problem.level == "error"]:
        raise InvalidInput(errors)
    for problem in found:
        warnings.warn(f"{problem.where}: {problem.what}", stacklevel=3)
