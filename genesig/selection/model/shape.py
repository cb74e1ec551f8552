"""Validate model.json, and apply its covariates and normalisation steps to new samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import apply_row_wise, check_covariates
from genesig.data.steps.alignment import AlignStudies, CombatStudies
from genesig.data.steps.missing_indicators import MISSING_INDICATORS
from genesig.data.steps.normalise import IMPUTATION_STEPS, LOW_VALUE_STEPS, Reference, apply_step
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS
from genesig.data.steps.transforms import ZEROS_AS_MISSING as ZEROS
from genesig.errors import GenesigError, InvalidInput, Problem, input_error
from genesig.plugins import entry_points_of
from genesig.response.covariates import (
    Covariate,
    covariate_names,
    encode_covariates,
    knot_counts,
    spline_columns,
)
from genesig.results import Dataset, Fits
from genesig.selection.model.kinds import MODEL_KINDS
from genesig.selection.model.schema import (
    COVARIATE_MODEL_VERSION,
    MODEL_FORMAT,
    MODEL_VERSION,
    SCHEMA,
    ModelJson,
    list_contradictions,
)
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd


def covariates_json(dataset: Dataset, final_fit: Fits) -> dict[str, Any]:
    """Return the part ``covariates`` of model.json; {} in a study without covariates."""
    design = dataset.design
    if final_fit.covariates is None:
        return {}
    all_knots = _final_knots(design.covariates, final_fit.covariates.knots[0])
    columns = [
        {
            "column": c.column,
            "levels": c.levels and list(c.levels),
            "knots": knots_of_covariate,
            "words": dict(c.words),  # other words of a sample table -> level
        }
        for c, knots_of_covariate in zip(design.covariates, all_knots, strict=True)
    ]
    return {
        "covariates": {
            "columns": columns,
            "names": covariate_names(design.covariates),
            "means": final_fit.covariates.mean[0].tolist(),
            "filled": design.filled,  # whether a missing value becomes the mean
        }
    }


def _final_knots(covariates: Sequence[Covariate], all_knots: Array) -> list[list[float] | None]:
    """Return the knots of each covariate, None without a spline, from knots (r, K) of columns."""
    column = 0
    knots = []
    for covariate in covariates:
        n_knots = covariate.knots
        knots.append(all_knots[column, :n_knots].tolist() if n_knots else None)
        column += len(knot_counts([covariate]))  # a category has several columns
    return knots


def covariate_weights_json(final_fit: Fits, index: int) -> dict[str, Any]:
    """Return the key ``covariates`` of one of ``models``: weights in the list number `index`."""
    if final_fit.covariates is None:
        return {}
    return {"covariates": final_fit.covariates.gamma[0, index].tolist()}


def covariates_of(model: ModelJson) -> tuple[Covariate, ...]:
    """Return the covariates that a model needs; () in a model without covariates."""
    columns = model.get("covariates", {"columns": []})["columns"]
    return tuple(
        Covariate(
            column["column"],
            levels=column["levels"] and tuple(column["levels"]),
            knots=len(column["knots"] or ()),
            words=column["words"],
        )
        for column in columns
    )


def _model_knots(model: ModelJson) -> Array:
    """Return the knots (r, K) of the covariate columns, NaN where a column has fewer."""
    covariates = covariates_of(model)
    counts = knot_counts(covariates)
    knots = np.full((len(counts), max(counts, default=0)), np.nan)
    stored_knots = [c["knots"] for c in model["covariates"]["columns"] if c["knots"]]
    for row, column_knots in zip(np.flatnonzero(counts), stored_knots, strict=True):
        knots[row, : len(column_knots)] = column_knots
    return knots


def covariate_values(model: ModelJson, sample_table: pd.DataFrame | None) -> Array | None:
    """Return the values (n_samples, q) that the weights of the covariates are multiplied with.

    `sample_table` is the sample table of these samples, in their order, as `check_covariates` has
    passed it; a missing value is the mean of the training samples. None without covariates.
    """
    covariates = covariates_of(model)
    if not covariates or sample_table is None:
        return None
    C = spline_columns(encode_covariates(covariates, sample_table), _model_knots(model))
    return np.where(np.isnan(C), np.array(model["covariates"]["means"]), C)


def covariate_scores(
    model: ModelJson, model_of_list: ModelJson, sample_table: pd.DataFrame | None
) -> Array | float:
    """Return the part of the score due to the covariates, (n,) or (n, T); 0.0 without covariates.

    model_of_list: one of ``models`` of model.json. sample_table: as for `covariate_values`.
    """
    C = covariate_values(model, sample_table)
    if C is None:
        return 0.0
    weights = np.array(model_of_list["covariates"], dtype=float)
    return np.asarray(((C if weights.ndim == 1 else C[..., None]) * weights).sum(axis=1))


def check_model_covariates(
    model: ModelJson, sample_table: pd.DataFrame | None, source: str
) -> list[Problem]:
    """Return the warnings about the covariates of new samples; raise the first error of them."""
    filled = model.get("covariates", {"filled": False})["filled"]
    problems = list(check_covariates(covariates_of(model), filled, sample_table, source))
    for problem in problems:
        if problem.level == "error":
            raise input_error(problem.location, problem.message)
    return problems


REPAIR_ADVICE = "copy it again, or delete it and run the study again, which rewrites it"


def add_digest(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model with its digest as the third key, behind format and version."""
    return {
        key: model_digest(model) if key == "digest" else model[key]
        for key in ("format", "version", "digest", *model)
    }


def model_digest(model: Mapping[str, Any]) -> str:
    """Return ``sha256:…`` of a model without its `digest`; layout and number format do not matter.

    It is computed from JSON with sorted keys, without blanks, every number as a float of Python.

    Raises ValueError, OverflowError: a number is infinite or none.
    """
    content = {key: value for key, value in model.items() if key != "digest"}
    text = json.dumps(
        _with_float_numbers(content), sort_keys=True, separators=(",", ":"), allow_nan=False
    )
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _with_float_numbers(value: Any) -> Any:
    """Return the value with 1 as 1.0: another program may have written all numbers in one way."""
    if isinstance(value, dict):
        return {key: _with_float_numbers(item) for key, item in value.items()}
    # Lists of floats or texts, the longest ones, stay as they are.
    if isinstance(value, list) and not set(map(type, value)) <= {float, str}:
        return [_with_float_numbers(item) for item in value]
    return float(value) if type(value) is int else value


def check_model(model: Any, source: str) -> None:
    """Raise if a file is no model.json of this version, or was changed by hand.

    Raises InvalidInput: with the first part that is not as it should be.
    """
    for key in ("format", "version"):
        if not isinstance(model, Mapping) or key not in model:
            message = f"is no model.json of this version of genesig (it has no '{key}'); name "
            raise input_error(source, message + "results/model.json, or run the study again")
    versions = (MODEL_VERSION, COVARIATE_MODEL_VERSION)
    is_readable = type(model["version"]) is int and model["version"] in versions
    if model["format"] != MODEL_FORMAT or not is_readable:
        message = f"is '{model['format']}' of version {model['version']}, and this genesig reads "
        if len(message) >= 120:  # another file may have any text there
            message = "is of another format; this genesig reads "
        message += (
            f"'{MODEL_FORMAT}' of version {' or '.join(map(str, versions))}; run the study again"
        )
        raise input_error(source, message)
    for fault in _validator().iter_errors(model):  # the first fault is raised
        raise damaged_error(source, ".".join(map(str, fault.absolute_path)) or _unknown_keys(model))
    for part in _contradictions(model):
        raise damaged_error(source, part)
    _check_digest(model, source)


def damaged_error(source: str, part: str) -> InvalidInput:
    """Return the error that names the part of a model which genesig did not write so."""
    return input_error(
        source, f"is damaged or was edited: '{part}' is not as genesig writes it; {REPAIR_ADVICE}"
    )


def _check_digest(model: Mapping[str, Any], source: str) -> None:
    """Raise if a model was changed after it was written."""
    try:
        is_unchanged = model["digest"] == model_digest(model)
    except (ValueError, OverflowError):
        message = f"holds a number that is not finite, which genesig never writes; {REPAIR_ADVICE}"
        raise input_error(source, message) from None
    if not is_unchanged:
        raise input_error(
            source, f"was changed after it was written: its digest is another; {REPAIR_ADVICE}"
        )


def _contradictions(model: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that contradict each other, which a JSON schema cannot express."""
    training = model["training"]
    steps = model["normalisation"]
    training_genes = set(training["genes"])
    if len(training_genes) < len(training["genes"]):
        yield "training.genes"
    yield from (
        f"training.{part}"
        for part in ("means", "sds")
        if len(training["genes"]) != len(training[part])
    )
    yield from _training_contradictions(training, training_genes)
    yield from MODEL_KINDS[model["task"]].faults(model)
    if "shares" in model and len(model["shares"]) != len(model["classes"] or ()):
        yield "shares"
    yield from list_contradictions(model)
    if steps["genes"] != (training["genes"] if steps["steps"] else []):
        yield "normalisation.genes"
    if steps["steps"] and steps["n_genes"] != len(steps["genes"]):
        yield "normalisation.n_genes"
    # ``sets`` of the steps `collapse` and `median_polish` has the number of the set of each column,
    # from 0 on, so that it is less than the number of columns.
    sets_of_steps = [step.get("sets", []) for step in steps["steps"]]
    if any(max(set_numbers, default=-1) >= len(set_numbers) for set_numbers in sets_of_steps):
        yield "normalisation.steps"
    covariates = model.get("covariates", {"columns": [], "names": [], "means": []})
    names = covariate_names(covariates_of(model))
    if bool(names) != (model["version"] == COVARIATE_MODEL_VERSION):
        yield "version"
    if any(
        (c["levels"] and c["knots"]) or sorted(c["knots"] or ()) != (c["knots"] or [])
        for c in covariates["columns"]
    ):
        yield "covariates.columns"
    if names != covariates["names"] or len(names) != len(covariates["means"]):
        yield "covariates"
    for number, list_model in enumerate(model["models"]):
        if len(list_model.get("covariates", [])) != len(names):
            yield f"models.{number}.covariates"
        yield from (
            f"models.{number}.{part}"
            for part in _parts_of_wrong_width(list_model, model["classes"])
        )
        if "decision" in list_model and not isinstance(model["classes"], Mapping):
            yield f"models.{number}.decision"
        sizes = {len(list_model[part]) for part in ("genes", "symbols", "coefficients")}
        if sizes != {len(set(list_model["genes"]))} or not training_genes.issuperset(
            list_model["genes"]
        ):
            yield f"models.{number}.genes"


def _training_contradictions(
    training: Mapping[str, Any], training_genes: set[str]
) -> Iterator[str]:
    """Yield the parts of ``training`` whose lengths or genes do not fit."""
    for name in ("scale", "panel"):
        gene_set = training[name]
        sizes = {len(gene_set[part]) for part in ("genes", "means", "sds")}
        sizes |= {len(axis) for axis in gene_set.get("axes", [])}
        if sizes != {len(set(gene_set["genes"]))} or not training_genes.issuperset(
            gene_set["genes"]
        ):
            yield f"training.{name}"


def _parts_of_wrong_width(list_model: Mapping[str, Any], classes: Any) -> Iterator[str]:
    """Yield the parts of a list's model whose entries have another number of values than needed.

    An entry is a list with a number for each of several classes, otherwise one number.
    """
    n_classes = len(classes) if isinstance(classes, list) else None
    probability = [list_model["probability"]["intercept"]] if "probability" in list_model else []
    parts = {
        "intercept": [list_model["intercept"]],
        "coefficients": list_model["coefficients"],
        "covariates": list_model.get("covariates", []),
        "probability": probability,
    }
    for part, values in parts.items():
        if any((len(value) if isinstance(value, list) else None) != n_classes for value in values):
            yield part


def _unknown_keys(model: Mapping[str, Any]) -> str:
    """Return the keys of the top level that are missing or unknown, as text."""
    unknown = (set(SCHEMA["required"]) | set(model)) - (set(SCHEMA["properties"]) & set(model))
    return listing(sorted(map(str, unknown))).strip("'")


JSON_TYPES: dict[str, set[type]] = {
    "number": {int, float},
    "integer": {int},
    "string": {str},
    "null": {type(None)},
}
"""JSON type -> Python types of its values; a bool is no number in JSON."""


def _check_items(validator: Any, schema: Any, values: Any, node: Any) -> Iterator[Any]:
    """Yield the errors of a list; it replaces the keyword ``items`` of jsonschema.

    A list of plain values is checked by its set of types, in a hundredth of the time.
    """
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    allowed_types = {
        python_type for json_type in types for python_type in JSON_TYPES.get(json_type, ())
    }
    if isinstance(values, list) and set(map(type, values)) <= allowed_types:
        if "minLength" in schema and "" in values:
            yield ValidationError("blank")
        numbers = [value for value in values if value is not None]
        minimum = schema.get("minimum")
        maximum = schema.get("maximum")
        if minimum is not None and min(numbers, default=minimum) < minimum:
            yield ValidationError("below the minimum")
        if maximum is not None and max(numbers, default=maximum) > maximum:
            yield ValidationError("above the maximum")
    else:
        yield from Draft202012Validator.VALIDATORS["items"](validator, schema, values, node)


def _validator() -> Any:
    """Return the validator; it accepts any fields of the steps that plug-ins add."""
    if not entry_points_of("steps"):
        return MODEL_VALIDATOR
    schema = deepcopy(SCHEMA)
    steps = schema["properties"]["normalisation"]["properties"]["steps"]["items"]["anyOf"]
    steps += [
        {"type": "object", "required": ["step"], "properties": {"step": {"const": name}}}
        for name in entry_points_of("steps")
    ]
    return MODEL_VALIDATOR.evolve(schema=schema)


MODEL_VALIDATOR: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"items": _check_items}
)(SCHEMA)


FIELDS_BY_GENE = {
    "donors",
    "low",
    "target",
    "effects",
    "sets",
    "mean",
    "scale",
    "coefficients",
    "gamma",
    "delta",
    "shift",
    "reference",
    "means",
}
"""Fields of fitted steps whose last axis is the genes that the step takes."""


def apply_learned_steps(
    model: ModelJson,
    model_of_list: ModelJson,
    values: Array,
    sample_table: pd.DataFrame | None = None,
) -> Array:
    """Return the values that the coefficients of a model are multiplied with.

    The learned steps are applied to values after the row-wise ones.

    values (n_samples, n_training_genes) float: after the row-wise steps. sample_table: rows of the
    study's sample table, for its own samples; new ones are of no known batch.

    Returns (n_samples, n_genes of `model_of_list`) float.
    """
    gene_of_column = np.arange(values.shape[1])
    for step in model_steps(model).learned:
        values = apply_step(step, values, sample_table)
        gene_of_column = gene_of_column if step.genes is None else gene_of_column[step.genes]
    column_of_gene = {
        model["training"]["genes"][gene]: column for column, gene in enumerate(gene_of_column)
    }
    columns = np.array([column_of_gene[gene] for gene in model_of_list["genes"]], dtype=int)
    return np.ascontiguousarray(values[:, columns])


def check_steps(model: ModelJson, source: str) -> None:
    """Raise if the steps of a model fail on a sample of its own training means.

    Raises InvalidInput: `source` is the file of the model.
    """
    means = np.atleast_2d(np.asarray(model["training"]["means"], dtype=float))
    try:
        row_steps, learned_steps = model_steps(model)
        names = tuple(state["step"] for state in model["normalisation"]["steps"][: len(row_steps)])
        with np.errstate(all="ignore"):  # values above 0, of which steps take logarithms
            results = [Reference(names, tuple(row_steps), 0).transform(np.abs(means) + 1)]
        fields_fit = _fields_fit_genes(
            model["normalisation"]["steps"][len(row_steps) :], learned_steps, means
        )
        if imputation_step(model) or leaves_missing_to_steps(model):
            means[:, :1] = np.nan  # these steps must fill in a missing value
        sample_table = _first_batch_table(learned_steps)
        scale_sets = (model["training"][name] for name in ("scale", "panel"))
        results += [
            apply_learned_steps(model, gene_set, means, sample_table)
            for gene_set in (*model["models"], *scale_sets)
        ]
    except (GenesigError, LookupError, TypeError, ValueError):
        raise damaged_error(source, "normalisation.steps") from None
    if not fields_fit or not all(np.isfinite(values).all() for values in results):
        raise damaged_error(source, "normalisation.steps")


def _fields_fit_genes(states: Sequence[ModelJson], steps: Sequence[Any], X: Array) -> bool:
    """Return whether each step has a value for each column that the step before it returns.

    states: ``normalisation.steps`` of model.json, from which `steps` were made. X: values before
    the first of them. A field of length 0 is not in use.
    """
    for state, step in zip(states, steps, strict=True):
        widths = {np.shape(state[name])[-1:] for name in FIELDS_BY_GENE & state.keys()} - {(0,)}
        if not widths <= {X.shape[1:]}:
            return False
        X = apply_step(step, X, None)
    return True


def _first_batch_table(steps: Sequence[Any]) -> pd.DataFrame:
    """Return a sample table of one sample whose batch and covariates each combat step knows.

    Its batch is the first one. Its covariates have their first level, or 0 if they are numbers.
    """
    import pandas as pd

    # The first column of a step is that of the batches, the others are its covariates. Its levels
    # are pairs (column, level): in reverse, the first level of a column is the one that dict keeps.
    columns = {
        column: [step.batches[0]]
        if column == step.columns[0]
        else [dict(reversed(step.levels)).get(column, "0")]
        for step in steps
        if step.kind == "batch"
        for column in step.columns
    }
    return pd.DataFrame(columns, index=range(1), dtype=object)


def imputation_step(model: ModelJson) -> str | None:
    """Return the name of the step that fills in missing values, or None."""
    names = [step["step"] for step in model["normalisation"]["steps"]]
    return next((name for name in names if name in IMPUTATION_STEPS), None)


def indicators(model: ModelJson) -> tuple[Array, Array]:
    """Return columns of genes with a missing indicator, and the column of each one's indicator."""
    steps = (step for step in model["normalisation"]["steps"] if step["step"] == MISSING_INDICATORS)
    state: Mapping[str, Any] = next(steps, {})
    gene_columns, indicator_columns = (
        np.array(state.get(key) or [], dtype=np.int64)
        for key in ("gene_columns", "indicator_columns")
    )
    return gene_columns, indicator_columns


def zeros_are_missing(model: ModelJson) -> bool:
    """Return whether the model treats zeros as missing values."""
    return any(step["step"] == ZEROS for step in model["normalisation"]["steps"])


def leaves_missing_to_steps(model: ModelJson) -> bool:
    """Return whether the learned steps fill in missing values, as they know a sample's depth."""
    names = {step["step"] for step in model["normalisation"]["steps"]}
    return "knn_impute" in names or bool(names & LEARNED_DEPTH_STEPS)


def takes_missing_as_low(model: ModelJson) -> bool:
    """Return whether the model treats a missing value of a measured gene as a low value."""
    return imputation_step(model) in LOW_VALUE_STEPS


class ModelSteps(NamedTuple):
    """Fitted steps of a model, in order."""

    row_wise: list[Any]  # steps before the splits, each of one sample or of one study
    learned: list[Any]  # steps that learned from the training samples


def model_steps(model: ModelJson) -> ModelSteps:
    """Return the fitted steps of a model."""
    steps = list(Reference.from_state(model["normalisation"]).steps)
    n_row_wise = next(
        (k for k, step in enumerate(steps) if step.kind not in ("sample", "study")), len(steps)
    )
    return ModelSteps(steps[:n_row_wise], steps[n_row_wise:])


def apply_row_steps(model: ModelJson, X: Array, measured: Array, fill_values: Array) -> Array:
    """Return X after the steps of one sample at a time; other arguments as `apply_study_steps`."""
    steps = [step for step in model_steps(model).row_wise if step.kind == "sample"]
    return apply_row_wise(steps, X, measured, fill_values)


def apply_study_steps(
    model: ModelJson, values: Array, measured: Array, fill_values: Array
) -> Array:
    """Return new samples, which count as one study, aligned as the studies of the model were.

    values, measured (n_samples, n_genes) float, bool: values after `apply_row_steps`, and whether
    each was measured. fill_values (n_genes,) float: value that replaces each missing value of a
    gene, on the scale after these steps.
    """
    for step in model_steps(model).row_wise:
        if step.kind == "study":
            aligned_values = step.transform(np.where(measured, values, np.nan))
            values = np.where(measured, aligned_values, fill_values)
    return values


def needs_study_moments(model: ModelJson) -> bool:
    """Return whether a model standardises each gene over the samples that it scores."""
    steps = Reference.from_state(model["normalisation"]).steps
    return any(isinstance(step, AlignStudies | CombatStudies) for step in steps)
