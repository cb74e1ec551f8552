"""The locked model on another study: errors, calibration, how far it is off, how far values lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import match_genes
from genesig.data.cohorts.read import Cohort, read_cohort
from genesig.data.cohorts.settings import CohortSettings
from genesig.data.cohorts.translation import take_study_names
from genesig.data.quality.twins import cross_twins
from genesig.data.steps.combat import ReferenceBatch
from genesig.errors import InvalidInput, warnings_of
from genesig.results import Dataset
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.held_out import decisions
from genesig.selection.model.external_scores import scores_table
from genesig.selection.model.external_tests import EXTERNAL_TESTS, ScoredCohort
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.new_samples import HELD, Prepared, prepare, scale_values, score_values
from genesig.selection.model.same_scale import other_scale, panel_fault
from genesig.selection.model.schema import FDR_SELECTED, chosen_model, has_fdr_selected, place
from genesig.selection.model.shape import (
    Model,
    check_model,
    covariate_scores,
    refuse_unknown,
    seen_by,
)
from genesig.words import MIN_SPREAD, is_missing

if TYPE_CHECKING:
    import pandas as pd


def balanced_means(X: Array, y: Array, classes: bool, present: tuple[float, ...]) -> Array:
    """Return the mean of the means of the classes in `present`, (n_genes,); NaN are left out.

    A data set with more samples of one class is not shifted by that alone. For regression, the
    mean over all samples.
    """
    parts = [X[y == c] for c in present] if classes else [X]
    return np.asarray(np.mean([_mean(part) for part in parts], axis=0))


def shift(means: Array, training_means: Array, training_sds: Array) -> Array:
    """(m - m_train) / s_train, NaN for a gene that does not vary in the training samples."""
    scale = np.where(training_sds > MIN_SPREAD, training_sds, np.nan)
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
    return tuple(c for c in known if c in cohort.response)


def _means(dataset: Dataset, cohort: Cohort, training: Array, X: Array) -> tuple[Array, Array]:
    """Return class-balanced means of the training samples and of the new ones."""
    two, present = dataset.design.classes is not None, _present(dataset, cohort)
    return (balanced_means(training, dataset.response(), two, present),
            balanced_means(X, cohort.response, two, present))  # fmt: skip


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
        "gene": chosen["genes"], "symbol": chosen["symbols"], "weight": coef,
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
             for each in (y, cohort.response)]  # fmt: skip
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
    mixes = [
        (float(np.mean(here == c)), float(np.mean(cohort.response == c)), name) for c, name in codes
    ]
    own, there, name = max(mixes, key=lambda mix: abs(mix[0] - mix[1]))
    if abs(own - there) > OTHER_MIX:
        yield (
            f"combat: {100 * there:.0f} % of the samples are {name}, and {100 * own:.0f} %"
            " of the study's; part of the difference of the classes was taken for one of the"
            " batches"
        )


Tables = dict[str, "pd.DataFrame"]
QUANTILES = np.linspace(0, 1, 41)
HEADS = {
    "predictions": ("sample", "given", "label", "score", "predicted", "wrong", "imputed"),
    "scores": ("measure", "value", "low", "high", "samples"),
    "genes": ("gene", "symbol", "weight"),
}


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


class _Tested(NamedTuple):
    """What one model says of the data set."""

    found: Prepared
    values: Values
    tables: Tables
    more: dict[str, Any]


def score_cohort(
    dataset: Dataset, model: Model, said: Mapping[str, Sequence[str]], settings: CohortSettings
) -> Scored:
    """Score a labelled data set of another study with the final model, as it is.

    One that cannot be scored, for want of genes or covariates, is no reason to lose the study: its
    tables are empty then, and ``about["not_assessable"]`` says why.

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
    settings : CohortSettings

    Returns
    -------
    Scored
        Tables: ``predictions`` (sample, given, label, score, predicted, wrong, imputed; of several
        classes their probabilities, of survival that at the horizon; the group, if samples come in
        groups), ``scores`` (measure, value, low, high, samples; groups likewise), ``genes`` (those
        of the model, as its coefficients see them: training_mean, training_sd, mean, sd; shift in
        training standard deviations, shift_before ComBat; score_shift = weight (mean -
        training_mean), which add up to the shift of the mean score; imputed samples). Means are
        those of the classes, averaged; of several classes ``weight`` is the length of a gene's
        weights. ``list`` names the model:
        first come the rows of the answer, then those of the FDR-selected genes, if there are any.
        ``about`` has the rows of the answer, and under ``fdr_selected`` the scores of the others.

    Raises
    ------
    InvalidInput
        The model is none.
    """
    check_model(model, "results/model.json")
    try:
        cohort = read_cohort(dataset.design, settings, dataset.genes)
        matrix, told = take_study_names(cohort.matrix, dataset.genes, settings.renamed, cohort.file)
        cohort = replace(cohort, matrix=matrix)
        unknown = refuse_unknown(model, cohort.sample_table, settings.sample_file)
        noted = warnings_of([*told, *unknown])
        return _scored(dataset, model, cohort, [*said.get(settings.name, ()), *noted], settings)
    except InvalidInput as error:
        return _not_assessable(settings.name, error)


def _not_assessable(name: str, error: InvalidInput) -> Scored:
    import pandas as pd

    first = next(problem for problem in error.problems if problem.level == "error")
    tables = {of: pd.DataFrame(columns=[*head, "list"]) for of, head in HEADS.items()}
    return Scored(tables, {"name": name, "not_assessable": f"{first.location}: {first.message}"})


def _scored(
    dataset: Dataset, model: Model, cohort: Cohort, said: Sequence[str], settings: CohortSettings
) -> Scored:
    chosen = chosen_model(model)
    missing = settings.missing
    combat = settings.combat
    bound = f"external, {settings.name}, missing"
    tested = partial(_tested, dataset, model, cohort, missing=missing, bound=bound, combat=combat)
    found, values, tables, more = tested(chosen)
    beside, named, lost = (
        _score_fdr_selected(model, tested) if has_fdr_selected(model) else ([], {}, [])
    )
    about = {
        "name": settings.name, "file": cohort.file, "classes": _counts(dataset, cohort),
        "dropped": cohort.dropped, "inputs": cohort.inputs,
        "warnings": [*said, *warnings_of(found.problems),
                     *off_scale(model, found, values.filled, cohort.file),
                     *no_batch_of_the_study(model), *other_mix(dataset, cohort, combat), *lost],
        "combat": combat, "batches": len(set(cohort.batch)), "missing": missing,
        "needed": len(found.used), "absent": int((~found.known[:, found.used]).all(axis=0).sum()),
        "imputed": int((found.imputed > 0).sum()),
        "seen_before": _seen_before(dataset.X, values.measured),
        "shift": shift_of_all(dataset, cohort, values),
        "quantiles": {"share": QUANTILES.tolist(), "training": _quantiles(values.training),
                      "cohort": _quantiles(values.measured)},
        "reliability": [], **more, **_grouping(dataset, cohort), "list": chosen["list"], **named,
        **{name: _records(table) for name, table in tables.items()},
    }  # fmt: skip
    return Scored(_together([(chosen["list"], tables), *beside]), about)


def _tested(
    dataset: Dataset, model: Model, cohort: Cohort, chosen: Model, *, missing: float, bound: str,
    combat: bool,
) -> _Tested:  # fmt: skip
    found = prepare(model, chosen, cohort.matrix, cohort.file, missing=missing, bound=bound)
    values = _values(dataset, model, chosen, cohort, found, combat)
    f = score_values(values.seen, chosen) + covariate_scores(model, chosen, cohort.sample_table)
    groups = group_numbers(cohort.group)
    scored = ScoredCohort(dataset, model, place(model, chosen), cohort.response, f, groups)
    rows, more = EXTERNAL_TESTS[dataset.design.kind](scored)
    counts = None if groups is None else partial(_group_count, dataset, cohort, groups)
    tables = {
        "predictions": _predictions(scored, cohort, found.imputed),
        "scores": scores_table(rows, counts),
        "genes": genes_table(dataset, model, chosen, cohort, found, values),
    }
    return _Tested(found, values, tables, more)


def _score_fdr_selected(
    model: Model, tested: Callable[[Model], _Tested]
) -> tuple[list[tuple[str, Tables]], dict[str, Any], list[str]]:
    """Return the tables of the FDR-selected genes' model, what `about` says of it, and warnings.

    What the data set lacks of it is no reason not to test the model that predicts.
    """
    chosen = chosen_model(model, fdr_selected=True)
    about = {
        "genes": len(chosen["genes"]),
        "has_fdr_selected": chosen["has_fdr_selected"],
        "scores": [],
    }
    try:
        tables = tested(chosen).tables
    except InvalidInput as error:
        lost = [f"the FDR-selected genes are not tested: {each.message}" for each in error.problems]
        return [], {"fdr_selected": about}, lost
    return (
        [(FDR_SELECTED, tables)],
        {"fdr_selected": about | {"scores": _records(tables["scores"])}},
        [],
    )


def _together(parts: Sequence[tuple[str, Tables]]) -> Tables:
    """Return each table of several models as one, whose column ``list`` says which."""
    import pandas as pd

    return {
        of: pd.concat([tables[of].assign(list=name) for name, tables in parts], ignore_index=True)
        for of in parts[0][1]
    }


def _values(dataset: Dataset, model: Model, chosen: Model, cohort: Cohort, found: Prepared,
            combat: bool) -> Values:  # fmt: skip
    place = {gene: column for column, gene in enumerate(dataset.genes)}
    needed = [place[gene] for gene in model["training"]["genes"]]
    if model["normalisation"]["steps"]:  # then it needs all genes, in their order
        measured = np.where(found.known, found.values, np.nan)
    else:
        measured = match_genes(cohort.matrix, dataset.genes, cohort.file)[0]
    scored = _combat(dataset.X, measured, cohort.batch) if combat else measured
    filled = np.where(found.known, scored[:, needed], found.values)
    return Values(
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


def _predictions(scored: ScoredCohort, cohort: Cohort, imputed: Array) -> pd.DataFrame:
    import pandas as pd

    dataset, model, f = scored.dataset, scored.model, scored.f
    decided = decisions(dataset, cohort.response, f - (model["threshold"] or 0.0))
    if f.ndim == 1:
        decided["score"] = f
    further = MODELLED[dataset.design.kind].predicted(model, scored.model_number, f)
    return pd.DataFrame({
        "sample": cohort.matrix.rows, "given": cohort.cohort_words, "label": cohort.study_labels,
        **decided, **{key: each for key, each in further.items() if key not in decided},
        "imputed": imputed,
        **({} if scored.group is None else {"group": _group_names(cohort)}),
    })  # fmt: skip


def _group_names(cohort: Cohort) -> list[str]:
    """Return the words of the sample table; blank for a sample without a group."""
    words = cohort.sample_table[cohort.group_column].astype(str)
    return ["" if is_missing(word) else word.strip() for word in words]


def _group_count(dataset: Dataset, cohort: Cohort, groups: Array, measure: str) -> int:
    """Return the number of groups whose samples a measure is of."""
    classes = dataset.design.classes or ()
    of_class = {f"sensitivity of {name}": name for name in classes}
    if len(classes) == 2:
        of_class = dict(zip(("specificity", "sensitivity"), classes, strict=True))
    name = of_class.get(measure)
    inside = np.array([name in (None, label) for label in cohort.study_labels], dtype=bool)
    return len(np.unique(groups[inside]))


def _grouping(dataset: Dataset, cohort: Cohort) -> dict[str, Any]:
    """Return the column, the number of groups and that of each class; nothing without repeats."""
    groups = group_numbers(cohort.group)
    if groups is None:
        return {}
    classes = dataset.design.classes
    labels = np.array(cohort.study_labels, dtype=object)
    by_class = classes and {name: len(np.unique(groups[labels == name])) for name in classes}
    count = len(np.unique(groups))
    return {"groups": {"column": cohort.group_column, "count": count, "classes": by_class}}


def _counts(dataset: Dataset, cohort: Cohort) -> dict[str, int] | None:
    classes = dataset.design.classes
    return None if classes is None else {name: cohort.study_labels.count(name) for name in classes}


def _seen_before(training: Array, X: Array) -> int:
    """Count samples like a training sample, over the genes of both: copies, or processed again."""
    here = np.isfinite(X).all(axis=0) & np.isfinite(training).all(axis=0)
    known = {row.tobytes() for row in np.ascontiguousarray(training[:, here])}
    copies = [k for k, row in enumerate(np.ascontiguousarray(X[:, here])) if row.tobytes() in known]
    again = [k for _, k in cross_twins(training[:, here], X[:, here])]
    return len({*copies, *again})


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON has them: None for NaN."""
    rows = table.to_dict("records")
    return [{str(k): None if v != v else v for k, v in row.items()} for row in rows]


def _quantiles(X: Array) -> list[float]:
    return [float(value) for value in np.nanquantile(X, QUANTILES)]
