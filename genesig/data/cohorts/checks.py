"""Check external cohorts against the study before anything runs.

A cohort that cannot be scored for want of genes or covariates gives a warning: the study runs, and
the report says that the cohort is not assessable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import (
    GENE_WISE_STEPS,
    NewValues,
    apply_row_wise,
    check_covariates,
    check_values,
    describe_training_values,
    match_genes,
)
from genesig.data.cohorts.read import Cohort, read_cohort, take_study_names
from genesig.data.files.columns import names_patients
from genesig.data.files.gene_ids import other_spelling_hint
from genesig.data.files.names import Config
from genesig.data.quality.samples import find_twins_across, find_twins_as_measured
from genesig.data.steps.combat import MIN_BATCH_SAMPLES
from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.segment import with_places
from genesig.data.steps.transforms import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.dataset import Inputs, read_inputs
from genesig.data.study.label_rules import LABEL_RULES
from genesig.data.study.matrix_check import Expression, check_gene_names
from genesig.data.study.settings import CohortSettings, StudySettings
from genesig.errors import (
    GenesigError,
    InvalidInput,
    Problem,
    has_errors,
    order_by_level,
    problems_appended_to,
    warnings_of,
)
from genesig.response.design import label_columns
from genesig.results import Design
from genesig.words import counted, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

NOT_ASSESSABLE = "the report says that this data set is not assessable"


def check_external(config: Config) -> dict[str, dict[str, list[str]]]:
    """Return ``{"warnings": {name of a cohort: [sentences]}}`` of a resolved config's cohorts.

    Raises InvalidInput: with the problems of all cohorts, warnings included, if one is an error.
    """
    study = read_inputs(StudySettings.from_config(config))
    problems_of_cohort = {
        settings.name: check_cohort(settings, config, study) for settings in _cohorts(config)
    }
    problems = order_by_level(
        problem for cohort_problems in problems_of_cohort.values() for problem in cohort_problems
    )
    if has_errors(problems):
        raise InvalidInput(problems)
    return {
        "warnings": {
            name: warnings_of(cohort_problems)
            for name, cohort_problems in problems_of_cohort.items()
        }
    }


def check_cohorts(config: Config, study: Inputs) -> list[Problem]:
    """Return the problems of all external cohorts of the config.

    config: as `resolve_config` gives it.
    study: the study's own files, as far as they could be read.
    """
    return [
        problem
        for settings in _cohorts(config)
        for problem in check_cohort(settings, config, study)
    ]


def _cohorts(config: Config) -> list[CohortSettings]:
    """Return the settings of the external cohorts of a resolved config."""
    return [CohortSettings(**item) for item in config["external"]]


def check_cohort(settings: CohortSettings, config: Config, study: Inputs) -> list[Problem]:
    """Return the problems of one cohort; none if faults of the study leave its classes unknown."""
    design = (
        _design_by_config(config)
        if study.sheet is None or has_errors(study.problems)
        else study.sheet.design
    )
    problems = [] if design is None else _read_and_check(settings, design, study, config)
    return list(dict.fromkeys(problems))


def _read_and_check(
    settings: CohortSettings, design: Design, study: Inputs, config: Config
) -> Iterator[Problem]:
    """Yield the problems of one cohort, and those of its comparison with the study."""
    try:
        genes = [] if study.expression is None else study.expression.genes
        cohort = read_cohort(design, settings, genes)
    except InvalidInput as error:
        yield from error.problems
        return
    yield from cohort.problems
    yield from _check_covariates(cohort, design, settings)
    yield from _check_batches(cohort, settings)
    yield from _check_repeats(cohort, settings)
    if study.expression is not None and study.sheet is not None:
        names = [str(name) for name in study.sheet.obs.index]
        var = study.gene_table(())
        yield from _compare_with_study(cohort, study.expression, var, names, config, settings)


def _design_by_config(config: Config) -> Design | None:
    """Return the design by the config alone, for a study whose sample table has faults.

    None if the config does not name the classes, or not each column of the label.
    """
    classes = config["data"]["classes"]
    task = config["data"]["task"]
    if classes is None and LABEL_RULES[task].has_classes:
        return None
    class_names = None if classes is None else tuple(classes)
    columns_of_label = label_columns(config["label"])
    # Only survival has keys of several columns in `label_columns`; other labels are one column.
    if len(columns_of_label) != max(1, len(LABEL_RULES[task].label_columns)):
        return None
    survival_fields = (
        {"event": columns_of_label[1], "occurred": config["data"]["event"]}
        if columns_of_label[1:]
        else {}
    )
    return Design(columns_of_label[0], task, class_names, group=None, pair=None, **survival_fields)


def _check_covariates(
    cohort: Cohort, design: Design, settings: CohortSettings
) -> Iterator[Problem]:
    """Yield the problems of the cohort's covariates; a cohort that lacks one is not assessable."""
    file = settings.sample_file
    sample_table = cohort.sample_table
    has_all_covariates = all(
        covariate.column in sample_table.columns for covariate in design.covariates
    )
    for fault in check_covariates(design.covariates, design.filled, sample_table, file):
        yield (
            fault
            if has_all_covariates
            else Problem(file, f"{fault.message}; {NOT_ASSESSABLE}", "warning")
        )


def _check_batches(cohort: Cohort, settings: CohortSettings) -> Iterator[Problem]:
    """Yield an error for each batch that is too small for combat, if the settings ask for it."""
    if not settings.combat:
        return
    for name, size in Counter(cohort.batch).items():
        if size < MIN_BATCH_SAMPLES:
            batch_text = f"batch '{name}'" if settings.batch else f"'{settings.name}'"
            message = (
                f"combat needs a batch of at least {MIN_BATCH_SAMPLES} samples, "
                f"{batch_text} has {size}; set it to false"
            )
            yield Problem(f"external, {settings.name}, combat", message)


def _check_repeats(cohort: Cohort, settings: CohortSettings) -> Iterator[Problem]:
    """Yield a warning of several samples of one patient if no column of groups is set."""
    file = settings.sample_file
    setting = f"external, {settings.name}"
    sample_table = cohort.sample_table
    for column in map(str, sample_table.columns if cohort.group is None else ()):
        values = [str(word) for word in sample_table[column] if not is_missing(word)]
        if names_patients(column) and 1 < len(set(values)) < len(values):
            message = (
                f"samples of one '{column}' are not independent, so intervals would be too short"
                f"; set group: {column} ({setting})"
            )
            yield Problem(
                f"{file}, column '{column}'", message, "warning", code="repeated_patients"
            )


def _compare_with_study(
    cohort: Cohort,
    study: Expression,
    var: pd.DataFrame,
    study_samples: list[str],
    config: Config,
    settings: CohortSettings,
) -> Iterator[Problem]:
    """Yield the problems of a cohort's genes, samples and values beside those of the study.

    var: gene table of the study. study_samples: names of its samples, in the order of `study.X`.
    Values are compared only if the genes can be.
    """
    problems: list[Problem] = []
    rename_warnings: list[Problem] = []
    with problems_appended_to(problems):
        matrix, rename_warnings = take_study_names(
            cohort.matrix, study.genes, settings.renamed, cohort.file
        )
    yield from problems
    if problems:
        return
    cohort = replace(cohort, matrix=matrix)
    yield from rename_warnings
    yield from check_gene_names(cohort.matrix, cohort.file)
    cohort_genes = set(cohort.matrix.columns)
    shared_columns = [column for column, gene in enumerate(study.genes) if gene in cohort_genes]
    if not shared_columns:
        message = (
            f"no gene of the study is here: the study has {listing(study.genes)}, this matrix "
            f"{listing(cohort.matrix.columns)}"
        )
        message += other_spelling_hint(study.genes, cohort.matrix.columns) or (
            "; name a table of their ids and the study's in annotation"
        )
        yield Problem(cohort.file, message)
        return
    yield from _absent_gene_warning(cohort, study, shared_columns, config, settings)
    problems = []
    genes = [study.genes[column] for column in shared_columns]
    with problems_appended_to(problems):
        X, is_measured = match_genes(cohort.matrix, genes, cohort.file)
        training_values = study.X[:, shared_columns]
        yield from _training_copy_warnings(cohort, X, training_values, study_samples)
        _check_value_scale(
            cohort, var.iloc[shared_columns], X, is_measured, training_values, config
        )
    yield from problems


def _absent_gene_warning(
    cohort: Cohort,
    study: Expression,
    shared_columns: list[int],
    config: Config,
    settings: CohortSettings,
) -> Iterator[Problem]:
    """Yield a warning if the cohort lacks more genes than may be imputed (``missing``).

    shared_columns: columns of `study.X` whose genes the cohort has.
    """
    n_absent = len(study.genes) - len(shared_columns)
    if n_absent <= settings.missing * len(study.genes):
        return
    hint = other_spelling_hint(study.genes, cohort.matrix.columns)
    code = "id_spelling" if hint else ""
    message = (
        f"{n_absent} of the {counted(len(study.genes), 'gene')} of the study are not here{hint}"
    )
    step_names = {
        step["step"] for step in config["normalise"]["samples"] + config["normalise"]["folds"]
    }
    steps_across_genes = sorted(step_names - GENE_WISE_STEPS)
    if steps_across_genes:
        message += (
            f", but {listing(steps_across_genes)} looks at all of them; at most a share of "
            f"{settings.missing:g} may be imputed (missing): leave them out of the study, or else "
            f"{NOT_ASSESSABLE}"
        )
    else:
        message += f"; if the model needs many of them, {NOT_ASSESSABLE}. To be sure leave "
        message += "them out of the study"
    yield Problem(cohort.file, message, "warning", code=code)


def _training_copy_warnings(
    cohort: Cohort, X: Array, training_values: Array, study_samples: Sequence[str]
) -> Iterator[Problem]:
    """Yield warnings of samples that are, look like or are called like samples of the study.

    X, training_values (n, d) and (m, d): the shared genes of the cohort and of the study.
    """
    sample_of_values = {
        row.tobytes(): name
        for name, row in zip(study_samples, np.ascontiguousarray(training_values), strict=True)
    }
    samples_and_values = zip(cohort.matrix.rows, np.ascontiguousarray(X), strict=True)
    copy_of = {
        name: sample_of_values[row.tobytes()]
        for name, row in samples_and_values
        if row.tobytes() in sample_of_values
    }
    if copy_of:
        name, twin = next(iter(copy_of.items()))
        message = (
            f"{counted(len(copy_of), 'sample')} with the values of a sample of the study: '{name}' "
            f"is its '{twin}'; a test on training samples says nothing, take them out"
        )
        yield Problem(cohort.file, message, "warning", code="seen_in_training")
    yield from _reprocessed_warnings(cohort, X, training_values, study_samples, set(copy_of))
    study_names = set(study_samples)
    shared_names = [
        name for name in cohort.matrix.rows if name in study_names and name not in copy_of
    ]
    if shared_names:
        message = (
            f"{listing(shared_names)} is also the name of a "
            "sample of the study; is it the same one?"
        )
        yield Problem(cohort.file, message, "warning")


def _reprocessed_warnings(
    cohort: Cohort,
    X: Array,
    training_values: Array,
    study_samples: Sequence[str],
    copies: Collection[str],
) -> Iterator[Problem]:
    """Yield a warning of reprocessed training samples, and one of specimens measured twice.

    X, training_values, study_samples: as in `_training_copy_warnings`. copies: names of samples
    that are reported already.
    """
    source_of_sample = {  # pairs reversed, so that the closest one of a sample stays
        cohort.matrix.rows[row]: study_samples[training_row]
        for training_row, row in reversed(find_twins_across(training_values, X))
        if cohort.matrix.rows[row] not in copies
    }
    if source_of_sample:
        name, twin = next(iter(source_of_sample.items()))
        message = (
            f"{counted(len(source_of_sample), 'sample')} like a sample of the study that was "
            f"processed again: '{name}' like its '{twin}'; a test on training samples says "
            "nothing, take them out"
        )
        yield Problem(cohort.file, message, "warning", code="seen_in_training")
    groups = cohort.matrix.rows if cohort.group is None else cohort.group
    if pairs := [
        (first_row, second_row)
        for first_row, second_row in find_twins_as_measured(X)
        if groups[first_row] != groups[second_row]
    ]:
        first_sample, second_sample = (cohort.matrix.rows[row] for row in pairs[0])
        further_pairs = f", and {counted(len(pairs) - 1, 'more pair')}," if len(pairs) > 1 else ""
        message = (
            f"samples '{first_sample}' and '{second_sample}'{further_pairs} look like one "
            "specimen measured twice, which counts twice in the test; if they are, keep one of "
            "each, or name a column of patients as group"
        )
        yield Problem(cohort.file, message, "warning", code="specimen_twice")


def _check_value_scale(
    cohort: Cohort,
    var: pd.DataFrame,
    X: Array,
    is_measured: Array,
    training_values: Array,
    config: Config,
) -> None:
    """Raise InvalidInput if the cohort's values are on another scale than the study's.

    var: gene table of the shared genes. X, is_measured (n, d): their values in the cohort, and
    which exist. training_values (m, d): their values in the study.
    """
    steps = config["normalise"]["samples"]
    genes = [str(gene) for gene in var.index]
    try:
        fitted = fit_steps(training_values, with_places(steps, var))
        transformed = fitted.transform(training_values)
        if ZEROS in fitted.names:
            is_measured = is_measured & (X != 0)
        any_value = np.zeros(X.shape[1])  # of cells that are not measured, which nothing compares
        values = apply_row_wise(fitted.steps, X, is_measured, any_value)
    except GenesigError:  # the checks of the study report this error
        return
    all_steps = steps + config["normalise"]["folds"]
    training = describe_training_values(
        transformed, np.nanmean(transformed, axis=0), np.nanstd(transformed, axis=0), all_steps
    )
    samples = cohort.matrix.rows
    check_values(NewValues(X, values, is_measured, genes, samples, training, cohort.file))
