"""Check a whole study before it runs: config, files, splits, steps, cost and external cohorts.

`raw` is the config as it was written, `source` its name in messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from genesig.data.cohorts.checks import check_cohorts
from genesig.data.files.config_text import config_children, exceeds_config_size
from genesig.data.files.names import POOLED_STUDIES, Config
from genesig.data.files.readers import read_json
from genesig.data.quality.missingness import check_missing
from genesig.data.quality.samples import SIMILAR_SAMPLES, check_twins
from genesig.data.steps.gene_filters import set_columns_of
from genesig.data.steps.segment import SEGMENT
from genesig.data.study.config_check import (
    check_kind_of_table,
    count_label_classes,
    describe_unavailable_analyses,
    examine_config,
    resolve_config,
)
from genesig.data.study.confounding import check_combat_covariates
from genesig.data.study.cost import Size, check_cost, cpu_slowness, describe_costs, study_costs
from genesig.data.study.covariates_check import check_training_sets
from genesig.data.study.dataset import Inputs, read_inputs
from genesig.data.study.gene_columns import check_groups
from genesig.data.study.gene_sets import check_gene_sets
from genesig.data.study.label_genes_check import check_label_genes
from genesig.data.study.scale_check import (
    check_counts,
    check_empty_samples,
    check_lone_values,
    check_mixed_scales,
    check_scale,
    check_unsummarised_probes,
    rehearse_steps,
)
from genesig.data.study.settings import StudySettings
from genesig.data.study.settings_check import check_decision, check_settings, check_shares
from genesig.data.study.sheet_check import check_column
from genesig.data.study.split_check import (
    check_design,
    check_patient_columns,
    check_tested_classes,
    check_tissues,
    check_training_classes,
)
from genesig.errors import (
    GenesigError,
    InvalidInput,
    LocatedError,
    Problem,
    has_errors,
    order_by_level,
    warnings_of,
)
from genesig.log import announce
from genesig.response.kinds import RESPONSES
from genesig.results import Dataset
from genesig.words import counted

__all__ = [
    "Examination",
    "check_study",
    "examine",
    "examine_study",
    "resolve_config",
    "study_config",
]


@dataclass(frozen=True)
class Examination:
    """The problems of a study, errors first, with its summary and cost."""

    problems: tuple[Problem, ...]  # errors first
    summary: str  # samples, genes and everything left out, in words; '' after an error of a file
    cost: str = ""  # time and memory in words; '' after an error
    size: Size | None = None  # None after an error

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop the study."""
        return tuple(problem for problem in self.problems if problem.level == "error")


def examine(raw: Config, schema: Config, source: str) -> Examination:
    """Return all problems of a config as it was written, and of the external cohorts it names.

    The files of a single study are examined even if settings are faulty.
    """
    config, problems = examine_config(raw, schema, source, _count_classes(raw))
    if not problems:
        study_problems, inputs, size = _examine_study(config, source)
        return _make_examination(
            study_problems + check_cohorts(config, inputs), inputs, size, config
        )
    names_files = all(isinstance(config.get(key), str) for key in schema["required"])
    if names_files and config["expression"] != POOLED_STUDIES:
        problems += _independent_problems(
            read_inputs(StudySettings.from_config(config)).problems, problems
        )
    return Examination(tuple(order_by_level(problems)), "")


def _count_classes(raw: Config) -> int | None:
    """Return the number of classes of the sample table; None if unneeded, or in a huge config."""
    return None if exceeds_config_size(raw, config_children) else count_label_classes(raw)


def _independent_problems(
    file_problems: list[Problem], setting_faults: list[Problem]
) -> Iterator[Problem]:
    """Yield the files' problems, without those of the label if its settings are faulty."""
    keys = ("data.classes", "data.task")
    are_faulty = any(fault.key in keys for fault in setting_faults)
    yield from (problem for problem in file_problems if not (are_faulty and problem.key in keys))


def study_config(raw: Config, schema: Config, source: str = "config") -> Config:
    """Return the config with defaults; raise if its settings contradict each other.

    Opens no file but the sample table, and that only to count its classes.

    Raises InvalidInput: with all problems, warnings included, if one is an error.
    """
    config = resolve_config(raw, schema, source, _count_classes(raw))
    problems = order_by_level(check_settings(config, source))
    if has_errors(problems):
        raise InvalidInput(problems)
    return config


def check_study(config: Config, source: str) -> dict[str, Any]:
    """Return summary, warnings (sentences), `warning_codes` and size of a study that can run.

    The warnings are those of the files. Warnings of settings are left out: settings may change
    without a reason to examine the files again, and the stored warning would be out of date.
    Similar samples are left out because the report tests for them itself (quality.json).

    Raises InvalidInput: with all problems, warnings included, if one is an error.
    """
    examination = examine_study(config, source)
    if examination.errors:
        raise InvalidInput(examination.problems)
    setting_problems = check_settings(config, source)
    lasting_problems = [
        problem
        for problem in examination.problems
        if problem not in setting_problems and problem.code != SIMILAR_SAMPLES
    ]
    warning_codes = {problem.code for problem in lasting_problems if problem.level == "warning"}
    announce(
        "\n".join([*map(str, examination.problems), f"{examination.summary}; {examination.cost}"])
    )
    size = examination.size and {
        name: value for name, value in asdict(examination.size).items() if value
    }
    return {
        "summary": examination.summary,
        "warnings": warnings_of(lasting_problems),
        "warning_codes": sorted(warning_codes - {""}),
        "size": size,
    }


def examine_study(config: Config, source: str) -> Examination:
    """Return all problems of a study: of settings, sample table, matrix, and between them.

    config: as `resolve_config` gives it.
    """
    return _make_examination(*_examine_study(config, source), config)


def _make_examination(
    problems: list[Problem], inputs: Inputs, size: Size | None, config: Config
) -> Examination:
    """Return the examination with the study's summary and its cost in words."""
    cost = "" if size is None else describe_costs(study_costs(config, size), cpu_slowness())
    return Examination(tuple(order_by_level(problems)), _summary(inputs, config), cost, size)


def _examine_study(config: Config, source: str) -> tuple[list[Problem], Inputs, Size | None]:
    """Return the problems of a study, its inputs, and its size if there is no error."""
    problems = check_settings(config, source)
    has_faulty_steps = any(
        problem.section == "normalise" and problem.level == "error" for problem in problems
    )
    inputs = read_inputs(StudySettings.from_config(config))
    problems += inputs.problems
    if config["splits"]["file"] is not None:
        problems += _check_split_file(config["splits"]["file"])
    if inputs.sheet is not None:
        file = config["samples"]
        obs = inputs.sheet.obs
        if config["splits"]["scheme"] == "predefined":
            columns_of_table = list(obs.columns)
            index_name = str(obs.index.name)
            column = config["splits"]["column"]
            check_column(column, "splits.column", columns_of_table, index_name, file, problems)
        if not has_errors(inputs.problems):
            problems += check_design(inputs.sheet, config, file)
            problems += check_kind_of_table(config, inputs.sheet.design.kind, source)
            problems += check_shares(config["probabilities"], inputs.sheet.design, source)
            problems += check_decision(config["decision"], inputs.sheet.design, source)
            problems += check_patient_columns(inputs.sheet, file)
            problems += check_tissues(inputs.sheet, file)
            problems += _check_against_labels(inputs, config)
            covariate_problems = list(
                check_combat_covariates(inputs.sheet, config["normalise"]["folds"], file)
            )
            problems += covariate_problems
            has_faulty_steps = has_faulty_steps or bool(covariate_problems)
    if inputs.table is not None:
        file = config["data"]["annotation"]
        columns = list(inputs.table.columns)
        for name in set_columns_of(config["normalise"]["folds"]):
            has_faulty_steps = has_faulty_steps or name not in columns
            check_column(name, "normalise.folds, by", columns, "", file, problems)
    set_sizes: dict[str, int] = {}
    if inputs.expression is not None:
        problems += check_groups(config, inputs.expression.genes)
        set_problems, set_sizes = check_gene_sets(config, inputs.expression.genes, inputs.symbols)
        problems += set_problems
    if not has_faulty_steps:
        problems += _check_values(inputs, config, source)
    if has_errors(problems):
        return problems, inputs, None
    size = _rehearse_splits(inputs, config, source, problems)
    if size is not None:
        size = replace(size, **set_sizes)
        problems += check_cost(study_costs(config, size), source)
    return problems, inputs, size


def _check_against_labels(inputs: Inputs, config: Config) -> Iterator[Problem]:
    """Yield the problems of genes and missing values that depend on the labels."""
    expression = inputs.expression
    sheet = inputs.sheet
    file = config["expression"]
    if expression is None or sheet is None:
        return
    yield from check_label_genes(expression, sheet, file)
    yield from check_twins(expression, sheet, file)
    folds = config["normalise"]["folds"]
    yield from check_missing(expression.X, expression.genes, sheet, folds, file, inputs.omics)


def _check_values(inputs: Inputs, config: Config, source: str) -> list[Problem]:
    """Return the problems of the values for the steps.

    The steps are rehearsed unless values make that useless: counts or samples that a step refuses.
    """
    if inputs.expression is None:
        return []
    X = inputs.expression.X
    genes = inputs.expression.genes
    file = config["expression"]
    sound_sheet = None if has_errors(inputs.problems) else inputs.sheet
    normalise = config["normalise"]
    # Without a sound sample table the checks of single samples get none.
    samples = [] if sound_sheet is None else [str(name) for name in sound_sheet.obs.index]
    step_names = {step["step"] for step in normalise["samples"] + normalise["folds"]}
    if lone_values := list(check_lone_values(X[: len(samples)], genes, samples, file, step_names)):
        return lone_values  # single values far from all others, which would hide their scale
    problems = list(check_unsummarised_probes(genes, normalise, file))
    are_counts = inputs.expression.has_counts
    # Raw intensities of probes are warned of once, and not for their scale as well.
    problems = problems or list(check_scale(X, normalise, file, are_counts=are_counts))
    problems += check_mixed_scales(X[: len(samples)], samples, normalise, file)
    blocking_faults = list(check_counts(X[: len(samples)], genes, samples, normalise, file))
    blocking_faults = blocking_faults or list(
        check_empty_samples(X[: len(samples)], samples, normalise, file)
    )
    lacks_places = SEGMENT in step_names and inputs.places is None  # that is an error elsewhere
    if blocking_faults or lacks_places:
        return problems + blocking_faults
    var = inputs.gene_table(set_columns_of(normalise["folds"]))
    return problems + list(rehearse_steps(X, normalise, source, sound_sheet, var))


def _check_split_file(path: str) -> Iterator[Problem]:
    """Yield a problem of an unreadable or newer split file; `draw_splits` checks its content."""
    try:
        content = read_json(path)
    except InvalidInput as error:
        yield from error.problems
        return
    version = content.get("version", 1) if isinstance(content, dict) else 1
    if version != 1:
        yield Problem(path, f"version {version} is not known, needs 1; draw the splits again")


def _rehearse_splits(
    inputs: Inputs, config: Config, source: str, problems: list[Problem]
) -> Size | None:
    """Return the size of the study with its splits; None after an error, which is appended.

    The splits and one permutation, if the study has any, are drawn: their errors come beforehand.
    """
    from genesig.data.splits.draw import draw_permutation, draw_splits

    if inputs.sheet is None or inputs.expression is None:
        return None
    obs = inputs.sheet.obs
    design = inputs.sheet.design
    dataset = Dataset(np.empty((len(obs), 0)), obs, obs.iloc[:0, :0], design, {})  # no genes
    try:
        splits = draw_splits(dataset, seed=config["seed"], **config["splits"])
        problems += _check_number_of_jobs(len(splits.outer), config["splits"]["batches"], source)
        draw_permutation(dataset, splits, min(1, config["controls"]["permutations"]))
        problems += check_tested_classes(inputs.sheet, splits, config["samples"])
        problems += check_training_sets(inputs.sheet, splits, config["samples"])
        problems += check_training_classes(inputs.sheet, splits, config["decision"], source)
        return Size.from_splits(splits, len(inputs.expression.genes), inputs.sheet.design)
    except InvalidInput as error:
        problems += error.problems
    except LocatedError as error:
        problems.append(Problem(f"{source}, {error.location}", error.message))
    except GenesigError as error:
        problems.append(Problem(source, str(error)))
    return None


def _check_number_of_jobs(n_outer: int, n_batches: int, source: str) -> Iterator[Problem]:
    """Yield an error if there are more jobs than splits; the default, two, is allowed."""
    if n_batches > max(n_outer, 2):
        message = (
            f"{n_batches} jobs, but {counted(n_outer, 'outer split')} to share; at most {n_outer}"
        )
        yield Problem(f"{source}, splits.batches", message)


def _summary(inputs: Inputs, config: Config) -> str:
    """Return samples, genes and all that is left out as a sentence, '' after an error of files."""
    if inputs.sheet is None or inputs.expression is None or has_errors(inputs.problems):
        return ""
    design = inputs.sheet.design
    obs = inputs.sheet.obs
    response_kind = RESPONSES[design.kind]
    counts_text = response_kind.describe_counts(response_kind.read(obs, design), design.classes)
    covariates_text = ", ".join(covariate.column for covariate in design.covariates)
    samples_text = counted(len(obs), "sample") + (f" ({counts_text})" if counts_text else "")
    samples_text += f", adjusted for: {covariates_text}" if covariates_text else ""
    dropped = inputs.sheet.dropped + inputs.expression.dropped
    n_dropped_of_kind = Counter(drop["kind"] for drop in dropped)
    dropped_text = ", ".join(counted(count, noun) for noun, count in n_dropped_of_kind.items())
    genes_text = counted(len(inputs.expression.genes), "gene")
    unavailable_text = describe_unavailable_analyses(design.kind, config["data"])
    phrases = (
        f"{samples_text}, {genes_text}",
        f"left out: {dropped_text}" if dropped_text else "",
        unavailable_text,
    )
    return "; ".join(part for part in phrases if part)
