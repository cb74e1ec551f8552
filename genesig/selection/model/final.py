"""The final model as plain JSON that any language can score."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import Reference, bind_steps, fit_steps, reference_of_all
from genesig.optim.class_line import line_for_shares
from genesig.results import Dataset, Fits
from genesig.results.fits import ANSWERS
from genesig.selection.assess.held_out import STUDY, asked_shares, class_shares
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.same_scale import panel_genes, training_panel, training_scale
from genesig.selection.model.schema import (
    FDR_SELECTED,
    FORMAT,
    VERSION,
    WITH_COVARIATES,
    answer_of,
    nested,
)
from genesig.selection.model.shape import described_covariates, sealed, weights_at

if TYPE_CHECKING:
    import pandas as pd

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
    answer: bool  # whether it is one of the study

    @property
    def intercept(self) -> Array:
        """That of the fit, less its threshold."""
        return np.asarray(self.fits.intercept[0, self.at] - self.fits.threshold[0])


def final_model(
    dataset: Dataset,
    final: Fits,
    *,
    folds: Sequence[Mapping[str, Any]],
    probabilities: str | Sequence[float] = STUDY,
    selection: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Return the content of model.json.

    Centring and scaling are folded into the coefficients, and these and the threshold into the
    intercept: above 0 lies the positive class, or high risk. The steps before them stand under
    ``normalisation``, fitted on all samples; where there are any, ``genes`` there are all genes a
    sample must have, in order, because steps such as ranks look at all.
    ``training`` has the mean and the standard deviation of each needed gene over the samples,
    after the row-wise steps, for `predict`; its ``scale`` those of the listed genes after all
    steps, see `training_scale`, its ``panel`` those of others, see `training_panel`.
    ``digest`` is that of all the rest.

    Parameters
    ----------
    dataset : Dataset
        After the row-wise steps.
    final : Fits
        The fit on all samples.
    folds : list of steps
        ``normalise.folds`` of the config.
    probabilities : str or sequence of float
        Of the config, see `asked_shares`: of classes, the answers have the line of these, fitted to
        scores of left-out samples (`shrunken_line`), under ``probability``.
    selection : DataFrame or None
        selection.tsv, which says which genes are FDR-selected.
    """
    row_wise = fit_steps(dataset.X[:0], bind_steps(dataset.provenance.get("steps", []), dataset))
    learned = reference_of_all(dataset, folds)
    chain = Reference(
        row_wise.names + learned.names, row_wise.steps + learned.steps, row_wise.n_genes
    )
    tau, lam, _ = final.choice[0]
    listed, shares = _listed(final), _shares(dataset, probabilities)
    own = set() if selection is None else set(selection["gene"][selection["fdr_selected"].eq(True)])
    models = [_model(dataset, one, own) | _told(dataset, one, shares) for one in listed]
    X = learned.transform(dataset.X, dataset.obs)
    scores = _training_scores(X, dataset.covariates(), listed, learned)
    content = {
        "format": FORMAT,
        "version": VERSION if final.gamma is None else WITH_COVARIATES,
        "rule": _rule(final),
        "task": dataset.design.kind,
        "label": dataset.design.label,
        **MODELLED[dataset.design.kind].parts(dataset, scores, models),
        **({} if shares is None else {"shares": shares.tolist()}),
        "answer": answer_of(final),
        "chosen": {
            "tau": float(final.tau[tau]),
            "tau_max": float(final.tau_max[0]),
            "lam": float(final.lam[lam]),
            "norm": float(final.norm[0]),
        },
        "training_samples": len(dataset.samples),
        "training": _training(dataset, models, learned, X, everything=bool(chain.steps)),
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
    own = answer_of(final)
    lists = [(nested(float(final.mu[at])), at) for at in kept]
    return [*(_Listed(name, final, at, name == own) for name, at in lists),
            *(_Listed(name, final.answer(name), 0, True) for name in answers)]  # fmt: skip


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


def _training(dataset: Dataset, models: Sequence[Mapping[str, Any]], learned: Reference,
              X: Array, *, everything: bool) -> dict[str, Any]:  # fmt: skip
    """Say what the needed genes looked like after the row-wise steps: for what a sample lacks.

    Needed are those of the models and those of the panel, which only tell the scale; `everything`
    where steps look across genes. X is what `learned` makes of all samples.
    """
    names = [dataset.genes[gene] for gene in learned.genes]
    listed = {gene for each in models for gene in each["genes"]}
    of_models = np.array([k for k, gene in enumerate(names) if gene in listed], dtype=np.int64)
    of_panel, y = panel_genes(X, of_models), dataset.kind.number(dataset.response())
    own, many = ((X[:, at], y, [names[k] for k in at]) for at in (of_models, of_panel))
    needed = {*listed, *many[2]}
    rows = [k for k, gene in enumerate(dataset.genes) if everything or gene in needed]
    values, before = dataset.X[:, rows], dataset.provenance.get("before_alignment")
    return {
        "genes": [dataset.genes[k] for k in rows],
        "means": np.nanmean(values, axis=0).tolist(),
        "sds": np.nanstd(values, axis=0).tolist(),
        "p99": float(np.nanpercentile(values, 99)) if rows else 0.0,
        "min": float(np.nanmin(values)) if rows else 0.0,
        "max": float(np.nanmax(values)) if rows else 0.0,
        "scale": training_scale(*own),
        **(
            {"before_alignment": dict(zip(("median", "p99"), before, strict=True))}
            if before
            else {}
        ),
        "panel": training_panel(*many, dataset.batches() if dataset.design.studies else None),
    }


def _shares(dataset: Dataset, asked: str | Sequence[float]) -> Array | None:
    return None if dataset.design.classes is None else asked_shares(asked, dataset.response())


def _told(dataset: Dataset, one: _Listed, shares: Array | None) -> dict[str, Any]:
    """Return the line of the probabilities, or the slope of the risks, of a list that has one."""
    line = one.fits.line
    if line is None or not one.answer or np.isnan(line).any():
        return {}
    shrinkage = {} if one.fits.shrinkage is None else {"shrinkage": float(one.fits.shrinkage[0])}
    if shares is None:
        return {"risk": {"slope": float(line[0, 0]), **shrinkage}}
    *each, slope = line_for_shares(line[0], class_shares(dataset.response()), shares).tolist()
    intercept = each if len(each) > 2 else each[1] - each[0]
    return {"probability": {"intercept": intercept, "slope": slope, **shrinkage}}


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
        **(
            {"has_fdr_selected": bool(claimed), "fdr_selected_genes": claimed}
            if one.name == FDR_SELECTED
            else {}
        ),
    }
