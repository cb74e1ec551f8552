"""Normalisation steps in a row, and which of them may see what.

A step of kind ``"sample"`` looks at one sample at a time. A step of kind ``"fold"`` learns across
samples: it is fitted on training rows and its fitted values are applied to any other row. One of
kind ``"batch"`` does so, too, and is told what the sample table says of each row. One of kind
``"study"`` looks at one study at a time, all of which is on one side where studies are held out;
``"studies"`` learns of several, and takes any other by itself. None is told the label, but for the
step that leaves out genes which most of a class misses, and for study held fixed: these are told
the response of their training rows, a permuted one where labels are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.alignment import ALIGNED, ALIGNERS, AUTO, LEARNED, Alignments, chosen
from genesig.data.steps.collapse import Collapse, with_sets
from genesig.data.steps.combat import BatchCorrection
from genesig.data.steps.counts import LogCpm, SizeFactors, Vst
from genesig.data.steps.gene_filters import Filter, by_detection, by_fold, by_range, by_variance
from genesig.data.steps.imputation import HalfMinimum, KnnImpute, LeftCensored, MeanImpute
from genesig.data.steps.median_polish import MedianPolish, Quantile, RmaBackground
from genesig.data.steps.missing_indicators import (
    MissingIndicators,
    with_columns,
    with_indicators,
)
from genesig.data.steps.moments import Centre, UnitVariance, state_of
from genesig.data.steps.sample_wise import Log2, RankSamples, StandardiseSamples
from genesig.data.steps.scale import middle_and_top
from genesig.data.steps.segment import Segment, among, with_places
from genesig.data.steps.zeros import ZerosAsMissing
from genesig.errors import GenesigError, pick
from genesig.plugins import Registry, answering, check_answer
from genesig.results import Dataset, Design
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

Steps = Sequence[Mapping[str, Any]]

# Refitted in every inner fold, by the solver, hence last.
MOMENTS = ("centre", "unit_variance")
# After these a column is no longer the gene of that name as it was measured (see `described`).
SUMMARIES = (
    "knn_impute",
    "mean_impute",
    "left_censored",
    "half_minimum",
    "size_factors",
    "vst",
    "median_polish",
    "collapse",
    "combat",
)
# What fills in missing values: first of the learned steps, as no other takes them.
FILLERS = ("knn_impute", "mean_impute", "left_censored", "half_minimum")
# Of these, those that take what is missing for a value too small to be measured.
AS_LOW = ("left_censored", "half_minimum")
# Which genes are left out by how much of a class misses them.
BY_CLASS = ("knn_impute",)
# Which studies' locations are found beside the response.
BY_RESPONSE = ("fix_studies",)
# Whose class finds at once, by `together`, what it needs for many sets of training rows.
TOGETHER = ("knn_impute",)


class Normaliser(Protocol):
    """A fitted step: a dataclass whose fields are its settings or what it learned.

    Its class has ``fit(X, **settings)``, unless it is of kind ``"sample"``: it has nothing to learn
    and is ``cls(**settings)``. A step of kind ``"batch"`` takes the rows of the sample table as
    second argument of ``fit`` and of ``transform``; there, None means that nothing is known of
    them. The fields are all that is stored of a step (`state_of`): ``cls(**fields)`` is it again.
    """

    @property
    def kind(self) -> Literal["sample", "fold", "batch", "study", "studies"]:
        """What the step looks at."""

    @property
    def genes(self) -> Array | None:
        """Columns that are left, or that stand for their set; None for steps that keep all."""

    def transform(self, X: Array, *about: Any) -> Array:
        """Return the normalised rows; each depends on itself and on the fitted values only."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Fitted steps, to be applied to training rows, test rows or one new sample alike.

    Attributes
    ----------
    names : tuple of str
        Registry names of the steps.
    steps : tuple of Normaliser
    n_genes : int
        Columns that `transform` takes.
    """

    names: tuple[str, ...]
    steps: tuple[Normaliser, ...]
    n_genes: int

    @property
    def genes(self) -> Array:
        """Numbers of the kept genes among those that `transform` takes."""
        genes = np.arange(self.n_genes)
        for step in self.steps:
            genes = genes if step.genes is None else genes[step.genes]
        return genes

    def transform(self, X: Array, about: pd.DataFrame | None = None) -> Array:
        """Apply the steps; (n, n_genes) becomes (n, len(genes)).

        `about` are the rows of the sample table, where they are known: without them no batch is
        corrected.
        """
        for name, step in zip(self.names, self.steps, strict=True):
            with answering("steps", name):
                width = X.shape[1] if step.genes is None else len(step.genes)
                found = apply(step, X, about)
            check_answer("steps", name, found, (len(X), width))
            X = found
        return X

    def uncorrected(self, about: pd.DataFrame) -> Array:
        """Return the mask of the samples whose batch some step cannot correct."""
        n = len(about)
        masks = [s.uncorrected(about, n) for s in self.steps if isinstance(s, BatchCorrection)]
        return np.asarray(np.any([np.zeros(n, dtype=bool), *masks], axis=0))

    def state(self) -> dict[str, Any]:
        """Return everything needed to build the record again, as JSON has it."""
        steps = [{"step": n, **state_of(s)} for n, s in zip(self.names, self.steps, strict=True)]
        return {"n_genes": self.n_genes, "steps": steps}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Reference:
        """Build the record from its `state`."""
        names = tuple(step["step"] for step in state["steps"])
        steps = tuple(map(_rebuilt, state["steps"]))
        return cls(names, steps, state["n_genes"])


def apply(step: Normaliser, X: Array, about: pd.DataFrame | None) -> Array:
    """Apply a fitted step; only one that corrects batches or aligns studies is told about them."""
    told = step.kind in ("batch", "study", "studies")
    return step.transform(X, about) if told else step.transform(X)


def _rebuilt(state: Mapping[str, Any]) -> Normaliser:
    values = {key: value for key, value in state.items() if key != "step"}
    arrays = {k: np.asarray(v) if isinstance(v, list) else v for k, v in values.items()}
    fitted: Normaliser = _class_of(state["step"])(**arrays)
    return fitted


def _class_of(name: str) -> Any:
    """Return the class of a step; those which align studies are none that a config may list."""
    return ALIGNERS[name] if name in ALIGNERS else pick("normalise.folds", NORMALISERS, name)


def learned_steps(folds: Steps, dataset: Dataset) -> list[dict[str, Any]]:
    """Return ``normalise.folds``, told what `bound` tells, behind what aligns studies."""
    first = LEARNED.get(dataset.provenance.get("align", ""))
    return bound([*([{"step": first}] if first else []), *folds], dataset)


def bound(steps: Steps, dataset: Dataset) -> list[dict[str, Any]]:
    """Tell the steps what the config leaves to the data set: sets and places of columns, batches.

    Raises
    ------
    GenesigError
        The gene table lacks a column; a covariate is the label.
    """
    told = with_places(with_sets(with_batch(steps, dataset.design), dataset.var), dataset.var)
    return with_indicators(told, dataset.var)


def with_response(steps: Steps, dataset: Dataset, y: Array) -> list[dict[str, Any]]:
    """Tell the steps that may know it the response y of the training rows.

    Each takes the classes, or None where there are none, or the response as numbers.
    """
    told = [dict(step) for step in steps]
    for step in told:
        if step["step"] in BY_CLASS:
            step["classes"] = None if dataset.design.classes is None else y
        if step["step"] in BY_RESPONSE:
            step["response"] = dataset.kind.number(y)
    return told


def reference_of_all(dataset: Dataset, steps: Steps) -> Reference:
    """Fit the steps before centring and scaling on all samples, as for the final model."""
    told = with_response(learned_steps(steps, dataset), dataset, dataset.response())
    return fit_reference_steps(dataset.X, told, dataset.obs)


def with_batch(steps: Steps, design: Design) -> list[dict[str, Any]]:
    """Tell the steps that correct batches which column of the sample table names them."""
    named = []
    for step in steps:
        if step["step"] in ALIGNERS:
            named.append({**step, "column": design.batch})
            continue
        batch = pick("normalise.folds", NORMALISERS, step["step"]).kind == "batch"
        if batch and design.label in step["covariates"]:
            raise GenesigError(
                f"normalise.folds: covariate '{design.label}' of {step['step']} is the label, "
                "which no step may see; take it out"
            )
        named.append({**step, "batch": design.batch} if batch else dict(step))
    return named


def fit_steps(X: Array, steps: Steps, about: pd.DataFrame | None = None) -> Reference:
    """Fit steps one after the other, each on the training rows as the ones before leave them.

    Parameters
    ----------
    X : (n_train, n_genes) float
        Training rows; not modified.
    steps : list of {"step": name, setting: value, ...}
        A setting ``by`` names the set of each column of `X` (see `bound`), or None.
    about : DataFrame or None
        The training rows of the sample table, for steps that correct batches.

    Raises
    ------
    GenesigError
        If a filter leaves no gene or cannot be applied.
    """
    n_genes = X.shape[1]
    fitted = []
    genes = np.arange(X.shape[1])
    for place, step in enumerate(steps, 1):
        # What has indicators is answered by `bound`, from the data set.
        settings = {key: value for key, value in step.items() if key not in ("step", "each")}
        if settings.get("by") is not None:
            settings["by"] = np.asarray(settings["by"], dtype=object)[genes]
        kind = _class_of(step["step"])
        with answering("steps", step["step"]):
            fitted.append(among(_fitted(kind, X, about, settings), genes))
            # Nothing learns from the last.
            X = apply(fitted[-1], X, about) if place < len(steps) else X
        genes = genes if fitted[-1].genes is None else genes[fitted[-1].genes]
    return Reference(tuple(step["step"] for step in steps), tuple(fitted), n_genes)


def _fitted(kind: Any, X: Array, about: pd.DataFrame | None, settings: dict[str, Any]) -> Any:
    if kind.kind in ("sample", "study"):
        return kind(**settings)
    known = (about,) if kind.kind in ("batch", "studies") else ()
    return kind.fit(X, *known, **settings)


def fit_reference_steps(X: Array, steps: Steps, about: pd.DataFrame | None = None) -> Reference:
    """Fit the steps before centring and scaling, on the training rows of an outer split."""
    check_order(steps)
    return fit_steps(X, [step for step in steps if step["step"] not in MOMENTS], about)


def moments(steps: Steps) -> dict[str, bool]:
    """Tell which of centring and scaling there is, as the solver's ``training_sets`` takes it."""
    check_order(steps)
    names = [step["step"] for step in steps]
    return {name: name in names for name in MOMENTS}


def check_order(folds: Steps) -> None:
    """Refuse fold steps after centring or scaling, and those two more than once."""
    names = [step["step"] for step in folds]
    for name in MOMENTS:
        if names.count(name) > 1:
            raise GenesigError(f"normalise.folds: '{name}' occurs {names.count(name)} times")
    others = [place for place, name in enumerate(names) if name not in MOMENTS]
    for name in names[: others[-1] if others else 0]:
        if name in MOMENTS:
            raise GenesigError(
                f"normalise.folds: '{name}' must come last, after '{names[others[-1]]}', because "
                "it is learned again in every inner fold"
            )


def check_steps(*, samples: Steps, folds: Steps) -> None:
    """Refuse steps in the wrong place, and settings that contradict each other.

    Raises
    ------
    GenesigError
        Naming the setting: a step that learns across samples stands before the splits; centring
        or scaling does not come last; a floor is not below its ceiling.
    """
    for step in samples:
        if pick("normalise.samples", NORMALISERS, step["step"]).kind != "sample":
            raise GenesigError(
                f"normalise.samples: '{step['step']}' learns across samples, so before the splits "
                "it would see the test samples; move it to normalise.folds"
            )
    for place, steps in (("samples", samples), ("folds", folds)):
        for step in steps:
            pick(f"normalise.{place}", NORMALISERS, step["step"])
            if step["step"] == "log2" and step["floor"] >= step["ceiling"]:
                raise GenesigError(
                    f"normalise.{place}: log2 has floor {step['floor']:g}, which must be below "
                    f"its ceiling {step['ceiling']:g}"
                )
    check_order(folds)


def normalise_samples(
    dataset: Dataset, align: str = "none", *, samples: Steps, folds: Steps
) -> Dataset:
    """Apply the row-wise steps, before the splits, and align studies, each by itself.

    Parameters
    ----------
    dataset : Dataset
    align : str
        Of several studies, a name in `alignment.ALIGNED`; one in `LEARNED` is only noted, as a step
        that training sets learn. With `AUTO` the one is applied that all samples choose, and the
        matrix before it is kept, for training sets to choose by themselves.
    samples : list of steps
        Applied, and added to the provenance.
    folds : list of steps
        Only checked; they are fitted later, on training rows. Those up to the last that changes
        what a column means are noted.

    Raises
    ------
    GenesigError
        If a step stands in the wrong place (see `check_steps`).
    """
    check_steps(samples=samples, folds=folds)
    dataset = with_columns(dataset, samples)
    X = _applied(samples, dataset)
    before = dataset.provenance.get("steps", [])
    notes = {**dataset.provenance, "steps": [*before, *map(dict, samples)]}
    own = replace(dataset, X=X)
    unaligned = None
    if dataset.design.studies and align in (AUTO, *LEARNED):
        notes["align"] = align
    if dataset.design.studies and align == AUTO:
        unaligned = X
        errors = _errors_of_alignments(own)
        notes["errors_of_alignments"] = errors
        align = chosen(errors)
    steps = ALIGNED.get(align, ()) if dataset.design.studies else ()
    if any(step["step"] in ALIGNERS for step in steps):
        notes["before_alignment"] = list(middle_and_top(X))
    X = _applied(steps, own)
    notes["steps"] = [*notes["steps"], *map(dict, steps)]
    if places := [k for k, step in enumerate(folds, 1) if step["step"] in SUMMARIES]:
        notes["summaries"] = list(map(dict, folds[: places[-1]]))
    constant = int(np.sum(np.ptp(X, axis=0) == 0) - np.sum(np.ptp(dataset.X, axis=0) == 0))
    if constant > 0:
        sentence = (
            f"{counted(constant, 'gene')} of one value in every sample, once values are normalised,"
            " could not be selected."
        )
        notes["warnings"] = [*notes.get("warnings", []), sentence]
    return replace(dataset, X=X, provenance=notes, unaligned=unaligned)


def _applied(steps: Steps, dataset: Dataset) -> Array:
    fitted = fit_steps(dataset.X, bound(steps, dataset), dataset.obs)
    return fitted.transform(dataset.X, dataset.obs)


def _errors_of_alignments(dataset: Dataset) -> dict[str, float]:
    choice = alignments_of(replace(dataset, unaligned=dataset.X))
    response = dataset.kind.number(dataset.response())
    return {} if choice is None else choice.errors(response, np.arange(len(response)))


def alignments_of(dataset: Dataset) -> Alignments | None:
    """Return what training sets choose their alignment from; None where nothing is chosen."""
    studies = dataset.batches()
    if dataset.unaligned is None or studies is None:
        return None
    own = replace(dataset, X=dataset.unaligned)
    return Alignments(lambda name: _applied(ALIGNED[name], own), studies)


NORMALISERS: Registry[Any] = Registry(
    "steps",
    {
        "log2": Log2,
        "zeros_as_missing": ZerosAsMissing,
        "standardise_samples": StandardiseSamples,
        "rank_samples": RankSamples,
        "log_cpm": LogCpm,
        "missing_indicators": MissingIndicators,
        "rma_background": RmaBackground,
        "segment": Segment,
        "knn_impute": KnnImpute,
        "mean_impute": MeanImpute,
        "left_censored": LeftCensored,
        "half_minimum": HalfMinimum,
        "size_factors": SizeFactors,
        "vst": Vst,
        "quantile": Quantile,
        "median_polish": MedianPolish,
        "collapse": Collapse,
        "detection_filter": Filter(by_detection),
        "variance_filter": Filter(by_variance),
        "fold_filter": Filter(by_fold),
        "range_filter": Filter(by_range),
        "combat": BatchCorrection,
        "centre": Centre,
        "unit_variance": UnitVariance,
    },
)
