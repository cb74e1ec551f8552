"""Read new samples and match their matrix and covariates with those a model needs.

A row-wise step (kind "sample") changes one sample without looking at the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.arrays import sample_name, suffix_of
from genesig.data.files.gene_ids import other_spelling_hint
from genesig.data.files.layouts import name_advice
from genesig.data.files.readers import FORMATS, read_matrix
from genesig.data.steps.normalise import MOMENT_STEPS, Normaliser
from genesig.data.steps.scale import (
    LEARNED_DEPTH_STEPS,
    LOG2_STEPS,
    looks_raw,
    missing_codes,
    sizes,
)
from genesig.data.steps.segment import among
from genesig.data.study.scale_check import MAX_FRACTION_SHARE, MIN_GENES
from genesig.errors import Problem, did_you_mean, input_error
from genesig.response.covariates import Covariate
from genesig.words import (
    MIN_SPREAD,
    counted,
    further_in_brackets,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_SD_DISTANCE = 5.0
"""Largest median distance of a sample from the training means, in training standard deviations.
Batches shift the median gene by one or two of them, another base of the logarithm by three or
more."""
MIN_ODD_SD_DISTANCE = 1.0  # distance from which on other signs of another scale count
MAX_RANGES_OUTSIDE = 5.0  # largest distance of a value from the training values, in ranges of these
ZERO_GAP_RANGES = 0.1  # ranges below the training values from which a zero may be a blank
COUNT_ROUNDING = 1e-9  # largest relative distance of a sum of whole counts from a whole number
GENE_WISE_STEPS = {
    "align_studies",
    "combat",
    "detection_filter",
    "fix_studies",
    "fold_filter",
    "half_minimum",
    "left_censored",
    "log2",
    "mean_impute",
    "range_filter",
    "variance_filter",
    "zeros_as_missing",
    *MOMENT_STEPS,
}
"""Steps that, once fitted, treat each gene without looking at the others."""


@dataclass(frozen=True)
class TrainingValues:
    """Distribution of the training values after the row-wise steps."""

    means: Array  # (n_genes,) float: mean of each gene
    sds: Array  # (n_genes,) float: standard deviation of each gene
    p99: float  # 99th percentile of all values
    smallest: float  # minimum of all values
    largest: float  # maximum of all values
    steps: frozenset[str]  # names of all steps of the study


def turn_samples_to_rows(matrix: Matrix, required_genes: Sequence[str], file: str) -> Matrix:
    """Return the matrix with genes as columns: the side that has more of the required genes.

    Without required genes it is unchanged. Raises InvalidInput: none of them is in the matrix.
    """
    distinct_genes = set(required_genes)
    n_in_rows = len(distinct_genes & set(matrix.rows))
    n_in_columns = len(distinct_genes & set(matrix.columns))
    if distinct_genes and not n_in_rows and not n_in_columns:
        message = (
            f"none of the model's genes is here: the model has {listing(required_genes)}, the "
            f"matrix has rows {listing(matrix.rows)} and columns {listing(matrix.columns)}"
        )
        message += other_spelling_hint(required_genes, [*matrix.rows, *matrix.columns]) or (
            "; is it another kind of gene id?"
        )
        raise input_error(file, message)
    return matrix.transpose() if n_in_rows > n_in_columns else matrix


def select_listed_samples(
    matrix: Matrix, table_samples: Sequence[str] | None, file: str
) -> tuple[Matrix, list[Problem]]:
    """Return the rows that a sample table lists, all without a table, and the warnings.

    table_samples: names in the table of ``--samples``; None without one.

    Raises InvalidInput: no sample of the table is in the matrix, two samples have one name, or one
        has none.
    """
    unlisted = (
        []
        if table_samples is None
        else [name for name in matrix.rows if name not in set(table_samples)]
    )
    if table_samples is not None and len(unlisted) == len(matrix.rows):
        message = (
            f"none of the new samples is in this table: they are {listing(matrix.rows)}, it has "
        )
        raise input_error(
            "--samples", message + listing(table_samples) + name_advice(table_samples, matrix.rows)
        )
    message = f"not in the table of --samples, so left out: {listing(unlisted)}"
    problems = [Problem(file, message, "warning")] if unlisted else []
    if absent_samples := [name for name in table_samples or () if name not in set(matrix.rows)]:
        message = f"not in {file}, so not scored: {listing(absent_samples)}"
        problems.append(Problem("--samples", message, "warning"))
    if unlisted and len(unlisted) < len(matrix.rows):
        listed_rows = [row for row, name in enumerate(matrix.rows) if name not in set(unlisted)]
        matrix = matrix.select(listed_rows)
    check_sample_names(matrix.rows, file)
    return matrix, problems


def check_sample_names(names: Sequence[str], file: str) -> None:
    """Raise InvalidInput if a new sample has no name, or names occur more than once."""
    unnamed = [number for number, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        raise input_error(file, f"sample {unnamed[0]} has no name; name every sample")
    if repeated := [name for name, n_occurrences in Counter(names).items() if n_occurrences > 1]:
        samples_occur = "sample {} occurs" if len(repeated) == 1 else "samples {} occur"
        message = (
            f"{samples_occur.format(listing(repeated))} more than once; give each a name of its own"
        )
        raise input_error(file, message)


def match_genes(
    matrix: Matrix, required_genes: Sequence[str], file: str, unscored_genes: Collection[str] = ()
) -> tuple[Array, Array]:
    """Return the values (n, d) of the required genes, NaN where missing, and the mask of measured.

    matrix: samples in rows. Faults of `unscored_genes`, of which no score needs one, count as
    missing values.

    Raises InvalidInput: a gene occurs twice, a cell is neither a number nor missing, or a sample
        has one value.
    """
    _check_constant_samples(matrix, file)
    distinct_genes = set(required_genes)
    column_of_gene: dict[str, int] = {}
    repeated_genes = set()
    for column, gene in enumerate(matrix.columns):
        if gene in column_of_gene and gene in distinct_genes:
            if gene not in unscored_genes:
                raise input_error(file, f"gene '{gene}' occurs twice; keep one")
            repeated_genes.add(gene)
        column_of_gene[gene] = column
    measured_positions = [
        position
        for position, gene in enumerate(required_genes)
        if gene in column_of_gene and gene not in repeated_genes
    ]
    measured_genes = [required_genes[position] for position in measured_positions]
    columns = [column_of_gene[gene] for gene in measured_genes]
    X = np.full((len(matrix.rows), len(required_genes)), np.nan)
    X[:, measured_positions] = matrix.cells[:, columns]
    for row, position in np.argwhere(~np.isfinite(X[:, measured_positions])).tolist():
        text = matrix.text(row, columns[position])
        gene = measured_genes[position]
        if not is_missing(text) and gene not in unscored_genes:
            cell_location = f"{file}, gene '{gene}', sample '{matrix.rows[row]}'"
            raise input_error(cell_location, f"the value {number_fault(text)}")
    return X, np.isfinite(X)


def apply_row_wise(
    steps: Sequence[Normaliser], X: Array, is_measured: Array, filler: Array
) -> Array:
    """Return X with each sample's measured values after row-wise steps, and `filler` elsewhere.

    X, is_measured (n_samples, n_genes) float, bool. filler (n_genes,) float.
    """
    values = np.tile(filler, (len(X), 1))
    for row in range(len(X)):
        measured_values = X[row : row + 1, is_measured[row]]
        for step in steps:  # one that was fitted to all genes gets those of the sample
            step_of_row = among(step, np.flatnonzero(is_measured[row]))
            measured_values = step_of_row.transform(measured_values)
        values[row, is_measured[row]] = measured_values[0]
    return values


def describe_training_values(
    X: Array, means: Array, sds: Array, steps: Sequence[Mapping[str, Any]]
) -> TrainingValues:
    """Return the distribution of training values X (n, d) that went through the row-wise steps.

    means, sds (d,): of each gene. steps: of the study. Without values, p99 and both limits are 0.
    """
    names = frozenset(str(step["step"]) for step in steps)
    values = X if X.size else np.zeros(1)
    return TrainingValues(
        means=means,
        sds=sds,
        p99=float(np.nanpercentile(values, 99)),
        smallest=float(np.nanmin(values)),
        largest=float(np.nanmax(values)),
        steps=names,
    )


class NewValues(NamedTuple):
    """Values of new samples that are compared with those of the training samples."""

    X: Array  # (n_samples, n_genes) float: as measured
    normalised: Array  # (n_samples, n_genes) float: after the row-wise steps
    is_measured: Array  # (n_samples, n_genes) bool: values elsewhere are of no meaning
    genes: Sequence[str]
    samples: Sequence[str]
    training: TrainingValues
    file: str  # for messages


def check_values(new: NewValues) -> None:
    """Raise InvalidInput if values cannot be on the study's scale, or cannot have been measured.

    The order of the checks matters: first codes of missing values, then another scale, then single
    values, because on another scale many values would look like outliers.
    """
    X = new.X
    is_measured = new.is_measured
    training = new.training
    if LEARNED_DEPTH_STEPS & training.steps:  # then the values are still counts
        _refuse_cells(new, is_measured & (X < 0))
        scaled_counts = _scale_to_training_depth(new.normalised, is_measured, training.means)
        new = new._replace(normalised=scaled_counts)
    codes = [code for code in missing_codes(X[is_measured]) if code < training.smallest]
    _refuse_cells(new, is_measured & np.isin(X, codes))
    _check_scale(new)
    margin = MAX_RANGES_OUTSIDE * (training.largest - training.smallest)
    nearest_values = np.clip(new.normalised, training.smallest, training.largest)
    is_far = is_measured & (np.abs(new.normalised - nearest_values) > margin)
    # The step quantile puts a sample right that is far off as a whole.
    is_far &= 2 * is_far.sum(axis=1, keepdims=True) < is_measured.sum(axis=1, keepdims=True)
    _refuse_cells(new, is_far)


def _scale_to_training_depth(counts: Array, is_measured: Array, means: Array) -> Array:
    """Return each sample's counts (n, d) times a factor: their sum is that of the training means.

    Only measured genes are summed. Deeper sequencing multiplies all counts of a sample, which
    should not count as another scale. means (n_genes,): mean training counts.
    """
    total_count = np.where(is_measured, counts, 0).sum(axis=1)
    factor = (is_measured @ means) / np.where(total_count > 0, total_count, 1)
    return np.asarray(counts * factor[:, None])


def zero_warnings(new: NewValues) -> list[Problem]:
    """Return a warning of zeros below all training values; they may stand for missing ones."""
    smallest = new.training.smallest
    largest = new.training.largest
    zero_limit = smallest - ZERO_GAP_RANGES * (largest - smallest)
    low_zeros = np.argwhere(new.is_measured & (new.X == 0) & (new.normalised < zero_limit))
    if not len(low_zeros):
        return []
    row, gene = low_zeros[0].tolist()
    message = (
        f"0{further_in_brackets(len(low_zeros) - 1, 'zero')}, where the training values go from "
        f"{smallest:.4g} to {largest:.4g}; if it stands for a missing value, write NA"
    )
    return [Problem(_place_of_cell(new, row, gene), message, "warning")]


def _place_of_cell(new: NewValues, row: int, gene: int) -> str:
    """Return file, gene and sample of a cell, as a message names them."""
    return f"{new.file}, gene '{new.genes[gene]}', sample '{new.samples[row]}'"


def rate_warnings(new: NewValues, n_training_samples: int) -> list[Problem]:
    """Return a warning of rates (CPM, TPM) if the model starts from whole counts; [] otherwise.

    n_training_samples: means of whole counts over so many samples are multiples of its inverse.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a stranger's model may hold any mean
        totals = new.training.means * n_training_samples
        was_counted = np.abs(totals - np.round(totals)) < COUNT_ROUNDING * np.maximum(totals, 1)
    nonzero_values = new.X[new.is_measured & (new.X != 0)]
    fraction_share = float(np.mean(nonzero_values % 1 > 0)) if len(nonzero_values) else 0.0
    if (
        not LEARNED_DEPTH_STEPS & new.training.steps
        or not was_counted.all()
        or fraction_share <= MAX_FRACTION_SHARE
    ):
        return []
    message = (
        f"{100 * fraction_share:.0f} % of the values are no whole numbers, and the model was "
        "trained on counts of reads: give it the raw counts; rates such as CPM or TPM have other "
        "scores"
    )
    return [Problem(new.file, message, "warning")]


def _refuse_cells(new: NewValues, is_wrong: Array) -> None:
    """Raise InvalidInput about the first cell of a mask (n, d), with the number of the others."""
    wrong_cells = np.argwhere(is_wrong)
    if len(wrong_cells):
        row, gene = wrong_cells[0].tolist()
        training = new.training
        message = (
            f"{new.X[row, gene]:g} cannot have been measured"
            f"{further_in_brackets(len(wrong_cells) - 1, 'value')}: the training values go "
            f"from {training.smallest:.4g} to {training.largest:.4g}; write NA for a missing value"
        )
        raise input_error(_place_of_cell(new, row, gene), message)


def _check_constant_samples(matrix: Matrix, file: str) -> None:
    """Raise InvalidInput if a sample, a row, has one value for all genes of its file."""
    for name, cells in zip(matrix.rows, matrix.cells, strict=True):
        sample_values = cells[np.isfinite(cells)]
        if len(sample_values) >= MIN_GENES and np.ptp(sample_values) == 0:
            message = (
                f"all {len(sample_values)} values are {sample_values[0]:g}; export the "
                "sample again, or leave it out"
            )
            raise input_error(f"{file}, sample '{name}'", message)


def _check_scale(new: NewValues) -> None:
    """Raise InvalidInput if a sample is logged unlike the training values, or far off them."""
    training = new.training
    takes_logarithms = bool(LOG2_STEPS & training.steps)
    training_is_raw = looks_raw(training.p99, training.largest)
    needs_counts = bool(LEARNED_DEPTH_STEPS & training.steps)
    for row, name in enumerate(new.samples):
        is_compared = new.is_measured[row] & (training.sds > MIN_SPREAD)
        if not is_compared.any():
            continue
        distances = (
            np.abs(new.normalised[row] - training.means)[is_compared] / training.sds[is_compared]
        )
        distance = float(np.median(distances))
        measured_size, transformed_size = (
            sizes(matrix_values[row, is_compared]) for matrix_values in (new.X, new.normalised)
        )
        is_raw = looks_raw(measured_size.p99, measured_size.largest)
        transformed_is_raw = looks_raw(transformed_size.p99, transformed_size.largest)
        is_other_scale = distance > MIN_ODD_SD_DISTANCE and (
            transformed_is_raw != training_is_raw or (takes_logarithms and not is_raw)
        )
        is_other_scale |= (
            needs_counts
            and not is_raw
            and np.mean(new.X[row, is_compared] % 1 > 0) > MAX_FRACTION_SHARE
        )
        # The step quantile puts a brighter scan right.
        if is_other_scale or (distance > MAX_SD_DISTANCE and "quantile" not in training.steps):
            scale_text = f"are {distance:.1f} standard deviations off"
            if is_other_scale:
                history = "never logged" if is_raw else "logged already"
                scale_text = f"look as if they were {history}"
            message = (
                f"the values of sample '{name}' {scale_text}, other than those the model was "
                f"trained on (median distance {distance:.1f} standard deviations); bring them to "
                "the same scale"
            )
            raise input_error(new.file, message)


def read_new_samples(paths: Sequence[str], part: str | None, layout: str | None) -> Matrix:
    """Return the expression matrix of new samples.

    paths: one file or folder of any format that is read, or files of one array each (CEL, IDAT,
        Agilent); a sample then has the name of its file.
    part: which matrix of a file that holds several.
    layout: folder of the files that describe the chip; None is the folder of the first path.

    Raises InvalidInput: errors of `read_matrix`; a folder in a list, or two files of one sample.
    """
    if layout is not None and not Path(layout).is_dir():
        raise input_error(
            "--layout", f"'{layout}' is no folder; name the folder of the files of the chip"
        )
    first_path = Path(paths[0])
    array_suffixes = {
        suffix for file_format in FORMATS if file_format.folder for suffix in file_format.suffixes
    }
    if len(paths) == 1 and first_path.is_dir() and layout is not None:
        # The files of the chip are in another folder than the arrays: each array is named.
        array_files = sorted(
            str(path) for path in first_path.iterdir() if suffix_of(path) in array_suffixes
        )
        if array_files:
            return read_new_samples(array_files, part, layout)
    if len(paths) == 1 and (first_path.is_dir() or suffix_of(first_path) not in array_suffixes):
        return read_matrix(first_path, part)
    for path in map(Path, paths):  # from here on files of one array each
        if path.is_dir():
            raise input_error(path, "is a folder; name it alone, or its files one by one")
        if not path.is_file():
            read_matrix(path, part)  # raises, with the name of a similar file
    names = [sample_name(path) for path in paths]
    # An array of two colours has a file for each colour, with one sample name.
    files = [path.name.lower().removesuffix(".gz") for path in map(Path, paths)]
    repeated = [name for name, file in zip(names, files, strict=True) if files.count(file) > 1]
    if repeated:
        raise input_error(
            str(first_path.parent),
            f"two files of sample {listing(dict.fromkeys(repeated))}; keep one of them",
        )
    path_of_sample = dict(zip(names, map(Path, paths), strict=True))
    chip_folder = first_path.parent if layout is None else layout
    return read_matrix(chip_folder, part, path_of_sample)


def check_covariates(
    covariates: Sequence[Covariate],
    imputes_missing: bool,
    sample_table: pd.DataFrame | None,
    file: str,
) -> Iterator[Problem]:
    """Yield the problems of covariates of new samples: every covariate of the model is needed.

    imputes_missing: whether a missing value may be imputed with the mean of the training samples.
    sample_table: one row for each new sample; None without a table.
    file: file of the table, or ``--samples``.
    """
    if not covariates:
        return
    covariate_columns = [covariate.column for covariate in covariates]
    if sample_table is None:
        yield Problem(
            file,
            f"the model needs {listing(covariate_columns)} of each sample; name the sample table "
            "that has them",
        )
        return
    absent_columns = [name for name in covariate_columns if name not in sample_table.columns]
    if absent_columns:
        suggestion = did_you_mean(absent_columns[0], map(str, sample_table.columns))
        yield Problem(
            file,
            f"has no column {listing(absent_columns)}, which the model needs (columns: "
            f"{listing(map(str, sample_table.columns), 6)}){suggestion}",
        )
        return
    for covariate in covariates:
        yield from _check_covariate(covariate, imputes_missing, sample_table, file)


def _check_covariate(
    covariate: Covariate, imputes_missing: bool, sample_table: pd.DataFrame, file: str
) -> Iterator[Problem]:
    """Yield the problems of a covariate's column: missing values, no numbers, unknown words."""
    column_location = f"{file}, column '{covariate.column}'"
    column = sample_table[covariate.column].fillna("")
    study_words = covariate.spelt(map(str, column))
    word_of_sample = dict(zip(map(str, column.index), study_words, strict=True))
    blank_samples = [name for name, cell in word_of_sample.items() if is_missing(cell)]
    if blank_samples:
        message = f"no value for {counted(len(blank_samples), 'sample')} ({listing(blank_samples)})"
        level = "error"
        consequence = "; the model needs one for every sample"
        if imputes_missing:
            level = "warning"
            consequence = "; imputed with the mean of the training samples"
        yield Problem(column_location, message + consequence, level)  # type: ignore[arg-type]
    filled_words = {name: cell for name, cell in word_of_sample.items() if not is_missing(cell)}
    if covariate.levels is None:
        faulty_samples = [name for name, cell in filled_words.items() if not is_number(cell)]
        if faulty_samples:
            message = (
                f"the value of '{faulty_samples[0]}' "
                f"{number_fault(filled_words[faulty_samples[0]])}, needs a number"
            )
            yield Problem(
                column_location, message + further_text(len(faulty_samples) - 1, "sample")
            )
        return
    unknown_words = sorted({cell for cell in filled_words.values() if cell not in covariate.levels})
    if unknown_words:
        message = (
            f"{listing(unknown_words)} was in no training sample (they have "
            f"{listing(covariate.levels, 6)}){did_you_mean(unknown_words[0], covariate.levels)}; "
            "write it so, or leave it blank where the study fills it in"
        )
        yield Problem(column_location, message)
