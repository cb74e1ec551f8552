"""The final model as plain JSON that any language can score, and its score from that JSON alone."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.normalise import Reference, bound, fit_reference_steps, fit_steps
from genesig.errors import GenesigError
from genesig.results import Dataset, Fits
from genesig.selection.genes.frequency import mu_number

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

FORMAT = "genesig linear model"
RULE = "score = intercept + sum of coefficient * normalised expression over the genes"


def final_model(
    dataset: Dataset, final: Fits, *, folds: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the content of model.json.

    Centring and scaling are folded into the coefficients and the intercept. The steps before
    them stand under ``normalisation``, fitted on all samples; where there are any, ``genes``
    there are all genes a sample must have, in order, because steps such as ranks look at all.
    ``training`` has the mean and the standard deviation of each needed gene over the samples,
    after the row-wise steps, for `predict`.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    final : Fits
        The fit on all samples.
    folds : list of steps
        ``normalise.folds`` of the config.
    """
    row_wise = fit_steps(dataset.X[:0], dataset.provenance.get("steps", []))
    learned = fit_reference_steps(dataset.X, bound(folds, dataset), dataset.obs)
    chain = Reference(
        row_wise.names + learned.names, row_wise.steps + learned.steps, row_wise.n_genes
    )
    classes = dataset.design.classes
    tau, lam, chosen = final.choice[0]
    models = [
        _at_mu(dataset, final, at) for at, gap in enumerate(final.gap[0]) if not np.isnan(gap)
    ]
    return {
        "format": FORMAT,
        "version": 1,
        "rule": RULE,
        "task": dataset.design.task,
        "label": dataset.design.label,
        "classes": classes and {"negative": classes[0], "positive": classes[1]},
        "threshold": float(final.threshold[0]) if classes else None,
        "signature_mu": float(final.mu[chosen]),
        "chosen": {
            "tau": float(final.tau[tau]),
            "tau_max": float(final.tau_max[0]),
            "lam": float(final.lam[lam]),
            "norm": float(final.norm[0]),
        },
        "training_samples": len(dataset.samples),
        "training": _training(dataset, models, everything=bool(chain.steps)),
        "normalisation": {"genes": dataset.genes if chain.steps else [], **chain.state()},
        "models": models,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("genesig", "numpy", "scipy")},
        },
    }


def _training(dataset: Dataset, models: Sequence[Mapping[str, Any]], *,
              everything: bool) -> dict[str, Any]:  # fmt: skip
    """Say what the needed genes looked like after the row-wise steps: for what a sample lacks."""
    listed = {gene for each in models for gene in each["genes"]}
    rows = [k for k, gene in enumerate(dataset.genes) if everything or gene in listed]
    X = dataset.X[:, rows]
    return {
        "genes": [dataset.genes[k] for k in rows],
        "means": np.nanmean(X, axis=0).tolist(),
        "sds": np.nanstd(X, axis=0).tolist(),
        "p99": float(np.nanpercentile(X, 99)) if rows else 0.0,
        "max": float(np.nanmax(X)) if rows else 0.0,
    }


def _at_mu(dataset: Dataset, final: Fits, at: int) -> dict[str, Any]:
    indices, values = final.coef(0, at)
    symbols = dataset.var["symbol"].to_numpy()
    return {
        "mu": float(final.mu[at]),
        "intercept": float(final.intercept[0, at]),
        "genes": [dataset.genes[gene] for gene in indices],
        "symbols": [str(symbols[gene]) for gene in indices],
        "coefficients": [float(value) for value in values],
    }


def score(
    model: Mapping[str, Any],
    expression: Mapping[str, Any],
    *,
    mu: float | None = None,
    about: pd.DataFrame | None = None,
) -> Array:
    """f(x) = intercept + Σ_j x_j β_j of new samples, from the content of model.json alone.

    Parameters
    ----------
    model : mapping
        What `final_model` returned, or what was read back.
    expression : mapping of gene id to values (n_samples,), such as a DataFrame
        As measured: the steps under ``normalisation`` are applied here.
    mu : float or None
        Which of the nested models; None is that of the signature.
    about : DataFrame or None
        The samples' rows of a sample table, for the step combat; None corrects no batch.

    Returns
    -------
    (n_samples,) float
        Above ``threshold``: the positive class.

    Raises
    ------
    GenesigError
        If genes are missing; a model cannot guess them.
    """
    wanted = model["signature_mu"] if mu is None else mu
    at = mu_number(np.array([each["mu"] for each in model["models"]]), wanted)
    chosen, normalisation = model["models"][at], model["normalisation"]
    steps = Reference.of(normalisation)
    needed = normalisation["genes"] or chosen["genes"]
    missing = [gene for gene in needed if gene not in expression]
    if missing:
        raise GenesigError(
            f"expression: {len(missing)} of {len(needed)} genes that the model needs are missing, "
            f"such as '{missing[0]}'"
        )
    if not chosen["genes"]:
        length = max((np.size(values) for values in expression.values()), default=1)
        return np.full(length, chosen["intercept"])
    columns = [np.atleast_1d(np.asarray(expression[gene], dtype=float)) for gene in needed]
    X, kept = np.stack(columns, axis=1), needed
    if steps.steps:
        X, kept = steps.transform(X, about), [needed[gene] for gene in steps.genes]
    place = {gene: column for column, gene in enumerate(kept)}
    X = X[:, [place[gene] for gene in chosen["genes"]]]
    return np.asarray(chosen["intercept"] + X @ np.array(chosen["coefficients"]))
