"""Score new samples with the final model: match genes, fill in missing ones, check the scale.

`model` is the content of model.json, and `model_of_list` the one of its ``models`` that scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import (
    GENE_WISE_STEPS,
    NewValues,
    TrainingValues,
    check_values,
    match_genes,
    rate_warnings,
    select_listed_samples,
    turn_samples_to_rows,
    zero_warnings,
)
from genesig.data.cohorts.read import take_study_names
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import other_spelling_hint
from genesig.data.files.non_genes import Surroundings
from genesig.data.steps.alignment import MIN_STUDY_SAMPLES
from genesig.data.steps.missing_indicators import genes_by_indicator
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS, LOG2_STEPS
from genesig.data.study.matrix_check import check_gene_names, leave_out_other_columns
from genesig.errors import Problem, input_error
from genesig.optim.classes import doubt_of_line
from genesig.selection.model.contributions import Contributions, contributions_to_scores
from genesig.selection.model.kinds import MODEL_KINDS
from genesig.selection.model.same_scale import (
    SCALE_NOT_COMPARED,
    ComparedValues,
    call_doubts,
    common_shift,
    describe_log_fault,
    describe_scale,
    describe_scale_fault,
    find_odd_samples,
    has_enough_panel_genes,
    panel_doubts,
    panel_fault,
)
from genesig.selection.model.schema import (
    FDR_SELECTED,
    ModelJson,
    chosen_model,
    has_selected_no_gene,
    model_index,
)
from genesig.selection.model.shape import (
    apply_learned_steps,
    apply_row_steps,
    apply_study_steps,
    check_model,
    check_model_covariates,
    check_steps,
    covariate_scores,
    imputation_step,
    indicators,
    leaves_missing_to_steps,
    model_steps,
    needs_study_moments,
    takes_missing_as_low,
    zeros_are_missing,
)
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

NO_EVIDENCE = "no gene of the study is FDR-selected"


@dataclass(frozen=True, eq=False)
class Prepared:
    """New samples after the row-wise steps of the model."""

    samples: tuple[str, ...]
    values: Array
    """(n_samples, n_genes) float: genes of ``training`` in model.json, in that order. A missing
    value is filled in, or NaN if a step of the model does that."""
    is_measured: Array  # (n_samples, n_genes) bool: values that were measured, or that count as low
    used_columns: list[int]  # columns of the genes that the scores depend on
    problems: list[Problem]  # warnings

    @property
    def imputed(self) -> Array:
        """Number of needed genes that were filled in, for each sample."""
        return np.asarray((~self.is_measured[:, self.used_columns]).sum(axis=1))


class Predictions(NamedTuple):
    """The scores of new samples, and how far they can be trusted."""

    table: pd.DataFrame
    """sample, score, predicted, imputed (number of needed genes that were filled in), list (the
    model that scored), doubt (why a call may be wrong); of times also survival at the horizon."""
    contributions: Contributions
    problems: list[Problem]  # warnings and notes
    scale: str  # sentence that compares the values with those of the training samples


def predict(
    model: ModelJson, matrix: Matrix, matrix_file: str, **options: Any
) -> tuple[pd.DataFrame, list[Problem]]:
    """Return the table and the problems of `predict_and_explain`, with its arguments."""
    predictions = predict_and_explain(model, matrix, matrix_file, **options)
    return predictions.table, predictions.problems


def predict_and_explain(
    model: ModelJson,
    matrix: Matrix,
    matrix_file: str,
    *,
    missing: float,
    mu: float | None,
    fdr_selected: bool = False,
    source: str = "the model",
    samples: pd.DataFrame | None = None,
    renamed: str | None = None,
) -> Predictions:
    """Return the scores f(x) = intercept + Σ_j x_j β_j of new samples, from model.json alone.

    A gene of the model that the matrix lacks, or that is blank in a sample, gets its mean over the
    training samples, after the row-wise steps; or what the model's knn_impute gives it, where it
    has one. For a model that takes blanks for low values (`takes_missing_as_low`) a blank was
    measured and is not missing; a gene that the matrix lacks is. Genes that the model does not know
    are ignored.

    Parameters
    ----------
    model : mapping
        The content of model.json.
    matrix : Matrix
        As measured, either way round; the model's genes say which way.
    matrix_file : str
        Its file, in messages.
    missing : float
        Largest share of a sample's needed genes that may be filled in, 0 to 1. Needed are the
        genes of the list that is used; all that the steps look at, where they look across genes.
    mu : float or None
        Which of the nested models; None is the answer of the study.
    fdr_selected : bool
        Score by the FDR-selected genes instead.
    source : str
        File of the model, in messages.
    samples : DataFrame or None
        Sample table of the new samples, which chooses those that are scored. A model with
        covariates needs it for these, one with the step combat for the batch of each sample; one
        of an unknown batch is not corrected.
    renamed : str or None
        HGNC's table, by which genes are found that the matrix calls otherwise.

    Raises InvalidInput: two samples have one name, or one has none; too many genes are missing, a
    cell is no number, the values are on another scale; the file is no model, or has none at `mu`.
    """
    import pandas as pd

    check_model(model, source)
    check_steps(model, source)
    model_of_list = chosen_model(model, mu, fdr_selected=fdr_selected)
    if not 0 <= missing <= 1:
        raise input_error("--missing", f"{missing:g} is no share; it needs 0 to 1")
    genes = model["training"]["genes"]
    sample_names = None if samples is None else list(map(str, samples.index))
    oriented = turn_samples_to_rows(matrix, genes, matrix_file)
    problems = list[Problem]()
    oriented, _ = leave_out_other_columns(
        oriented, matrix_file, Surroundings(samples, genes=genes), problems
    )
    oriented, translation_warnings = take_study_names(oriented, genes, renamed, matrix_file)
    problems += check_gene_names(oriented, matrix_file)
    oriented, left_out_warnings = select_listed_samples(oriented, sample_names, matrix_file)
    prepared = prepare(
        model, model_of_list, oriented, matrix_file, missing=missing, setting="--missing"
    )
    sample_rows = None
    if samples is not None:
        _check_sample_table(model, samples, prepared.samples)
        sample_rows = samples[~samples.index.duplicated()].reindex(list(prepared.samples))
    covariate_warnings = check_model_covariates(model, sample_rows, "--samples")
    model_genes = compare_values(model, "scale", prepared, prepared.values, sample_rows)
    panel = compare_values(model, "panel", prepared, prepared.values, sample_rows)
    if panel_error := panel_fault(panel):
        raise input_error(matrix_file, panel_error)
    if scale_error := describe_scale_fault(model_genes):
        raise input_error(matrix_file + scale_error.place, scale_error.message)
    values = apply_learned_steps(model, model_of_list, prepared.values, sample_rows)
    scores = score_values(values, model_of_list)
    scores = scores + covariate_scores(model, model_of_list, sample_rows)
    predict_columns = partial(
        MODEL_KINDS[model["task"]].predicted, model, model_index(model, model_of_list)
    )
    predicted = predict_columns(scores)
    shift = common_shift(panel)
    score_column = {"score": scores} if scores.ndim == 1 else {}
    columns = {"sample": prepared.samples, **score_column, **predicted, "imputed": prepared.imputed}
    # Calls without the part that a shift of all genes has in the scores.
    corrected_calls = predict_columns(
        scores - shift * np.sum(model_of_list["coefficients"], axis=0)
    )["predicted"]
    doubt = call_doubts(predicted["predicted"], corrected_calls, shift)
    for row, reason in panel_doubts(panel):
        doubt[row] = _join_reasons(doubt[row], reason)
    warnings = [
        *_evidence_warnings(model, model_of_list, source),
        *_odd_sample_warnings(find_odd_samples(model_genes), matrix_file),
        *_batch_warnings(model, prepared.samples, sample_rows, matrix_file),
        *_doubt_warning(doubt, matrix_file),
    ]
    doubt = _add_evidence_doubt(model, model_of_list, doubt)
    table = pd.DataFrame(columns | {"list": model_of_list["list"], "doubt": doubt})
    scale = SCALE_NOT_COMPARED
    if not needs_study_moments(model):
        scale = describe_scale(panel if has_enough_panel_genes(panel) else model_genes)
    contributions = contributions_to_scores(
        model, model_of_list, prepared.samples, values, sample_rows
    )
    all_problems = [
        *problems,
        *translation_warnings,
        *left_out_warnings,
        *prepared.problems,
        *covariate_warnings,
        *warnings,
    ]
    return Predictions(table, contributions, all_problems, scale)


def prepare(
    model: ModelJson,
    model_of_list: ModelJson,
    matrix: Matrix,
    matrix_file: str,
    *,
    missing: float,
    setting: str,
) -> Prepared:
    """Return the samples of a matrix, matched by gene, after the row-wise steps of the model.

    model, model_of_list: the content of model.json; the one of its models that is used.
    matrix_file, setting: its file and the setting of `missing`, in messages. missing: as in
    `predict`.

    Raises InvalidInput: as `predict`.
    """
    genes = list(model["training"]["genes"])
    used_columns = _used_columns(model, model_of_list)
    panel_only = set(model["training"]["panel"]["genes"]) - {genes[k] for k in used_columns}
    X, is_finite = match_genes(matrix, genes, matrix_file, panel_only)
    if zeros_are_missing(model):
        is_finite &= X != 0
    # An indicator is known if a gene that it stands for is in the matrix at all.
    indicator_genes, indicator_columns = indicators(model)
    in_matrix = np.isin(genes, matrix.columns)
    for column, genes_of_indicator in genes_by_indicator(indicator_genes, indicator_columns):
        X[:, column] = ~is_finite[:, genes_of_indicator].any(axis=1)
        is_finite[:, column] = in_matrix[genes_of_indicator].any()
    imputation = "the mean of the training samples"
    if imputation_step(model) == "knn_impute":
        imputation = "the model's knn_impute"
    counts_as_low = in_matrix & takes_missing_as_low(model)
    is_measured = is_finite | counts_as_low
    needed_genes = [genes[k] for k in used_columns]
    hint = other_spelling_hint(needed_genes, matrix.columns)
    problems = _check_missing(
        is_measured[:, used_columns],
        needed_genes,
        matrix.rows,
        missing,
        imputation=imputation,
        matrix_file=matrix_file,
        setting=setting,
        hint=hint,
    )
    problems += [Problem(matrix_file, matrix.doubt, "warning")] if matrix.doubt else []
    means = np.asarray(model["training"]["means"], dtype=float)
    # A model that learned how to fill in missing values does so by itself: it gets NaN.
    fill = np.where(counts_as_low | leaves_missing_to_steps(model), np.nan, means)
    _check_sample_count(model, matrix.rows, matrix_file)
    row_values = apply_row_steps(model, X, is_finite, fill)
    _check_logarithms(model, row_values, is_finite, matrix.rows, matrix_file)
    values = apply_study_steps(model, row_values, is_finite, fill)
    values[:, indicator_columns] = np.where(
        is_finite[:, indicator_columns], X[:, indicator_columns], fill[indicator_columns]
    )
    scale = _training_scale(model)
    new = NewValues(X, values, is_finite, genes, matrix.rows, scale, matrix_file)
    check_values(new)
    problems += zero_warnings(new)
    problems += rate_warnings(new, model["training_samples"])
    return Prepared(matrix.rows, values, is_measured, used_columns, problems)


def compare_values(
    model: ModelJson,
    gene_set: str,
    prepared: Prepared,
    values: Array,
    sample_rows: pd.DataFrame | None = None,
) -> ComparedValues:
    """Return the values of some genes after all steps, to be compared with the training samples.

    gene_set: ``scale`` for the genes of the models, ``panel`` for further genes.
    values (n_samples, n_training_genes) float: after the row-wise steps.
    sample_rows: as for `apply_learned_steps`.
    """
    scale = model["training"][gene_set]
    column_of_gene = {gene: k for k, gene in enumerate(model["training"]["genes"])}
    is_measured = prepared.is_measured[:, [column_of_gene[gene] for gene in scale["genes"]]]
    X = apply_learned_steps(model, scale, values, sample_rows)
    return ComparedValues(X, is_measured, prepared.samples, scale)


def score_values(values: Array, model_of_list: ModelJson) -> Array:
    """Return the score of each sample, (n,) or (n, T), from the values of `apply_learned_steps`."""
    # Not a matrix product: its rounding depends on the number of samples.
    weights = np.array(model_of_list["coefficients"], dtype=float)
    intercept = model_of_list["intercept"]
    if not isinstance(intercept, list):
        return np.asarray(intercept + (values * weights).sum(axis=1))
    class_weights = weights.reshape(-1, len(intercept)).T
    return np.stack(
        [a + (values * w).sum(axis=1) for a, w in zip(intercept, class_weights, strict=True)],
        axis=1,
    )


def _add_evidence_doubt(
    model: ModelJson, model_of_list: ModelJson, doubt: Sequence[str]
) -> list[str]:
    """Return the doubts with a note that the evidence for the whole model is weak, if it is.

    The shrinkage of probabilities or risks decides if there is one, otherwise the selected genes.
    """
    shrinkage = _shrinkage(model_of_list)
    if shrinkage is not None:
        evidence = doubt_of_line(shrinkage, survival="risk" in model_of_list)
    else:
        evidence = NO_EVIDENCE if has_selected_no_gene(model) else ""
    return [_join_reasons(reason, evidence) for reason in doubt]


def _shrinkage(model_of_list: ModelJson) -> float | None:
    """Return the shrinkage of a model's line of probabilities or risks; None without a line."""
    line = model_of_list.get("probability") or model_of_list.get("risk") or {}
    return line.get("shrinkage")


def _join_reasons(*reasons: str) -> str:
    """Return the reasons that are not empty, joined."""
    return "; ".join(filter(None, reasons))


def _evidence_warnings(
    model: ModelJson, model_of_list: ModelJson, source: str
) -> Iterator[Problem]:
    """Yield a warning if the evidence for the model is weak, or some genes are not FDR-selected."""
    shrinkage = _shrinkage(model_of_list)
    is_survival = "risk" in model_of_list
    if shrinkage is not None and (doubt := doubt_of_line(shrinkage, survival=is_survival)):
        yield Problem(source, doubt, "warning")
    if model_of_list["list"] != FDR_SELECTED and shrinkage is None and has_selected_no_gene(model):
        message = (
            f"{NO_EVIDENCE}: use a score only if the report of the study finds evidence for its"
            " predictive model"
        )
        yield Problem(source, message, "warning")
    genes = model_of_list["genes"]
    selected = model_of_list.get("fdr_selected_genes", genes)
    if not model_of_list.get("has_fdr_selected", True):
        message = (
            "no gene is FDR-selected; the model is that of the"
            f" {counted(len(genes), 'most frequent gene')}, without an estimated error rate"
        )
        yield Problem(source, message, "warning")
    elif len(selected) < len(genes):
        has_evidence = "is FDR-selected" if len(selected) == 1 else "are FDR-selected"
        message = (
            f"{len(selected)} of the {counted(len(genes), 'gene')} {has_evidence}:"
            f" {listing(selected, 9)}; the others are the most frequent ones, without an estimated"
            " error rate"
        )
        yield Problem(source, message, "warning")


def _used_columns(model: ModelJson, model_of_list: ModelJson) -> list[int]:
    """Return the columns, among the training genes, of the genes that the scores depend on."""
    genes = model["training"]["genes"]
    model_genes = set(model_of_list["genes"])
    steps_across_genes = {
        step["step"] for step in model["normalisation"]["steps"]
    } - GENE_WISE_STEPS
    return [k for k, gene in enumerate(genes) if steps_across_genes or gene in model_genes]


def _check_sample_count(model: ModelJson, sample_names: Sequence[str], matrix_file: str) -> None:
    """Raise if the model standardises each gene over the new samples, and these are too few."""
    if needs_study_moments(model) and len(sample_names) < MIN_STUDY_SAMPLES:
        message = (
            f"{counted(len(sample_names), 'sample')}, at least {MIN_STUDY_SAMPLES} are needed: the"
            " model was made of several studies, each gene taken by its mean and spread in its own"
            " study, and needs these of the new samples, too; score more of them together, or train"
            " with across.align: rank, which needs one sample"
        )
        raise input_error(matrix_file, message)


def _check_logarithms(
    model: ModelJson,
    values: Array,
    is_measured: Array,
    sample_names: Sequence[str],
    matrix_file: str,
) -> None:
    """Raise if values are on another scale than before the alignment of the training samples.

    See `describe_log_fault`.
    """
    # median and 99th percentile of the training samples
    if scale_before_alignment := model["training"].get("before_alignment"):
        # Steps that learn the depth are applied after this check, to new samples as well.
        row_wise_log_steps = LOG2_STEPS - LEARNED_DEPTH_STEPS
        fault = describe_log_fault(
            values,
            is_measured,
            sample_names,
            scale_before_alignment,
            takes_logarithms=bool(row_wise_log_steps & _training_scale(model).steps),
        )
        if fault:
            raise input_error(matrix_file + fault.place, fault.message)


def _check_missing(
    is_measured: Array,
    needed_genes: Sequence[str],
    sample_names: Sequence[str],
    missing: float,
    *,
    imputation: str,
    matrix_file: str,
    setting: str,
    hint: str,
) -> list[Problem]:
    """Return the warning of imputed genes, if there are any; raise if a sample lacks too many.

    is_measured (n_samples, n_needed_genes) bool. missing: largest share of a sample's needed genes.
    imputation, hint: texts of the message; hint is '' unless genes are spelt otherwise.
    """
    share = 1 - is_measured.mean(axis=1) if needed_genes else np.zeros(len(sample_names))
    if not share.any():
        return []
    worst_sample = int(np.argmax(share))
    absent = [needed_genes[k] for k in np.flatnonzero(~is_measured[worst_sample]).tolist()]
    finding = (
        f"{len(absent)} of the {counted(len(needed_genes), 'gene')} that the model needs are"
        f" missing in sample '{sample_names[worst_sample]}': {listing(absent)}"
    )
    if share[worst_sample] > missing:
        raise input_error(
            matrix_file, f"{finding}; at most a share of {missing:g} may be ({setting}){hint}"
        )
    affected = counted(int((share > 0).sum()), "sample")
    message = f"{finding} ({affected} with missing genes); filled in by {imputation}{hint}"
    return [Problem(matrix_file, message, "warning", code="id_spelling" if hint else "")]


def _check_sample_table(
    model: ModelJson, sample_table: pd.DataFrame, sample_names: Sequence[str]
) -> None:
    """Raise if the table has two rows for a new sample, or lacks a column of the step combat."""
    if duplicates := [
        str(name)
        for name in sample_table.index[sample_table.index.duplicated()]
        if name in set(sample_names)
    ]:
        message = f"sample {listing(duplicates)} stands there more than once; keep one row"
        raise input_error("--samples", message)
    for step in model_steps(model).learned:
        if step.kind != "batch":
            continue
        missing_columns = [
            column for column in map(str, step.columns) if column not in sample_table.columns
        ]
        if missing_columns:
            message = f"has no column {listing(missing_columns)}, which combat looks at (columns: "
            raise input_error("--samples", f"{message}{listing(sample_table.columns, 6)})")


def _odd_sample_warnings(odd: Sequence[tuple[str, str]], matrix_file: str) -> list[Problem]:
    """Return the warning that names the first odd sample."""
    if not odd:
        return []
    (sample, reason), *other_names = odd
    also_odd = (
        f" (as would be {listing(other_name for other_name, _ in other_names)})"
        if other_names
        else ""
    )
    message = f"{reason}; alone it would be refused{also_odd}: look at it before you use its score"
    return [Problem(f"{matrix_file}, sample '{sample}'", message, "warning")]


def _doubt_warning(doubt: Sequence[str], matrix_file: str) -> Iterator[Problem]:
    """Yield a warning that counts the samples with an entry in the column ``doubt``."""
    reasons = [reason for reason in doubt if reason]
    if reasons:
        message = (
            f"the call of {counted(len(reasons), 'sample')} of {len(doubt)} is in doubt, see the"
            f" column 'doubt': {reasons[0]}"
        )
        yield Problem(matrix_file, message, "warning")


def _batch_warnings(
    model: ModelJson,
    sample_names: Sequence[str],
    sample_rows: pd.DataFrame | None,
    matrix_file: str,
) -> Iterator[Problem]:
    """Yield a warning for each batch step that does not know a sample's batch."""
    steps = [step for step in model_steps(model).learned if step.kind == "batch"]
    for step in steps:
        uncorrected = [
            sample
            for sample, is_uncorrected in zip(
                sample_names, step.uncorrected(sample_rows, len(sample_names)), strict=True
            )
            if is_uncorrected
        ]
        if uncorrected:
            column, *covariates = map(str, step.columns)
            covariate_text = f" (and {listing(covariates)})" if covariates else ""
            advice = (
                f"; --samples names the table whose column '{column}'{covariate_text} says of"
                " which batch a sample is"
            )
            message = (
                f"combat leaves {counted(len(uncorrected), 'sample')} as measured, of no batch that"
                f" the model knows ({listing(step.batches, 6)}): {listing(uncorrected)}"
                f"{advice if sample_rows is None else ''}"
            )
            yield Problem(matrix_file, message, "warning")


def _training_scale(model: ModelJson) -> TrainingValues:
    """Return the scale of the training values from model.json."""
    training = model["training"]
    return TrainingValues(
        means=np.array(training["means"], dtype=float),
        sds=np.array(training["sds"], dtype=float),
        p99=training["p99"],
        smallest=training["min"],
        largest=training["max"],
        steps=frozenset(step["step"] for step in model["normalisation"]["steps"]),
    )
