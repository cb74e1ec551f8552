"""The JSON schema of model.json, and access to its models by the name of their list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from genesig.errors import GenesigError, input_error
from genesig.response.kinds import RESPONSES
from genesig.results import Fits
from genesig.results.fits import ANSWERS
from genesig.selection.genes.frequency import mu_index_of
from genesig.words import MAX_VALUE, counted

MODEL_FORMAT = "genesig linear model"
MODEL_VERSION = 6
COVARIATE_MODEL_VERSION = 7
"""Version of a model with covariates, which a reader of the other version would leave out."""

ModelJson = Mapping[str, Any]  # content of model.json, or of one of its ``models``

SchemaNode = dict[str, Any]

OPTIONAL_KEYS = {
    "covariates",
    "has_fdr_selected",
    "fdr_selected_genes",
    "probability",
    "decision",
    "risk",
    "shrinkage",
    "shares",
    "before_alignment",
}
"""Keys that only some models have."""

TEXT_NODE: SchemaNode = {"type": "string"}
NAME_NODE: SchemaNode = {"type": "string", "minLength": 1}
NUMBER_NODE: SchemaNode = {"type": "number", "minimum": -MAX_VALUE, "maximum": MAX_VALUE}
SIZE_NODE: SchemaNode = {"type": "number", "minimum": 0, "maximum": MAX_VALUE}
COUNT_NODE: SchemaNode = {"type": "integer", "minimum": 0}


def _list(items: SchemaNode, description: str = "", **keywords: Any) -> SchemaNode:
    """Return the schema of an array."""
    return {**_described(description), "type": "array", "items": items, **keywords}


def _object(description: str = "", **fields: SchemaNode) -> SchemaNode:
    """Return the schema of an object that has these fields and no others."""
    required = [name for name in fields if name not in OPTIONAL_KEYS]
    return {
        **_described(description),
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _described(text: str) -> SchemaNode:
    """Return the keyword of a description; none for an empty text."""
    return {"description": text} if text else {}


def _or_null(node: SchemaNode, description: str) -> SchemaNode:
    """Return the schema of a value that may be null."""
    return {"description": description, "anyOf": [node, {"type": "null"}]}


DEPTH_FIELDS: dict[str, SchemaNode] = {
    "method": {"enum": ["median_of_ratios", "tmm"]},
    "reference": _list({**NUMBER_NODE, "type": ["number", "null"]}),
    "typical": {**SIZE_NODE, "minimum": 1e-9},
    "means": _list(SIZE_NODE),
}
FILTER_FORMULA = "keeps the columns `genes`, counted from 0"
# Step -> its formula and its fields, those of its class in genesig/data/steps.
STEP_FIELDS: dict[str, tuple[str, dict[str, SchemaNode]]] = {
    "log2": ("log2(min(max(x, floor), ceiling))", {"floor": NUMBER_NODE, "ceiling": NUMBER_NODE}),
    "zeros_as_missing": ("0 becomes missing", {}),
    "standardise_samples": ("(x - mean) / sd over the genes of a sample, sd with divisor n", {}),
    "rank_samples": ("(rank - 1/2) / n within a sample, ties share their mean rank", {}),
    "log_cpm": ("log2(10^6 x / sum of the sample + prior)", {"prior": NUMBER_NODE}),
    "missing_indicators": (
        "each column of `indicator_columns` is 1 where that of `gene_columns` beside it is missing,"
        " and all where it stands beside several, else 0",
        {
            "gene_columns": {"type": ["array", "null"], "items": COUNT_NODE},
            "indicator_columns": {"type": ["array", "null"], "items": COUNT_NODE},
        },
    ),
    "rma_background": ("background of RMA, of each array by itself", {}),
    "align_studies": (
        "x - mean of the gene over the samples of the same study, divided by their sd (divisor n)"
        " where spread is true; new samples are a study by themselves, of at least 10",
        {"column": TEXT_NODE, "spread": {"type": "boolean"}},
    ),
    "fix_studies": (
        "x - shift of the sample's study; one of a study that is not in `batches` stays as it is",
        {"column": TEXT_NODE, "batches": _list(TEXT_NODE), "shift": _list(_list(NUMBER_NODE))},
    ),
    "combat_studies": (
        "ComBat for samples of a study in `batches`; others are one new batch, of at least 10,"
        " brought to `mean` and `scale` (Zhang et al. 2018)",
        {
            "column": TEXT_NODE,
            "batches": _list(TEXT_NODE),
            "mean": _list(NUMBER_NODE),
            "scale": _list(NUMBER_NODE),
            "gamma": _list(_list(NUMBER_NODE)),
            "delta": _list(_list(NUMBER_NODE)),
        },
    ),
    "segment": (
        "step function along each chromosome, whose columns are `order` from one of `starts` to the"
        " next; null is one of all columns. min 1/2 ||f - x||^2 + tau sd sum |f_(i+1) - f_i|, sd ="
        " 1.4826 MAD of the steps of x over sqrt(2); tau null: segments of tau 2, 4, 8, 16, pruned"
        " by BIC, with their means",
        {
            "tau": {**SIZE_NODE, "type": ["number", "null"]},
            "order": {"type": ["array", "null"], "items": COUNT_NODE},
            "starts": {"type": ["array", "null"], "items": COUNT_NODE},
        },
    ),
    "knn_impute": (
        "fills in missing values from the nearest genes over the donors",
        {
            "donors": _list(_list({**NUMBER_NODE, "type": ["number", "null"]}), minItems=1),
            "neighbours": COUNT_NODE,
            "genes": {
                "description": "columns that are left; null is all of them",
                "type": ["array", "null"],
                "items": COUNT_NODE,
            },
        },
    ),
    "mean_impute": ("a missing value becomes the gene's mean", {"means": _list(NUMBER_NODE)}),
    "left_censored": ("a missing value becomes the gene's `low`", {"low": _list(NUMBER_NODE)}),
    "half_minimum": ("a missing value becomes the gene's `low`", {"low": _list(NUMBER_NODE)}),
    "size_factors": (
        "log2(q + prior), q = x/s: s is exp of the median of log x - reference over the genes that"
        " have both; with tmm, reads N of the sample times 2^(weighted trimmed mean of log2 ratios"
        " of shares to the reference), divided by typical. A missing gene has q = its mean",
        {**DEPTH_FIELDS, "prior": {**SIZE_NODE, "exclusiveMinimum": 0}},
    ),
    "vst": (
        "log2((1 + a1 + 2 a0 q + 2 sqrt(a0 q (1 + a1 + a0 q)))/(4 a0)), q as of size_factors",
        {**DEPTH_FIELDS, "a0": {**SIZE_NODE, "minimum": 1e-9}, "a1": SIZE_NODE},
    ),
    "quantile": (
        "target[rank - 1], halfway between two for a half rank",
        {"target": _list(NUMBER_NODE)},
    ),
    "median_polish": (
        "median over the probes of a set of log2 x - effect",
        {"effects": _list(NUMBER_NODE), "sets": _list(COUNT_NODE)},
    ),
    "collapse": (
        "keeps the columns `genes`; where there are `sets`, the median over each set",
        {"genes": _list(COUNT_NODE), "sets": _list(COUNT_NODE)},
    ),
    "detection_filter": (FILTER_FORMULA, {"genes": _list(COUNT_NODE)}),
    "variance_filter": (FILTER_FORMULA, {"genes": _list(COUNT_NODE)}),
    "fold_filter": (FILTER_FORMULA, {"genes": _list(COUNT_NODE)}),
    "range_filter": (FILTER_FORMULA, {"genes": _list(COUNT_NODE)}),
    "combat": (
        "ComBat for samples of a known batch; any other stays as it is",
        {
            "columns": _list(TEXT_NODE),
            "levels": _list(_list(TEXT_NODE)),
            "batches": _list(TEXT_NODE),
            "mean": _list(NUMBER_NODE),
            "scale": _list(NUMBER_NODE),
            "coefficients": _list(_list(NUMBER_NODE)),
            "gamma": _list(_list(NUMBER_NODE)),
            "delta": _list(_list(NUMBER_NODE)),
        },
    ),
}


def _step(name: str) -> SchemaNode:
    """Return the schema of a step of normalisation."""
    description, fields = STEP_FIELDS[name]
    return _object(description, step={"const": name}, **fields)


MODEL_NODE = _object(
    "With several classes intercept and coefficients have a number for each, in their order.",
    list={
        **NAME_NODE,
        "description": "'mu' and its value, of a nested list; or 'predictive', the model"
        " that predicts best; or 'fdr_selected', that of the FDR-selected genes",
    },
    mu=_or_null(NUMBER_NODE, "null unless the list is a nested one"),
    intercept={"anyOf": [NUMBER_NODE, _list(NUMBER_NODE)]},
    genes=_list(NAME_NODE),
    symbols=_list(TEXT_NODE),
    coefficients={"anyOf": [_list(NUMBER_NODE), _list(_list(NUMBER_NODE))]},
    covariates={
        "description": "weight of each of `covariates.names`, in its own units",
        "anyOf": [_list(NUMBER_NODE), _list(_list(NUMBER_NODE))],
    },
    has_fdr_selected={
        "type": "boolean",
        "description": "of 'fdr_selected': whether any gene passes the FDR; if none does, `genes`"
        " are those of the largest selection frequency, without an estimated error rate",
    },
    probability=_object(
        "of classes, where a list has it: that of the positive is 1/(1 + exp(-(intercept + slope *"
        " score))); of several each is proportional to exp(its intercept + slope * its score)",
        intercept={"anyOf": [NUMBER_NODE, _list(NUMBER_NODE)]},
        slope=SIZE_NODE,
        shrinkage={
            **SIZE_NODE,
            "maximum": 1,
            "description": "slope over the slope that left-out samples gave: 0 where these do not"
            " show that the score predicts the class, so that probabilities are the shares",
        },
    ),
    decision=_object(
        "of two classes, where the config states a `decision`: a score above this threshold, not"
        " above 0, is of the positive class",
        rule=NAME_NODE,
        threshold=NUMBER_NODE,
    ),
    risk=_object(
        "of survival, where a list has it: log hazard = slope * score, fitted to left-out samples",
        slope=SIZE_NODE,
        shrinkage={
            **SIZE_NODE,
            "maximum": 1,
            "description": "slope over the slope that left-out samples gave: 0 where these do not"
            " show that the score predicts survival, so that all risks are equal",
        },
    ),
    fdr_selected_genes=_list(
        NAME_NODE,
        "of 'fdr_selected': those of `genes` that pass the FDR; if they are fewer than"
        " `signature.least`, genes of the next largest selection frequency are added",
    ),
)
BOUNDS_NODE = _object(low=NUMBER_NODE, high=NUMBER_NODE, sd=SIZE_NODE)
SCALE_FIELDS = {
    "samples": {**COUNT_NODE, "minimum": 1},
    "genes": _list(NAME_NODE),
    "means": _list(NUMBER_NODE),
    "sds": _list(SIZE_NODE),
    "location": BOUNDS_NODE,
    "slope": BOUNDS_NODE,
}
SCALE_NODE = _object(
    "genes of all `models` over the training samples, as coefficients see them; location and slope"
    " of a sample (genesig/selection/model/same_scale.py): least and largest mean of a class, sd in"
    " a class",
    **SCALE_FIELDS,
)
PANEL_NODE = _object(
    "further genes, to check the scale alone; agreement: mean rank correlation of a training"
    " sample with the means; axes: principal ones of standardised values, coherence: share of the"
    " variance of left-out training samples along them (genesig/selection/model/same_scale.py)",
    **SCALE_FIELDS,
    agreement=NUMBER_NODE,
    axes=_list(_list(NUMBER_NODE)),
    coherence=NUMBER_NODE,
)
SURVIVAL_NODE = _object(
    "of survival: S(t) = exp(-H(t) exp(slope * score)), H from each of `times` on and slope"
    " (`risk`, 1 without it) of each of `models`",
    event=NAME_NODE,
    horizon={**SIZE_NODE, "exclusiveMinimum": 0},
    times=_list(SIZE_NODE, minItems=1),
    cumulative=_list(_list(SIZE_NODE)),
)
SCHEMA: SchemaNode = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "model.json of genesig",
    **_object(
        "A linear model of gene expression: docs/reference/model.md says how it scores a sample.",
        format={"const": MODEL_FORMAT},
        version={
            "enum": [MODEL_VERSION, COVARIATE_MODEL_VERSION],
            "description": f"{COVARIATE_MODEL_VERSION} where there are covariates",
        },
        digest={
            "type": "string",
            "pattern": "^sha256:[0-9a-f]{64}$",
            "description": "SHA-256 of everything else, as docs/reference/model.md says",
        },
        rule=TEXT_NODE,
        task={"enum": list(RESPONSES)},
        label=TEXT_NODE,
        classes={
            "description": "null where there are none; a list where there are more than two",
            "anyOf": [
                _object(negative=NAME_NODE, positive=NAME_NODE),
                _list(NAME_NODE),
                {"type": "null"},
            ],
        },
        shares=_list(
            SIZE_NODE,
            "of the classes, (negative, positive) or in their order: those for which"
            " the probabilities are",
        ),
        threshold={
            "description": "0: a score above it is of the positive class, unless the model has a"
            " `decision`, or of high risk; null where scores are not cut",
            "anyOf": [{"type": "number", "const": 0}, {"type": "null"}],
        },
        answer={**NAME_NODE, "description": "the `list` of the model that scores"},
        chosen=_object(
            "settings that the study chose",
            tau=NUMBER_NODE,
            tau_max=NUMBER_NODE,
            lam=NUMBER_NODE,
            norm=NUMBER_NODE,
        ),
        training_samples=COUNT_NODE,
        training=_object(
            "genes that a sample must have, over the training samples after the row-wise steps",
            genes=_list(NAME_NODE),
            means=_list(NUMBER_NODE),
            sds=_list(SIZE_NODE),
            p99=NUMBER_NODE,
            min=NUMBER_NODE,
            max=NUMBER_NODE,
            scale=SCALE_NODE,
            panel=PANEL_NODE,
            before_alignment=_object(
                "where align_studies is a step: the values before it, of all genes and samples",
                median=NUMBER_NODE,
                p99=NUMBER_NODE,
            ),
        ),
        normalisation=_object(
            "steps that a sample goes through first, in this order",
            genes=_list(NAME_NODE, "columns of the first step; none where there are no steps"),
            n_genes=COUNT_NODE,
            steps=_list({"anyOf": [_step(name) for name in STEP_FIELDS]}),
        ),
        covariates=_object(
            "columns of the sample table that every sample needs; numbers as they are, followed by"
            " the terms of a restricted cubic spline where there are `knots`, or 1 for each of"
            " `levels` but the first, else 0. One that is missing is its mean if `filled`",
            columns=_list(
                _object(
                    column=NAME_NODE,
                    levels=_or_null(_list(NAME_NODE), "null for a column of numbers"),
                    knots=_or_null(
                        _list(NUMBER_NODE, minItems=3), "null without a spline; never falling"
                    ),
                    words={
                        "type": "object",
                        "additionalProperties": TEXT_NODE,
                        "description": "other words for its values",
                    },
                )
            ),
            names=_list(NAME_NODE),
            means=_list(NUMBER_NODE),
            filled={"type": "boolean"},
        ),
        models=_list(
            MODEL_NODE, "of each nested list, and of both answers where there are two", minItems=1
        ),
        versions={"type": "object", "additionalProperties": TEXT_NODE},
    ),
}
SCHEMA["properties"]["survival"] = SURVIVAL_NODE


PREDICTIVE, FDR_SELECTED = ANSWERS


def nested_list_name(mu: float) -> str:
    """Return the name of the nested list at `mu`; no two values of a config have one name."""
    return f"mu {mu:.15g}"


def answer_list(final_fit: Fits) -> str:
    """Return the name of the list that is the answer of a study, from its fit on all samples."""
    if final_fit.answers is not None:
        return PREDICTIVE
    return nested_list_name(float(final_fit.mu[final_fit.chosen_lists[0]]))


def chosen_model(
    model: ModelJson, mu: float | None = None, *, fdr_selected: bool = False
) -> ModelJson:
    """Return the model of the answer, of the nested list at `mu`, or of the FDR-selected genes.

    Raises InvalidInput: there is none, or two are asked for.
    """
    if fdr_selected and mu is not None:
        raise input_error("--fdr-selected", "is one model and --mu another; leave one of them out")
    if mu is not None:
        return _nested_model(model, mu)
    list_name = FDR_SELECTED if fdr_selected else model["answer"]
    model_of_list = {list_model["list"]: list_model for list_model in model["models"]}
    if list_name not in model_of_list:
        message = "the study sought no evidence for single genes, so that the model has none"
        raise input_error("--fdr-selected", f"{message}; without it '{model['answer']}' scores")
    return dict(model_of_list[list_name])


def scoring_model_words(
    model: ModelJson, mu: float | None = None, *, fdr_selected: bool = False
) -> str:
    """Return words for the model that scores: ``"the predictive model (34 genes)"``."""
    chosen = chosen_model(model, mu, fdr_selected=fdr_selected)
    words_of_list = {
        PREDICTIVE: "the predictive model",
        FDR_SELECTED: "the model of the FDR-selected genes",
    }
    model_words = words_of_list.get(chosen["list"], f"the list at {chosen['list']}")
    return f"{model_words} ({counted(len(chosen['genes']), 'gene')})"


def has_fdr_selected_model(model: ModelJson) -> bool:
    """Return whether model.json has a model for FDR-selected genes, even if none passes the FDR."""
    return FDR_SELECTED in [list_model["list"] for list_model in model["models"]]


def has_selected_no_gene(model: ModelJson) -> bool:
    """Return whether the study tested single genes at the FDR and selected none."""
    return any(
        list_model["list"] == FDR_SELECTED and not list_model["has_fdr_selected"]
        for list_model in model["models"]
    )


def model_index(model: ModelJson, model_of_list: ModelJson) -> int:
    """Return the number of a model among ``models`` of model.json."""
    return [list_model["list"] for list_model in model["models"]].index(model_of_list["list"])


def list_contradictions(model: ModelJson) -> Iterator[str]:
    """Yield the keys of model.json that contradict the names of its lists."""
    names = [list_model["list"] for list_model in model["models"]]
    if len(set(names)) < len(names) or len(set(ANSWERS) & set(names)) == 1:
        yield "models"
    if model["answer"] not in names:
        yield "answer"
    for number, list_model in enumerate(model["models"]):
        mu = list_model["mu"]
        if list_model["list"] not in (ANSWERS if mu is None else (nested_list_name(mu),)):
            yield f"models.{number}.list"
        if ("has_fdr_selected" in list_model) != (list_model["list"] == FDR_SELECTED):
            yield f"models.{number}.has_fdr_selected"
        fdr_genes = set(list_model.get("fdr_selected_genes", ()))
        if "fdr_selected_genes" in list_model and (
            list_model["list"] != FDR_SELECTED
            or bool(fdr_genes) != list_model["has_fdr_selected"]
            or not fdr_genes <= set(list_model["genes"])
        ):
            yield f"models.{number}.fdr_selected_genes"


def _nested_model(model: ModelJson, mu: float) -> ModelJson:
    """Return the nested list at mu; raise if the model has none."""
    nested_models = [list_model for list_model in model["models"] if list_model["mu"] is not None]
    grid = np.array([list_model["mu"] for list_model in nested_models], dtype=float)
    try:
        return dict(nested_models[mu_index_of(grid, mu)])
    except GenesigError:
        message = f"{mu:g} is none of the model's: {', '.join(f'{value:g}' for value in grid)}"
        raise input_error("--mu", message) from None
