"""The steps of a model: from values as measured to what its coefficients are multiplied with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.steps.normalise import FILLERS, Reference, apply
from genesig.errors import GenesigError
from genesig.selection.model.shape import damaged

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Model = Mapping[str, Any]
# Of the fields of fitted steps, those whose last axis is the genes that the step takes.
OF_EACH_GENE = {"donors", "low", "target", "effects", "sets", "mean", "scale", "coefficients",
                "gamma", "delta"}  # fmt: skip


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
        with np.errstate(all="ignore"):
            seen = [Reference((), tuple(first), 0).transform(np.abs(means) + 1)]
        fitting = _fitting(model["normalisation"]["steps"][len(first) :], learned, means)
        if imputes(model):
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


def imputes(model: Model) -> bool:
    """Tell whether a model fills in itself what a sample lacks."""
    return filler(model) is not None


def filler(model: Model) -> str | None:
    """Return the step of a model that fills in what a sample lacks."""
    names = [step["step"] for step in model["normalisation"]["steps"]]
    return next((name for name in names if name in FILLERS), None)


def takes_as_low(model: Model) -> bool:
    """Tell whether to a model a measured gene without a value is one of a low value."""
    return filler(model) == "left_censored"


def split_steps(model: Model) -> tuple[list[Any], list[Any]]:
    """Return the row-wise steps of a model and the learned ones."""
    steps = list(Reference.of(model["normalisation"]).steps)
    learned = next((k for k, step in enumerate(steps) if step.kind != "sample"), len(steps))
    return steps[:learned], steps[learned:]
