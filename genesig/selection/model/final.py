"""The final model as plain JSON that any language can score."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from genesig.data.steps.normalise import Reference, bound, fit_reference_steps, fit_steps
from genesig.results import Dataset, Fits
from genesig.selection.assess.kinds.record import HeldOut
from genesig.selection.model.covariates import described_covariates, weights_at
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.same_scale import training_scale
from genesig.selection.model.schema import FORMAT, VERSION, WITH_COVARIATES
from genesig.selection.model.shape import sealed

Array = np.ndarray[Any, Any]

RULE_OF_CLASSES = (
    "score of each class = its intercept + sum of its coefficient * normalised expression over the"
    " genes; the largest is the prediction"
)
RULE = "score = intercept + sum of coefficient * normalised expression over the genes"


def final_model(
    dataset: Dataset,
    final: Fits,
    *,
    folds: Sequence[Mapping[str, Any]],
    found: HeldOut | None = None,
) -> dict[str, Any]:
    """Return the content of model.json.

    Centring and scaling are folded into the coefficients and the intercept. The steps before
    them stand under ``normalisation``, fitted on all samples; where there are any, ``genes``
    there are all genes a sample must have, in order, because steps such as ranks look at all.
    ``training`` has the mean and the standard deviation of each needed gene over the samples,
    after the row-wise steps, for `predict`; its ``scale`` those of the listed genes after all
    steps, see `training_scale`. ``digest`` is that of all the rest.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    final : Fits
        The fit on all samples.
    folds : list of steps
        ``normalise.folds`` of the config.
    found : HeldOut or None
        The held-out scores of the study, those of the chosen lists last: of several classes they
        give the ``slope`` of the probabilities.
    """
    row_wise = fit_steps(dataset.X[:0], bound(dataset.provenance.get("steps", []), dataset))
    learned = fit_reference_steps(dataset.X, bound(folds, dataset), dataset.obs)
    chain = Reference(
        row_wise.names + learned.names, row_wise.steps + learned.steps, row_wise.n_genes
    )
    tau, lam, chosen = final.choice[0]
    kept = [at for at, gap in enumerate(final.gap[0]) if not np.isnan(gap)]
    models = [_at_mu(dataset, final, at) for at in kept]
    X = learned.transform(dataset.X, dataset.obs)
    scores = _training_scores(X, dataset.covariates(), final, kept, learned)
    kind = MODELLED[dataset.design.kind]
    own = kind.parts(dataset, final, scores) | ({} if found is None else kind.calibrated(found))
    content = {
        "format": FORMAT,
        "version": VERSION if final.gamma is None else WITH_COVARIATES,
        "rule": _rule(final),
        "task": dataset.design.kind,
        "label": dataset.design.label,
        **own,
        "signature_mu": float(final.mu[chosen]),
        "chosen": {
            "tau": float(final.tau[tau]),
            "tau_max": float(final.tau_max[0]),
            "lam": float(final.lam[lam]),
            "norm": float(final.norm[0]),
        },
        "training_samples": len(dataset.samples),
        "training": {
            **_training(dataset, models, everything=bool(chain.steps)),
            "scale": _scale(dataset, models, learned, X),
        },
        "normalisation": {"genes": dataset.genes if chain.steps else [], **chain.state()},
        **described_covariates(dataset, final),
        "models": models,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("genesig", "numpy", "scipy")},
        },
    }
    return sealed(content)


def _training_scores(X: Array, C: Array, final: Fits, kept: Sequence[int],
                     learned: Reference) -> Array:  # fmt: skip
    """Return the scores of all samples by each model that is kept, (n, n_models)."""
    place = {int(gene): k for k, gene in enumerate(learned.genes)}
    lists = [final.coef(0, at) for at in kept]
    scores = [X[:, [place[int(g)] for g in genes]] @ values for genes, values in lists]
    tail = final.values.shape[1:]
    held = np.zeros((len(X), len(final.mu), *tail)) + final.of_covariates(0, C)
    return np.stack(scores, axis=1) + final.intercept[0, kept] + held[:, kept]


def _rule(final: Fits) -> str:
    rule, held = RULE, " + sum of weight * covariate"
    if final.values.ndim > 1:
        rule, held = RULE_OF_CLASSES, "; to the score comes the sum of weight * covariate"
    return rule if final.gamma is None else rule + held


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
        "min": float(np.nanmin(X)) if rows else 0.0,
        "max": float(np.nanmax(X)) if rows else 0.0,
    }


def _scale(dataset: Dataset, models: Sequence[Mapping[str, Any]],
           learned: Reference, X: Array) -> dict[str, Any]:  # fmt: skip
    listed = {gene for each in models for gene in each["genes"]}
    names = [dataset.genes[gene] for gene in learned.genes]
    columns = [k for k, gene in enumerate(names) if gene in listed]
    y = dataset.kind.number(dataset.response())
    return training_scale(X[:, columns], y, [names[k] for k in columns])


def _at_mu(dataset: Dataset, final: Fits, at: int) -> dict[str, Any]:
    indices, values = final.coef(0, at)
    symbols = dataset.var["symbol"].to_numpy()
    return {
        "mu": float(final.mu[at]),
        "intercept": final.intercept[0, at].tolist(),
        "genes": [dataset.genes[gene] for gene in indices],
        "symbols": [str(symbols[gene]) for gene in indices],
        "coefficients": values.tolist(),
        **weights_at(final, at),
    }
