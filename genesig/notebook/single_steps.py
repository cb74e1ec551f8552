"""Single steps of a study: read a file, take the matrix of a program, normalise a matrix."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.new_matrix import check_sample_names, read_new_samples
from genesig.data.files.content import missing_file_message
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.text import number_matrix
from genesig.data.files.layouts import orient
from genesig.data.files.non_genes import Surroundings
from genesig.data.files.readers import (
    format_of,
    load_schema,
    read_genes,
    read_matrix,
    read_sample_table,
)
from genesig.data.files.sample_names import table_of_matrix
from genesig.data.steps.normalise import NORMALISERS, bind_steps, fit_steps
from genesig.data.steps.scale import LOG_STEPS
from genesig.data.study.config_check import resolve_config
from genesig.data.study.matrix_check import leave_out_other_columns
from genesig.data.study.scale_check import check_scale, rehearse_steps
from genesig.errors import InvalidInput, Problem, input_error
from genesig.results import Dataset, Design
from genesig.results.annotated import dense, values_of
from genesig.words import counted, is_missing, listing, number_fault
from genesig.workflow import shipped_folder

if TYPE_CHECKING:
    import anndata
    import pandas as pd

PLACEHOLDER_KEYS = {"expression": "-", "samples": "-", "label": "-"}
"""Required keys of a config; its check reads no files, so that their values do not matter."""


def example(name: str) -> Path:
    """Return a file or folder of the example data that come with genesig.

    Parameters
    ----------
    name : str
        Path in the example studies, such as ``"resources/golub_expression.tsv.gz"``.

    Raises
    ------
    InvalidInput
        There is no such file.

    Examples
    --------
    >>> sheet = example("config/samples.tsv")
    >>> sheet.is_file()
    True
    """
    path = shipped_folder() / name
    if not path.exists():
        raise input_error(name, missing_file_message(path))
    return path


def read(
    expression: str | Path,
    samples: str | Path | None = None,
    *,
    part: str | None = None,
    keep: Sequence[str] = (),
) -> anndata.AnnData:
    """Read an expression matrix of any format, samples in rows.

    Parameters
    ----------
    expression : path
        A file, or a folder of files of one array each.
    samples : path, optional
        The sample table. None uses the description of samples in the expression file. If a table
        may have samples as rows or as columns, its longer side is taken as genes.
    part : str, optional
        Which matrix of a file that holds several.
    keep : list of str, optional
        Kinds of rows and columns that stay although they are no genes, as ``data.keep`` of a study:
        ``["controls"]``.

    Returns
    -------
    AnnData
        In the order of the sample table, with its columns as text in ``obs``, and the file's
        description of genes in ``var``. Rows and columns that are no genes are left out, as in a
        study. Samples in only one of the two files are left out, with a
        warning.

    Raises
    ------
    InvalidInput
        The file cannot be read, or a cell is neither a number nor missing; with its position.

    Examples
    --------
    >>> expression = example("resources/golub_expression.tsv.gz")
    >>> read(expression, example("config/samples.tsv")).shape
    (38, 3051)
    """
    import anndata
    import pandas as pd

    source = str(expression)
    matrix = read_matrix(expression, part)
    file_format = format_of(expression)
    # A plain table, of which either side may have the samples, describes neither samples nor genes.
    described_format = None if file_format is None or file_format.either_way else file_format
    sample_file = str(samples or expression)
    sample_table = None
    problems: list[Problem] = []
    if samples is not None or (
        described_format is not None and described_format.samples is not None
    ):
        part_of_table = part if samples in (None, expression) else None
        file_table = read_sample_table(samples or expression, matrix.columns, part_of_table)
        file_table, problems = table_of_matrix(file_table, matrix, sample_file)
        sample_table = file_table.cells
        check_sample_names(list(map(str, sample_table.index)), sample_file)
    matrix = _samples_in_rows(matrix, source, sample_table, sample_file)
    surroundings = Surroundings(sample_table, kept_kinds=keep)
    matrix, _ = leave_out_other_columns(matrix, source, surroundings, problems)
    if errors := [problem for problem in problems if problem.level == "error"]:
        raise InvalidInput(errors)
    for problem in problems:
        if problem.level == "warning":
            warnings.warn(f"{problem.location}: {problem.message}", stacklevel=2)
    check_sample_names(matrix.rows, source)
    _check_cells(matrix, source)
    var = pd.DataFrame(index=pd.Index(matrix.columns, dtype=object))
    if described_format is not None and described_format.genes is not None:
        gene_table = read_genes(expression, part)
        var = var.join(gene_table[~gene_table.index.duplicated()]).fillna("")
    names = pd.Index(matrix.rows, dtype=object)
    if sample_table is None:
        return anndata.AnnData(matrix.cells, obs=pd.DataFrame(index=names), var=var)
    if len(unmatched := names.symmetric_difference(sample_table.index)):
        message = f"{counted(len(unmatched), 'sample')} in one of the two files only, left out"
        warnings.warn(f"{source}: {message}: {listing(unmatched)}", stacklevel=2)
    obs = sample_table[sample_table.index.isin(names)].rename_axis(None)
    return anndata.AnnData(matrix.cells[names.get_indexer(obs.index)], obs=obs, var=var)


def _check_cells(matrix: Matrix, source: str) -> None:
    """Raise at a cell that is neither a number nor missing."""
    for row, column in np.argwhere(~np.isfinite(matrix.cells)).tolist():
        text = matrix.text(row, column)
        if not is_missing(text):
            cell_place = f"{source}, gene '{matrix.columns[column]}', sample '{matrix.rows[row]}'"
            raise input_error(cell_place, f"the value {number_fault(text)}")


def _samples_in_rows(
    matrix: Matrix, source: str, sample_table: pd.DataFrame | None, sheet: str
) -> Matrix:
    """Return the matrix with samples in rows.

    They are the side that has the table's samples or, without a table, the shorter side. `sheet` is
    the file of the table, for messages.
    """
    if sample_table is None:
        return matrix if len(matrix.columns) > len(matrix.rows) else matrix.transpose()
    problems: list[Problem] = []
    oriented = orient(matrix, source, list(sample_table.index), sheet, problems)
    if oriented is None:
        raise InvalidInput(problems)
    return oriented


def normalise(
    data: anndata.AnnData,
    steps: Sequence[str | Mapping[str, Any]],
    *,
    train: Sequence[Any] | np.ndarray[Any, Any] | None = None,
    batch: str | None = None,
) -> anndata.AnnData:
    """Return the data after normalisation steps, each learned from the training samples only.

    Parameters
    ----------
    data : AnnData
        Not modified.
    steps : list of names, or of dicts as in the config
        ``["log2", {"step": "variance_filter", "keep": 500}, "unit_variance"]``; other settings of a
        step have their defaults.
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
        A step or a setting is not known, there is no training sample, or the steps would take
        logarithms of logarithms; doubtful values give a warning.

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
        raise input_error(
            "data", f"is a {type(data).__name__}; give an AnnData: anndata.AnnData(frame)"
        )
    if isinstance(steps, str) or not all(isinstance(step, str | Mapping) for step in steps):
        raise input_error(
            "steps", "are no list of names or dicts; write them as ['log2', 'centre']"
        )
    step_dicts = [{"step": step} if isinstance(step, str) else dict(step) for step in steps]
    # All steps are those of `normalise.folds`, which alone may learn from training samples.
    raw_config = {**PLACEHOLDER_KEYS, "normalise": {"samples": [], "folds": step_dicts}}
    resolved_steps = resolve_config(raw_config, load_schema(), "genesig.normalise")["normalise"][
        "folds"
    ]
    var = data.var if "symbol" in data.var else data.var.assign(symbol=data.var_names)
    design = Design(label="", task="regression", classes=None, group=None, pair=None, batch=batch)
    dataset = Dataset(
        X=dense(data.X, "the AnnData"), obs=data.obs, var=var, design=design, provenance={}
    )
    _check_scale_of_steps(dataset, resolved_steps)
    rows = slice(None) if train is None else train
    try:
        train_names = data[rows].obs_names
    except (IndexError, KeyError, ValueError) as error:
        message = (
            f"is no choice of the {data.n_obs} samples ({' '.join(str(error).split())[:120]}); "
        )
        message += "give names, row numbers from 0, or a mask of all samples"
        raise input_error("train", message) from None
    if not len(train_names):
        raise input_error("train", "names no sample; steps learn from at least one")
    train_rows = dataset.rows(list(train_names))
    fitted = fit_steps(
        dataset.X[train_rows], bind_steps(resolved_steps, dataset), dataset.obs.iloc[train_rows]
    )
    return anndata.AnnData(
        fitted.transform(dataset.X, dataset.obs),
        obs=data.obs.copy(),
        var=data.var.iloc[fitted.genes],
    )


def _check_scale_of_steps(data: Dataset, steps: Sequence[dict[str, Any]]) -> None:
    """Raise or warn, as `genesig validate` does, about steps that take logarithms or counts."""
    step_names = {step["step"] for step in steps}
    source = "genesig.normalise"
    row_wise_steps = list(takewhile(lambda step: NORMALISERS[step["step"]].kind == "sample", steps))
    problems: list[Problem] = []
    if step_names & LOG_STEPS and np.isfinite(data.X).any():
        problems += check_scale(data.X, {"samples": [], "folds": steps}, source)
        problems += rehearse_steps(
            data.X, {"samples": row_wise_steps, "folds": []}, source, sheet=None, var=data.var
        )
    if errors := [problem for problem in problems if problem.level == "error"]:
        raise InvalidInput(errors)
    for problem in problems:
        warnings.warn(f"{problem.location}: {problem.message}", stacklevel=3)


def matrix_of(
    source: Any, part: str | None, layout: str | Path | None = None
) -> tuple[str, Matrix]:
    """Return the name in messages and the matrix of an AnnData, a DataFrame or a file.

    Raises
    ------
    InvalidInput
        It is none of the three, or holds no numbers; a layout is given without a file.
    """
    if isinstance(source, str | Path):
        return str(source), read_new_samples(
            [str(source)], part, None if layout is None else str(layout)
        )
    if layout is not None:
        raise input_error("layout", "is for files of arrays, and new is none; take it away")
    if hasattr(source, "obs_names"):
        source_name = "the AnnData"
        values = dense(values_of(source, part, source_name), source_name)
        return source_name, number_matrix(source.obs_names, source.var_names, values)
    if hasattr(source, "columns"):
        source_name = "the DataFrame"
        values = source.to_numpy()
        if np.asarray(values).dtype.kind not in "biuf":
            raise input_error(source_name, "holds more than numbers; take out the columns of words")
        return source_name, number_matrix(source.index, source.columns, values)
    raise input_error(
        "new", f"is a {type(source).__name__}; give an AnnData, a DataFrame or a file"
    )
