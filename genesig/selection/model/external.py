"""Score an external cohort with the final model: errors, calibration, shifts of the genes.

`model` is the content of model.json, and `model_of_list` the one of its ``models`` that scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import match_genes
from genesig.data.cohorts.read import Cohort, read_cohort, take_study_names
from genesig.data.quality.samples import find_twins_across
from genesig.data.steps.combat import ReferenceBatch
from genesig.data.study.settings import CohortSettings
from genesig.errors import InvalidInput, warnings_of
from genesig.results import Dataset
from genesig.selection.assess.clusters import group_numbers
from genesig.selection.assess.held_out import decision_columns
from genesig.selection.model.external_scores import EXTERNAL_TESTS, ScoredCohort, scores_table
from genesig.selection.model.kinds import MODEL_KINDS
from genesig.selection.model.new_samples import Prepared, compare_values, prepare, score_values
from genesig.selection.model.same_scale import describe_scale_fault, panel_fault
from genesig.selection.model.schema import (
    FDR_SELECTED,
    ModelJson,
    chosen_model,
    has_fdr_selected_model,
    model_index,
)
from genesig.selection.model.shape import (
    apply_learned_steps,
    check_model,
    check_model_covariates,
    covariate_scores,
)
from genesig.words import MIN_SPREAD, is_missing

if TYPE_CHECKING:
    import pandas as pd


def balanced_means(X: Array, y: Array, has_classes: bool, class_codes: tuple[float, ...]) -> Array:
    """Return the mean over the classes in `class_codes` of their mean expression, (n_genes,).

    y: class code of each row. NaN values are left out.

    A data set with more samples of one class is not shifted by that alone. For regression, the
    mean over all samples.
    """
    values_by_class = [X[y == class_code] for class_code in class_codes] if has_classes else [X]
    return np.asarray(
        np.mean([_mean_of_finite(class_values) for class_values in values_by_class], axis=0)
    )


def standardised_shift(means: Array, training_means: Array, training_sds: Array) -> Array:
    """Return (m - m_train) / s_train; NaN for a gene that does not vary in the training samples."""
    scale = np.where(training_sds > MIN_SPREAD, training_sds, np.nan)
    return np.asarray((means - training_means) / scale)


def standard_error_of_shift(training_sizes: tuple[int, ...], new_sizes: tuple[int, ...]) -> float:
    """Return the standard error of a shift between samples of one population.

    √(Σ_c 1/n_c / k² + Σ_c 1/m_c / k²) for n_c training and m_c new samples of the k classes whose
    means are averaged. In units of the training standard deviation; this contains the difference
    of the classes, too, so that the standard error is rather too large.
    """
    variances = [
        sum(1 / n for n in sizes) / len(sizes) ** 2 for sizes in (training_sizes, new_sizes)
    ]
    return float(np.sqrt(sum(variances)))


def _mean_of_finite(X: Array) -> Array:
    """Return the mean of the finite values of each column, NaN in a column without any."""
    is_finite = np.isfinite(X)
    counts = is_finite.sum(axis=0)
    sums = np.where(is_finite, X, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0))


N_SHIFT_BARS = 40  # bars of the histogram of shifts; the outer ones are open
MIN_SHIFT_RANGE = 2.0  # least range of the histogram on either side of 0, in training sd
MAX_SHIFT_RANGE = 12.0  # largest range of the histogram on either side of 0


@dataclass(frozen=True, eq=False)
class CohortValues:
    """Values of the training samples and of the cohort, genes in columns."""

    training: Array  # all genes of the study after the row-wise steps
    before_combat: Array
    """All genes of the study in the cohort after the row-wise steps, NaN where missing."""
    after_combat: Array  # the same after ComBat; without ComBat it is `before_combat`
    filled: Array
    """Genes of ``training`` in model.json, in the cohort, from `after_combat` with missing values
    filled in."""
    training_seen: Array
    """Genes of the list in the training samples after all steps, as the coefficients see them."""
    cohort_seen: Array  # genes of the list in the cohort after all steps


def _classes_of_cohort(dataset: Dataset, cohort: Cohort) -> tuple[float, ...]:
    """Return the class codes that the cohort has; () without classes."""
    class_codes = np.unique(dataset.response()).tolist() if dataset.design.classes else ()
    return tuple(c for c in class_codes if c in cohort.response)


def _balanced_means(
    dataset: Dataset, cohort: Cohort, training: Array, X: Array
) -> tuple[Array, Array]:
    """Return the class-balanced means of training samples and of the cohort, (n_genes,)."""
    has_classes = dataset.design.classes is not None
    class_codes = _classes_of_cohort(dataset, cohort)
    return (
        balanced_means(training, dataset.response(), has_classes, class_codes),
        balanced_means(X, cohort.response, has_classes, class_codes),
    )


def _shift_of_genes(dataset: Dataset, cohort: Cohort, training: Array, X: Array) -> Array:
    """Return the shift of each gene's mean in training standard deviations, (n_genes,)."""
    training_means, cohort_means = _balanced_means(dataset, cohort, training, X)
    return standardised_shift(cohort_means, training_means, np.nanstd(training, axis=0))


def genes_table(
    dataset: Dataset,
    model: ModelJson,
    model_of_list: ModelJson,
    cohort: Cohort,
    prepared: Prepared,
    values: CohortValues,
) -> pd.DataFrame:
    """Return the table ``genes`` of `score_cohort`, for the genes of one list."""
    import pandas as pd

    training = values.training_seen
    cohort_seen = values.cohort_seen
    training_means, cohort_means = _balanced_means(dataset, cohort, training, cohort_seen)
    column_of_gene = {gene: column for column, gene in enumerate(model["training"]["genes"])}
    is_measured = prepared.is_measured[:, [column_of_gene[gene] for gene in model_of_list["genes"]]]
    absent = ~is_measured.any(axis=0)
    training_columns = [dataset.genes.index(gene) for gene in model_of_list["genes"]]
    coef = np.array(model_of_list["coefficients"], dtype=float)
    coef = coef if coef.ndim == 1 else np.sqrt(np.square(coef).sum(axis=1))
    training_before = values.training[:, training_columns]
    cohort_before = values.before_combat[:, training_columns]
    table = pd.DataFrame(
        {
            "gene": model_of_list["genes"],
            "symbol": model_of_list["symbols"],
            "weight": coef,
            "training_mean": training_means,
            "training_sd": training.std(axis=0),
            "mean": cohort_means,
            "sd": cohort_seen.std(axis=0),
            "shift": np.where(
                absent,
                np.nan,
                standardised_shift(cohort_means, training_means, training.std(axis=0)),
            ),
            "shift_before": _shift_of_genes(dataset, cohort, training_before, cohort_before),
            "score_shift": coef * (cohort_means - training_means),
            "imputed": (~is_measured).sum(axis=0),
        }
    )
    has_combat = values.after_combat is not values.before_combat
    return table if has_combat else table.drop(columns="shift_before")


def summarise_shifts(dataset: Dataset, cohort: Cohort, values: CohortValues) -> dict[str, Any]:
    """Return a summary of the shifts of all genes that both data sets have, as JSON.

    Keys: ``by_chance``, the standard error of a shift; ``edges`` of the histogram, which reaches on
    either side as far as all but one gene in 200; under ``measured`` (before ComBat) and ``scored``
    (after it) the number of genes, counts of the histogram, median size, and share above 1.
    """
    y = dataset.response()
    class_codes = _classes_of_cohort(dataset, cohort)
    sizes = [
        tuple(int((responses == c).sum()) for c in class_codes) or (len(responses),)
        for responses in (y, cohort.response)
    ]
    standard_error = standard_error_of_shift(sizes[0], sizes[1])
    stages = (("measured", values.before_combat), ("scored", values.after_combat))
    shifts_by_stage = {
        key: _shift_of_genes(dataset, cohort, values.training, X) for key, X in stages
    }
    shifts_by_stage = {key: shifts[np.isfinite(shifts)] for key, shifts in shifts_by_stage.items()}
    range_ends = (
        sign * _quantile(shifts_by_stage["measured"], share)
        for sign, share in ((-1, 0.005), (1, 0.995))
    )
    lower, upper = np.ceil(np.clip(list(range_ends), MIN_SHIFT_RANGE, MAX_SHIFT_RANGE))
    edges = np.linspace(-lower, upper, N_SHIFT_BARS + 1)
    summary: dict[str, Any] = {"by_chance": standard_error, "edges": edges.tolist()}
    for key, shifts in shifts_by_stage.items():
        counts, _ = np.histogram(np.clip(shifts, edges[0], edges[-1]), edges)
        summary[key] = {
            "genes": len(shifts),
            "counts": counts.tolist(),
            "median": _quantile(np.abs(shifts), 0.5),
            "beyond": float(np.mean(np.abs(shifts) > 1)) if len(shifts) else 0.0,
        }
    return summary


def _quantile(values: Array, share: float) -> float:
    """Return the quantile of some values; 0 if there are none."""
    return float(np.quantile(values, share)) if len(values) else 0.0


MAX_CLASS_SHARE_DIFFERENCE = 0.2
"""Largest difference of a class share between study and cohort without a warning of ComBat."""


def warn_of_scale(
    model: ModelJson, prepared: Prepared, values: Array, source: str
) -> Iterator[str]:
    """Yield a warning if the values are on another scale, for which `predict` raises.

    A cohort has labels, which show if its scores are usable in spite of that.
    """
    if fault := panel_fault(compare_values(model, "panel", prepared, values)):
        yield f"{source}: {fault}"
    elif scale_fault := describe_scale_fault(compare_values(model, "scale", prepared, values)):
        yield f"{source}{scale_fault.place}: {scale_fault.message}"


def warn_of_combat(model: ModelJson) -> Iterator[str]:
    """Yield a warning if the model has a step ComBat, fitted to the batches of the study alone."""
    if any(step["step"] == "combat" for step in model["normalisation"]["steps"]):
        yield (
            "the study's batches were brought together by combat; this data set is none of them,"
            " and goes past that step as it is"
        )


def warn_of_class_shares(dataset: Dataset, cohort: Cohort, corrects_batches: bool) -> Iterator[str]:
    """Yield a warning if class shares differ, so that ComBat removes part of a class difference."""
    classes = dataset.design.classes
    training_y = dataset.response()
    if not (corrects_batches and classes):
        return
    named_codes = list(zip(np.unique(training_y), classes, strict=True))
    if len(classes) == 2:
        named_codes = named_codes[1:]  # the share of the positive class says all
    shares = [
        (float(np.mean(training_y == c)), float(np.mean(cohort.response == c)), class_name)
        for c, class_name in named_codes
    ]
    training_share, cohort_share, class_name = max(shares, key=lambda pair: abs(pair[0] - pair[1]))
    if abs(training_share - cohort_share) > MAX_CLASS_SHARE_DIFFERENCE:
        yield (
            f"combat: {100 * cohort_share:.0f} % of the samples are {class_name}, and "
            f"{100 * training_share:.0f} % of the study's; part of the difference of the classes "
            "was taken for one of the batches"
        )


Tables = dict[str, "pd.DataFrame"]
QUANTILE_SHARES = np.linspace(0, 1, 41)  # of the values of a matrix, which the report compares
# table -> its first columns, the columns of a cohort that cannot be scored
TABLE_COLUMNS = {
    "predictions": ("sample", "given", "label", "score", "predicted", "wrong", "imputed"),
    "scores": ("measure", "value", "low", "high", "samples"),
    "genes": ("gene", "symbol", "weight"),
}


@dataclass(frozen=True, eq=False)
class CohortResult:
    """Scores of an external cohort by the final model."""

    tables: dict[str, pd.DataFrame]  # ``predictions``, ``scores``, ``genes``
    about: dict[str, Any]  # the same rows, and further results of the report, as JSON has them


class _ModelResult(NamedTuple):
    """Scores of an external cohort by one of the models of model.json."""

    prepared: Prepared  # the cohort's samples after the row-wise steps
    values: CohortValues
    tables: Tables
    further_results: dict[str, Any]  # see `ExternalTest`


def score_cohort(
    dataset: Dataset,
    model: ModelJson,
    validation_warnings: Mapping[str, Sequence[str]],
    settings: CohortSettings,
) -> CohortResult:
    """Score a labelled external cohort with the final model, unchanged.

    A cohort that cannot be scored, because genes or covariates are missing, does not stop the
    study: its tables are empty, and ``about["not_assessable"]`` has the reason.

    Nothing of the model is fitted again and its threshold stays. Missing genes get their mean over
    the training samples, as in `predict`. With ComBat each batch of the cohort is brought to the
    mean and sd of each gene in the training set, after the row-wise steps and before the learned
    ones, over all genes that both have, without using the classes. The means come from the training
    data set: model.json only has those of the genes it needs, too few for the shrinkage.

    dataset: the study after the row-wise steps. model: the content of model.json.
    validation_warnings: name of a cohort -> warnings of its validation.

    Returns
    -------
    CohortResult
        Tables: ``predictions`` (sample; given, the label in the cohort's words; label, the same in
        the study's words; score, predicted, wrong, imputed; of several classes their probabilities,
        of survival that at the horizon; the group, if samples come in groups), ``scores`` (measure,
        value, low, high, samples; the number of groups, if samples come in groups), ``genes``
        (those of the model, as its coefficients see them: training_mean, training_sd, mean, sd;
        shift in training standard deviations, shift_before ComBat; score_shift = weight (mean -
        training_mean), which add up to the shift of the mean score unless there are several
        classes; imputed samples). Means are
        those of the classes, averaged; of several classes ``weight`` is the length of a gene's
        weights. ``list`` names the model: first come the rows of the model that `predict` uses by
        default (``answer`` of model.json), then those of the FDR-selected genes, if there are any.
        ``about`` has the rows of the first, and under ``fdr_selected`` the scores of the others.

    Raises InvalidInput: `model` is not a valid model.json.
    """
    check_model(model, "results/model.json")
    try:
        cohort = read_cohort(dataset.design, settings, dataset.genes)
        matrix, translation_warnings = take_study_names(
            cohort.matrix, dataset.genes, settings.renamed, cohort.file
        )
        cohort = replace(cohort, matrix=matrix)
        covariate_warnings = check_model_covariates(
            model, cohort.sample_table, settings.sample_file
        )
        cohort_warnings = warnings_of([*translation_warnings, *covariate_warnings])
        return _score_cohort_with_model(
            dataset,
            model,
            cohort,
            [*validation_warnings.get(settings.name, ()), *cohort_warnings],
            settings,
        )
    except InvalidInput as error:
        return _not_assessable(settings.name, error)


def _not_assessable(name: str, error: InvalidInput) -> CohortResult:
    """Return the result of a cohort that cannot be scored, with the reason."""
    import pandas as pd

    first_error = next(problem for problem in error.problems if problem.level == "error")
    tables = {
        key: pd.DataFrame(columns=[*columns, "list"]) for key, columns in TABLE_COLUMNS.items()
    }
    return CohortResult(
        tables, {"name": name, "not_assessable": f"{first_error.location}: {first_error.message}"}
    )


def _score_cohort_with_model(
    dataset: Dataset,
    model: ModelJson,
    cohort: Cohort,
    earlier_warnings: Sequence[str],
    settings: CohortSettings,
) -> CohortResult:
    """Return the result of a cohort by the answer and by the FDR-selected genes."""
    answer = chosen_model(model)
    missing = settings.missing
    corrects_batches = settings.combat
    setting = f"external, {settings.name}, missing"
    test_model = partial(
        _test_model,
        dataset,
        model,
        cohort,
        missing=missing,
        setting=setting,
        corrects_batches=corrects_batches,
    )
    prepared, values, tables, further_results = test_model(answer)
    fdr_result = _FdrResult(tables=[], record={}, warnings=[])
    if has_fdr_selected_model(model):
        fdr_result = _score_fdr_selected(model, test_model)
    record = {
        "name": settings.name,
        "file": cohort.file,
        "classes": _class_counts(dataset, cohort),
        "dropped": cohort.dropped,
        "inputs": cohort.inputs,
        "warnings": [
            *earlier_warnings,
            *warnings_of(prepared.problems),
            *warn_of_scale(model, prepared, values.filled, cohort.file),
            *warn_of_combat(model),
            *warn_of_class_shares(dataset, cohort, corrects_batches),
            *fdr_result.warnings,
        ],
        "combat": corrects_batches,
        "batches": len(set(cohort.batch)),
        "missing": missing,
        "needed": len(prepared.used_columns),
        "absent": int((~prepared.is_measured[:, prepared.used_columns]).all(axis=0).sum()),
        "imputed": int((prepared.imputed > 0).sum()),
        "seen_before": _count_training_samples(dataset.X, values.before_combat),
        "shift": summarise_shifts(dataset, cohort, values),
        "quantiles": {
            "share": QUANTILE_SHARES.tolist(),
            "training": _quantiles(values.training),
            "cohort": _quantiles(values.before_combat),
        },
        "reliability": [],  # `further_results` replaces it for two classes
        **further_results,
        **_group_counts(dataset, cohort),
        "list": answer["list"],
        **fdr_result.record,
        **{name: _records(table) for name, table in tables.items()},
    }
    return CohortResult(_concatenate_tables([(answer["list"], tables), *fdr_result.tables]), record)


def _test_model(
    dataset: Dataset,
    model: ModelJson,
    cohort: Cohort,
    model_of_list: ModelJson,
    *,
    missing: float,
    setting: str,
    corrects_batches: bool,
) -> _ModelResult:
    """Return the scores of a cohort by one of the models of model.json."""
    prepared = prepare(
        model, model_of_list, cohort.matrix, cohort.file, missing=missing, setting=setting
    )
    values = _cohort_values(dataset, model, model_of_list, cohort, prepared, corrects_batches)
    f = score_values(values.cohort_seen, model_of_list) + covariate_scores(
        model, model_of_list, cohort.sample_table
    )
    groups = group_numbers(cohort.group)
    scored_cohort = ScoredCohort(
        dataset, model, model_index(model, model_of_list), cohort.response, f, groups
    )
    rows, further_results = EXTERNAL_TESTS[dataset.design.kind](scored_cohort)
    group_count = None if groups is None else partial(_group_count, dataset, cohort, groups)
    tables = {
        "predictions": _predictions(scored_cohort, cohort, prepared.imputed),
        "scores": scores_table(rows, group_count),
        "genes": genes_table(dataset, model, model_of_list, cohort, prepared, values),
    }
    return _ModelResult(prepared, values, tables, further_results)


class _FdrResult(NamedTuple):
    """Test of the model of the FDR-selected genes; all empty without this model."""

    tables: list[tuple[str, Tables]]  # name of the list and its tables, if it could be tested
    record: dict[str, Any]  # key ``fdr_selected`` of ``about``
    warnings: list[str]


def _score_fdr_selected(
    model: ModelJson, test_model: Callable[[ModelJson], _ModelResult]
) -> _FdrResult:
    """Return the test of the model of the FDR-selected genes.

    ``has_fdr_selected`` of the record tells whether any gene passes the FDR; if none does, the
    model's genes are those of the largest selection frequency. If the cohort lacks too many of its
    genes, only the predictive model is tested.

    test_model: one of ``models`` of model.json -> scores of the cohort.
    """
    model_of_list = chosen_model(model, fdr_selected=True)
    record = {
        "genes": len(model_of_list["genes"]),
        "has_fdr_selected": model_of_list["has_fdr_selected"],
        "scores": [],
    }
    try:
        tables = test_model(model_of_list).tables
    except InvalidInput as error:
        messages = [
            f"the FDR-selected genes are not tested: {problem.message}"
            for problem in error.problems
        ]
        return _FdrResult(tables=[], record={"fdr_selected": record}, warnings=messages)
    record["scores"] = _records(tables["scores"])
    return _FdrResult([(FDR_SELECTED, tables)], {"fdr_selected": record}, warnings=[])


def _concatenate_tables(parts: Sequence[tuple[str, Tables]]) -> Tables:
    """Return each table of several models as one, whose column ``list`` says which."""
    import pandas as pd

    return {
        key: pd.concat([tables[key].assign(list=name) for name, tables in parts], ignore_index=True)
        for key in parts[0][1]
    }


def _cohort_values(
    dataset: Dataset,
    model: ModelJson,
    model_of_list: ModelJson,
    cohort: Cohort,
    prepared: Prepared,
    corrects_batches: bool,
) -> CohortValues:
    """Return the values of the cohort and of the training samples, before and after ComBat."""
    column_of_gene = {gene: column for column, gene in enumerate(dataset.genes)}
    training_columns = [column_of_gene[gene] for gene in model["training"]["genes"]]
    if model["normalisation"]["steps"]:  # then ``training`` has all genes, in their order
        before_combat = np.where(prepared.is_measured, prepared.values, np.nan)
    else:
        before_combat = match_genes(cohort.matrix, dataset.genes, cohort.file)[0]
    after_combat = before_combat
    if corrects_batches:
        after_combat = _correct_batches(dataset.X, before_combat, cohort.batch)
    filled = np.where(prepared.is_measured, after_combat[:, training_columns], prepared.values)
    training = dataset.X[:, training_columns]
    return CohortValues(
        training=dataset.X,
        before_combat=before_combat,
        after_combat=after_combat,
        filled=filled,
        training_seen=apply_learned_steps(model, model_of_list, training, dataset.obs),
        cohort_seen=apply_learned_steps(model, model_of_list, filled),
    )


def _correct_batches(training: Array, X: Array, batch: tuple[str, ...]) -> Array:
    """Return X with each batch brought to the training set, over genes without missing values."""
    complete = np.isfinite(X).all(axis=0) & np.isfinite(training).all(axis=0)
    reference = ReferenceBatch.fit(training[:, complete])
    adjusted = X.copy()
    names = np.array(batch, dtype=object)
    for name in dict.fromkeys(batch):
        batch_values = np.ix_(names == name, complete)
        adjusted[batch_values] = reference.transform(X[batch_values])
    return adjusted


def _predictions(cohort_scores: ScoredCohort, cohort: Cohort, imputed: Array) -> pd.DataFrame:
    """Return the table of predictions of a cohort, whose errors are counted at the model threshold.

    With a section ``decision``, ``predicted`` and ``wrong`` ignore its operating point, as accuracy
    and p do. Columns that the model also gives, such as ``predicted``, are those of this threshold.
    """
    import pandas as pd

    dataset = cohort_scores.dataset
    model = cohort_scores.model
    f = cohort_scores.f
    # Scores are cut at 0: the intercept of a model is less its threshold (see model.schema.json).
    decision = decision_columns(dataset, cohort.response, f)
    if f.ndim == 1:
        decision["score"] = f
    model_columns = MODEL_KINDS[dataset.design.kind].predicted(model, cohort_scores.model_number, f)
    return pd.DataFrame(
        {
            "sample": cohort.matrix.rows,
            "given": cohort.cohort_words,
            "label": cohort.study_labels,
            **decision,
            **{key: values for key, values in model_columns.items() if key not in decision},
            "imputed": imputed,
            **({} if cohort_scores.group is None else {"group": _group_names(cohort)}),
        }
    )


def _group_names(cohort: Cohort) -> list[str]:
    """Return the cells of the group column; blank for a sample without a group."""
    cells = cohort.sample_table[cohort.group_column].astype(str)
    return ["" if is_missing(word) else word.strip() for word in cells]


def _group_count(dataset: Dataset, cohort: Cohort, groups: Array, measure: str) -> int:
    """Return the number of groups among the samples that a measure is computed from.

    A sensitivity or specificity is computed from the samples of one class, the others from all.
    """
    classes = dataset.design.classes or ()
    class_of_measure = {f"sensitivity of {class_name}": class_name for class_name in classes}
    if len(classes) == 2:
        class_of_measure = dict(zip(("specificity", "sensitivity"), classes, strict=True))
    measured_class = class_of_measure.get(measure)
    in_measure = np.array(
        [measured_class in (None, label) for label in cohort.study_labels], dtype=bool
    )
    return len(np.unique(groups[in_measure]))


def _group_counts(dataset: Dataset, cohort: Cohort) -> dict[str, Any]:
    """Return the group column, and the number of groups in all and by class; {} without groups."""
    groups = group_numbers(cohort.group)
    if groups is None:
        return {}
    classes = dataset.design.classes
    labels = np.array(cohort.study_labels, dtype=object)
    by_class = classes and {name: len(np.unique(groups[labels == name])) for name in classes}
    count = len(np.unique(groups))
    return {"groups": {"column": cohort.group_column, "count": count, "classes": by_class}}


def _class_counts(dataset: Dataset, cohort: Cohort) -> dict[str, int] | None:
    """Return the number of samples of each class; None without classes."""
    classes = dataset.design.classes
    return None if classes is None else {name: cohort.study_labels.count(name) for name in classes}


def _count_training_samples(training: Array, X: Array) -> int:
    """Return the number of rows of X that are a training sample: copies, or processed again."""
    is_complete = np.isfinite(X).all(axis=0) & np.isfinite(training).all(axis=0)
    training_rows = {row.tobytes() for row in np.ascontiguousarray(training[:, is_complete])}
    copies = [
        k
        for k, row in enumerate(np.ascontiguousarray(X[:, is_complete]))
        if row.tobytes() in training_rows
    ]
    twins = [k for _, k in find_twins_across(training[:, is_complete], X[:, is_complete])]
    return len({*copies, *twins})


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dicts for JSON, with None for NaN."""
    rows = table.to_dict("records")
    # Only NaN differs from itself.
    return [{str(k): None if v != v else v for k, v in row.items()} for row in rows]


def _quantiles(X: Array) -> list[float]:
    """Return the `QUANTILE_SHARES` of all values."""
    return [float(value) for value in np.nanquantile(X, QUANTILE_SHARES)]
