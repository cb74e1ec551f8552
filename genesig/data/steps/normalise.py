"""Sequences of normalisation steps, fitted on training rows and applied to any row.

The kind of a step says which data it uses:

* ``"sample"``: one sample at a time, nothing is learned;
* ``"fold"``: learns across training rows, and its fitted values are applied to any other row;
* ``"batch"``: the same, with the rows of the sample table as a second argument;
* ``"study"``: one study at a time; held-out studies are held out whole;
* ``"studies"``: learns across training studies, and treats any other study by itself.

No step uses the label, with two exceptions: `knn_impute` leaves out genes that most of a class
misses, and `fix_studies` estimates differences of studies beside the response. These get the
response of their training rows, permuted if the labels are permuted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.alignment import (
    ALIGNERS,
    AUTO,
    LEARNED_ALIGNMENTS,
    STUDYWISE_ALIGNMENTS,
    Alignments,
    best_alignment,
)
from genesig.data.steps.combat import BatchCorrection
from genesig.data.steps.counts import LogCpm, SizeFactors, Vst
from genesig.data.steps.gene_filters import (
    Collapse,
    Filter,
    by_detection,
    by_fold,
    by_range,
    by_variance,
    with_sets,
)
from genesig.data.steps.imputation import (
    HalfMinimum,
    KnnImpute,
    LeftCensored,
    MeanImpute,
    gene_means,
)
from genesig.data.steps.median_polish import MedianPolish, Quantile, RmaBackground
from genesig.data.steps.missing_indicators import MissingIndicators, with_columns, with_indicators
from genesig.data.steps.scale import median_and_p99
from genesig.data.steps.segment import Segment, among, with_places
from genesig.data.steps.transforms import (
    Centre,
    Log2,
    RankSamples,
    StandardiseSamples,
    UnitVariance,
    ZerosAsMissing,
    state_of,
)
from genesig.errors import GenesigError, pick
from genesig.plugins import Registry, check_plugin_result, plugin_errors
from genesig.results import Dataset, Design
from genesig.words import counted

if TYPE_CHECKING:
    import pandas as pd

Steps = Sequence[Mapping[str, Any]]

MOMENT_STEPS = ("centre", "unit_variance")  # refitted in every inner fold, so they come last
# After one of these, a column no longer has the measured values of its gene.
# `with_summaries_applied` returns the values that tables then describe.
SUMMARY_STEPS = (
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
# Steps that fill in missing values. They come first, as no other learned step accepts these.
IMPUTATION_STEPS = ("knn_impute", "mean_impute", "left_censored", "half_minimum")
LOW_VALUE_STEPS = ("left_censored", "half_minimum")  # those for values too small to be measured
STEPS_WITH_CLASSES = ("knn_impute",)  # steps that use the classes of the training rows
STEPS_WITH_RESPONSE = ("fix_studies",)  # steps that use the response of the training rows
# Steps whose class has `settings_by_training_set`, which computes for many sets at once.
SHARED_STEPS = ("knn_impute",)

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


class Normaliser(Protocol):
    """A fitted step: a dataclass whose fields are its settings or its fitted values.

    Its class has ``fit(X, **settings)``, unless it is of kind ``"sample"``: it has nothing to learn
    and is ``cls(**settings)``. A step of kind ``"batch"`` takes the rows of the sample table as
    second argument of ``fit`` and of ``transform``; there, None means that these are not known.
    Only the fields of a step are stored (`state_of`): ``cls(**fields)`` builds it again.
    """

    @property
    def kind(self) -> Literal["sample", "fold", "batch", "study", "studies"]:
        """Return which data the step uses (see the top of this file)."""

    @property
    def genes(self) -> Array | None:
        """Columns of X that the result has, or after which its columns are named; None for all."""

    def transform(self, X: Array, *obs: Any) -> Array:
        """Return the normalised rows; each depends only on itself and on the fitted values."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Fitted steps, to be applied to training rows, test rows or one new sample alike."""

    names: tuple[str, ...]  # registry names of the steps
    steps: tuple[Normaliser, ...]
    n_genes: int  # columns that `transform` takes

    @property
    def genes(self) -> Array:
        """Kept genes, as columns of the matrix that `transform` takes."""
        genes = np.arange(self.n_genes)
        for step in self.steps:
            genes = genes if step.genes is None else genes[step.genes]
        return genes

    def transform(self, X: Array, obs: pd.DataFrame | None = None) -> Array:
        """Apply the steps; (n, n_genes) becomes (n, len(genes)).

        `obs` are the rows of the sample table, if they are known: without them no batch is
        corrected.
        """
        for name, step in zip(self.names, self.steps, strict=True):
            with plugin_errors("steps", name):
                width = X.shape[1] if step.genes is None else len(step.genes)
                transformed = apply_step(step, X, obs)
            check_plugin_result("steps", name, transformed, (len(X), width))
            X = transformed
        return X

    def uncorrected(self, obs: pd.DataFrame) -> Array:
        """Return the mask (n,) of the samples whose batch some step cannot correct."""
        masks = [
            step.uncorrected(obs, len(obs))
            for step in self.steps
            if isinstance(step, BatchCorrection)
        ]
        return np.asarray(np.any([np.zeros(len(obs), dtype=bool), *masks], axis=0))

    def state(self) -> dict[str, Any]:
        """Return everything needed to build the record again, as JSON has it."""
        steps = [
            {"step": name, **state_of(step)}
            for name, step in zip(self.names, self.steps, strict=True)
        ]
        return {"n_genes": self.n_genes, "steps": steps}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Reference:
        """Build the record from its `state`."""
        names = tuple(step["step"] for step in state["steps"])
        steps = tuple(map(_rebuild_step, state["steps"]))
        return cls(names, steps, state["n_genes"])


def apply_step(step: Normaliser, X: Array, obs: pd.DataFrame | None) -> Array:
    """Return the rows after a fitted step; only a step for batches or studies gets `obs`."""
    takes_samples = step.kind in ("batch", "study", "studies")
    return step.transform(X, obs) if takes_samples else step.transform(X)


def _rebuild_step(state: Mapping[str, Any]) -> Normaliser:
    """Return a fitted step from its stored state."""
    values = {key: value for key, value in state.items() if key != "step"}
    arrays = {
        name: np.asarray(value) if isinstance(value, list) else value
        for name, value in values.items()
    }
    fitted: Normaliser = _class_of(state["step"])(**arrays)
    return fitted


def _class_of(name: str) -> Any:
    """Return the class of a step; the steps that align studies are not in the public registry."""
    return ALIGNERS[name] if name in ALIGNERS else pick("normalise.folds", NORMALISERS, name)


def learned_steps(fold_steps: Steps, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the learned steps of a study: the alignment of studies, then ``normalise.folds``.

    They have the settings that `bind_steps` adds. fold_steps: ``normalise.folds`` of the config.
    """
    aligner = LEARNED_ALIGNMENTS.get(dataset.provenance.get("align", ""))
    return bind_steps([*([{"step": aligner}] if aligner else []), *fold_steps], dataset)


def bind_steps(steps: Steps, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the steps with the settings that come from the data set: sets, positions, batches.

    Raises GenesigError: the gene table lacks a column; a covariate is the label.
    """
    placed = with_places(with_sets(with_batch(steps, dataset.design), dataset.var), dataset.var)
    return with_indicators(placed, dataset.var)


def with_response(steps: Steps, dataset: Dataset, y: Array) -> list[dict[str, Any]]:
    """Return the steps with the response y of the training rows in those that use it.

    Such a step takes the classes (None if there are none), or the response as numbers.
    """
    with_responses = [dict(step) for step in steps]
    for step in with_responses:
        if step["step"] in STEPS_WITH_CLASSES:
            step["classes"] = None if dataset.design.classes is None else y
        if step["step"] in STEPS_WITH_RESPONSE:
            step["response"] = dataset.response_kind.numeric_response(y)
    return with_responses


def fit_steps_to_all_samples(dataset: Dataset, steps: Steps) -> Reference:
    """Return the steps before centring and scaling, fitted to all samples for the final model."""
    all_steps = with_response(learned_steps(steps, dataset), dataset, dataset.response())
    return fit_reference_steps(dataset.X, all_steps, dataset.obs)


def with_batch(steps: Steps, design: Design) -> list[dict[str, Any]]:
    """Return the steps with the sample-table column of the batches in those that correct these."""
    with_batches = []
    for step in steps:
        if step["step"] in ALIGNERS:
            with_batches.append({**step, "column": design.batch})
            continue
        corrects_batches = pick("normalise.folds", NORMALISERS, step["step"]).kind == "batch"
        if corrects_batches and design.label in step["covariates"]:
            raise GenesigError(
                f"normalise.folds: covariate '{design.label}' of {step['step']} is the label, "
                "which no step may see; take it out"
            )
        with_batches.append({**step, "batch": design.batch} if corrects_batches else dict(step))
    return with_batches


def fit_steps(X: Array, steps: Steps, obs: pd.DataFrame | None = None) -> Reference:
    """Fit steps one after the other, each on the training rows as the ones before leave them.

    X (n_train, n_genes) float: training rows; not modified.
    steps: a setting ``by`` names the set of each column of `X` (see `bind_steps`), or None.
    obs: the training rows of the sample table, for steps that correct batches.

    Raises GenesigError: if a filter leaves no gene or cannot be applied.
    """
    n_genes = X.shape[1]
    fitted = []
    genes = np.arange(X.shape[1])
    for position, step in enumerate(steps, 1):
        # `bind_steps` has turned the setting "each" into columns.
        settings = {key: value for key, value in step.items() if key not in ("step", "each")}
        if settings.get("by") is not None:
            settings["by"] = np.asarray(settings["by"], dtype=object)[genes]
        step_class = _class_of(step["step"])
        with plugin_errors("steps", step["step"]):
            # `bind_steps` numbers the columns of the matrix before the first step.
            fitted.append(among(_fit_step(step_class, X, obs, settings), genes))
            # No step learns from the result of the last one.
            X = apply_step(fitted[-1], X, obs) if position < len(steps) else X
        genes = genes if fitted[-1].genes is None else genes[fitted[-1].genes]
    return Reference(tuple(step["step"] for step in steps), tuple(fitted), n_genes)


def _fit_step(step_class: Any, X: Array, obs: pd.DataFrame | None, settings: dict[str, Any]) -> Any:
    """Return a step of this class, fitted to X if it learns from samples."""
    if step_class.kind in ("sample", "study"):
        return step_class(**settings)
    obs_argument = (obs,) if step_class.kind in ("batch", "studies") else ()
    return step_class.fit(X, *obs_argument, **settings)


def fit_reference_steps(X: Array, steps: Steps, obs: pd.DataFrame | None = None) -> Reference:
    """Fit the steps before centring and scaling, on the training rows of an outer split."""
    check_order(steps)
    return fit_steps(X, [step for step in steps if step["step"] not in MOMENT_STEPS], obs)


def moment_settings(steps: Steps) -> dict[str, bool]:
    """Return whether the steps centre and scale, as keyword arguments of ``training_sets``."""
    check_order(steps)
    step_names = [step["step"] for step in steps]
    return {name: name in step_names for name in MOMENT_STEPS}


def check_order(fold_steps: Steps) -> None:
    """Raise if a fold step follows centring or scaling, or if one of those two is repeated."""
    names = [step["step"] for step in fold_steps]
    for name in MOMENT_STEPS:
        if names.count(name) > 1:
            raise GenesigError(f"normalise.folds: '{name}' occurs {names.count(name)} times")
    other_positions = [position for position, name in enumerate(names) if name not in MOMENT_STEPS]
    for name in names[: other_positions[-1] if other_positions else 0]:
        if name in MOMENT_STEPS:
            raise GenesigError(
                f"normalise.folds: '{name}' must come last, after '{names[other_positions[-1]]}', "
                "because it is learned again in every inner fold"
            )


def check_steps(*, samples: Steps, folds: Steps) -> None:
    """Raise GenesigError if a step is unknown or in the wrong place, or if log2 has no range.

    samples, folds: the steps of ``normalise.samples``, which use one sample at a time, and of
        ``normalise.folds``, which may learn from training samples; centring and scaling come last.
    """
    for step in samples:
        if pick("normalise.samples", NORMALISERS, step["step"]).kind != "sample":
            raise GenesigError(
                f"normalise.samples: '{step['step']}' learns across samples, so before the splits "
                "it would see the test samples; move it to normalise.folds"
            )
    for section, steps in (("samples", samples), ("folds", folds)):
        for step in steps:
            pick(f"normalise.{section}", NORMALISERS, step["step"])
            if step["step"] == "log2" and step["floor"] >= step["ceiling"]:
                raise GenesigError(
                    f"normalise.{section}: log2 has floor {step['floor']:g}, which must be below "
                    f"its ceiling {step['ceiling']:g}"
                )
    check_order(folds)


def normalise_samples(
    dataset: Dataset, align: str = "none", *, samples: Steps, folds: Steps
) -> Dataset:
    """Return the data set after the row-wise steps, with studies aligned, each by itself.

    align: for several studies, a name in `alignment.STUDYWISE_ALIGNMENTS`, whose steps are
        applied; or one in `LEARNED_ALIGNMENTS`, which is only recorded, because training sets learn
        it; or `AUTO`, which applies the best studywise alignment by all samples, and keeps the
        matrix before it, so that each training set can choose for itself.
    samples: steps that are applied, and added to the provenance.
    folds: steps that are only checked; they are fitted later, on training rows. Those up to the
        last of `SUMMARY_STEPS` are recorded.

    Raises GenesigError: if a step stands in the wrong place (see `check_steps`).
    """
    check_steps(samples=samples, folds=folds)
    dataset = with_columns(dataset, samples)  # of the step `missing_indicators`
    X = _apply_to_all(samples, dataset)
    earlier_steps = dataset.provenance.get("steps", [])
    notes = {**dataset.provenance, "steps": [*earlier_steps, *map(dict, samples)]}
    before_alignment = replace(dataset, X=X)
    unaligned = None
    if dataset.design.studies and align in (AUTO, *LEARNED_ALIGNMENTS):
        notes["align"] = align
    if dataset.design.studies and align == AUTO:
        unaligned = X
        errors = _errors_of_alignments(before_alignment)
        notes["errors_of_alignments"] = errors
        align = best_alignment(errors)  # without errors the first candidate
    steps = STUDYWISE_ALIGNMENTS.get(align, ()) if dataset.design.studies else ()
    if any(step["step"] in ALIGNERS for step in steps):
        # New samples, whose values are aligned as well, are compared with these. The steps of other
        # alignments, such as ranks, see one sample at a time and need no comparison.
        notes["before_alignment"] = list(median_and_p99(X))
    X = _apply_to_all(steps, before_alignment)
    notes["steps"] = [*notes["steps"], *map(dict, steps)]
    if summary_positions := [
        position for position, step in enumerate(folds, 1) if step["step"] in SUMMARY_STEPS
    ]:
        notes["summaries"] = list(map(dict, folds[: summary_positions[-1]]))
    n_constant = int(np.sum(_are_constant(X) & ~_are_constant(dataset.X)))
    if n_constant > 0:
        sentence = (
            f"{counted(n_constant, 'gene')} of one value in every sample, once values are "
            "normalised, could not be selected."
        )
        notes["warnings"] = [*notes.get("warnings", []), sentence]
    return replace(dataset, X=X, provenance=notes, unaligned=unaligned)


def _are_constant(X: Array) -> Array:
    """Return whether each gene of X (n, d) has one value, besides missing ones, (d,) bool."""
    return np.asarray(np.fmax.reduce(X) == np.fmin.reduce(X))


def _apply_to_all(steps: Steps, dataset: Dataset) -> Array:
    """Return the values after the steps, fitted to all samples."""
    fitted = fit_steps(dataset.X, bind_steps(steps, dataset), dataset.obs)
    return fitted.transform(dataset.X, dataset.obs)


def _errors_of_alignments(dataset: Dataset) -> dict[str, float]:
    """Return the error of each alignment of the data set; empty if there is no choice."""
    choice = alignments_to_choose(replace(dataset, unaligned=dataset.X))
    response = dataset.response_kind.numeric_response(dataset.response())
    return {} if choice is None else choice.errors(response, np.arange(len(response)))


def alignments_to_choose(dataset: Dataset) -> Alignments | None:
    """Return the alignments from which training sets choose; None if they do not choose."""
    studies = dataset.batches()
    if dataset.unaligned is None or studies is None:
        return None
    before_alignment = replace(dataset, X=dataset.unaligned)
    return Alignments(
        lambda name: _apply_to_all(STUDYWISE_ALIGNMENTS[name], before_alignment), studies
    )


def with_summaries_applied(dataset: Dataset) -> Dataset:
    """Return the data set after its summary steps (`SUMMARY_STEPS`), fitted on all samples.

    A study of probes selects probe sets, each under the name of its first probe: here that column
    has the value of the set. The same holds for collapsed genes and for missing values that a step
    fills in. Batches are corrected if the study corrects them, so that blocks, correlations and
    figures do not show them. No fit and no error depends on this: only descriptions of all samples
    do. All columns stay; those that a filter removes keep their values, with the gene's mean for a
    missing one. A study without such steps is returned as it is.

    dataset: after the row-wise steps (`normalise_samples` notes which of the learned ones count).
    """
    steps = dataset.provenance.get("summaries", [])
    if not steps and dataset.provenance.get("align") not in LEARNED_ALIGNMENTS:
        return dataset
    fitted = fit_steps_to_all_samples(dataset, steps)
    X = np.where(np.isnan(dataset.X), gene_means(dataset.X), dataset.X)
    X[:, fitted.genes] = fitted.transform(dataset.X, dataset.obs)
    return replace(dataset, X=X)


def steps_by_training_set(
    X: Array, steps: Steps, training_rows: Sequence[Array]
) -> Iterator[Steps]:
    """Yield the steps for each set of training rows (n_train,) of X.

    If the first step can compute for many sets at once (`settings_by_training_set` of its class),
    its settings contain the results. Later steps see other rows in each set.
    """
    if not steps or steps[0]["step"] not in SHARED_STEPS:
        yield from [steps] * len(training_rows)
        return
    settings = {key: value for key, value in steps[0].items() if key != "step"}
    step_class = NORMALISERS[steps[0]["step"]]
    for step_settings in step_class.settings_by_training_set(X, training_rows, **settings):
        yield [{"step": steps[0]["step"], **step_settings}, *steps[1:]]
