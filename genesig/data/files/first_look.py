"""First look at an expression file: propose the config and the sample table of a new study."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import (
    BATCH_NAME,
    MIN_CLASS_SAMPLES,
    TimeAndEvent,
    are_codes,
    are_competing,
    background_rank,
    cells_of,
    class_columns,
    evaluable_cells,
    find_patient_column,
    is_clinical,
    number_columns,
    number_of_time,
    time_event_pairs,
    units_of_times,
    unknown_words,
    usual_covariates,
    varies_within,
)
from genesig.data.files.config_text import merge_configs
from genesig.data.files.delimited import Matrix
from genesig.data.files.formats.geo_series import KEPT_TAGS
from genesig.data.files.formats.interface import Format
from genesig.data.files.geo_counts import lack_of_values, present_counts
from genesig.data.files.headers import choose_header
from genesig.data.files.layouts import has_samples_in_rows, orient
from genesig.data.files.names import DOWNLOAD_FOLDER, fetch, is_series
from genesig.data.files.non_gene_kinds import TOTALS, kinds_by_name
from genesig.data.files.non_genes import Surroundings, leave_out_non_genes, without_short_numbers
from genesig.data.files.readers import (
    assign_part,
    format_of,
    load_schema,
    read_matrix,
    read_sample_table,
    read_samples,
)
from genesig.data.files.sample_names import (
    check_ids,
    table_of_matrix,
    values_as_names_fault,
    without_absent,
)
from genesig.data.steps.imputation import step_for_missing
from genesig.data.steps.scale import (
    genes_standardised,
    log2_step,
    looks_counted,
    looks_raw,
    never_logged,
    sizes,
    without_largest_genes,
    zeros_stand_apart,
)
from genesig.data.steps.transforms import ZEROS_AS_MISSING as ZEROS
from genesig.errors import InvalidInput, Problem, input_error
from genesig.response.design import label_columns
from genesig.results.files import mark_formula
from genesig.results.new_study import Start
from genesig.words import (
    BEYOND_LIMIT,
    THOUSANDS_BY_COMMA,
    as_word,
    control_first,
    counted,
    equal_looking,
    flow_yaml,
    is_missing,
    is_number,
    listing,
    names_control,
    says_unknown,
    without_thousands,
)

if TYPE_CHECKING:
    import pandas as pd

MIN_SAMPLES_PER_CLASS = 7
"""Samples for each of several classes: five outer folds leave enough for five inner folds."""
Label = str | dict[str, Any]  # `label` of the config: a column, or {time, event} for survival
Lines = tuple[str, ...]  # sentences for the user, which become comments of config.yaml
NO_NEW_SAMPLES = "no new sample can be put on this scale, and test samples took part in it"
MAX_WORD_SHARE = 0.1  # share of words above which a table without annotation is no matrix
MAX_WORD_SHARE_WITH_ANNOTATION = 1 / 3  # the same for a table with columns about genes and samples
RMA_STEPS: dict[str, Any] = {
    "samples": [{"step": "rma_background"}],
    "folds": [{"step": name} for name in ("quantile", "median_polish", "centre", "unit_variance")],
}


def first_look(
    path: str, part: str | None, folder: str | Path, samples: str | None = None
) -> Start:
    """Return the proposed start of a study of an expression file: sample table, label, settings.

    Without `samples`, a file that describes its samples is its own sample table, as is a matrix of
    samples in rows with columns about them; for other files a template is prepared. The proposed
    label is a pair of times and events, else the first column of two to six classes, else a column
    of numbers. Usual covariates are named in a comment; the user decides about them.

    path, part: ``expression`` and ``data.part`` of the config; a series of GEO is downloaded.
    folder: that of the study, from where the config sees its files.
    samples: a sample table.

    Raises InvalidInput: the matrix or the sample table cannot be read.
    """
    if is_series(path):
        series_matrix = fetch(path, Path(folder) / DOWNLOAD_FOLDER)
        if reason := lack_of_values(series_matrix):
            raise input_error(series_matrix, reason)
        path = str(series_matrix)
    matrix_part, sample_part = assign_part(part, path, samples)
    matrix = read_matrix(path, matrix_part)
    table = None
    notes: list[Problem] = []
    if samples is not None:
        file_table = read_sample_table(samples, matrix.columns, sample_part)
        file_table, notes = table_of_matrix(file_table, matrix, samples)
        name_faults: list[Problem] = []
        check_ids(file_table, samples, name_faults)
        if name_faults:
            raise InvalidInput(name_faults)
        matrix = choose_header(matrix, list(map(str, file_table.cells.index)))
        measured, _ = without_absent(file_table, matrix, samples, path, notes)
        table = measured.cells
        matrix = _select_table_samples(table, samples, matrix, path)  # now samples are in rows
    file_format = format_of(path)
    _check_numbers(matrix, path, MAX_WORD_SHARE_WITH_ANNOTATION)
    doubt_lines = (f"{matrix.doubt[:1].upper()}{matrix.doubt[1:]}.",) if matrix.doubt else ()
    # Formats that are not `either_way` have samples in columns.
    either_way = file_format is not None and file_format.either_way
    in_rows = table is not None or (either_way and has_samples_in_rows(matrix))
    matrix = matrix if in_rows else matrix.transpose()
    if in_rows and (fault := values_as_names_fault(matrix.rows, matrix.corner)):
        raise input_error(path, fault)
    matrix, left_out = _without_non_genes(matrix, path, table)
    _check_numbers(matrix, path, MAX_WORD_SHARE)
    expression = _shortest_path(folder, path)
    origin = _count_origin(path, matrix)
    if origin:  # where counts are known, their shape decides nothing
        normalisation = {"samples": [{"step": "log_cpm"}]}
        reasons = origin
    else:
        normalisation, reasons = _propose_normalisation(without_short_numbers(matrix))
    missing_settings, missing_reasons = _propose_missing_settings(matrix, has_counts=bool(origin))
    named_part = {} if part is None else {"data": {"part": part}}
    settings = merge_configs(
        named_part, {"normalise": normalisation} if normalisation else {}, missing_settings
    )
    reasons = (*reasons, *missing_reasons, *doubt_lines, *left_out)
    if table is None and file_format is not None and _has_sample_table(file_format):
        table = _read_other_table(path, part, matrix)
    elif table is None and left_out and in_rows:
        table = _read_columns_about_samples(path, part, matrix)
    if table is None:
        return Start(
            expression=expression,
            sheet=_sample_template(matrix),
            settings=settings,
            reasons=reasons,
        )
    table = _without_genes(table, matrix)
    table, name_lines = _without_slashes(table)
    patient_column = _find_patient_column(table)
    label, data, label_lines = _propose_label(table, patient_column)
    settings = merge_configs(settings, {"data": data} if data else {})
    if patient_column is not None:
        group_settings, group_line = _propose_group(table, label, data, patient_column)
        settings = merge_configs(settings, group_settings)
        data = settings.get("data", data)
        label_lines = (*label_lines, group_line)
    if isinstance(label, str) and "task" not in data:
        fold_settings, fold_lines = _propose_folds(table, label, data)
        settings = merge_configs(settings, fold_settings)
        label_lines = (*label_lines, *fold_lines)
    if len(data.get("classes", ())) == 2 or "task" in data:
        label_lines = (*label_lines, *_covariate_lines(table, label))
    sample_path = expression if samples is None else _shortest_path(folder, samples)
    note_lines = tuple(f"{note.location}: {note.message}." for note in notes)
    return Start(
        expression=expression,
        samples=sample_path,
        label=label,
        sheet="",
        settings=settings,
        reasons=(*reasons, *note_lines, *name_lines, *label_lines),
    )


def _count_origin(path: str, matrix: Matrix) -> Lines:
    """Return the reason why values are counts, if the file or NCBI says so; else no line."""
    files = present_counts(path)
    if files is not None:
        return (f"The values are counts that NCBI made: {files.counts.name}.",)
    return ("The values are counts, by the object in the file.",) if matrix.has_counts else ()


def _select_table_samples(
    table: pd.DataFrame, sample_path: str, matrix: Matrix, path: str
) -> Matrix:
    """Return the matrix of the samples in the index of a sample table, with samples in rows.

    sample_path, path: files of the table and of the matrix, for messages.
    """
    problems: list[Problem] = []
    names = list(map(str, table.index))
    oriented = orient(matrix, path, names, sample_path, problems)
    if oriented is None:
        raise InvalidInput(problems)
    listed = set(names)
    rows = [row for row, name in enumerate(oriented.rows) if name in listed]
    return oriented.subset(rows, range(len(oriented.columns)))


def _without_non_genes(
    matrix: Matrix, path: str, table: pd.DataFrame | None
) -> tuple[Matrix, Lines]:
    """Return a matrix without rows that are no samples and columns that are no genes.

    With it come sentences on what was left out. matrix: samples in rows. table: the sample table,
    which helps to recognise such rows and columns; None if there is none yet.
    """
    gene_matrix, _, problems = leave_out_non_genes(matrix, path, Surroundings(table))
    lines = tuple(f"{problem.message[:1].upper()}{problem.message[1:]}." for problem in problems)
    return gene_matrix, lines


def _check_numbers(matrix: Matrix, path: str, max_share: float) -> None:
    """Raise InvalidInput, with advice by its words, if `max_share` of the cells or more are words.

    Words are texts that are neither numbers nor missing.
    """
    words = [text for text in matrix.texts.values() if not is_missing(text)]
    if len(words) >= max_share * max(matrix.cells.size, 1):
        message = f"{len(words)} of {matrix.cells.size} cells are no numbers ({listing(words)}); "
        n_decimal_commas = sum("," in text and is_number(text.replace(",", ".")) for text in words)
        advice = "is it a table about samples or genes? Name the expression matrix"
        n_thousands_signs = sum(bool(without_thousands(text)) for text in words)
        n_beyond_limit = sum(BEYOND_LIMIT.fullmatch(text.strip()) is not None for text in words)
        if 2 * (n_decimal_commas + n_thousands_signs) > len(words):
            advice = "export the table with decimal points"
            if n_thousands_signs or all(map(THOUSANDS_BY_COMMA.fullmatch, words)):
                advice = f"{advice} and without signs of thousands"
        elif 2 * n_beyond_limit > len(words):
            advice = "write NA for a value beyond a limit of detection; a study can fill it in"
        elif all(is_number(word.strip().removesuffix("%")) for word in words):
            advice = "take the percent signs out"
        elif all(map(says_unknown, words)) or (
            len(set(words)) == 1 and _is_in_most_samples(matrix)
        ):
            advice = f"if '{words[0]}' says that nothing was measured, write NA instead"
        raise input_error(path, message + advice)


def _is_in_most_samples(matrix: Matrix) -> bool:
    """Tell whether cells without a number are in most rows and columns, as missing values are."""
    matrix = matrix.transpose() if matrix.transposed else matrix  # so that keys are (row, column)
    rows = {row for row, _ in matrix.texts}
    columns = {column for _, column in matrix.texts}
    return 2 * len(rows) > len(matrix.rows) and 2 * len(columns) > len(matrix.columns) > 2


def _shortest_path(folder: str | Path, path: str) -> str:
    """Return the shorter way to write a path: seen from the folder of the study, or absolute."""
    absolute = Path(path).resolve().as_posix()
    relative = Path(os.path.relpath(absolute, Path(folder).resolve())).as_posix()
    return min(relative, absolute, key=len)


def _has_sample_table(file_format: Format) -> bool:
    """Tell whether files of a format hold a sample table beside the matrix."""
    # A plain table is read by one function as a table of samples or of genes.
    return file_format.samples is not None and file_format.samples is not file_format.genes


def _read_other_table(path: str, part: str | None, matrix: Matrix) -> pd.DataFrame | None:
    """Return the sample table in an expression file; None if its only table is the matrix.

    part: ``data.part`` of the config. matrix: of the genes, samples in rows.
    """
    try:
        table = read_samples(path, matrix.rows, part)
    except InvalidInput:  # a file of a format that may describe samples, and does not
        return None
    columns_of_file = matrix.rows if matrix.transposed else matrix.columns
    is_matrix = not matrix.texts and tuple(map(str, table.columns)) == columns_of_file
    return None if is_matrix else table  # a workbook whose only sheet is the matrix


def _read_columns_about_samples(path: str, part: str | None, matrix: Matrix) -> pd.DataFrame | None:
    """Return the columns of a file of samples in rows that are no genes and no totals.

    None if none of them may be the label. matrix: the genes of the file, samples in rows.
    """
    table = read_samples(path, matrix.rows, part)
    if set(map(str, table.index)) != set(matrix.rows):
        return None
    kind_of_column = kinds_by_name(list(map(str, table.columns)))
    columns = [k for k in range(table.shape[1]) if kind_of_column.get(k) is not TOTALS]
    table = table.iloc[:, columns]
    table = _without_genes(table, matrix)
    names = [name for name, _ in class_columns(table) if not background_rank(table, name)]
    return table if names or time_event_pairs(table) else None


def _without_genes(table: pd.DataFrame, matrix: Matrix) -> pd.DataFrame:
    """Return the columns of a table that are no genes of a matrix, or are times and events."""
    genes = set(matrix.columns)
    clinical = table.loc[:, list(map(is_clinical, map(str, table.columns)))]
    for pair in time_event_pairs(clinical):  # numbers, which the matrix may have for genes
        genes -= {pair.time, pair.event}
    return table.loc[:, [name not in genes for name in table.columns]]


def _propose_normalisation(matrix: Matrix) -> tuple[dict[str, Any], Lines]:
    """Return the section ``normalise`` for a matrix (samples in rows), and the reasons."""
    if matrix.line_word == "probe":
        return RMA_STEPS, ("Raw intensities of probes: RMA.",)
    X = matrix.cells
    zero_steps: list[dict[str, Any]] = []
    if zeros_stand_apart(X):
        X = np.where(X == 0, np.nan, X)  # as the step ZEROS does
        zero_steps = [{"step": ZEROS}]
    if standardised := genes_standardised(X):
        layers = f"; choose a layer by --part: {listing(matrix.parts)}" if matrix.parts else ""
        return {}, (f"The genes are {standardised} over all samples: {NO_NEW_SAMPLES}{layers}.",)
    steps, reasons = _propose_log_step(X)
    return {"samples": zero_steps + steps} if zero_steps or steps else {}, reasons


def _propose_log_step(X: Array) -> tuple[list[dict[str, Any]], Lines]:
    """Return the steps that take logarithms of X (n_samples, n_genes), and the reason.

    No step if no value is finite or the values look logged; no reason if they plainly do.
    """
    cells = X[np.isfinite(X)]
    if not cells.size:
        return [], ()
    _, p99, largest = sizes(cells)
    size = f"99th percentile {p99:.4g}, maximum {largest:.4g}, median {np.median(cells):.4g}"
    if not never_logged(X):
        evidence = "though they are large: they lie close together"
        reason = f"Values that look logged ({size}), {evidence}; nothing is done to them."
        bulk = sizes(without_largest_genes(X))  # the values by which `never_logged` decides
        return [], (reason,) if looks_raw(bulk.p99, bulk.largest) else ()
    if looks_counted(cells):
        zeros = "zeros among whole numbers" if (cells == 0).any() else "whole numbers from near 0"
        return [{"step": "log_cpm"}], (f"Counts, never logged ({size}): {zeros}.",)
    other_shape = "values below 0" if (cells < 0).any() else "hardly any whole number"
    shape = "no zero" if (cells > 0).all() else other_shape
    reason = f"Values that were never logged ({size}), with {shape}; log_cpm is for counts."
    step = log2_step(X)
    return [step], (reason, *_floor_reasons(X, step))


def _floor_reasons(X: Array, step: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reason for the floor of a step log2, if it has one: else the default holds."""
    if "floor" in step:
        values = X[np.isfinite(X)]
        share = 100 * float(np.mean((values != 0) & (values < step["floor"])))
        yield f"The floor follows the data: {share:.2g} % of the values lie below, zeros aside."


def _propose_missing_settings(matrix: Matrix, has_counts: bool) -> tuple[dict[str, Any], Lines]:
    """Return the settings for missing cells of a matrix (samples in rows), and the reason.

    There are none if no cell is missing. Zeros that stand apart from all other values are missing,
    unless the matrix `has_counts`.
    """
    X = np.where(np.isfinite(matrix.cells), matrix.cells, np.nan)
    zeros_are_missing = not has_counts and zeros_stand_apart(X)
    X = np.where(X == 0, np.nan, X) if zeros_are_missing else X
    X = X[:, ~np.isnan(X).all(axis=0)]  # the study leaves genes without a value out
    missing_cells = np.isnan(X)
    if not missing_cells.any():
        return {}, ()
    texts = [text.strip() for text in matrix.texts.values()]
    formula_errors = [text for text in texts if text.startswith("#") and is_missing(text)]
    words = [text for text in texts if not is_missing(text)]
    # Errors of formulas do not tell that a value was small.
    are_errors = len(formula_errors) >= missing_cells.sum()
    step = "knn_impute" if are_errors else step_for_missing(X)
    cause = "filled in from genes alike"
    other_step = "left_censored"
    if step == "left_censored":
        cause = "they are of low genes: too small to be measured"
        other_step = "knn_impute"
    as_zeros = ", written as 0, with no small value beside them" if zeros_are_missing else ""
    reason = (
        f"{int(missing_cells.sum())} of {missing_cells.size} cells are missing{as_zeros} ({cause}; "
        f"the other step is {other_step})."
    )
    lines = [reason]
    if formula_errors:
        errors_text = listing(dict.fromkeys(formula_errors))
        lines.append(
            f"{counted(len(formula_errors), 'cell')} with an error of a spreadsheet, {errors_text}:"
            " correct the formulas if the values exist."
        )
    if words:
        lines.append(
            f"{counted(len(words), 'cell')} of words, {listing(dict.fromkeys(words))}: write NA."
        )
    folds = [{"step": step}, {"step": "centre"}, {"step": "unit_variance"}]
    return {"data": {"missing": True}, "normalise": {"folds": folds}}, tuple(lines)


def _sample_template(matrix: Matrix) -> str:
    """Return the text of a sample table to be filled in, with the names in the matrix's rows."""
    rows = "".join(f"{mark_formula(name)}\t\t\n" for name in matrix.rows)
    return f"sample\tdiagnosis\tpatient\n{rows}"


def _without_slashes(table: pd.DataFrame) -> tuple[pd.DataFrame, Lines]:
    """Return a sample table without columns that have a slash in their name, and a line on them."""
    with_slash = [name for name in map(str, table.columns) if "/" in name]
    lines = (f"To use {listing(with_slash)}, rename it without a slash.",) if with_slash else ()
    return table.loc[:, ["/" not in str(name) for name in table.columns]], lines


def _find_patient_column(table: pd.DataFrame) -> str | None:
    """Return the column of patients with several samples; None without, or if headers repeat."""
    if not table.columns.is_unique:
        return None
    class_names = [name for name, _ in class_columns(table) if not background_rank(table, name)]
    return find_patient_column(table, class_names)


def _propose_group(
    table: pd.DataFrame, label: Label, data: Mapping[str, Any], patient_column: str
) -> tuple[dict[str, Any], str]:
    """Return the settings that keep the samples of a patient together, and the reason.

    They are pairs if each patient has one sample of each of two classes. No settings if the times
    or events of a patient's samples differ. data: the proposed section ``data`` of the config.
    """
    units = counted(len(set(table[patient_column])), "value")
    reason = f"Column '{patient_column}': {units} for {len(table)} samples, as of patients with"
    names = label_columns(label)
    # Times and events are those of a patient, who has them once.
    if len(names) > 1 and any(varies_within(table, name, patient_column) for name in names):
        return {}, f"{reason} several samples, whose outcomes differ: keep one sample of each."
    classes = data.get("classes", sorted(set(cells_of(table, names[0]))))
    rows_of_patient = table.groupby(patient_column)[names[0]]
    are_pairs = len(classes) == 2 and all(
        sorted(cells) == sorted(classes) for _, cells in rows_of_patient
    )
    key = "pair" if are_pairs else "group"
    settings = {"data": {key: patient_column}, "splits": {"scheme": "stratified_group_kfold"}}
    return settings, f"{reason} several samples, which stay on one side of each split."


def _propose_folds(
    table: pd.DataFrame, label: str, data: Mapping[str, Any]
) -> tuple[dict[str, Any], Lines]:
    """Return the settings for fewer folds than by default if the smallest class needs them.

    No settings if it has too few samples for any folds. Of patients with several samples the
    patients count. data: the section ``data`` of the config.
    """
    if list(table.columns).count(label) != 1:
        return {}, ()
    unit_column = data.get("group") or data.get("pair")
    cells = table[label].astype(str)
    units = table.index.to_series() if unit_column is None else table[unit_column]
    classes = data.get("classes") or set(cells_of(table, label))
    n_units = min((units[cells == name].nunique() for name in classes), default=0)
    if not MIN_CLASS_SAMPLES <= n_units < MIN_SAMPLES_PER_CLASS:
        return {}, ()
    defaults = load_schema()["properties"]["splits"]["properties"]
    n_folds = min(n_units, defaults["folds"]["default"])
    n_train = n_units - ceil(n_units / n_folds)  # of the class, in the smallest training set
    folds = {"folds": n_folds, "inner_folds": min(n_train, defaults["inner_folds"]["default"])}
    settings = {name: n for name, n in folds.items() if n < defaults[name]["default"]}
    if n_units // 2 < 2:  # a half of the samples needs two of each class
        settings["subsamples"] = 0
    unit = "sample" if unit_column is None else "patient"
    reason = f"The smallest class has {counted(n_units, unit)}: fewer folds than by default."
    return {"splits": settings}, (reason,)


def _propose_label(
    table: pd.DataFrame, patient_column: str | None
) -> tuple[Label, dict[str, Any], Lines]:
    """Return the label, its settings for the section ``data``, and a line for each possible label.

    Times with events come first, then classes, then numbers; usual covariates come last. Classes
    that differ between the samples of a patient, such as tissues, come after those that do not,
    unless one is called a control. If no column may be the label, it is "diagnosis", to be written.
    """
    if patient_column is not None:
        columns_within_patients = {
            name
            for name, counts in class_columns(table)
            if varies_within(table, name, patient_column) and not any(map(names_control, counts))
        }
        table = table.drop(columns=patient_column)
    else:
        columns_within_patients = set()
    event_pairs = time_event_pairs(table)
    number_names = list(number_columns(table))
    pair_columns = {
        name for pair in event_pairs for name in (pair.time, pair.event, *pair.follow_up_times)
    }
    classes = {name: counts for name, counts in class_columns(table) if name not in pair_columns}
    lines = (
        *(_describe_pair(table, pair) for pair in event_pairs),
        *(_describe_classes(table, name, counts) for name, counts in classes.items()),
        *(_describe_numbers(table, name) for name in number_names if name not in pair_columns),
    )
    if event_pairs:
        first_pair = event_pairs[0]
        event = {} if first_pair.word is None else {"event": first_pair.word}
        return first_pair.label, {"task": "survival", **event}, lines
    # GEO's characteristics come before its other tags, which were not written for classes.
    class_names = sorted(
        classes,
        key=lambda name: (
            background_rank(table, name),
            name in columns_within_patients,
            name in KEPT_TAGS,
        ),
    )
    if number_names and (not class_names or background_rank(table, class_names[0])):
        return number_names[0], {"task": "regression"}, lines
    if class_names:
        name = class_names[0]
        has_unknown = bool(unknown_words(table, name))
        if background_rank(table, name) > 1 and len(table.columns) > 1:
            columns = listing(column for column in table.columns if column != name)
            lines = (*lines, f"'{name}' is seldom the outcome; other columns: {columns}.")
        return name, _choose_classes(classes[name], has_unknown=has_unknown), lines
    return "diagnosis", {}, (f"Columns of samples: {', '.join(table.columns)}.",)


def _choose_classes(counts: Counter[str], *, has_unknown: bool) -> dict[str, Any]:
    """Return the setting ``classes``: the classes of at least `MIN_SAMPLES_PER_CLASS` samples.

    If they are not three or more, the two largest classes are compared. There is no setting if all
    of three or more classes are used and no cell is a word for an unknown class (`has_unknown`), or
    if two classes look like one.
    """
    if equal_looking(counts, as_word):
        return {}
    large_classes = [word for word, n in counts.items() if n >= MIN_SAMPLES_PER_CLASS]
    if len(large_classes) > 2:
        is_all = len(large_classes) == len(counts) and not has_unknown
        return {} if is_all else {"classes": sorted(large_classes)}
    return {"classes": control_first([word for word, _ in counts.most_common(2)])}


def _describe_pair(table: pd.DataFrame, pair: TimeAndEvent) -> str:
    """Return the line about a pair of times and events, with the setting ``label`` for it."""
    events = Counter(cells_of(table, pair.event))  # with words such as "unknown"
    words = ", ".join(f"{word} ({n})" for word, n in events.most_common())
    event = "1" if pair.word is None else pair.word
    text = f"Columns '{pair.time}' and '{pair.event}': {words}"
    if not are_competing(events):
        text += f", of which {event} is taken for the event"
    text += f": survival, label: {flow_yaml(pair.label)}"
    if are_competing(events):
        text += f"; say which of {listing(sorted(events)[1:])} is the event: data.event"
    # Cells such as "300 days", each with the number that it should be.
    marked_times = [
        (cell, number)
        for cell in evaluable_cells(table, pair.time)
        if not is_number(cell) and (number := number_of_time(cell))
    ]
    if marked_times:
        text += f"; '{marked_times[0][0]}' is no number: write {marked_times[0][1]}"
    if units := units_of_times(table, pair.time):
        unit_column, unit_counts = units
        if len(unit_counts) > 1:
            text += f"; column '{unit_column}' has several units: bring all times to one"
    return text


def _describe_classes(table: pd.DataFrame, name: str, counts: Counter[str]) -> str:
    """Return the line about a column of classes, with a pair to compare if there are more."""
    text = f"Column '{name}': " + ", ".join(f"{word} ({n})" for word, n in counts.most_common())
    if unknown := unknown_words(table, name):
        text += f"; no label: {', '.join(f'{word} ({n})' for word, n in unknown.most_common())}"
    if similar := equal_looking(counts, as_word):
        return f"{text}; write {listing(similar[0])} alike, which look like one class"
    classes = _choose_classes(counts, has_unknown=bool(unknown)).get("classes", counts)
    if len(classes) > 2:
        class_pair = control_first([word for word, _ in counts.most_common(2)])
        two_classes = flow_yaml({"classes": class_pair})
        text += f": several classes; data: {two_classes} would compare two"
    if small_classes := [word for word in counts if word not in classes]:
        text += (
            f"; too few for a class, fewer than {MIN_SAMPLES_PER_CLASS}: {listing(small_classes)}"
        )
    return text


def _describe_numbers(table: pd.DataFrame, name: str) -> str:
    """Return the line about a column of numbers."""
    values = [float(cell) for cell in evaluable_cells(table, name)]
    return f"Column '{name}': {min(values):g} to {max(values):g}, numbers: data.task: regression"


def _covariate_lines(table: pd.DataFrame, label: Label) -> Lines:
    """Return the lines about batches and usual covariates of a sample table, with settings."""
    names = usual_covariates(table, label_columns(label))
    lines = [
        f"Column '{name}' says which samples were processed together: data: {{batch: {name}}}"
        for name in map(str, table.columns)
        if BATCH_NAME.fullmatch(name)
    ]
    if not names:
        return tuple(lines)
    has_missing = any(len(cells_of(table, name)) < len(table) for name in names)
    listed = json.dumps(names, ensure_ascii=False)
    options = ", missing_covariates: mean" if has_missing else ""
    codes = [name for name in names if are_codes(name, cells_of(table, name))]
    if codes:
        options += f", categorical_covariates: {json.dumps(codes, ensure_ascii=False)}"
    heading = "Usual covariates; to adjust for them, so that genes count for what they add:"
    return (*lines, heading, f"  data: {{covariates: {listed}{options}}}")
