"""How far the values of another study lie from the training ones, and what that leaves in doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.read import Cohort
from genesig.results import Dataset
from genesig.selection.model.new_samples import HELD, Prepared, scale_values
from genesig.selection.model.panel import panel_fault
from genesig.selection.model.same_scale import other_scale
from genesig.selection.model.shape import Model
from genesig.words import SMALLEST

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def balanced_means(X: Array, y: Array, classes: bool, present: tuple[float, ...]) -> Array:
    """Return the mean of the means of the classes in `present`, (n_genes,); NaN are left out.

    A data set with more samples of one class is not shifted by that alone. For regression, the
    mean over all samples.
    """
    parts = [X[y == c] for c in present] if classes else [X]
    return np.asarray(np.mean([_mean(part) for part in parts], axis=0))


def shift(means: Array, training_means: Array, training_sds: Array) -> Array:
    """(m - m_train) / s_train, NaN for a gene that does not vary in the training samples."""
    scale = np.where(training_sds > SMALLEST, training_sds, np.nan)
    return np.asarray((means - training_means) / scale)


def expected_shift(training: tuple[int, ...], new: tuple[int, ...]) -> float:
    """Return the standard error of a shift between samples of one population.

    √(Σ 1/n_c / k² + the same of the new samples), for the sizes n_c of the k classes whose means
    are averaged. In units of the training standard deviation, which holds the difference of the
    classes, too, so that it is rather too large.
    """
    parts = [sum(1 / n for n in sizes) / len(sizes) ** 2 for sizes in (training, new)]
    return float(np.sqrt(sum(parts)))


def _mean(X: Array) -> Array:
    known = np.isfinite(X)
    counts = known.sum(axis=0)
    sums = np.where(known, X, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0))


# Bars of the histogram of shifts; the outer ones are open. On either side they reach as far as all
# but one gene in 200, within these bounds, in training standard deviations.
BARS, LEAST_REACH, MOST_REACH = 40, 2.0, 12.0


@dataclass(frozen=True, eq=False)
class Values:
    """Values of both data sets, genes in columns."""

    training: Array  # after the row-wise steps, all genes of the study
    measured: Array  # of the cohort, NaN where missing
    scored: Array  # the same after ComBat, where that is asked for
    filled: Array  # genes of the model, nothing missing
    seen_training: Array  # what the coefficients are multiplied with
    seen: Array


def _present(dataset: Dataset, cohort: Cohort) -> tuple[float, ...]:
    known = np.unique(dataset.response()).tolist() if dataset.design.classes else ()
    return tuple(c for c in known if c in cohort.y)


def _means(dataset: Dataset, cohort: Cohort, training: Array, X: Array) -> tuple[Array, Array]:
    """Return class-balanced means of the training samples and of the new ones."""
    two, present = dataset.design.classes is not None, _present(dataset, cohort)
    return (balanced_means(training, dataset.response(), two, present),
            balanced_means(X, cohort.y, two, present))  # fmt: skip


def _shifts(dataset: Dataset, cohort: Cohort, training: Array, X: Array) -> Array:
    before, after = _means(dataset, cohort, training, X)
    return shift(after, before, np.nanstd(training, axis=0))


def genes_table(dataset: Dataset, model: Model, chosen: Model, cohort: Cohort, found: Prepared,
                values: Values) -> pd.DataFrame:  # fmt: skip
    """Return the table ``genes`` of `score_cohort`."""
    import pandas as pd

    T, E = values.seen_training, values.seen
    before, after = _means(dataset, cohort, T, E)
    place = {gene: column for column, gene in enumerate(model["training"]["genes"])}
    known = found.known[:, [place[gene] for gene in chosen["genes"]]]
    absent = ~known.any(axis=0)
    own = [dataset.genes.index(gene) for gene in chosen["genes"]]
    coef = np.array(chosen["coefficients"], dtype=float)
    coef = coef if coef.ndim == 1 else np.sqrt(np.square(coef).sum(axis=1))
    as_measured = _shifts(dataset, cohort, values.training[:, own], values.measured[:, own])
    table = pd.DataFrame({
        "gene": chosen["genes"], "symbol": chosen["symbols"], "coef": coef,
        "training_mean": before, "training_sd": T.std(axis=0), "mean": after, "sd": E.std(axis=0),
        "shift": np.where(absent, np.nan, shift(after, before, T.std(axis=0))),
        "shift_before": as_measured,
        "score_shift": coef * (after - before),
        "imputed": (~known).sum(axis=0),
    })  # fmt: skip
    return table if values.scored is not values.measured else table.drop(columns="shift_before")


def shift_of_all(dataset: Dataset, cohort: Cohort, values: Values) -> dict[str, Any]:
    """Sum up the shifts of all genes that both data sets have, as measured and as scored."""
    y, present = dataset.response(), _present(dataset, cohort)
    sizes = [tuple(int((each == c).sum()) for c in present) or (len(each),)
             for each in (y, cohort.y)]  # fmt: skip
    by_chance = expected_shift(sizes[0], sizes[1])
    pairs = (("measured", values.measured), ("scored", values.scored))
    found = {key: _shifts(dataset, cohort, values.training, X) for key, X in pairs}
    found = {key: shifts[np.isfinite(shifts)] for key, shifts in found.items()}
    ends = (sign * _quantile(found["measured"], share) for sign, share in ((-1, 0.005), (1, 0.995)))
    down, up = np.ceil(np.clip(list(ends), LEAST_REACH, MOST_REACH))
    edges = np.linspace(-down, up, BARS + 1)
    about: dict[str, Any] = {"by_chance": by_chance, "edges": edges.tolist()}
    for key, shifts in found.items():
        counts, _ = np.histogram(np.clip(shifts, edges[0], edges[-1]), edges)
        about[key] = {
            "genes": len(shifts), "counts": counts.tolist(),
            "median": _quantile(np.abs(shifts), 0.5),
            "beyond": float(np.mean(np.abs(shifts) > 1)) if len(shifts) else 0.0,
        }  # fmt: skip
    return about


def _quantile(values: Array, share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else 0.0


OTHER_MIX = 0.2


"""Difference of the shares of a class from which ComBat is warned of."""


def off_scale(model: Model, found: Prepared, values: Array, where: str) -> Iterator[str]:
    """Warn of what `predict` would refuse: here labels tell what the scores are worth."""
    own, many = (scale_values(model, found, values, of=of) for of in HELD)
    if fault := panel_fault(*many):
        yield f"{where}: {fault}"
    elif odd := other_scale(*own):
        yield f"{where}{odd[0]}: {odd[1]}"


def no_batch_of_the_study(model: Model) -> Iterator[str]:
    """Warn where ComBat is a step of the model, which knows none of these batches."""
    if any(step["step"] == "combat" for step in model["normalisation"]["steps"]):
        yield (
            "the study's batches were brought together by combat; this data set is none of them,"
            " and goes past that step as it is"
        )


def other_mix(dataset: Dataset, cohort: Cohort, combat: bool) -> Iterator[str]:
    """Warn where ComBat takes part of the difference of the classes for one of the batches."""
    classes, here = dataset.design.classes, dataset.response()
    if not (combat and classes):
        return
    codes = list(zip(np.unique(here), classes, strict=True))[1 if len(classes) == 2 else 0 :]
    mixes = [(float(np.mean(here == c)), float(np.mean(cohort.y == c)), name) for c, name in codes]
    own, there, name = max(mixes, key=lambda mix: abs(mix[0] - mix[1]))
    if abs(own - there) > OTHER_MIX:
        yield (
            f"combat: {100 * there:.0f} % of the samples are {name}, and {100 * own:.0f} %"
            " of the study's; part of the difference of the classes was taken for one of the"
            " batches"
        )
