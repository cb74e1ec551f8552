"""What model.json is, as a JSON schema, and the models in it by the name of their list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from genesig.errors import GenesigError, refuse
from genesig.response.known import RESPONSES
from genesig.results import Fits
from genesig.results.fits import ANSWERS
from genesig.selection.genes.frequency import mu_index_of
from genesig.words import MAX_VALUE, counted

FORMAT = "genesig linear model"
VERSION = 6
WITH_COVARIATES = 7
"""Version of a model that has covariates: what reads the other one would leave them out."""

Node = dict[str, Any]

OPTIONAL = {
    "covariates",
    "has_fdr_selected",
    "fdr_selected_genes",
    "probability",
    "risk",
    "shrinkage",
    "shares",
    "before_alignment",
}
"""What only some models have."""

TEXT: Node = {"type": "string"}
NAME: Node = {"type": "string", "minLength": 1}
NUMBER: Node = {"type": "number", "minimum": -MAX_VALUE, "maximum": MAX_VALUE}
SIZE: Node = {"type": "number", "minimum": 0, "maximum": MAX_VALUE}
COUNT: Node = {"type": "integer", "minimum": 0}


def _list(items: Node, about: str = "", **more: Any) -> Node:
    return {**_about(about), "type": "array", "items": items, **more}


def _object(about: str = "", **parts: Node) -> Node:
    required = [name for name in parts if name not in OPTIONAL]
    return {**_about(about), "type": "object", "properties": parts, "required": required,
            "additionalProperties": False}  # fmt: skip


def _about(text: str) -> Node:
    return {"description": text} if text else {}


def _or_null(node: Node, about: str) -> Node:
    return {"description": about, "anyOf": [node, {"type": "null"}]}


DEPTH: dict[str, Node] = {
    "method": {"enum": ["median_of_ratios", "tmm"]},
    "reference": _list({**NUMBER, "type": ["number", "null"]}),
    "typical": {**SIZE, "minimum": 1e-9},
    "means": _list(SIZE),
}
# Step -> its formula and its fields, those of its class in genesig/data/steps.
FILTERED = "keeps the columns `genes`, counted from 0"
STEPS: dict[str, tuple[str, dict[str, Node]]] = {
    "log2": ("log2(min(max(x, floor), ceiling))", {"floor": NUMBER, "ceiling": NUMBER}),
    "zeros_as_missing": ("0 becomes missing", {}),
    "standardise_samples": ("(x - mean) / sd over the genes of a sample, sd with divisor n", {}),
    "rank_samples": ("(rank - 1/2) / n within a sample, ties share their mean rank", {}),
    "log_cpm": ("log2(10^6 x / sum of the sample + prior)", {"prior": NUMBER}),
    "missing_indicators": (
        "each column of `added` is 1 where that of `of` beside it is missing, and all where it"
        " stands beside several, else 0",
        {"of": {"type": ["array", "null"], "items": COUNT},
         "added": {"type": ["array", "null"], "items": COUNT}},
    ),
    "rma_background": ("background of RMA, of each array by itself", {}),
    "align_studies": (
        "x - mean of the gene over the samples of the same study, divided by their sd (divisor n)"
        " where spread is true; new samples are a study by themselves, of at least 10",
        {"column": TEXT, "spread": {"type": "boolean"}},
    ),
    "fix_studies": (
        "x - shift of the sample's study; one of a study that is not in `batches` stays as it is",
        {"column": TEXT, "batches": _list(TEXT), "shift": _list(_list(NUMBER))},
    ),
    "combat_studies": (
        "ComBat for samples of a study in `batches`; others are one new batch, of at least 10,"
        " brought to `mean` and `scale` (Zhang et al. 2018)",
        {"column": TEXT, "batches": _list(TEXT), "mean": _list(NUMBER), "scale": _list(NUMBER),
         "gamma": _list(_list(NUMBER)), "delta": _list(_list(NUMBER))},
    ),
    "segment": (
        "step function along each chromosome, whose columns are `order` from one of `starts` to the"
        " next; null is one of all columns. min 1/2 ||f - x||^2 + tau sd sum |f_(i+1) - f_i|, sd ="
        " 1.4826 MAD of the steps of x over sqrt(2); tau null: segments of tau 2, 4, 8, 16, pruned"
        " by BIC, with their means",
        {"tau": {**SIZE, "type": ["number", "null"]},
         "order": {"type": ["array", "null"], "items": COUNT},
         "starts": {"type": ["array", "null"], "items": COUNT}},
    ),
    "knn_impute": (
        "fills in what is missing from the nearest genes over the donors",
        {"donors": _list(_list({**NUMBER, "type": ["number", "null"]}), minItems=1),
         "neighbours": COUNT,
         "genes": {"description": "columns that are left; null is all of them",
                   "type": ["array", "null"], "items": COUNT}},
    ),
    "mean_impute": ("what is missing becomes the mean of the gene", {"means": _list(NUMBER)}),
    "left_censored": ("what is missing becomes low, a value of each gene", {"low": _list(NUMBER)}),
    "half_minimum": ("what is missing becomes low, a value of each gene", {"low": _list(NUMBER)}),
    "size_factors": (
        "log2(q + prior), q = x/s: s is exp of the median of log x - reference over the genes that"
        " have both; with tmm, reads N of the sample times 2^(weighted trimmed mean of log2 ratios"
        " of shares to the reference), divided by typical. A missing gene has q = its mean",
        {**DEPTH, "prior": {**SIZE, "exclusiveMinimum": 0}},
    ),
    "vst": ("log2((1 + a1 + 2 a0 q + 2 sqrt(a0 q (1 + a1 + a0 q)))/(4 a0)), q as of size_factors",
            {**DEPTH, "a0": {**SIZE, "minimum": 1e-9}, "a1": SIZE}),
    "quantile": ("target[rank - 1], halfway between two for a half rank",
                 {"target": _list(NUMBER)}),
    "median_polish": ("median over the probes of a set of log2 x - effect",
                      {"effects": _list(NUMBER), "sets": _list(COUNT)}),
    "collapse": ("keeps the columns `genes`; where there are `sets`, the median over each set",
                 {"genes": _list(COUNT), "sets": _list(COUNT)}),
    "detection_filter": (FILTERED, {"genes": _list(COUNT)}),
    "variance_filter": (FILTERED, {"genes": _list(COUNT)}),
    "fold_filter": (FILTERED, {"genes": _list(COUNT)}),
    "range_filter": (FILTERED, {"genes": _list(COUNT)}),
    "combat": (
        "ComBat for samples of a known batch; any other stays as it is",
        {"columns": _list(TEXT), "levels": _list(_list(TEXT)), "batches": _list(TEXT),
         "mean": _list(NUMBER),
         "scale": _list(NUMBER), "coefficients": _list(_list(NUMBER)),
         "gamma": _list(_list(NUMBER)), "delta": _list(_list(NUMBER))},
    ),
}  # fmt: skip


def _step(name: str) -> Node:
    about, fields = STEPS[name]
    return _object(about, step={"const": name}, **fields)


MODEL = _object(
    "With several classes intercept and coefficients have a number for each, in their order.",
    list={
        **NAME,
        "description": "'mu' and its value, of a nested list; or 'predictive', the model"
        " that predicts best; or 'fdr_selected', that of the FDR-selected genes",
    },
    mu=_or_null(NUMBER, "null where the list is none of the nested ones"),
    intercept={"anyOf": [NUMBER, _list(NUMBER)]},
    genes=_list(NAME),
    symbols=_list(TEXT),
    coefficients={"anyOf": [_list(NUMBER), _list(_list(NUMBER))]},
    covariates={
        "description": "weight of each of `covariates.names`, in its own units",
        "anyOf": [_list(NUMBER), _list(_list(NUMBER))],
    },
    has_fdr_selected={
        "type": "boolean",
        "description": "of 'fdr_selected': whether any gene passes the FDR; if none does, `genes`"
        " are those of the largest selection frequency, of which nothing is claimed",
    },
    probability=_object(
        "of classes, where a list has it: that of the positive is 1/(1 + exp(-(intercept + slope *"
        " score))); of several each is proportional to exp(its intercept + slope * its score)",
        intercept={"anyOf": [NUMBER, _list(NUMBER)]},
        slope=SIZE,
        shrinkage={
            **SIZE,
            "maximum": 1,
            "description": "slope over the slope that left-out samples gave: 0 where these do not"
            " show that the score predicts the class, so that probabilities are the shares",
        },
    ),
    risk=_object(
        "of survival, where a list has it: log hazard = slope * score, fitted to left-out samples",
        slope=SIZE,
        shrinkage={
            **SIZE,
            "maximum": 1,
            "description": "slope over the slope that left-out samples gave: 0 where these do not"
            " show that the score predicts survival, so that all risks are equal",
        },
    ),
    fdr_selected_genes=_list(
        NAME,
        "of 'fdr_selected': those of `genes` that pass the FDR; if they are fewer than"
        " `signature.least`, genes of the next largest selection frequency are added",
    ),
)
BOUNDS = _object(low=NUMBER, high=NUMBER, sd=SIZE)
ABOUT = {"samples": {**COUNT, "minimum": 1}, "genes": _list(NAME), "means": _list(NUMBER),
         "sds": _list(SIZE), "location": BOUNDS, "slope": BOUNDS}  # fmt: skip
SCALE = _object(
    "genes of all `models` over the training samples, as coefficients see them; location and slope"
    " of a sample (genesig/selection/model/same_scale.py): least and largest mean of a class, sd in"
    " a class",
    **ABOUT,
)
PANEL = _object(
    "further genes, for telling the scale alone; agreement: mean rank correlation of a training"
    " sample with the means; axes: principal ones of standardised values, coherence: share of the"
    " variance of left-out training samples along them (genesig/selection/model/same_scale.py)",
    **ABOUT, agreement=NUMBER, axes=_list(_list(NUMBER)), coherence=NUMBER,
)  # fmt: skip
SURVIVAL = _object(
    "of survival: S(t) = exp(-H(t) exp(slope * score)), H from each of `times` on and slope"
    " (`risk`, 1 without it) of each of `models`",
    event=NAME, horizon={**SIZE, "exclusiveMinimum": 0}, times=_list(SIZE, minItems=1),
    cumulative=_list(_list(SIZE)),
)  # fmt: skip
SCHEMA: Node = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "model.json of genesig",
    **_object(
        "A linear model of gene expression: docs/reference/model.md says how it scores a sample.",
        format={"const": FORMAT},
        version={"enum": [VERSION, WITH_COVARIATES],
                 "description": f"{WITH_COVARIATES} where there are covariates"},
        digest={"type": "string", "pattern": "^sha256:[0-9a-f]{64}$",
                "description": "SHA-256 of everything else, as docs/reference/model.md says"},
        rule=TEXT,
        task={"enum": list(RESPONSES)},
        label=TEXT,
        classes={
            "description": "null where there are none; a list where there are more than two",
            "anyOf": [_object(negative=NAME, positive=NAME), _list(NAME), {"type": "null"}],
        },
        shares=_list(SIZE, "of the classes, (negative, positive) or in their order: those for which"
                     " the probabilities are"),
        threshold={
            "description": "0: a score above it is of the positive class, or of high risk; null"
            " where scores are not cut",
            "anyOf": [{"type": "number", "const": 0}, {"type": "null"}],
        },
        answer={**NAME, "description": "the `list` of the model that scores"},
        chosen=_object("settings that the study chose",
                       tau=NUMBER, tau_max=NUMBER, lam=NUMBER, norm=NUMBER),
        training_samples=COUNT,
        training=_object(
            "genes that a sample must have, over the training samples after the row-wise steps",
            genes=_list(NAME), means=_list(NUMBER), sds=_list(SIZE),
            p99=NUMBER, min=NUMBER, max=NUMBER, scale=SCALE, panel=PANEL,
            before_alignment=_object(
                "where align_studies is a step: the values before it, of all genes and samples",
                median=NUMBER, p99=NUMBER,
            ),
        ),
        normalisation=_object(
            "what is done to a sample first, one step after the other",
            genes=_list(NAME, "columns of the first step; none where there are no steps"),
            n_genes=COUNT,
            steps=_list({"anyOf": [_step(name) for name in STEPS]}),
        ),
        covariates=_object(
            "columns of the sample table that every sample needs; numbers as they are, followed by"
            " the terms of a restricted cubic spline where there are `knots`, or 1 for each of"
            " `levels` but the first, else 0. One that is missing is its mean if `filled`",
            columns=_list(_object(
                column=NAME, levels=_or_null(_list(NAME), "null for a column of numbers"),
                knots=_or_null(_list(NUMBER, minItems=3), "null without a spline; never falling"),
                words={"type": "object", "additionalProperties": TEXT,
                       "description": "other words for its values"},
            )),
            names=_list(NAME), means=_list(NUMBER), filled={"type": "boolean"},
        ),
        models=_list(MODEL, "of each nested list, and of both answers where there are two",
                     minItems=1),
        versions={"type": "object", "additionalProperties": TEXT},
    ),
}  # fmt: skip
SCHEMA["properties"]["survival"] = SURVIVAL


Model = Mapping[str, Any]
PREDICTIVE, FDR_SELECTED = ANSWERS


def nested(mu: float) -> str:
    """Return the name of the nested list at `mu`; no two values of a config have one name."""
    return f"mu {mu:.15g}"


def answer_of(final: Fits) -> str:
    """Return the name of the list that is the answer of a study, from its fit on all samples."""
    if final.answer_indptr is not None:
        return PREDICTIVE
    return nested(float(final.mu[final.choice[0, 2]]))


def chosen_model(model: Model, mu: float | None = None, *, fdr_selected: bool = False) -> Model:
    """Return the model of the answer, of the nested list at `mu`, or of the FDR-selected genes.

    Raises
    ------
    InvalidInput
        There is none, or two are asked for.
    """
    if fdr_selected and mu is not None:
        raise refuse("--fdr-selected", "is one model and --mu another; leave one of them out")
    if mu is not None:
        return _at_mu(model, mu)
    wanted = FDR_SELECTED if fdr_selected else model["answer"]
    found = {each["list"]: each for each in model["models"]}
    if wanted not in found:
        what = "the study sought no evidence for single genes, so that the model has none"
        raise refuse("--fdr-selected", f"{what}; without it '{model['answer']}' scores")
    return dict(found[wanted])


def scored_by(model: Model, mu: float | None = None, *, fdr_selected: bool = False) -> str:
    """Say which model scores: ``"the predictive model (34 genes)"``."""
    chosen = chosen_model(model, mu, fdr_selected=fdr_selected)
    of = {PREDICTIVE: "the predictive model", FDR_SELECTED: "the model of the FDR-selected genes"}
    what = of.get(chosen["list"], f"the list at {chosen['list']}")
    return f"{what} ({counted(len(chosen['genes']), 'gene')})"


def has_fdr_selected(model: Model) -> bool:
    """Tell whether a model holds that of the FDR-selected genes."""
    return FDR_SELECTED in [each["list"] for each in model["models"]]


def without_evidence(model: Model) -> bool:
    """Tell whether the study sought evidence for single genes and found none."""
    return any(
        each["list"] == FDR_SELECTED and not each["has_fdr_selected"] for each in model["models"]
    )


def place(model: Model, chosen: Model) -> int:
    """Return the number of a model among those of its file."""
    return [each["list"] for each in model["models"]].index(chosen["list"])


def contradictions(model: Model) -> Iterator[str]:
    """Yield the parts that make it doubtful which model is meant."""
    names = [each["list"] for each in model["models"]]
    if len(set(names)) < len(names) or len(set(ANSWERS) & set(names)) == 1:
        yield "models"
    if model["answer"] not in names:
        yield "answer"
    for number, each in enumerate(model["models"]):
        mu = each["mu"]
        if each["list"] not in (ANSWERS if mu is None else (nested(mu),)):
            yield f"models.{number}.list"
        if ("has_fdr_selected" in each) != (each["list"] == FDR_SELECTED):
            yield f"models.{number}.has_fdr_selected"
        some = set(each.get("fdr_selected_genes", ()))
        if "fdr_selected_genes" in each and (
            each["list"] != FDR_SELECTED
            or bool(some) != each["has_fdr_selected"]
            or not some <= set(each["genes"])
        ):
            yield f"models.{number}.fdr_selected_genes"


def _at_mu(model: Model, mu: float) -> Model:
    some = [each for each in model["models"] if each["mu"] is not None]
    grid = np.array([each["mu"] for each in some], dtype=float)
    try:
        return dict(some[mu_index_of(grid, mu)])
    except GenesigError:
        what = f"{mu:g} is none of the model's: {', '.join(f'{each:g}' for each in grid)}"
        raise refuse("--mu", what) from None
