"""Check covariates and sample weights: the settings, the sample table, and every training set.

A `Sheet` is the checked sample table: `obs` (index = sample names, cells as strings), and the
design. `file` is the file of that table, for messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.files.columns import SAMPLES_PER_COVARIATE, are_codes
from genesig.data.files.names import Config
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.pool_record import WEIGHT_COLUMN
from genesig.data.study.settings import AdjustmentSettings
from genesig.data.study.sheet_check import Sheet, check_column
from genesig.errors import Problem, did_you_mean, has_errors
from genesig.response.covariates import (
    Covariate,
    covariate_names,
    default_n_knots,
    encode_covariates,
)
from genesig.response.design import BALANCED, label_columns
from genesig.response.kinds import RESPONSES
from genesig.results import Splits
from genesig.words import (
    counted,
    flow_yaml,
    further_text,
    is_missing,
    is_number,
    listing,
    number_fault,
    overlooked_differences,
)

if TYPE_CHECKING:
    import pandas as pd


MIN_RESIDUAL_SAMPLES = 3
"""Number of samples by which every training set must exceed the columns of covariates: one for the
mean, and two that leave residuals."""
MIN_SAMPLES_PER_SPLINE_COLUMN = 2 * SAMPLES_PER_COVARIATE
"""Samples for each column of covariates, below which numbers enter as straight lines."""
MAX_DEPENDENT_SHARE = 1e-9
"""Share of a column's variance that others may leave unexplained if it is a combination of them."""


def check_covariate_settings(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the faults of covariate and weight settings, as (setting, message).

    The nonlinear analysis, gene sets and matched pairs are not offered with them. Sections that do
    not concern the calling job may be absent from the config.
    """
    data = config["data"]
    label = config["label"]
    covariates = data["covariates"]
    weights = data["weights"]
    rules = LABEL_RULES[data["task"]]
    role_of_column = {
        data["group"]: "data.group",
        data["pair"]: "data.pair",
        **dict.fromkeys(label_columns(label), "the label"),
    }
    for item_number, name in enumerate(covariates, 1):
        if name in role_of_column:
            yield (
                f"data.covariates, item {item_number}",
                f"'{name}' is {role_of_column[name]}; take it out",
            )
    if weights in label_columns(label):
        yield "data.weights", f"'{weights}' is the label; name a column of numbers, or balanced"
    if weights == BALANCED and not rules.has_classes and "weights" in rules.adjustments:
        yield "data.weights", "'balanced' weighs classes, and here are none; name a column, or null"
    for message in unquoted_word_faults(data["covariate_words"]):
        yield "data.covariate_words", message
    for name in data["covariate_words"]:
        if name not in covariates:
            advice = (
                did_you_mean(name, covariates) or "; name it in data.covariates, or take it out"
            )
            yield "data.covariate_words", f"'{name}' is none of data.covariates{advice}"
    for item_number, name in enumerate(data["categorical_covariates"], 1):
        if name not in covariates:
            advice = did_you_mean(name, covariates) or "; name it there, too, or take it out"
            setting = f"data.categorical_covariates, item {item_number}"
            yield setting, f"'{name}' is none of data.covariates{advice}"
    if not covariates and weights is None:
        if data["missing_covariates"] != "refuse":
            yield "data.missing_covariates", "is for data.covariates; name some, or take it away"
        return
    for name in ("covariates", "weights"):
        if data[name] and name not in rules.adjustments:
            yield f"data.{name}", f"is not offered with data.task: {data['task']}; take it away"
    if not covariates and weights == WEIGHT_COLUMN:  # set by defaults of several studies
        yield from _study_weight_faults(config)
        return
    key = "data.covariates" if covariates else "data.weights"
    if data["pair"] is not None:
        message = (
            "is not offered with data.pair; pairs are already adjusted for what their samples share"
            ", so remove one of the two settings"
        )
        yield key, message
    if config.get("nonlinear", {}).get("enabled"):
        yield key, "is not offered with the nonlinear part; set nonlinear.enabled: false"
    if config.get("structured", {}).get("sets") is not None:
        yield key, "is not offered with gene sets; take structured.sets away"


def _study_weight_faults(config: Config) -> Iterator[tuple[str, str]]:
    """Yield the settings that exclude equal weights of studies, which are sample weights."""
    unsupported = {
        "data.pair": config["data"]["pair"] is not None,
        "the nonlinear part": config.get("nonlinear", {}).get("enabled"),
        "gene sets": config.get("structured", {}).get("sets") is not None,
    }
    for name, is_asked in unsupported.items():
        if is_asked:
            yield "across.weights", f"'equal' is not offered with {name}; set it to samples"


def unquoted_word_faults(words: Mapping[str, Mapping[Any, str]]) -> Iterator[str]:
    """Yield a message if YAML has read a word of a covariate as true or false.

    words: the setting ``covariate_words``: column -> word of the sample table -> meaning.
    """
    for column, word_meanings in words.items():
        if any(isinstance(word, bool) for word in word_meanings):
            message = (
                f"YAML reads a word of '{column}' as true or false; put yes, no, on, off in quotes"
            )
            yield message
            return


def add_covariates(
    sheet: Sheet, file: str, settings: AdjustmentSettings, problems: list[Problem]
) -> Sheet:
    """Return the sheet with covariates and weights in its design; append their problems.

    sheet: checked without an error. Its words of covariates are spelt as levels in the result.
    """
    obs = sheet.obs
    design = sheet.design
    weights = settings.weights
    response_kind = RESPONSES[design.kind]
    # (n,) or, of several classes, (n, T); of survival the martingale residuals
    response = response_kind.numeric_response(response_kind.read(obs, design))
    columns_of_table = list(obs.columns)
    index_name = str(obs.index.name)
    for name in settings.covariates:
        check_column(name, "data.covariates", columns_of_table, index_name, file, problems)
    # `check_covariate_settings` yields the faults of columns with two roles.
    usable = set(columns_of_table) - {design.label, design.group, design.pair}
    cell_columns = [obs[name] for name in settings.covariates if name in usable]
    covariates = _shape_covariates(cell_columns, settings)
    for covariate in covariates:
        problems += _respelling_warnings(covariate, obs, file)
    spelt_cells = {
        covariate.column: covariate.spelt(obs[covariate.column]) for covariate in covariates
    }
    obs = obs.assign(**spelt_cells)
    faults = [
        fault
        for covariate in covariates
        for fault in _check_covariate(covariate, obs, settings, file)
    ]
    problems += faults
    if not has_errors(faults):
        problems += _check_design_matrix(covariates, obs, response, file)
    if weights is not None and weights != BALANCED:
        check_column(weights, "data.weights", columns_of_table, index_name, file, problems)
        if weights in columns_of_table and weights != design.label:
            problems += _check_weights(obs[weights], sheet, file)
    imputes_missing = settings.missing_covariates == "mean"
    adjusted_design = replace(
        design, covariates=covariates, filled=imputes_missing, weights=weights
    )
    return replace(sheet, obs=obs, design=adjusted_design)


def _shape_covariates(
    columns: Sequence[pd.Series[str]], settings: AdjustmentSettings
) -> tuple[Covariate, ...]:
    """Return the covariate of each column; numbers are splines, or linear if samples are few."""
    n_samples = len(columns[0]) if columns else 0  # all columns have one length
    knots = default_n_knots(n_samples) if settings.covariate_shape == "splines" else 0
    meaning_of_word = {
        name: {str(word): meaning for word, meaning in word_meanings.items()}
        for name, word_meanings in settings.covariate_words.items()
    }
    covariates = tuple(
        Covariate.from_cells(
            str(column.name),
            column,
            knots,
            meaning_of_word.get(str(column.name)),
            categorical=str(column.name) in settings.categorical_covariates,
        )
        for column in columns
    )
    n_model_columns = len(covariate_names(covariates))  # a spline or a word list takes several
    if MIN_SAMPLES_PER_SPLINE_COLUMN * n_model_columns > n_samples:
        return tuple(replace(covariate, knots=0) for covariate in covariates)
    return covariates


def _respelling_warnings(covariate: Covariate, obs: pd.DataFrame, file: str) -> Iterator[Problem]:
    """Yield a warning for cells that are read as a level that is spelt differently.

    Words of ``data.covariate_words`` are meant to be read otherwise, and do not count.
    """
    cells = [cell for cell in obs[covariate.column] if not is_missing(cell)]
    level_of_cell = dict(zip(cells, covariate.spelt(cells), strict=True))
    respelt_cells = {cell: level for cell, level in level_of_cell.items() if cell != level}
    if unlisted_cells := [cell for cell in respelt_cells if cell not in covariate.words]:
        cell = unlisted_cells[0]
        level = respelt_cells[cell]
        message = (
            f"data.covariates: '{cell}' is read as '{level}', from which it differs only in "
            f"{overlooked_differences([[cell, level]])}"
            f"{further_text(len(unlisted_cells) - 1, 'word')}"
        )
        yield Problem(f"{file}, column '{covariate.column}'", message, "warning")


def _check_covariate(
    covariate: Covariate, obs: pd.DataFrame, settings: AdjustmentSettings, file: str
) -> Iterator[Problem]:
    """Yield the problems of a covariate's column."""
    column = obs[covariate.column].astype(str)
    column_location = f"{file}, column '{covariate.column}'"
    blank_samples = [str(name) for name, cell in column.items() if is_missing(cell)]
    if len(blank_samples) == len(column):
        yield Problem(column_location, "data.covariates: no sample has a value; take it out")
        return
    if blank_samples and settings.missing_covariates == "refuse":
        message = (
            f"data.covariates: no value for {counted(len(blank_samples), 'sample')} of "
            f"{len(column)} ({listing(blank_samples)}); fill them in, or set "
            "data.missing_covariates: mean"
        )
        yield Problem(column_location, message)
    cell_of_sample = {str(name): cell for name, cell in column.items() if not is_missing(cell)}
    count_of_cell = Counter(cell_of_sample.values())
    if len(count_of_cell) == 1:
        message = (
            f"data.covariates: every sample is '{next(iter(count_of_cell))}', which holds nothing "
            "fixed; take it out"
        )
        yield Problem(column_location, message)
    elif covariate.column in settings.categorical_covariates:
        yield from _check_word_limit(count_of_cell, len(obs), column_location)
    elif covariate.levels is not None:
        yield from _check_words(covariate, obs, cell_of_sample, file)
    elif are_codes(covariate.column, list(cell_of_sample.values())):
        numbers = sorted(count_of_cell, key=float)
        message = (
            f"data.covariates: its numbers, {numbers[0]} to {numbers[-1]}, count as a quantity; "
            "if they are names, such as numbers of centres, set "
            f"data: {flow_yaml({'categorical_covariates': [covariate.column]})}"
        )
        yield Problem(
            column_location,
            message,
            "note",
            code="numbers_may_be_names",
            key="data.categorical_covariates",
        )


def _check_words(
    covariate: Covariate, obs: pd.DataFrame, cell_of_sample: dict[str, str], file: str
) -> Iterator[Problem]:
    """Yield a problem if a column of words is mostly numbers, or has too many different words.

    cell_of_sample: samples with a value only.
    """
    column_location = f"{file}, column '{covariate.column}'"
    count_of_cell = Counter(cell_of_sample.values())
    word_cells = [(name, cell) for name, cell in cell_of_sample.items() if not is_number(cell)]
    # Numbers with a comma are read as words, and were not meant so.
    comma_cells = [cell for _, cell in word_cells if is_number(cell.replace(",", "."))]
    if 2 * (len(word_cells) - len(comma_cells)) < len(cell_of_sample):
        name, cell = word_cells[0]
        message = f"data.covariates: the value of '{name}' {number_fault(cell)}"
        if 2 * len(word_cells) < len(cell_of_sample):
            message += "; the others are numbers: correct it, or leave it blank"
        yield Problem(column_location, message + further_text(len(word_cells) - 1, "sample"))
        return
    yield from _check_word_limit(count_of_cell, len(obs), column_location)


def _check_word_limit(
    count_of_word: Mapping[str, int], n_samples: int, column_location: str
) -> Iterator[Problem]:
    """Yield a problem if a column has more words than the samples can adjust for."""
    if SAMPLES_PER_COVARIATE * (len(count_of_word) - 1) > n_samples:
        message = (
            f"data.covariates: {len(count_of_word)} words for {counted(n_samples, 'sample')}; at "
            f"most {1 + n_samples // SAMPLES_PER_COVARIATE} can be adjusted for: put rare ones "
            "together, or take it out"
        )
        yield Problem(column_location, message)


def check_training_sets(sheet: Sheet, splits: Splits, file: str) -> Iterator[Problem]:
    """Yield problems of training sets that are too small for the covariates, or lack words of them.

    Also of those with too few samples of positive weight.
    """
    n_columns = len(covariate_names(sheet.design.covariates))  # of a model, not of the sample table
    for split_list, set_name, remedy in (
        ([*splits.outer, splits.final], "training set", "more splits.folds and splits.inner_folds"),
        (splits.subsamples, "training set of a half", "splits.subsamples: 0 (no stability)"),
    ):
        # without the largest inner fold, on which the smallest training set does not train
        training_sizes = [
            len(split.train) - max(map(len, split.inner), default=0) for split in split_list
        ]
        if n_columns and training_sizes and min(training_sizes) < n_columns + MIN_RESIDUAL_SAMPLES:
            text = (
                f"data.covariates make {counted(n_columns, 'column')}, and the smallest "
                f"{set_name} has {counted(min(training_sizes), 'sample')}; at least "
                f"{n_columns + MIN_RESIDUAL_SAMPLES} are needed: take some out, or set {remedy}"
            )
            yield Problem(file, text)
            break  # the halves would give the same advice again
    yield from _unseen_word_warnings(sheet, splits, file)
    yield from _infinite_weight_warnings(sheet, splits, file)
    if sheet.design.weights not in (None, BALANCED):
        yield from _zero_weight_faults(sheet, splits, f"{file}, column '{sheet.design.weights}'")


def _unseen_word_warnings(sheet: Sheet, splits: Splits, file: str) -> Iterator[Problem]:
    """Yield a warning for words of a covariate that test samples have and training samples lack."""
    for covariate in sheet.design.covariates:
        if covariate.levels is None:
            continue
        cell_of_sample = sheet.obs[covariate.column].to_dict()
        unseen_words = []  # of each split that has some
        for split in splits.outer:
            test_words = {cell_of_sample[name] for name in split.test}
            training_words = {cell_of_sample[name] for name in split.train}
            words_of_split = {word for word in test_words - training_words if not is_missing(word)}
            if words_of_split:
                unseen_words.append(words_of_split)
        if unseen_words:
            message = (
                f"data.covariates: in {counted(len(unseen_words), 'split')} of {len(splits.outer)} "
                f"no training sample is {listing(sorted(set().union(*unseen_words)))}, which "
                f"counts as '{covariate.levels[0]}' there"
            )
            yield Problem(f"{file}, column '{covariate.column}'", message, "warning")


def _infinite_weight_warnings(sheet: Sheet, splits: Splits, file: str) -> Iterator[Problem]:
    """Yield a warning for words of a covariate whose weight is infinite in some training set."""
    response_kind = RESPONSES[sheet.design.kind]
    design = sheet.design
    all_splits = [*splits.outer, splits.final]
    y = response_kind.read(sheet.obs, design)
    training_masks = [sheet.obs.index.isin(split.train) for split in all_splits]
    for covariate in design.covariates:
        cells = sheet.obs[covariate.column].to_numpy(dtype=object)
        for word in covariate.levels or ():
            has_word = cells == word
            word_masks = [has_word & is_training for is_training in training_masks]
            n_infinite = sum(
                bool(mask.any()) and response_kind.has_infinite_weight(y[mask])
                for mask in word_masks
            )
            if n_infinite:
                message = (
                    f"data.covariates: '{word}' has {counted(int(has_word.sum()), 'sample')} and "
                    f"{response_kind.describe_counts(y[has_word], design.classes)}; "
                    f"in {n_infinite} of {counted(len(word_masks), 'training set')} "
                    "its weight has no finite value, and a small ridge holds the covariates "
                    "there: give its samples another word, leave them out, or leave their cells "
                    "blank and set data.missing_covariates: mean"
                )
                yield Problem(f"{file}, column '{covariate.column}'", message, "warning")


def _zero_weight_faults(sheet: Sheet, splits: Splits, column_location: str) -> Iterator[Problem]:
    """Yield a problem for training sets with too few samples of positive weight."""
    response_kind = RESPONSES[sheet.design.kind]
    design = sheet.design
    response = response_kind.read(sheet.obs, design)
    sample_names = sheet.obs.index
    has_weight = sheet.obs[design.weights].astype(float).to_numpy() > 0
    training_faults = [
        response_kind.training_fault(
            response[has_weight & sample_names.isin(split.train) & ~sample_names.isin(fold)],
            design.classes,
        )
        for split in [*splits.outer, splits.final, *splits.subsamples]
        for fold in [(), *split.inner]  # without a fold: the outer training set
    ]
    if faults := [fault for fault in training_faults if fault]:
        message = (
            f"data.weights: in {len(faults)} of {counted(len(training_faults), 'training set')} "
            f"the samples with a weight above 0 {faults[0]}; give more of the samples a weight "
            "above 0, or set data.weights: null"
        )
        yield Problem(column_location, message)


def _check_design_matrix(
    covariates: Sequence[Covariate], obs: pd.DataFrame, response: Array, file: str
) -> Iterator[Problem]:
    """Yield a problem for too many or dependent columns, and columns that determine the label.

    A covariate of numbers is one column here, whatever its spline. response (n,) or (n, T) float.
    """
    linear_covariates = [replace(covariate, knots=0) for covariate in covariates]
    names = covariate_names(linear_covariates)
    C = encode_covariates(covariates, obs)  # (n, len(names)), without splines
    if SAMPLES_PER_COVARIATE * len(names) > len(obs):
        message = (
            f"data.covariates make {counted(len(names), 'column')} for "
            f"{counted(len(obs), 'sample')}; at most {len(obs) // SAMPLES_PER_COVARIATE} can be "
            "adjusted for, so take some out"
        )
        yield Problem(file, message)
        return
    C = np.where(np.isnan(C), np.nanmean(C, axis=0) if len(C) else 0.0, C)  # missing: the mean
    C = (C - C.mean(axis=0)) / np.where(C.std(axis=0) > 0, C.std(axis=0), 1.0)
    if names and _unexplained_share(C, response) <= MAX_DEPENDENT_SHARE:
        message = (
            f"data.covariates: {listing(names)} give the label exactly, so that expression has "
            "nothing to add; take out what is the label by another name"
        )
        yield Problem(file, message)
        return
    for position, name in enumerate(names):
        if position and _unexplained_share(C[:, :position], C[:, position]) <= MAX_DEPENDENT_SHARE:
            message = (
                f"data.covariates: '{name}' follows from {listing(names[:position])}; their "
                "weights cannot be distinguished"
            )
            yield Problem(file, message, "warning")


def _unexplained_share(C: Array, y: Array) -> float:
    """Return the share of the variance of y (n,) or (n, T) that centred columns do not explain.

    C (n, m) float: the columns.
    """
    y = y - y.mean(axis=0)
    residual = y - C @ np.linalg.lstsq(C, y, rcond=None)[0]
    total_sum_of_squares = float(np.sum(y**2))
    return float(np.sum(residual**2)) / total_sum_of_squares if total_sum_of_squares > 0 else 1.0


def _check_weights(column: pd.Series[str], sheet: Sheet, file: str) -> Iterator[Problem]:
    """Yield a problem of sample weights, the last an effective size below half of the samples."""
    column_location = f"{file}, column '{column.name}'"
    cell_of_sample = {str(name): str(cell) for name, cell in column.items()}
    faulty_samples = [
        name for name, cell in cell_of_sample.items() if not is_number(cell) or float(cell) < 0
    ]
    if faulty_samples:
        cell = cell_of_sample[faulty_samples[0]]
        fault = f"is {cell}, below 0" if is_number(cell) else number_fault(cell)
        message = (
            f"data.weights: the weight of '{faulty_samples[0]}' "
            f"{fault}{further_text(len(faulty_samples) - 1, 'sample')}"
            "; each sample needs a number, 0 or more"
        )
        yield Problem(column_location, message)
        return
    sample_weights = np.array([float(cell) for cell in cell_of_sample.values()])
    if not sample_weights.any():
        yield Problem(column_location, "data.weights: every weight is 0; some must be above")
        return
    response_kind = RESPONSES[sheet.design.kind]
    classes = sheet.design.classes
    response = response_kind.read(sheet.obs, sheet.design)
    # Other checks report a fault that all samples have.
    if response_kind.training_fault(response, classes) is None and (
        weight_fault := response_kind.training_fault(response[sample_weights > 0], classes)
    ):
        yield Problem(
            column_location, f"data.weights: the samples with a weight above 0 {weight_fault}"
        )
    elif sample_weights.sum() ** 2 < len(sample_weights) / 2 * (sample_weights @ sample_weights):
        message = (
            f"data.weights: so uneven that {len(sample_weights)} samples are worth "
            f"{sample_weights.sum() ** 2 / (sample_weights @ sample_weights):.0f} (Kish's "
            "effective sample size)"
        )
        yield Problem(column_location, message, "warning")
