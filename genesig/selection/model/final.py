"""The final model as plain JSON that any language can score."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.data.steps.normalise import Reference, bound, fit_reference_steps, fit_steps
from genesig.results import Dataset, Fits, Splits
from genesig.results.fits import ANSWERS
from genesig.selection.assess.held_out import held_out
from genesig.selection.model.covariates import described_covariates, weights_at
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.lists import NAMED, answer_of, nested
from genesig.selection.model.same_scale import training_scale
from genesig.selection.model.schema import FORMAT, VERSION, WITH_COVARIATES
from genesig.selection.model.shape import sealed

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

RULE_OF_CLASSES = (
    "score of each class = its intercept + sum of its coefficient * normalised expression over the"
    " genes; the largest is the prediction"
)
RULE = "score = intercept + sum of coefficient * normalised expression over the genes"


class _Listed(NamedTuple):
    """One list of the fit on all samples: its name, and where it stands in which fits."""

    name: str
    fits: Fits
    at: int

    @property
    def intercept(self) -> Array:
        """That of the fit, less its threshold."""
        return np.asarray(self.fits.intercept[0, self.at] - self.fits.threshold[0])


def held_out_scores(
    dataset: Dataset, splits: Splits, observed: Fits, final: Fits
) -> dict[str, tuple[Array, Array]]:  # fmt: skip
    """Return responses and held-out scores of each list that model.json may hold, by its name.

    Where a nested list is the answer, its scores are those of the lists that the splits chose.
    """
    found = held_out(dataset, splits, observed.with_chosen())
    scores = {nested(float(mu)): found.scores[:, at] for at, mu in enumerate(observed.mu)}
    scores[answer_of(final)] = found.scores[:, -1]
    if observed.answer_indptr is not None:
        scores[NAMED] = held_out(dataset, splits, observed.answer(NAMED)).scores[:, 0]
    return {name: (found.y, each) for name, each in scores.items()}


def final_model(
    dataset: Dataset,
    final: Fits,
    *,
    folds: Sequence[Mapping[str, Any]],
    found: Mapping[str, tuple[Array, Array]] | None = None,
    evidence: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Return the content of model.json.

    Centring and scaling are folded into the coefficients, and these and the threshold into the
    intercept: above 0 lies the positive class, or high risk. The steps before them stand under
    ``normalisation``, fitted on all samples; where there are any, ``genes`` there are all genes a
    sample must have, in order, because steps such as ranks look at all.
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
    found : mapping or None
        As `held_out_scores` gives it: of several classes these give the ``slope`` of the
        probabilities.
    evidence : DataFrame or None
        evidence.tsv, which says which genes are named.
    """
    row_wise = fit_steps(dataset.X[:0], bound(dataset.provenance.get("steps", []), dataset))
    learned = fit_reference_steps(dataset.X, bound(folds, dataset), dataset.obs)
    chain = Reference(
        row_wise.names + learned.names, row_wise.steps + learned.steps, row_wise.n_genes
    )
    tau, lam, _ = final.choice[0]
    listed, kind = _listed(final), MODELLED[dataset.design.kind]
    own = set() if evidence is None else set(evidence["gene"][evidence["named"].eq(True)])
    told = {name: kind.calibrated(*each) for name, each in (found or {}).items()}
    models = [_model(dataset, one, own) | told.get(one.name, {}) for one in listed]
    X = learned.transform(dataset.X, dataset.obs)
    scores = _training_scores(X, dataset.covariates(), listed, learned)
    content = {
        "format": FORMAT,
        "version": VERSION if final.gamma is None else WITH_COVARIATES,
        "rule": _rule(final),
        "task": dataset.design.kind,
        "label": dataset.design.label,
        **kind.parts(dataset, scores),
        "answer": answer_of(final),
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


def _listed(final: Fits) -> list[_Listed]:
    """Return the nested lists that were kept, and both answers where there are two."""
    kept = [at for at, gap in enumerate(final.gap[0]) if not np.isnan(gap)]
    answers = ANSWERS if final.answer_indptr is not None else ()
    return [*(_Listed(nested(float(final.mu[at])), final, at) for at in kept),
            *(_Listed(name, final.answer(name), 0) for name in answers)]  # fmt: skip


def _training_scores(
    X: Array, C: Array, listed: Sequence[_Listed], learned: Reference
) -> Array:  # fmt: skip
    """Return the scores of all samples by each model, (n, n_models)."""
    place, scores = {int(gene): k for k, gene in enumerate(learned.genes)}, []
    for one in listed:
        genes, values = one.fits.coef(0, one.at)
        held = one.fits.of_covariates(0, C)
        found = X[:, [place[int(gene)] for gene in genes]] @ values + one.intercept
        scores.append(found if isinstance(held, float) else found + held[:, one.at])
    return np.stack(scores, axis=1)


def _rule(final: Fits) -> str:
    rule, held = RULE, " + sum of weight * covariate"
    if final.intercept.ndim > 2:
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


def _model(dataset: Dataset, one: _Listed, named: set[str]) -> dict[str, Any]:
    indices, values = one.fits.coef(0, one.at)
    symbols, mu = dataset.var["symbol"].to_numpy(), float(one.fits.mu[one.at])
    genes = [dataset.genes[gene] for gene in indices]
    claimed = [gene for gene in genes if gene in named]
    return {
        "list": one.name,
        "mu": None if np.isnan(mu) else mu,
        "intercept": one.intercept.tolist(),
        "genes": genes,
        "symbols": [str(symbols[gene]) for gene in indices],
        "coefficients": values.tolist(),
        **weights_at(one.fits, one.at),
        **({"claimed": bool(claimed), "claimed_genes": claimed} if one.name == NAMED else {}),
    }
