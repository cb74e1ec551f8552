"""Data sets of other studies, held against this one before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import (
    GENE_BY_GENE,
    check_known,
    check_values,
    matched,
    row_wise,
    scale_of,
)
from genesig.data.cohorts.read import Cohort, read_cohort
from genesig.data.cohorts.translation import under_names
from genesig.data.files.gene_ids import versions_hint
from genesig.data.quality.twins import cross_twins, twins_of
from genesig.data.steps.combat import MIN_BATCH_SAMPLES
from genesig.data.steps.normalise import fit_steps
from genesig.data.steps.segment import with_places
from genesig.data.steps.zeros import ZEROS_AS_MISSING as ZEROS
from genesig.data.study.dataset import Inputs, inputs_of
from genesig.data.study.design_check import names_patients
from genesig.data.study.labels.known import LABELS
from genesig.data.study.matrix_check import Expression, check_gene_names
from genesig.errors import GenesigError, InvalidInput, Problem, attempt, order_by_level, warnings_of
from genesig.response.design import label_columns
from genesig.results import Design
from genesig.words import counted, is_missing, listing

if TYPE_CHECKING:
    import pandas as pd

Config = dict[str, Any]
UNTOLD = "the report says that this data set is not assessable"
BESIDE = ("name", "combat", "missing", "renamed")
"""Settings of a cohort that its files are not read by."""


def check_external(config: Config) -> dict[str, dict[str, list[str]]]:
    """Return ``{"warnings": {name: [sentences]}}`` of data sets that the study can be tested on.

    Raises
    ------
    InvalidInput
        With all problems of all of them, warnings among them, if one is an error.
    """
    study = inputs_of(config)
    found = {item["name"]: check_cohort(item, config, study) for item in config["external"]}
    problems = order_by_level(p for each in found.values() for p in each)
    if any(problem.level == "error" for problem in problems):
        raise InvalidInput(problems)
    return {"warnings": {n: warnings_of(each) for n, each in found.items()}}


def check_cohorts(config: Config, study: Inputs) -> list[Problem]:
    """List every problem of the data sets in the section ``external``.

    Parameters
    ----------
    config : dict
        As `resolve_config` gives it.
    study : Inputs
        What the study's own files say, as far as they could be understood.
    """
    return [problem for item in config["external"] for problem in check_cohort(item, config, study)]


def check_cohort(item: Config, config: Config, study: Inputs) -> list[Problem]:
    """List every problem of one of them; none where the study's classes are not known."""
    sound = all(problem.level != "error" for problem in study.problems)
    design = study.sheet.design if study.sheet is not None and sound else _declared(config)
    found = [] if design is None else _of_cohort(item, design, study, config)
    return list(dict.fromkeys(found))


def _of_cohort(item: Config, design: Design, study: Inputs, config: Config) -> Iterator[Problem]:
    files = {key: value for key, value in item.items() if key not in BESIDE}
    try:
        genes = [] if study.expression is None else study.expression.genes
        cohort = read_cohort(design, genes=genes, **files)
    except InvalidInput as error:
        yield from error.problems
        return
    yield from cohort.problems
    yield from _check_covariates(cohort, design, item)
    yield from _check_batches(cohort, item)
    yield from _check_repeats(cohort, item)
    if study.expression is not None and study.sheet is not None:
        names = [str(name) for name in study.sheet.obs.index]
        var = study.gene_table(())
        yield from _against(cohort, study.expression, var, names, config, item)


def _declared(config: Config) -> Design | None:
    """Return what the config alone says of the label, where the sample table could not."""
    classes = config["data"]["classes"]
    task = config["data"]["task"]
    if classes is None and LABELS[task].named:
        return None
    named = None if classes is None else tuple(classes)
    columns = label_columns(config["label"])
    if len(columns) != max(1, len(LABELS[task].columns)):
        return None
    more = {"event": columns[1], "occurred": config["data"]["event"]} if columns[1:] else {}
    return Design(columns[0], task, named, None, None, **more)


def _check_covariates(cohort: Cohort, design: Design, item: Config) -> Iterator[Problem]:
    """Yield what its covariates are not; one that it lacks is no reason not to do the study."""
    place = item["samples"] or item["expression"]
    about = cohort.about
    whole = all(each.column in about.columns for each in design.covariates)
    for fault in check_known(design.covariates, design.filled, about, place):
        yield fault if whole else Problem(place, f"{fault.what}; {UNTOLD}", "warning")


def _check_batches(cohort: Cohort, item: Config) -> Iterator[Problem]:
    if not item["combat"]:
        return
    for name, size in Counter(cohort.batch).items():
        if size < MIN_BATCH_SAMPLES:
            batch = f"batch '{name}'" if item["batch"] else f"'{item['name']}'"
            message = (
                f"combat needs a batch of at least {MIN_BATCH_SAMPLES} samples, "
                f"{batch} has {size}; set it to false"
            )
            yield Problem(f"external, {item['name']}, combat", message)


def _check_repeats(cohort: Cohort, item: Config) -> Iterator[Problem]:
    """Warn of several samples of one patient that no column of groups names."""
    place = item["samples"] or item["expression"]
    at = f"external, {item['name']}"
    about = cohort.about
    for column in map(str, about.columns if cohort.group is None else ()):
        words = [str(word) for word in about[column] if not is_missing(word)]
        if names_patients(column) and 1 < len(set(words)) < len(words):
            message = (
                f"samples of one '{column}' are not independent, so intervals would be too short"
                f"; set group: {column} ({at})"
            )
            yield Problem(f"{place}, column '{column}'", message, "warning", "repeated_patients")


def _against(
    cohort: Cohort,
    study: Expression,
    var: pd.DataFrame,
    names: list[str],
    config: Config,
    item: Config,
) -> Iterator[Problem]:
    problems: list[Problem] = []
    named = attempt(
        lambda: under_names(cohort.matrix, study.genes, item["renamed"], cohort.where), problems
    )
    yield from problems
    if named is None:
        return
    cohort = replace(cohort, matrix=named[0])
    yield from named[1]
    yield from check_gene_names(cohort.matrix, cohort.where)
    here = set(cohort.matrix.columns)
    common = [k for k, gene in enumerate(study.genes) if gene in here]
    if not common:
        message = (
            f"no gene of the study is here: the study has {listing(study.genes)}, this matrix "
            f"{listing(cohort.matrix.columns)}"
        )
        message += versions_hint(study.genes, cohort.matrix.columns) or (
            "; name a table of their ids and the study's in annotation"
        )
        yield Problem(cohort.where, message)
        return
    yield from _absent(cohort, study, common, config, item)
    problems = []
    genes = [study.genes[k] for k in common]
    found = attempt(lambda: matched(cohort.matrix, genes, cohort.where), problems)
    if found is not None:
        yield from _seen_before(cohort, found[0], study.X[:, common], names)
        training = study.X[:, common]
        told = var.iloc[common]
        attempt(lambda: _check_scale(cohort, told, *found, training, config), problems)
    yield from problems


def _absent(
    cohort: Cohort, study: Expression, common: list[int], config: Config, item: Config
) -> Iterator[Problem]:
    lacking = len(study.genes) - len(common)
    if lacking <= item["missing"] * len(study.genes):
        return
    hint = versions_hint(study.genes, cohort.matrix.columns)
    code = "id_versions" if hint else ""
    message = (
        f"{lacking} of the {counted(len(study.genes), 'gene')} of the study are not here{hint}"
    )
    steps = {s["step"] for s in config["normalise"]["samples"] + config["normalise"]["folds"]}
    across = sorted(steps - GENE_BY_GENE)
    if across:
        message += f", but {listing(across)} looks at all of them; at most a share of "
        message += f"{item['missing']:g} may be imputed (missing): leave them out of the study, or "
        yield Problem(cohort.where, f"{message}else {UNTOLD}", "warning", code)
    else:
        message += f"; if the model needs many of them, {UNTOLD}. To be sure leave "
        yield Problem(cohort.where, message + "them out of the study", "warning", code)


def _seen_before(
    cohort: Cohort, X: Array, training: Array, names: Sequence[str]
) -> Iterator[Problem]:
    """Warn of samples that the model will have been trained on."""
    rows = {
        row.tobytes(): name for name, row in zip(names, np.ascontiguousarray(training), strict=True)
    }
    pairs = zip(cohort.matrix.rows, np.ascontiguousarray(X), strict=True)
    same = {name: rows[row.tobytes()] for name, row in pairs if row.tobytes() in rows}
    if same:
        name, twin = next(iter(same.items()))
        message = (
            f"{counted(len(same), 'sample')} with the values of a sample of the study: '{name}' "
            f"is its '{twin}'; a test on training samples says nothing, take them out"
        )
        yield Problem(cohort.where, message, "warning", "seen_in_training")
    yield from _processed_again(cohort, X, training, names, set(same))
    shared = [name for name in cohort.matrix.rows if name in set(names) and name not in same]
    if shared:
        message = (
            f"{listing(shared)} is also the name of a sample of the study; is it the same one?"
        )
        yield Problem(cohort.where, message, "warning")


def _processed_again(
    cohort: Cohort, X: Array, training: Array, names: Sequence[str], copies: Collection[str]
) -> Iterator[Problem]:
    """Warn of samples that look like a training sample processed again, and of twins among them."""
    again = {
        cohort.matrix.rows[row]: names[of]
        for of, row in reversed(cross_twins(training, X))
        if cohort.matrix.rows[row] not in copies
    }
    if again:
        name, twin = next(iter(again.items()))
        message = (
            f"{counted(len(again), 'sample')} like a sample of the study that was processed "
            f"again: '{name}' like its '{twin}'; a test on training samples says nothing, "
            "take them out"
        )
        yield Problem(cohort.where, message, "warning", "seen_in_training")
    groups = cohort.matrix.rows if cohort.group is None else cohort.group
    if pairs := [(a, b) for a, b in twins_of(X) if groups[a] != groups[b]]:
        first, second = (cohort.matrix.rows[row] for row in pairs[0])
        more = f", and {counted(len(pairs) - 1, 'more pair')}," if len(pairs) > 1 else ""
        message = (
            f"samples '{first}' and '{second}'{more} look like one specimen measured twice, "
            "which counts twice in the test; if they are, keep one of each, or name a"
            " column of patients as group"
        )
        yield Problem(cohort.where, message, "warning", "specimen_twice")


def _check_scale(
    cohort: Cohort, var: pd.DataFrame, X: Array, known: Array, training: Array, config: Config
) -> None:
    steps = config["normalise"]["samples"]
    genes = [str(gene) for gene in var.index]
    try:
        fitted = fit_steps(training, with_places(steps, var))
        T = fitted.transform(training)
        if ZEROS in fitted.names:
            known = known & (X != 0)
        values = row_wise(fitted.steps, X, known, np.zeros(X.shape[1]))
    except GenesigError:  # said of the study's own values
        return
    everything = steps + config["normalise"]["folds"]
    scale = scale_of(T, np.nanmean(T, axis=0), np.nanstd(T, axis=0), everything)
    check_values(X, values, known, genes, cohort.matrix.rows, scale, cohort.where)
