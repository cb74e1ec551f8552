"""What a model.json must be before it scores, and the steps from values as measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import apply_row_wise, check_covariates
from genesig.data.steps.alignment import AlignStudies, CombatStudies
from genesig.data.steps.missing_indicators import MISSING_INDICATORS
from genesig.data.steps.normalise import IMPUTATION_STEPS, LOW_VALUE_STEPS, Reference, apply
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS
from genesig.data.steps.zeros import ZEROS_AS_MISSING as ZEROS
from genesig.errors import GenesigError, InvalidInput, Problem, refuse
from genesig.plugins import entry_points_of
from genesig.response.covariates import Covariate, encoded, knot_counts, names_of, splined
from genesig.results import Dataset, Fits
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.schema import FORMAT, SCHEMA, VERSION, WITH_COVARIATES, contradictions
from genesig.words import listing

if TYPE_CHECKING:
    import pandas as pd


Model = Mapping[str, Any]


def described_covariates(dataset: Dataset, final: Fits) -> dict[str, Any]:
    """Return the part ``covariates`` of model.json; nothing where the study has none."""
    design = dataset.design
    if final.covariate_mean is None:
        return {}
    knots = _knots_of_each(design.covariates, final)
    columns = [{"column": c.column, "levels": c.levels and list(c.levels), "knots": own,
                "words": dict(c.words)}
               for c, own in zip(design.covariates, knots, strict=True)]  # fmt: skip
    return {"covariates": {
        "columns": columns, "names": names_of(design.covariates),
        "means": final.covariate_mean[0].tolist(), "filled": design.filled,
    }}  # fmt: skip


def _knots_of_each(covariates: Sequence[Covariate], final: Fits) -> list[list[float] | None]:
    """Return the knots of each covariate in the final model, None where it has no spline."""
    at, found = 0, []
    for each in covariates:
        known = final.knots is not None and each.knots
        found.append(final.knots[0, at, : each.knots].tolist() if known else None)  # type: ignore[index]
        at += len(knot_counts([each]))
    return found


def weights_at(final: Fits, at: int) -> dict[str, Any]:
    """Return the weights of the covariates in the model at one mu, for model.json."""
    return {} if final.gamma is None else {"covariates": final.gamma[0, at].tolist()}


def covariates_of(model: Model) -> tuple[Covariate, ...]:
    """Return the covariates that a model needs, none where it has none."""
    columns = model.get("covariates", {"columns": []})["columns"]
    return tuple(
        Covariate(c["column"], c["levels"] and tuple(c["levels"]), len(c["knots"] or ()),
                  c["words"]) for c in columns
    )  # fmt: skip


def _knots(model: Model) -> Array:
    """Return the knots of the columns of `encoded`, as `splined` has them."""
    covariates = covariates_of(model)
    counts = knot_counts(covariates)
    knots = np.full((len(counts), max(counts, default=0)), np.nan)
    given = [c["knots"] for c in model["covariates"]["columns"] if c["knots"]]
    for row, own in zip(np.flatnonzero(counts), given, strict=True):
        knots[row, : len(own)] = own
    return knots


def covariate_scores(model: Model, chosen: Model, about: pd.DataFrame | None) -> Array | float:
    """Return what the covariates add to the score of each sample, (n_samples,) or of each class.

    `about` is the sample table of these samples, in their order, as `check_known` has passed it; a
    missing value is the mean of the training samples.
    """
    covariates = covariates_of(model)
    if not covariates or about is None:
        return 0.0
    C = splined(encoded(covariates, about), _knots(model))
    C = np.where(np.isnan(C), np.array(model["covariates"]["means"]), C)
    weights = np.array(chosen["covariates"], dtype=float)
    return np.asarray(((C if weights.ndim == 1 else C[..., None]) * weights).sum(axis=1))


def refuse_unknown(model: Model, about: pd.DataFrame | None, where: str) -> list[Problem]:
    """Return the warnings of `check_known`; raise its first error."""
    filled = model.get("covariates", {"filled": False})["filled"]
    problems = list(check_covariates(covariates_of(model), filled, about, where))
    for problem in problems:
        if problem.level == "error":
            raise refuse(problem.location, problem.message)
    return problems


AGAIN = "copy it again, or delete it and run the study again, which writes it anew"


def sealed(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model with the digest of its content, behind format and version."""
    return {key: digest_of(model) if key == "digest" else model[key]
            for key in ("format", "version", "digest", *model)}  # fmt: skip


def digest_of(model: Mapping[str, Any]) -> str:
    """Return ``sha256:…`` over all but `digest`, whatever the layout and however 1 is written.

    It is that of the JSON with sorted keys, without blanks, every number as a float of Python.

    Raises
    ------
    ValueError, OverflowError
        A number is infinite or none.
    """
    content = {key: value for key, value in model.items() if key != "digest"}
    text = json.dumps(_floats(content), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _floats(value: Any) -> Any:
    """Write 1 as 1.0: a program that knows one kind of number may have copied the file."""
    if isinstance(value, dict):
        return {key: _floats(below) for key, below in value.items()}
    if isinstance(value, list) and not set(map(type, value)) <= {float, str}:
        return [_floats(below) for below in value]
    return float(value) if type(value) is int else value


def check_model(model: Any, source: str) -> None:
    """Refuse a file that is no model, or none of this version, or was changed by hand.

    Raises
    ------
    InvalidInput
        With the first part that is not as it should be.
    """
    for key in ("format", "version"):
        if not isinstance(model, Mapping) or key not in model:
            what = f"is no model.json of this version of genesig (it has no '{key}'); name "
            raise refuse(source, what + "results/model.json, or run the study again")
    versions = (VERSION, WITH_COVARIATES)
    whole = type(model["version"]) is int and model["version"] in versions
    if model["format"] != FORMAT or not whole:
        what = f"is '{model['format']}' of version {model['version']}, and this genesig reads "
        what = (what if len(what) < 120 else "is none that ") + f"'{FORMAT}' of version {VERSION}"
        raise refuse(source, what + "; run the study again")
    for fault in _validator().iter_errors(model):
        raise damaged(source, ".".join(map(str, fault.absolute_path)) or _unknown(model))
    for part in _contradictions(model):
        raise damaged(source, part)
    _check_digest(model, source)


def damaged(source: str, part: str) -> InvalidInput:
    """Say which part of a model is not as genesig wrote it."""
    return refuse(
        source, f"is damaged or was edited: '{part}' is not as genesig writes it; {AGAIN}"
    )


def _check_digest(model: Mapping[str, Any], source: str) -> None:
    try:
        same = model["digest"] == digest_of(model)
    except (ValueError, OverflowError):
        what = f"holds a number that is not finite, which genesig never writes; {AGAIN}"
        raise refuse(source, what) from None
    if not same:
        raise refuse(source, f"was changed after it was written: its digest is another; {AGAIN}")


def _contradictions(model: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parts that a schema cannot hold against each other."""
    training, steps = model["training"], model["normalisation"]
    known = set(training["genes"])
    if len(known) < len(training["genes"]):
        yield "training.genes"
    yield from (f"training.{part}" for part in ("means", "sds")
                if len(training["genes"]) != len(training[part]))  # fmt: skip
    yield from _of_training(training, known)
    yield from MODELLED[model["task"]].faults(model)
    if "shares" in model and len(model["shares"]) != len(model["classes"] or ()):
        yield "shares"
    yield from contradictions(model)
    if steps["genes"] != (training["genes"] if steps["steps"] else []):
        yield "normalisation.genes"
    if steps["steps"] and steps["n_genes"] != len(steps["genes"]):
        yield "normalisation.n_genes"
    if any(
        max(sets, default=-1) >= len(sets) for sets in (s.get("sets", []) for s in steps["steps"])
    ):
        yield "normalisation.steps"
    held = model.get("covariates", {"columns": [], "names": [], "means": []})
    names = names_of(covariates_of(model))
    if bool(names) != (model["version"] == WITH_COVARIATES):
        yield "version"
    if any((c["levels"] and c["knots"]) or sorted(c["knots"] or ()) != (c["knots"] or [])
           for c in held["columns"]):  # fmt: skip
        yield "covariates.columns"
    if names != held["names"] or len(names) != len(held["means"]):
        yield "covariates"
    for number, each in enumerate(model["models"]):
        if len(each.get("covariates", [])) != len(names):
            yield f"models.{number}.covariates"
        yield from (
            f"models.{number}.{part}" for part in _not_of_each_class(each, model["classes"])
        )
        sizes = {len(each[part]) for part in ("genes", "symbols", "coefficients")}
        if sizes != {len(set(each["genes"]))} or not known.issuperset(each["genes"]):
            yield f"models.{number}.genes"


def _of_training(training: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    for name in ("scale", "panel"):
        held = training[name]
        sizes = {len(held[part]) for part in ("genes", "means", "sds")}
        sizes |= {len(axis) for axis in held.get("axes", [])}
        if sizes != {len(set(held["genes"]))} or not known.issuperset(held["genes"]):
            yield f"training.{name}"


def _not_of_each_class(each: Mapping[str, Any], classes: Any) -> Iterator[str]:
    """Yield what has not a number for each of several classes, or one where there are none."""
    wanted = len(classes) if isinstance(classes, list) else None
    told = [each["probability"]["intercept"]] if "probability" in each else []
    parts = {"intercept": [each["intercept"]], "coefficients": each["coefficients"],
             "covariates": each.get("covariates", []), "probability": told}  # fmt: skip
    for part, found in parts.items():
        if any((len(one) if isinstance(one, list) else None) != wanted for one in found):
            yield part


def _unknown(model: Mapping[str, Any]) -> str:
    """Name the keys of the top level that are missing or nobody knows."""
    odd = (set(SCHEMA["required"]) | set(model)) - (set(SCHEMA["properties"]) & set(model))
    return listing(sorted(map(str, odd))).strip("'")


# Python's types of those of JSON: true is no number there.
KINDS: dict[str, set[type]] = {
    "number": {int, float}, "integer": {int}, "string": {str}, "null": {type(None)},
}  # fmt: skip


def _items(validator: Any, schema: Any, values: Any, node: Any) -> Iterator[Any]:
    """Check a list; one of plain values by their types at once: a hundredth of the time."""
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    right = {one for kind in types for one in KINDS.get(kind, ())}
    if isinstance(values, list) and set(map(type, values)) <= right:
        if "minLength" in schema and "" in values:
            yield ValidationError("blank")
        numbers = [value for value in values if value is not None]
        least, most = schema.get("minimum"), schema.get("maximum")
        if least is not None and min(numbers, default=least) < least:
            yield ValidationError("below the minimum")
        if most is not None and max(numbers, default=most) > most:
            yield ValidationError("above the maximum")
    else:
        yield from Draft202012Validator.VALIDATORS["items"](validator, schema, values, node)


def _validator() -> Any:
    """Return the validator; of the steps that other packages add, these know the fields."""
    if not entry_points_of("steps"):
        return VALIDATOR
    schema = deepcopy(SCHEMA)
    steps = schema["properties"]["normalisation"]["properties"]["steps"]["items"]["anyOf"]
    steps += [{"type": "object", "required": ["step"], "properties": {"step": {"const": name}}}
              for name in entry_points_of("steps")]  # fmt: skip
    return VALIDATOR.evolve(schema=schema)


VALIDATOR: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"items": _items}
)(SCHEMA)


# Of the fields of fitted steps, those whose last axis is the genes that the step takes.
OF_EACH_GENE = {"donors", "low", "target", "effects", "sets", "mean", "scale", "coefficients",
                "gamma", "delta", "shift", "reference", "means"}  # fmt: skip


def seen_by(model: Model, chosen: Model, values: Array, about: pd.DataFrame | None = None) -> Array:
    """Apply the learned steps; return what the coefficients of a model are multiplied with.

    Parameters
    ----------
    values : (n_samples, n_training_genes) float
        After the row-wise steps.
    about : DataFrame or None
        Rows of the study's sample table, for its own samples; new ones are of no known batch.

    Returns
    -------
    (n_samples, n_genes of `chosen`) float
    """
    kept = np.arange(values.shape[1])
    for step in split_steps(model)[1]:
        values = apply(step, values, about)
        kept = kept if step.genes is None else kept[step.genes]
    place = {model["training"]["genes"][gene]: column for column, gene in enumerate(kept)}
    columns = np.array([place[gene] for gene in chosen["genes"]], dtype=int)
    return np.ascontiguousarray(values[:, columns])


def check_steps(model: Model, source: str) -> None:
    """Refuse a model whose steps fail on a sample of its own training means.

    Raises
    ------
    InvalidInput
        `source` is the file of the model.
    """
    means = np.atleast_2d(np.asarray(model["training"]["means"], dtype=float))
    try:
        first, learned = split_steps(model)
        names = tuple(state["step"] for state in model["normalisation"]["steps"][: len(first)])
        with np.errstate(all="ignore"):
            seen = [Reference(names, tuple(first), 0).transform(np.abs(means) + 1)]
        fitting = _fitting(model["normalisation"]["steps"][len(first) :], learned, means)
        if filler(model) or fills_in(model):
            means[:, :1] = np.nan
        about = _of_first_batch(learned)
        held = (model["training"][name] for name in ("scale", "panel"))
        seen += [seen_by(model, each, means, about) for each in (*model["models"], *held)]
    except (GenesigError, LookupError, TypeError, ValueError):
        raise damaged(source, "normalisation.steps") from None
    if not fitting or not all(np.isfinite(values).all() for values in seen):
        raise damaged(source, "normalisation.steps")


def _fitting(states: Sequence[Model], steps: Sequence[Any], X: Array) -> bool:
    """Tell whether each step has a value for each column that the one before it leaves."""
    for state, step in zip(states, steps, strict=True):
        widths = {np.shape(state[name])[-1:] for name in OF_EACH_GENE & state.keys()} - {(0,)}
        if not widths <= {X.shape[1:]}:
            return False
        X = apply(step, X, None)
    return True


def _of_first_batch(steps: Sequence[Any]) -> pd.DataFrame:
    """Return what a sample table says of a sample that combat corrects."""
    import pandas as pd

    known = {column: [step.batches[0]] if column == step.columns[0] else
             [dict(reversed(step.levels)).get(column, "0")]
             for step in steps if step.kind == "batch" for column in step.columns}  # fmt: skip
    return pd.DataFrame(known, index=range(1), dtype=object)


def filler(model: Model) -> str | None:
    """Return the step of a model that fills in what a sample lacks."""
    names = [step["step"] for step in model["normalisation"]["steps"]]
    return next((name for name in names if name in IMPUTATION_STEPS), None)


def indicators(model: Model) -> tuple[Array, Array]:
    """Return columns of genes, and those that say whether these are missing; mostly none."""
    steps = (step for step in model["normalisation"]["steps"] if step["step"] == MISSING_INDICATORS)
    told: Mapping[str, Any] = next(steps, {})
    of, added = (np.array(told.get(key) or [], dtype=np.int64) for key in ("of", "added"))
    return of, added


def zeros_are_missing(model: Model) -> bool:
    """Tell whether a model takes zeros for missing values."""
    return any(step["step"] == ZEROS for step in model["normalisation"]["steps"])


def fills_in(model: Model) -> bool:
    """Tell whether what a sample lacks is left to the learned steps: its own depth tells more."""
    names = {step["step"] for step in model["normalisation"]["steps"]}
    return "knn_impute" in names or bool(names & LEARNED_DEPTH_STEPS)


def takes_as_low(model: Model) -> bool:
    """Tell whether to a model a measured gene without a value is one of a low value."""
    return filler(model) in LOW_VALUE_STEPS


def split_steps(model: Model) -> tuple[list[Any], list[Any]]:
    """Return the steps before the splits, row-wise or of one study, and the learned ones."""
    steps, early = list(Reference.from_state(model["normalisation"]).steps), ("sample", "study")
    learned = next((k for k, step in enumerate(steps) if step.kind not in early), len(steps))
    return steps[:learned], steps[learned:]


def by_row(model: Model, X: Array, known: Array, filler: Array) -> Array:
    """Apply the steps that look at one sample at a time; arguments as in `aligned`."""
    steps = [step for step in split_steps(model)[0] if step.kind == "sample"]
    return apply_row_wise(steps, X, known, filler)


def aligned(model: Model, values: Array, known: Array, filler: Array) -> Array:
    """Align new samples, which are one study, as the model's own studies were.

    Parameters
    ----------
    values, known : (n_samples, n_genes) float, bool
        As `by_row` gives them.
    filler : (n_genes,) float
        What stands in the place of a value that is not known, on the scale after these steps.
    """
    for step in split_steps(model)[0]:
        if step.kind == "study":
            seen = step.transform(np.where(known, values, np.nan))
            values = np.where(known, seen, filler)
    return values


def aligns(model: Model) -> bool:
    """Tell whether a model needs moments of the samples that it scores."""
    steps = Reference.from_state(model["normalisation"]).steps
    return any(isinstance(step, AlignStudies | CombatStudies) for step in steps)
