"""Everything the user gave, checked before anything runs; all problems at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from genesig.data.cohorts.checks import check_cohorts
from genesig.data.files.config_text import config_children, exceeds_config_size
from genesig.data.files.names import POOLED_STUDIES
from genesig.data.files.readers import read_json
from genesig.data.quality.missingness import check_missing
from genesig.data.quality.twins import SIMILAR_SAMPLES, check_twins
from genesig.data.steps.collapse import gene_columns
from genesig.data.steps.segment import SEGMENT
from genesig.data.study.config_check import (
    check_kind,
    classes_shown,
    examine_config,
    not_offered,
    resolve_config,
)
from genesig.data.study.confounding import check_covariates
from genesig.data.study.cost import Size, announced, check_cost, study_costs
from genesig.data.study.covariates_check import check_trained
from genesig.data.study.dataset import Inputs, inputs_of
from genesig.data.study.design_check import (
    check_belonging,
    check_design,
    check_label_genes,
    check_tested,
)
from genesig.data.study.gene_columns import check_groups
from genesig.data.study.gene_sets import check_sets
from genesig.data.study.machine_speed import slowness
from genesig.data.study.scale_check import (
    check_counts,
    check_empty,
    check_lone,
    check_mixed,
    check_probes,
    check_scale,
    rehearse_steps,
)
from genesig.data.study.settings_check import check_settings, check_shares
from genesig.data.study.sheet_check import check_column
from genesig.errors import GenesigError, InvalidInput, Problem, order_by_level, warnings_of
from genesig.log import announce
from genesig.response.known import RESPONSES
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

Config = dict[str, Any]


@dataclass(frozen=True)
class Examination:
    """What was found: problems, errors first; the study and its cost in words; its size."""

    problems: tuple[Problem, ...]
    summary: str
    cost: str = ""
    size: Size | None = None

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop the study."""
        return tuple(problem for problem in self.problems if problem.level == "error")


def examine(raw: Config, schema: Config, source: str) -> Examination:
    """Examine a config as it was written, and the data sets of other studies that it names.

    With faulty keys, the study's files are still looked at.
    """
    config, problems = examine_config(raw, schema, source, _classes(raw))
    if not problems:
        found, inputs, size = _examine_study(config, source)
        return _examination(found + check_cohorts(config, inputs), inputs, size, config)
    named = all(isinstance(config.get(key), str) for key in schema["required"])
    if named and config["expression"] != POOLED_STUDIES:
        problems += _not_derived(inputs_of(config).problems, problems, config, source)
    return Examination(tuple(order_by_level(problems)), "")


def _classes(raw: Config) -> int | None:
    return None if exceeds_config_size(raw, config_children) else classes_shown(raw)


def _not_derived(
    found: list[Problem], faults: list[Problem], config: Config, source: str
) -> Iterator[Problem]:
    """Leave out what is said of the labels because data.task or data.classes is at fault."""
    keys = (f"{source}, data.classes", f"{source}, data.task")
    if any(fault.location.startswith(keys) for fault in faults):
        column = f"{config['samples']}, column '{config['label']}'"
        found = [problem for problem in found if problem.location != column]
    yield from found


def study_config(raw: Config, schema: Config, source: str = "config") -> Config:
    """Fill a config up with defaults and hold its settings against each other.

    Opens no file but the sample table, and that only to see whether there are more than two
    classes. `source` is the name of the config in messages.

    Raises
    ------
    InvalidInput
        With all problems, warnings among them, if one is an error.
    """
    config = resolve_config(raw, schema, source, _classes(raw))
    problems = order_by_level(check_settings(config, source))
    if _errors(list(problems)):
        raise InvalidInput(problems)
    return config


def check_study(config: Config, source: str) -> dict[str, Any]:
    """Return ``{"summary": sentence, "warnings": [sentences], "size": …}`` of a study that can run.

    The warnings are those of the files. What the settings alone say is left out: they may change
    afterwards without a reason to look at the files again, and the warning would be out of date.
    Similar samples are left out because the report tests for them itself (quality.json).
    `source` is the name of the config in messages.

    Raises
    ------
    InvalidInput
        With all problems, warnings among them, if one is an error.
    """
    found = examine_study(config, source)
    if found.errors:
        raise InvalidInput(found.problems)
    of_settings = check_settings(config, source)
    lasting = warnings_of(
        problem
        for problem in found.problems
        if problem not in of_settings and problem.code != SIMILAR_SAMPLES
    )
    announce("\n".join([*map(str, found.problems), f"{found.summary}; {found.cost}"]))
    size = found.size and {name: value for name, value in asdict(found.size).items() if value}
    return {"summary": found.summary, "warnings": lasting, "size": size}


def examine_study(config: Config, source: str) -> Examination:
    """List every problem of a study: settings, sample table, matrix, and all across them.

    Parameters
    ----------
    config : dict
        As `resolve_config` gives it.
    source : str
        Name of the config in messages.
    """
    return _examination(*_examine_study(config, source), config)


def _examination(
    problems: list[Problem], inputs: Inputs, size: Size | None, config: Config
) -> Examination:
    cost = "" if size is None else announced(study_costs(config, size), slowness())
    return Examination(tuple(order_by_level(problems)), _summary(inputs, config), cost, size)


def _examine_study(config: Config, source: str) -> tuple[list[Problem], Inputs, Size | None]:
    problems = check_settings(config, source)
    wrong_steps = any("normalise" in p.location and p.level == "error" for p in problems)
    inputs = inputs_of(config)
    problems += inputs.problems
    if config["splits"]["file"] is not None:
        problems += _check_split_file(config["splits"]["file"])
    if inputs.sheet is not None:
        place = config["samples"]
        obs = inputs.sheet.obs
        if config["splits"]["scheme"] == "predefined":
            known = list(obs.columns)
            index = str(obs.index.name)
            column = config["splits"]["column"]
            check_column(column, "splits.column", known, index, place, problems)
        if not _errors(inputs.problems):
            problems += check_design(inputs.sheet, config, place)
            problems += check_kind(config, inputs.sheet.design.kind, source)
            problems += check_shares(config["probabilities"], inputs.sheet.design, source)
            problems += check_belonging(inputs.sheet, place)
            problems += _check_against_labels(inputs, config)
            covariates = list(check_covariates(inputs.sheet, config["normalise"]["folds"], place))
            problems += covariates
            wrong_steps = wrong_steps or bool(covariates)
    if inputs.table is not None:
        place = config["data"]["annotation"]
        columns = list(inputs.table.columns)
        for name in gene_columns(config["normalise"]["folds"]):
            wrong_steps = wrong_steps or name not in columns
            check_column(name, "normalise.folds, by", columns, "", place, problems)
    of_sets: dict[str, int] = {}
    if inputs.expression is not None:
        problems += check_groups(config, inputs.expression.genes)
        found, of_sets = check_sets(config, inputs.expression.genes, inputs.symbols)
        problems += found
    if not wrong_steps:
        problems += _check_values(inputs, config, source)
    if _errors(problems):
        return problems, inputs, None
    size = _rehearse_splits(inputs, config, source, problems)
    if size is not None:
        size = replace(size, **of_sets)
        problems += check_cost(study_costs(config, size), source)
    return problems, inputs, size


def _check_against_labels(inputs: Inputs, config: Config) -> Iterator[Problem]:
    """Hold the genes against the labels: those that tell too much, and what is missing."""
    found = inputs.expression
    sheet = inputs.sheet
    place = config["expression"]
    if found is None or sheet is None:
        return
    yield from check_label_genes(found, sheet, place)
    yield from check_twins(found, sheet, place)
    folds = config["normalise"]["folds"]
    yield from check_missing(found.X, found.genes, sheet, folds, place, inputs.omics)


def _check_values(inputs: Inputs, config: Config, source: str) -> list[Problem]:
    """Hold the values against the steps, and rehearse these where nothing speaks against it."""
    if inputs.expression is None:
        return []
    X = inputs.expression.X
    genes = inputs.expression.genes
    place = config["expression"]
    sheet = None if _errors(inputs.problems) else inputs.sheet
    normalise = config["normalise"]
    names = [] if sheet is None else [str(name) for name in sheet.obs.index]
    steps = {step["step"] for step in normalise["samples"] + normalise["folds"]}
    if lone := list(check_lone(X[: len(names)], genes, names, place, steps)):
        return lone
    problems = list(check_probes(genes, normalise, place))
    are_counts = inputs.expression.has_counts
    problems = problems or list(check_scale(X, normalise, place, are_counts=are_counts))
    problems += check_mixed(X[: len(names)], names, normalise, place)
    faults = list(check_counts(X[: len(names)], genes, names, normalise, place))
    faults = faults or list(check_empty(X[: len(names)], names, normalise, place))
    if faults or (SEGMENT in steps and inputs.places is None):
        return problems + faults
    var = inputs.gene_table(gene_columns(normalise["folds"]))
    return problems + list(rehearse_steps(X, normalise, source, sheet, var))


def _check_split_file(path: str) -> Iterator[Problem]:
    """Say whether the file can be read at all; `draw_splits` looks at what it holds."""
    try:
        raw = read_json(path)
    except InvalidInput as error:
        yield from error.problems
        return
    version = raw.get("version", 1) if isinstance(raw, dict) else 1
    if version != 1:
        yield Problem(path, f"version {version} is not known, needs 1; draw the splits again")


def _rehearse_splits(
    inputs: Inputs, config: Config, source: str, problems: list[Problem]
) -> Size | None:
    """Draw the splits and one permutation: what the study would refuse is refused here."""
    from genesig.data.splits.draw import draw_splits
    from genesig.data.splits.permute import permutation

    if inputs.sheet is None or inputs.expression is None:
        return None
    obs = inputs.sheet.obs
    design = inputs.sheet.design
    dataset = Dataset(np.empty((len(obs), 0)), obs, obs.iloc[:0, :0], design, {})
    try:
        splits = draw_splits(dataset, seed=config["seed"], **config["splits"])
        problems += _idle_jobs(len(splits.outer), config["splits"]["batches"], source)
        permutation(dataset, splits, min(1, config["controls"]["permutations"]))
        problems += check_tested(inputs.sheet, splits, config["samples"])
        problems += check_trained(inputs.sheet, splits, config["samples"])
        return Size.of(splits, len(inputs.expression.genes), inputs.sheet.design)
    except InvalidInput as error:
        problems += error.problems
    except GenesigError as error:
        key, colon, message = str(error).partition(": ")
        problems.append(Problem(f"{source}, {key}", message) if colon else Problem(source, key))
    return None


def _idle_jobs(outer: int, batches: int, source: str) -> Iterator[Problem]:
    """Say where more jobs are asked for than there are splits; the usual two are no fault."""
    if batches > max(outer, 2):
        message = f"{batches} jobs, but {counted(outer, 'outer split')} to share; at most {outer}"
        yield Problem(f"{source}, splits.batches", message)


def _summary(inputs: Inputs, config: Config) -> str:
    if inputs.sheet is None or inputs.expression is None or _errors(inputs.problems):
        return ""
    design = inputs.sheet.design
    obs = inputs.sheet.obs
    kind = RESPONSES[design.kind]
    told = kind.describe_counts(kind.read(obs, design), design.classes)
    held = ", ".join(covariate.column for covariate in design.covariates)
    samples = counted(len(obs), "sample") + (f" ({told})" if told else "")
    samples += f", held fixed: {held}" if held else ""
    dropped = inputs.sheet.dropped + inputs.expression.dropped
    out = Counter(note["kind"] for note in dropped)
    left = ", ".join(counted(times, noun) for noun, times in out.items())
    genes = counted(len(inputs.expression.genes), "gene")
    without = not_offered(design.kind, config["data"])
    parts = (f"{samples}, {genes}", f"left out: {left}" if left else "", without)
    return "; ".join(part for part in parts if part)


def _errors(problems: list[Problem]) -> bool:
    return any(problem.level == "error" for problem in problems)
