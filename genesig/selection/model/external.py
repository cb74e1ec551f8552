"""The locked model on a data set of another study: errors, calibration, and how far it is off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.cohorts.new_matrix import matched
from genesig.data.cohorts.read import Cohort, read_cohort
from genesig.data.steps.combat import ReferenceBatch
from genesig.errors import warnings_of
from genesig.results import Dataset
from genesig.selection.assess.held_out import decisions
from genesig.selection.model.chain import Model, seen_by
from genesig.selection.model.covariates import covariate_scores
from genesig.selection.model.drift import balanced_means, expected_shift, shift
from genesig.selection.model.external_doubts import (
    no_batch_of_the_study,
    off_scale,
    other_mix,
)
from genesig.selection.model.external_scores import scores_table
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.kinds.record import Asked
from genesig.selection.model.new_samples import (
    Prepared,
    chosen_model,
    prepare,
    score_values,
)
from genesig.selection.model.shape import check_model

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
QUANTILES = np.linspace(0, 1, 41)
# Bars of the histogram of shifts; the outer ones are open. On either side they reach as far as all
# but one gene in 200, within these bounds, in training standard deviations.
BARS, LEAST_REACH, MOST_REACH = 40, 2.0, 12.0


@dataclass(frozen=True, eq=False)
class Scored:
    """What a data set of another study says of the model.

    Attributes
    ----------
    tables : dict of DataFrame
        ``predictions``, ``scores``, ``genes``.
    about : dict
        The same rows, and what else a report needs, as JSON has it.
    """

    tables: dict[str, pd.DataFrame]
    about: dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of both data sets, genes in columns."""

    training: Array  # after the row-wise steps, all genes of the study
    measured: Array  # of the cohort, NaN where missing
    scored: Array  # the same after ComBat, where that is asked for
    filled: Array  # genes of the model, nothing missing
    seen_training: Array  # what the coefficients are multiplied with
    seen: Array


def score_cohort(dataset: Dataset, model: Model, said: Mapping[str, Sequence[str]], *, name: str,
                 expression: str, samples: str | None,
                 label: str | Mapping[str, str] | None, event: str | None,
                 classes: Mapping[Any, str], annotation: str | None, symbol: str | None,
                 part: str | None, batch: str | None, combat: bool,
                 missing: float) -> Scored:  # fmt: skip
    """Score a labelled data set of another study with the final model, as it is.

    Nothing of the model is fitted again and its threshold stays. Missing genes are those of the
    training samples' means, as in `predict`. With ComBat each batch of the data set is brought to
    the training set's mean and spread of each gene, after the row-wise steps and before the
    learned ones, over all genes that both have; its classes are never looked at for that. The
    means come from the training data set: model.json only has those of the genes it needs, too few
    to shrink with.

    Parameters
    ----------
    dataset : Dataset
        The study after the row-wise steps.
    model : mapping
        The content of model.json.
    said : mapping
        Name -> warnings of the validation.
    name, combat, missing
        Of the config's section ``external``; the rest is that of `read_cohort`.

    Returns
    -------
    Scored
        Tables: ``predictions`` (sample, given, label, score, predicted, wrong, imputed; of several
        classes their probabilities, of survival that at the horizon),
        ``scores`` (measure, value, low, high, samples), ``genes`` (those of the model, as its
        coefficients see them: training_mean, training_sd, mean, sd; shift in training standard
        deviations, shift_before ComBat; score_shift = coef (mean - training_mean), which add up
        to the shift of the mean score; imputed samples). Means are those of the classes, averaged;
        of several classes ``coef`` is the length of a gene's weights.

    Raises
    ------
    InvalidInput
        As `read_cohort` and `predict`.
    """
    cohort = read_cohort(dataset.design, expression=expression, samples=samples, label=label,
                         event=event, classes=classes, annotation=annotation, symbol=symbol,
                         part=part, batch=batch)  # fmt: skip
    check_model(model, "results/model.json")
    chosen = chosen_model(model, None)
    found = prepare(model, chosen, cohort.matrix, cohort.where, missing=missing,
                    bound=f"external, {name}, missing")  # fmt: skip
    values = _values(dataset, model, chosen, cohort, found, combat)
    f = score_values(values.seen, chosen) + covariate_scores(model, chosen, cohort.about)
    at = [each["mu"] for each in model["models"]].index(chosen["mu"])
    rows, more = MODELLED[dataset.design.kind].tested(Asked(dataset, model, at, cohort.y, f))
    tables = {
        "predictions": _predictions(Asked(dataset, model, at, cohort.y, f), cohort, found.imputed),
        "scores": scores_table(rows),
        "genes": _genes(dataset, model, chosen, cohort, found, values),
    }
    about = {
        "name": name, "file": cohort.where, "classes": _counts(dataset, cohort),
        "dropped": cohort.dropped, "inputs": cohort.inputs,
        "warnings": [*said.get(name, ()), *warnings_of(found.problems),
                     *off_scale(model, found, values.filled, cohort.where),
                     *no_batch_of_the_study(model), *other_mix(dataset, cohort, combat)],
        "combat": combat, "batches": len(set(cohort.batch)), "missing": missing,
        "needed": len(found.used), "absent": int((~found.known[:, found.used]).all(axis=0).sum()),
        "imputed": int((found.imputed > 0).sum()),
        "seen_before": _seen_before(dataset.X, values.measured),
        "shift": _shift(dataset, cohort, values),
        "quantiles": {"share": QUANTILES.tolist(), "training": _quantiles(values.training),
                      "cohort": _quantiles(values.measured)},
        "reliability": [], **more,
        **{name: _records(table) for name, table in tables.items()},
    }  # fmt: skip
    return Scored(tables, about)


def _values(dataset: Dataset, model: Model, chosen: Model, cohort: Cohort, found: Prepared,
            combat: bool) -> _Values:  # fmt: skip
    place = {gene: column for column, gene in enumerate(dataset.genes)}
    needed = [place[gene] for gene in model["training"]["genes"]]
    if model["normalisation"]["steps"]:  # then it needs all genes, in their order
        measured = np.where(found.known, found.values, np.nan)
    else:
        measured = matched(cohort.matrix, dataset.genes, cohort.where)[0]
    scored = _combat(dataset.X, measured, cohort.batch) if combat else measured
    filled = np.where(found.known, scored[:, needed], found.values)
    return _Values(
        dataset.X, measured, scored, filled,
        seen_by(model, chosen, dataset.X[:, needed], dataset.obs), seen_by(model, chosen, filled),
    )  # fmt: skip


def _combat(training: Array, X: Array, batch: tuple[str, ...]) -> Array:
    """Bring each batch to the training set, over the genes that are known in every sample."""
    complete = np.isfinite(X).all(axis=0) & np.isfinite(training).all(axis=0)
    reference, adjusted = ReferenceBatch.fit(training[:, complete]), X.copy()
    names = np.array(batch, dtype=object)
    for name in dict.fromkeys(batch):
        inside = np.ix_(names == name, complete)
        adjusted[inside] = reference.transform(X[inside])
    return adjusted


def _predictions(asked: Asked, cohort: Cohort, imputed: Array) -> pd.DataFrame:
    import pandas as pd

    dataset, model, f = asked.dataset, asked.model, asked.f
    decided = decisions(dataset, cohort.y, f - (model["threshold"] or 0.0))
    if f.ndim == 1:
        decided["score"] = f
    further = MODELLED[dataset.design.kind].predicted(model, asked.at, f)
    return pd.DataFrame({
        "sample": cohort.matrix.rows, "given": cohort.given, "label": cohort.labels,
        **decided, **{key: each for key, each in further.items() if key not in decided},
        "imputed": imputed,
    })  # fmt: skip


def _counts(dataset: Dataset, cohort: Cohort) -> dict[str, int] | None:
    classes = dataset.design.classes
    return None if classes is None else {name: cohort.labels.count(name) for name in classes}


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


def _genes(dataset: Dataset, model: Model, chosen: Model, cohort: Cohort, found: Prepared,
           values: _Values) -> pd.DataFrame:  # fmt: skip
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


def _shift(dataset: Dataset, cohort: Cohort, values: _Values) -> dict[str, Any]:
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


def _seen_before(training: Array, X: Array) -> int:
    """Count samples that have the values of a training sample, over the genes of both."""
    here = np.isfinite(X).all(axis=0) & np.isfinite(training).all(axis=0)
    known = {row.tobytes() for row in np.ascontiguousarray(training[:, here])}
    return sum(row.tobytes() in known for row in np.ascontiguousarray(X[:, here]))


def _quantile(values: Array, share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else 0.0


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON has them: None for NaN."""
    rows = table.to_dict("records")
    return [{str(k): None if v != v else v for k, v in row.items()} for row in rows]


def _quantiles(X: Array) -> list[float]:
    return [float(value) for value in np.nanquantile(X, QUANTILES)]
