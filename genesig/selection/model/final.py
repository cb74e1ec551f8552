"""The final model as plain JSON, from which any language can compute scores."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import (
    Reference,
    Steps,
    bind_steps,
    fit_steps,
    fit_steps_to_all_samples,
)
from genesig.optim.classes import line_for_shares
from genesig.results import Dataset, Fits
from genesig.results.fits import ANSWERS
from genesig.selection.assess.held_out import STUDY_SHARES, class_shares, requested_shares
from genesig.selection.assess.operating_point import DecisionRule
from genesig.selection.model.kinds import MODEL_KINDS
from genesig.selection.model.same_scale import panel_genes, training_panel, training_scale
from genesig.selection.model.schema import (
    COVARIATE_MODEL_VERSION,
    FDR_SELECTED,
    MODEL_FORMAT,
    MODEL_VERSION,
    answer_list,
    nested_list_name,
)
from genesig.selection.model.shape import add_digest, covariate_weights_json, covariates_json

if TYPE_CHECKING:
    import pandas as pd

CLASS_SCORE_RULE = (
    "score of each class = its intercept + sum of its coefficient * normalised expression over the"
    " genes; the largest is the prediction"
)
SCORE_RULE = "score = intercept + sum of coefficient * normalised expression over the genes"


class _ListModel(NamedTuple):
    """One gene list of the fit on all samples."""

    name: str  # name under ``list`` in model.json
    fits: Fits  # a single fit: that on all samples, or one of its answers
    list_index: int  # index of the list in `Fits.mu`
    is_answer: bool  # whether the study predicts by it, or it is that of the FDR-selected genes

    @property
    def intercept(self) -> Array:
        """Intercept of the fit less its threshold."""
        return np.asarray(self.fits.intercept[0, self.list_index] - self.fits.threshold[0])


def final_model(
    dataset: Dataset,
    final: Fits,
    *,
    fold_steps: Steps,
    probabilities: str | Sequence[float] = STUDY_SHARES,
    decision: Mapping[str, Any] | None = None,
    selection: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Return the content of model.json.

    Centring, scaling and the threshold are folded into coefficients and intercept: a score above 0
    is of the positive class, or of high risk. ``normalisation`` has the steps before these, fitted
    on all samples. If there are any, its ``genes`` are all genes of the study, in order, because
    steps such as ranks use all. ``training`` has the mean and sd of each needed gene after the
    row-wise steps; its ``scale`` and ``panel`` compare new samples after all steps, see
    `training_scale` and `training_panel`. ``digest`` is that of all other keys.

    dataset: after the row-wise steps.
    final: the fit on all samples.
    fold_steps: ``normalise.folds`` of the config.
    probabilities: class shares for which probabilities are stated, of the config; see
        `requested_shares`. The line of an answer under ``probability`` is that of held-out scores,
        for these shares.
    decision: the config section of this name; each answer has its threshold under ``decision``.
    selection: selection.tsv, which says which genes are FDR-selected.
    """
    # Row-wise steps learn nothing from samples: they are fitted to none.
    row_steps = fit_steps(dataset.X[:0], bind_steps(dataset.provenance.get("steps", []), dataset))
    learned_steps = fit_steps_to_all_samples(dataset, fold_steps)
    all_steps = Reference(
        row_steps.names + learned_steps.names,
        row_steps.steps + learned_steps.steps,
        row_steps.n_genes,
    )
    tau, lam, _ = final.choice[0]
    list_models = _list_models(final)
    shares = None  # class shares for which probabilities are stated
    if dataset.design.classes is not None:
        shares = requested_shares(probabilities, dataset.response())
    fdr_selected_genes = (
        set() if selection is None else set(selection["gene"][selection["fdr_selected"].eq(True)])
    )
    models = [
        _model(dataset, list_model, fdr_selected_genes)
        | _probability_line(dataset, list_model, shares)
        | _operating_point(dataset, list_model, decision)
        for list_model in list_models
    ]
    X = learned_steps.transform(dataset.X, dataset.obs)
    scores = _training_scores(X, dataset.covariates(), list_models, learned_steps)
    content = {
        "format": MODEL_FORMAT,
        "version": MODEL_VERSION if final.covariates is None else COVARIATE_MODEL_VERSION,
        "rule": _rule(final),
        "task": dataset.design.kind,
        "label": dataset.design.label,
        **MODEL_KINDS[dataset.design.kind].parts(dataset, scores, models),
        **({} if shares is None else {"shares": shares.tolist()}),
        "answer": answer_list(final),
        "chosen": {
            "tau": float(final.grid.tau[tau]),
            "tau_max": float(final.grid.tau_max[0]),
            "lam": float(final.grid.lam[lam]),
            "norm": float(final.grid.norm[0]),
        },
        "training_samples": len(dataset.samples),
        "training": _training(
            dataset, models, learned_steps, X, needs_all_genes=bool(all_steps.steps)
        ),
        "normalisation": {"genes": dataset.genes if all_steps.steps else [], **all_steps.state()},
        **covariates_json(dataset, final),
        "models": models,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("genesig", "numpy", "scipy")},
        },
    }
    return add_digest(content)


def _list_models(final: Fits) -> list[_ListModel]:
    """Return the nested lists that were kept, and both answers if the fit has two."""
    answer_name = answer_list(final)
    list_models = []
    for list_index in np.flatnonzero(~np.isnan(final.gap[0])).tolist():
        name = nested_list_name(float(final.mu[list_index]))
        list_models.append(_ListModel(name, final, list_index, is_answer=name == answer_name))
    for name in ANSWERS if final.answers is not None else ():
        list_models.append(_ListModel(name, final.answer(name), list_index=0, is_answer=True))
    return list_models


def _training_scores(
    X: Array, C: Array, list_models: Sequence[_ListModel], learned_steps: Reference
) -> Array:
    """Return the scores of all samples by each model, (n, n_models) or (n, n_models, T).

    X (n, d), C (n, r): all samples after `learned_steps`, and their covariates.
    """
    column_of_gene = {int(gene): k for k, gene in enumerate(learned_steps.genes)}
    scores = []
    for list_model in list_models:
        fits = list_model.fits
        genes, values = fits.coef(0, list_model.list_index)
        columns = [column_of_gene[int(gene)] for gene in genes]
        list_scores = X[:, columns] @ values + list_model.intercept
        if fits.covariates is not None:
            covariate_scores = np.asarray(fits.covariate_scores(0, C))
            list_scores = list_scores + covariate_scores[:, list_model.list_index]
        scores.append(list_scores)
    return np.stack(scores, axis=1)


def _rule(final: Fits) -> str:
    """Return the rule of model.json by which a score is computed."""
    rule = SCORE_RULE
    covariate_term = " + sum of weight * covariate"
    if final.intercept.ndim > 2:
        rule = CLASS_SCORE_RULE
        covariate_term = "; to the score comes the sum of weight * covariate"
    return rule if final.covariates is None else rule + covariate_term


def _training(
    dataset: Dataset,
    models: Sequence[Mapping[str, Any]],
    learned_steps: Reference,
    X: Array,
    *,
    needs_all_genes: bool,
) -> dict[str, Any]:
    """Return ``training`` of model.json: means and sds of the genes that a sample must have.

    These are the genes of the models and of the panel, which shows the scale only; all genes if
    steps look across genes (`needs_all_genes`).

    X (n, d): all samples after `learned_steps`.
    """
    names = [dataset.genes[gene] for gene in learned_steps.genes]
    model_genes = {gene for model in models for gene in model["genes"]}
    model_columns = np.array(
        [k for k, gene in enumerate(names) if gene in model_genes], dtype=np.int64
    )
    panel_columns = panel_genes(X, model_columns)
    panel_names = [names[k] for k in panel_columns]
    y = dataset.response_kind.numeric_response(dataset.response())
    needed = {*model_genes, *panel_names}
    columns_needed = [
        k for k, gene in enumerate(dataset.genes) if needs_all_genes or gene in needed
    ]
    values = dataset.X[:, columns_needed]
    before_alignment = dataset.provenance.get("before_alignment")
    return {
        "genes": [dataset.genes[k] for k in columns_needed],
        "means": np.nanmean(values, axis=0).tolist(),
        "sds": np.nanstd(values, axis=0).tolist(),
        "p99": float(np.nanpercentile(values, 99)) if columns_needed else 0.0,
        "min": float(np.nanmin(values)) if columns_needed else 0.0,
        "max": float(np.nanmax(values)) if columns_needed else 0.0,
        "scale": training_scale(X[:, model_columns], y, [names[k] for k in model_columns]),
        **(
            {"before_alignment": dict(zip(("median", "p99"), before_alignment, strict=True))}
            if before_alignment
            else {}
        ),
        "panel": training_panel(
            X[:, panel_columns],
            y,
            panel_names,
            dataset.batches() if dataset.design.studies else None,
        ),
    }


def _probability_line(
    dataset: Dataset, list_model: _ListModel, shares: Array | None
) -> dict[str, Any]:
    """Return the line of the probabilities, or the slope of the risks, of a list that has one.

    shares (T,): class shares of the probabilities; None for survival. Two classes have one
    intercept, that of the positive class less that of the negative, and several have one each.
    The shrinkage is that of the slope, see `Fits.shrinkage`.
    """
    line = list_model.fits.line
    if line is None or not list_model.is_answer or np.isnan(line).any():
        return {}
    shrinkage = (
        {}
        if list_model.fits.shrinkage is None
        else {"shrinkage": float(list_model.fits.shrinkage[0])}
    )
    if shares is None:  # the line of survival, (1, 1), is a slope alone
        return {"risk": {"slope": float(line[0, 0]), **shrinkage}}
    *intercepts, slope = line_for_shares(line[0], class_shares(dataset.response()), shares).tolist()
    intercept = intercepts if len(intercepts) > 2 else intercepts[1] - intercepts[0]
    return {"probability": {"intercept": intercept, "slope": slope, **shrinkage}}


def _operating_point(
    dataset: Dataset, list_model: _ListModel, decision: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the rule and the threshold of an answer, if the config states one."""
    crossfitted = list_model.fits.crossfitted
    y = dataset.response()
    rule = DecisionRule.from_config(decision or {}, y)
    if rule is None or crossfitted is None or not list_model.is_answer:
        return {}
    threshold = rule.threshold(crossfitted[0], y, dataset.groups())
    return {"decision": {"rule": rule.describe(), "threshold": threshold}}


def _model(
    dataset: Dataset, list_model: _ListModel, fdr_selected_genes: set[str]
) -> dict[str, Any]:
    """Return one entry of ``models`` of model.json."""
    indices, values = list_model.fits.coef(0, list_model.list_index)
    symbols = dataset.var["symbol"].to_numpy()
    mu = float(list_model.fits.mu[list_model.list_index])
    genes = [dataset.genes[gene] for gene in indices]
    selected_in_list = [gene for gene in genes if gene in fdr_selected_genes]
    return {
        "list": list_model.name,
        "mu": None if np.isnan(mu) else mu,
        "intercept": list_model.intercept.tolist(),
        "genes": genes,
        "symbols": [str(symbols[gene]) for gene in indices],
        "coefficients": values.tolist(),
        **covariate_weights_json(list_model.fits, list_model.list_index),
        **(
            {"has_fdr_selected": bool(selected_in_list), "fdr_selected_genes": selected_in_list}
            if list_model.name == FDR_SELECTED
            else {}
        ),
    }
