"""The locked model on new samples: matched by gene, missing genes stated, wrong scales refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.arrays import Array
from genesig.data.cohorts.new_matrix import (
    GENE_WISE_STEPS,
    TrainingValues,
    check_values,
    match_genes,
    rate_warnings,
    select_listed_samples,
    turn_samples_to_rows,
    zero_warnings,
)
from genesig.data.cohorts.translation import take_study_names
from genesig.data.files.delimited import Matrix
from genesig.data.files.gene_ids import versions_hint
from genesig.data.files.non_genes import Surroundings
from genesig.data.steps.alignment import MIN_STUDY_SAMPLES
from genesig.data.steps.missing_indicators import genes_by_indicator
from genesig.data.steps.scale import LEARNED_DEPTH_STEPS, LOG2_STEPS
from genesig.data.study.matrix_check import check_gene_names, leave_out_other_columns
from genesig.errors import Problem, refuse
from genesig.optim.class_line import doubt_of_line
from genesig.selection.model.before_alignment import NOT_TOLD, other_logarithms
from genesig.selection.model.kinds.known import MODELLED
from genesig.selection.model.same_scale import (
    call_doubts,
    common_shift,
    enough,
    odd_samples,
    other_scale,
    panel_doubts,
    panel_fault,
    told,
)
from genesig.selection.model.schema import FDR_SELECTED, chosen_model, place, without_evidence
from genesig.selection.model.shape import (
    Model,
    aligned,
    aligns,
    by_row,
    check_model,
    check_steps,
    covariate_scores,
    filler,
    fills_in,
    indicators,
    refuse_unknown,
    seen_by,
    split_steps,
    takes_as_low,
    zeros_are_missing,
)
from genesig.words import counted, listing

if TYPE_CHECKING:
    import pandas as pd

UNPROVEN = "no gene of the study has evidence of its own"
HELD = ("scale", "panel")
"""Genes that are held against the training samples: of the models, and for the scale alone."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """New samples after the row-wise steps of the model.

    Attributes
    ----------
    samples : tuple of str
    values : (n_samples, n_genes) float
        In the order of the model's training genes; what was missing is filled in, or NaN where
        the model has a step for it.
    known : (n_samples, n_genes) bool
    used : list of int
        Places of the genes that the scores depend on.
    problems : list of Problem
        Warnings.
    """

    samples: tuple[str, ...]
    values: Array
    known: Array
    used: list[int]
    problems: list[Problem]

    @property
    def imputed(self) -> Array:
        """Number of needed genes that were filled in, for each sample."""
        return np.asarray((~self.known[:, self.used]).sum(axis=1))


def predict(
    model: Model,
    matrix: Matrix,
    where: str,
    *,
    missing: float,
    mu: float | None,
    fdr_selected: bool = False,
    source: str = "the model",
    samples: pd.DataFrame | None = None,
    renamed: str | None = None,
) -> tuple[pd.DataFrame, list[Problem]]:
    """f(x) = intercept + Σ_j x_j β_j for the samples of a matrix, from model.json alone.

    A gene of the model that the matrix lacks, or that is blank in a sample, gets its mean over the
    training samples, after the row-wise steps; or what the model's knn_impute gives it, where it
    has one. To a model that takes what is blank for low (`AS_LOW`) it was measured and too small,
    so is not missing, other than a gene that the matrix lacks. Genes that the model does not know
    are ignored.

    Parameters
    ----------
    model : mapping
        The content of model.json.
    matrix : Matrix
        As measured, either way round; the model's genes say which way.
    where : str
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

    Returns
    -------
    DataFrame (sample, score, predicted, imputed, list, doubt), list of Problem
        Of survival that at the horizon, too. `imputed` counts the needed genes filled in, `list`
        says which model scored, `doubt` why a call may be wrong; the problems are warnings.
        ``attrs["scale"]`` says how the values compare with the training ones.

    Raises
    ------
    InvalidInput
        Two samples have one name, or one has none; too many genes are missing, a cell is no
        number, the values are on another scale; the file is no model, or has none at `mu`.
    """
    import pandas as pd

    check_model(model, source)
    check_steps(model, source)
    chosen = chosen_model(model, mu, fdr_selected=fdr_selected)
    if not 0 <= missing <= 1:
        raise refuse("--missing", f"{missing:g} is no share; it needs 0 to 1")
    genes = model["training"]["genes"]
    listed = None if samples is None else list(map(str, samples.index))
    oriented, others = turn_samples_to_rows(matrix, genes, where), list[Problem]()
    oriented, _ = leave_out_other_columns(
        oriented, where, Surroundings(samples, genes=genes), others
    )
    oriented, other = take_study_names(oriented, genes, renamed, where)
    others += check_gene_names(oriented, where)
    oriented, left = select_listed_samples(oriented, listed, where)
    found = prepare(model, chosen, oriented, where, missing=missing, bound="--missing")
    about = None
    if samples is not None:
        _check_about(model, samples, found.samples)
        about = samples[~samples.index.duplicated()].reindex(list(found.samples))
    known = refuse_unknown(model, about, "--samples")
    on_scale, panel = (scale_values(model, found, found.values, about, of) for of in HELD)
    if fault := panel_fault(*panel):
        raise refuse(where, fault)
    if odd := other_scale(*on_scale):
        raise refuse(where + odd[0], odd[1])
    scores = score_values(seen_by(model, chosen, found.values, about), chosen)
    scores = scores + covariate_scores(model, chosen, about)
    said_of = partial(MODELLED[model["task"]].predicted, model, place(model, chosen))
    own, shift = said_of(scores), common_shift(panel[0], panel[1], panel[3])
    one = {"score": scores} if scores.ndim == 1 else {}
    columns = {"sample": found.samples, **one, **own, "imputed": found.imputed}
    without = said_of(scores - shift * np.sum(chosen["coefficients"], axis=0))["predicted"]
    doubt = call_doubts(own["predicted"], without, shift)
    for row, why in panel_doubts(*panel):
        doubt[row] = _joined(doubt[row], why)
    said = [
        *_not_claimed(model, chosen, source), *_odd(odd_samples(*on_scale), where),
        *_not_corrected(model, found.samples, about, where), *_doubtful(doubt, where),
    ]  # fmt: skip
    doubt = _with_evidence(model, chosen, doubt)
    table = pd.DataFrame(columns | {"list": chosen["list"], "doubt": doubt})
    table.attrs["scale"] = _compared(model, panel if enough(panel[1]) else on_scale)
    return table, [*others, *other, *left, *found.problems, *known, *said]


def prepare(model: Model, chosen: Model, matrix: Matrix, where: str, *, missing: float,
            bound: str) -> Prepared:  # fmt: skip
    """Match the genes of a matrix with samples in rows, and apply the row-wise steps.

    Parameters
    ----------
    model, chosen : mapping
        The content of model.json; the one of its models that is used.
    matrix : Matrix
    where, bound : str
        Its file and the setting of `missing`, in messages.
    missing : float
        As in `predict`.

    Raises
    ------
    InvalidInput
        As `predict`.
    """
    genes = list(model["training"]["genes"])
    used = _used(model, chosen)
    spared = set(model["training"]["panel"]["genes"]) - {genes[k] for k in used}
    X, found = match_genes(matrix, genes, where, spared)
    if zeros_are_missing(model):
        found &= X != 0
    of, added = indicators(model)  # known wherever the new samples' gene was measured at all
    measured = np.isin(genes, matrix.columns)
    for column, those in genes_by_indicator(of, added):
        X[:, column], found[:, column] = ~found[:, those].any(axis=1), measured[those].any()
    knn, own = filler(model) == "knn_impute", fills_in(model)
    by = "the model's knn_impute" if knn else "the mean of the training samples"
    low = measured & takes_as_low(model)
    known, needed = found | low, [genes[k] for k in used]
    hint = versions_hint(needed, matrix.columns)
    problems = _check_missing(known[:, used], needed, matrix.rows, missing, by, where, bound, hint)
    problems += [Problem(where, matrix.doubt, "warning")] if matrix.doubt else []
    means = np.asarray(model["training"]["means"], dtype=float)
    # A model that learned to fill in does so itself, and is given NaN.
    fill = np.where(low | own, np.nan, means)
    _check_number(model, matrix.rows, where)
    rows = by_row(model, X, found, fill)
    _check_logarithms(model, rows, found, matrix.rows, where)
    values = aligned(model, rows, found, fill)
    values[:, added] = np.where(found[:, added], X[:, added], fill[added])
    scale = _scale(model)
    check_values(X, values, found, genes, matrix.rows, scale, where)
    problems += zero_warnings(X, values, found, genes, matrix.rows, scale, where)
    problems += rate_warnings(X, found, scale, model["training_samples"], where)
    return Prepared(matrix.rows, values, known, used, problems)


def scale_values(
    model: Model,
    found: Prepared,
    values: Array,
    about: pd.DataFrame | None = None,
    of: str = "scale",
) -> tuple[Array, Array, tuple[str, ...], Mapping[str, Any]]:  # fmt: skip
    """Return what `other_scale` holds against the training samples: as the coefficients see them.

    Steps after which the scale is of no account (quantiles, ranks) have been applied by then.

    Parameters
    ----------
    values : (n_samples, n_training_genes) float
        As for `seen_by`.
    of : str
        One of `HELD`.
    """
    scale = model["training"][of]
    place = {gene: k for k, gene in enumerate(model["training"]["genes"])}
    known = found.known[:, [place[gene] for gene in scale["genes"]]]
    return seen_by(model, scale, values, about), known, found.samples, scale


def _compared(model: Model, held: tuple[Array, Array, tuple[str, ...], Mapping[str, Any]]) -> str:
    """Say how the values compare with the training ones, where the model lets that be told."""
    return NOT_TOLD if aligns(model) else told(*held)


def score_values(values: Array, chosen: Model) -> Array:
    """Return the score of each sample, (n_samples,) or of each class, from what `seen_by` gives."""
    # Not a matrix product: its sums depend on how many samples stand beside one.
    weights, intercept = np.array(chosen["coefficients"], dtype=float), chosen["intercept"]
    if not isinstance(intercept, list):
        return np.asarray(intercept + (values * weights).sum(axis=1))
    each = zip(intercept, weights.reshape(-1, len(intercept)).T, strict=True)
    return np.stack([start + (values * w).sum(axis=1) for start, w in each], axis=1)


def _with_evidence(model: Model, chosen: Model, doubt: Sequence[str]) -> list[str]:
    """Add to the doubt of each sample how weak the evidence for the whole model is, if it is.

    The shrinkage of probabilities or risks decides if there is one, otherwise the selected genes.
    """
    shrinkage = _shrinkage(chosen)
    if shrinkage is not None:
        evidence = doubt_of_line(shrinkage, survival="risk" in chosen)
    else:
        evidence = UNPROVEN if without_evidence(model) else ""
    return [_joined(reason, evidence) for reason in doubt]


def _shrinkage(chosen: Model) -> float | None:
    """Return the shrinkage of a model's line of probabilities or risks; None without a line."""
    line = chosen.get("probability") or chosen.get("risk") or {}
    return line.get("shrinkage")


def _joined(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def _not_claimed(model: Model, chosen: Model, source: str) -> Iterator[Problem]:
    """Warn where the evidence for the model is weak, or not each of the named genes has any."""
    shrinkage = _shrinkage(chosen)
    if shrinkage is not None and (why := doubt_of_line(shrinkage, survival="risk" in chosen)):
        yield Problem(source, why, "warning")
    if chosen["list"] != FDR_SELECTED and shrinkage is None and without_evidence(model):
        what = f"{UNPROVEN}: use a score only if the report of the study finds evidence"
        yield Problem(source, f"{what} for its predictive model", "warning")
    if not chosen.get("has_fdr_selected", True):
        number = counted(len(chosen["genes"]), "most frequent gene")
        what = f"no gene has evidence of its own; the model is that of the {number}, of which"
        what += " nothing is claimed"
        yield Problem(source, what, "warning")
    elif len(some := chosen.get("fdr_selected_genes", chosen["genes"])) < len(chosen["genes"]):
        has = "has" if len(some) == 1 else "have"
        what = f"{len(some)} of the {counted(len(chosen['genes']), 'gene')} {has} evidence of"
        what += f" {'its' if len(some) == 1 else 'their'} own: {listing(some, 9)}; the others are"
        yield Problem(source, f"{what} the most frequent ones, of which nothing is claimed",
                      "warning")  # fmt: skip


def _used(model: Model, chosen: Model) -> list[int]:
    """Return the places of the genes that the scores depend on, among the training genes."""
    genes, listed = model["training"]["genes"], set(chosen["genes"])
    across = {step["step"] for step in model["normalisation"]["steps"]} - GENE_WISE_STEPS
    return [k for k, gene in enumerate(genes) if across or gene in listed]


def _check_number(model: Model, names: Sequence[str], where: str) -> None:
    """Refuse too few samples for moments of their own, where the model takes its genes by these."""
    if aligns(model) and len(names) < MIN_STUDY_SAMPLES:
        what = f"{counted(len(names), 'sample')}, at least {MIN_STUDY_SAMPLES} are needed: "
        what += "the model was made of several studies, each gene taken by its mean and spread in "
        what += "its own study, and needs these of the new samples, too; score more of them "
        what += "together, or train with "
        raise refuse(where, what + "across.align: rank, which needs one sample")


def _check_logarithms(model: Model, values: Array, known: Array, names: Sequence[str],
                      where: str) -> None:  # fmt: skip
    """Refuse values that no scale tells once they are aligned: see `other_logarithms`."""
    if then := model["training"].get("before_alignment"):
        taken = bool((LOG2_STEPS - LEARNED_DEPTH_STEPS) & _scale(model).steps)
        fault = other_logarithms(values, known, names, then, taken=taken)
        if fault:
            raise refuse(where + fault[0], fault[1])


def _check_missing(known: Array, needed: Sequence[str], names: Sequence[str], missing: float,
                   filler: str, where: str, bound: str, hint: str) -> list[Problem]:  # fmt: skip
    share = 1 - known.mean(axis=1) if needed else np.zeros(len(names))
    if not share.any():
        return []
    worst = int(np.argmax(share))
    absent = [needed[k] for k in np.flatnonzero(~known[worst]).tolist()]
    what = f"{len(absent)} of the {counted(len(needed), 'gene')} that the model needs "
    what += f"are missing in sample '{names[worst]}': {listing(absent)}"
    if share[worst] > missing:
        what += f"; at most a share of {missing:g} may be ({bound}){hint}"
        raise refuse(where, what)
    others = f" ({counted(int((share > 0).sum()), 'sample')} with missing genes)"
    what += f"{others}; filled in by {filler}{hint}"
    return [Problem(where, what, "warning", code="id_versions" if hint else "")]


def _check_about(model: Model, about: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse a sample table that cannot say of which batch the new samples are."""
    if twice := [str(name) for name in about.index[about.index.duplicated()] if name in set(names)]:
        what = f"sample {listing(twice)} stands there more than once; keep one row"
        raise refuse("--samples", what)
    for step in split_steps(model)[1]:
        if step.kind != "batch":
            continue
        lacking = [column for column in map(str, step.columns) if column not in about.columns]
        if lacking:
            what = f"has no column {listing(lacking)}, which combat looks at (columns: "
            raise refuse("--samples", f"{what}{listing(about.columns, 6)})")


def _odd(found: Sequence[tuple[str, str]], where: str) -> list[Problem]:
    if not found:
        return []
    (name, fault), *others = found
    too = f" (as would be {listing(other for other, _ in others)})" if others else ""
    what = f"{fault}; alone it would be refused{too}: look at it before you use its score"
    return [Problem(f"{where}, sample '{name}'", what, "warning")]


def _doubtful(doubt: Sequence[str], where: str) -> Iterator[Problem]:
    """Say of how many samples the column `doubt` says something."""
    said = [each for each in doubt if each]
    if said:
        what = f"the call of {counted(len(said), 'sample')} of {len(doubt)} is in doubt, see the "
        what += f"column 'doubt': {said[0]}"
        yield Problem(where, what, "warning")


def _not_corrected(model: Model, names: Sequence[str], about: pd.DataFrame | None,
                   where: str) -> Iterator[Problem]:  # fmt: skip
    steps = [step for step in split_steps(model)[1] if step.kind == "batch"]
    for step in steps:
        left = [n for n, is_left in zip(names, step.uncorrected(about, len(names)), strict=True)
                if is_left]  # fmt: skip
        if left:
            column, *covariates = map(str, step.columns)
            also = f" (and {listing(covariates)})" if covariates else ""
            what = f"combat leaves {counted(len(left), 'sample')} as measured, of no batch that "
            what += f"the model knows ({listing(step.batches, 6)}): {listing(left)}"
            if about is None:
                what += f"; --samples names the table whose column '{column}'{also} says of which "
                what += "batch a sample is"
            yield Problem(where, what, "warning")


def _scale(model: Model) -> TrainingValues:
    training = model["training"]
    return TrainingValues(
        np.array(training["means"], dtype=float), np.array(training["sds"], dtype=float),
        training["p99"], training["min"], training["max"],
        frozenset(step["step"] for step in model["normalisation"]["steps"]),
    )  # fmt: skip
