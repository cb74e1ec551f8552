"""The locked model on new samples: matched by gene, missing genes stated, wrong scales refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genesig.data.delimited import Matrix
from genesig.data.normalise import Reference
from genesig.data.scale_check import LOGGED_MAX, LOGGED_P99
from genesig.data.words import counted, is_missing, listing, number_fault
from genesig.errors import GenesigError, InvalidInput, Problem
from genesig.selection.frequency import mu_number

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
Model = Mapping[str, Any]
# In training standard deviations. Batches shift the median gene by one or two of them; another
# base of the logarithm, by three or more.
FAR, ODD = 5.0, 1.0
LOGARITHMS = {"log2", "log_cpm", "rma_background"}
# Steps that do to a gene what they would do without the others.
GENE_BY_GENE = {"log2", "detection_filter", "variance_filter", "fold_filter", "range_filter"}
PARTS = ("training", "normalisation", "models", "signature_mu", "classes", "threshold")


def predict(model: Model, matrix: Matrix, where: str, *, missing: float, mu: float | None,
            source: str = "the model") -> tuple[pd.DataFrame, list[Problem]]:  # fmt: skip
    """f(x) = intercept + Σ_j x_j β_j for the samples of a matrix, from model.json alone.

    A gene of the model that the matrix lacks, or that is blank in a sample, gets its mean over the
    training samples, after the row-wise steps; or what the model's knn_impute gives it, where it
    has one. Genes that the model does not know are ignored.

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
        Which of the nested models; None is that of the signature.
    source : str
        File of the model, in messages.

    Returns
    -------
    DataFrame (sample, score, predicted, imputed), list of Problem
        `imputed` counts the needed genes filled in; the problems are warnings.

    Raises
    ------
    InvalidInput
        Too many genes are missing, a cell is no number, the values are on another scale; the file
        is no model, or has none at `mu`.
    """
    import pandas as pd

    _check_model(model, source)
    chosen, genes = _chosen(model, mu), list(model["training"]["genes"])
    if not 0 <= missing <= 1:
        raise InvalidInput([Problem("--missing", f"{missing:g} is no share; it needs 0 to 1")])
    oriented = _samples_in_rows(matrix, genes, where)
    X, known = _matched(oriented, genes, where)
    used = _used(model, chosen)
    needed = [genes[k] for k in used]
    filler = "the model's knn_impute" if _imputes(model) else "the mean of the training samples"
    problems = _check_missing(known[:, used], needed, oriented.rows, missing, filler, where)
    values = _row_wise(model, X, known)
    _check_scale(model, X, values, known, oriented.rows, where)
    scores = _score(model, values, chosen)
    classes = model["classes"]
    predicted = scores
    if classes is not None:
        above = scores > model["threshold"]
        predicted = np.where(above, classes["positive"], classes["negative"])
    columns = {"sample": oriented.rows, "score": scores, "predicted": predicted,
               "imputed": (~known[:, used]).sum(axis=1)}  # fmt: skip
    return pd.DataFrame(columns), problems


def _check_model(model: Model, source: str) -> None:
    """Refuse a file that is no model, or one of an earlier version, without training means."""
    lacks = [key for key in PARTS if not isinstance(model, Mapping) or key not in model]
    if lacks:
        what = f"is no model.json of this version of genesig (it has no '{lacks[0]}'); name "
        raise InvalidInput([Problem(source, what + "results/model.json, or run the study again")])


def _chosen(model: Model, mu: float | None) -> Model:
    """Return the model at `mu`."""
    grid = np.array([each["mu"] for each in model["models"]])
    try:
        at = mu_number(grid, model["signature_mu"] if mu is None else mu)
    except GenesigError:
        what = f"{mu:g} is none of the model's: {', '.join(f'{each:g}' for each in grid)}"
        raise InvalidInput([Problem("--mu", what)]) from None
    return dict(model["models"][at])


def _used(model: Model, chosen: Model) -> list[int]:
    """Return the places of the genes that the scores depend on, among the training genes."""
    genes, listed = model["training"]["genes"], set(chosen["genes"])
    across = {step["step"] for step in model["normalisation"]["steps"]} - GENE_BY_GENE
    return [k for k, gene in enumerate(genes) if across or gene in listed]


def _samples_in_rows(matrix: Matrix, needed: Sequence[str], where: str) -> Matrix:
    wanted = set(needed)
    in_rows, in_columns = len(wanted & set(matrix.rows)), len(wanted & set(matrix.columns))
    if wanted and not in_rows and not in_columns:
        what = (f"none of the {counted(len(wanted), 'gene')} of the model is here: the model has "
                f"{listing(needed)}, the matrix has rows {listing(matrix.rows)} and columns "
                f"{listing(matrix.columns)}; is it another kind of gene id?")  # fmt: skip
        raise InvalidInput([Problem(where, what)])
    return matrix.turn() if in_rows > in_columns else matrix


def _matched(matrix: Matrix, needed: Sequence[str], where: str) -> tuple[Array, Array]:
    """Return the needed genes (n, d) in the model's order, and which values are known."""
    place: dict[str, int] = {}
    for column, gene in enumerate(matrix.columns):
        if gene in place and gene in set(needed):
            raise InvalidInput([Problem(where, f"gene '{gene}' occurs twice; keep one")])
        place[gene] = column
    X = np.full((len(matrix.rows), len(needed)), np.nan)
    for k, gene in enumerate(needed):
        if gene in place:
            X[:, k] = matrix.cells[:, place[gene]]
    known = np.isfinite(X)
    for row, k in np.argwhere(~known).tolist():
        text = matrix.text(row, place[needed[k]]) if needed[k] in place else ""
        if not is_missing(text):
            at = f"{where}, gene '{needed[k]}', sample '{matrix.rows[row]}'"
            raise InvalidInput([Problem(at, f"the value {number_fault(text)}")])
    return X, known


def _check_missing(known: Array, needed: Sequence[str], names: Sequence[str], missing: float,
                   filler: str, where: str) -> list[Problem]:  # fmt: skip
    share = 1 - known.mean(axis=1) if needed else np.zeros(len(names))
    if not share.any():
        return []
    worst = int(np.argmax(share))
    absent = [needed[k] for k in np.flatnonzero(~known[worst]).tolist()]
    what = f"{len(absent)} of the {counted(len(needed), 'gene')} that the model needs "
    what += f"are missing in sample '{names[worst]}': {listing(absent)}"
    if share[worst] > missing:
        what += f"; at most a share of {missing:g} may be (--missing)"
        raise InvalidInput([Problem(where, what)])
    others = f" ({counted(int((share > 0).sum()), 'sample')} with missing genes)"
    what += f"{others}; filled in by {filler}"
    return [Problem(where, what, "warning")]


def _row_wise(model: Model, X: Array, known: Array) -> Array:
    """Apply the steps that look at one sample, then fill in the training means.

    A model that learned to fill in does so itself, and is given NaN.
    """
    steps = _split_steps(model)[0]
    own = any(step["step"] == "knn_impute" for step in model["normalisation"]["steps"])
    means = np.asarray(model["training"]["means"], dtype=float)
    values = np.tile(np.full_like(means, np.nan) if own else means, (len(X), 1))
    for row in range(len(X)):
        seen = X[row : row + 1, known[row]]
        for step in steps:
            seen = step.transform(seen)
        values[row, known[row]] = seen[0]
    return values


def _imputes(model: Model) -> bool:
    return "knn_impute" in {step["step"] for step in model["normalisation"]["steps"]}


def _split_steps(model: Model) -> tuple[list[Any], list[Any]]:
    steps = list(Reference.of(model["normalisation"]).steps)
    learned = next((k for k, step in enumerate(steps) if step.kind == "fold"), len(steps))
    return steps[:learned], steps[learned:]


def _score(model: Model, values: Array, chosen: Model) -> Array:
    kept = np.arange(values.shape[1])
    for step in _split_steps(model)[1]:
        values = step.transform(values)
        kept = kept if step.genes is None else kept[step.genes]
    place = {model["training"]["genes"][gene]: column for column, gene in enumerate(kept)}
    columns = np.array([place[gene] for gene in chosen["genes"]], dtype=int)
    # Not a matrix product: its sums depend on how many samples stand beside one.
    terms = np.ascontiguousarray(values[:, columns]) * np.array(chosen["coefficients"])
    return np.asarray(chosen["intercept"] + terms.sum(axis=1))


def _check_scale(model: Model, X: Array, values: Array, known: Array, names: Sequence[str],
                 where: str) -> None:  # fmt: skip
    """Refuse values that were logged where the training ones were not, or the reverse."""
    training = model["training"]
    means, sds = np.array(training["means"]), np.array(training["sds"])
    steps = {step["step"] for step in model["normalisation"]["steps"]}
    takes_logarithms = bool(LOGARITHMS & steps)
    then = training["p99"] > LOGGED_P99 or training["max"] > LOGGED_MAX
    for row, name in enumerate(names):
        used = known[row] & (sds > 0)
        if not used.any():
            continue
        distance = float(np.median(np.abs(values[row] - means)[used] / sds[used]))
        raw, now = _never_logged(X[row, used]), _never_logged(values[row, used])
        other = distance > ODD and (now != then or (takes_logarithms and not raw))
        if other or distance > FAR:
            size = "look as if they were " + ("never logged" if raw else "logged already")
            size = size if other else f"are {distance:.1f} standard deviations off"
            what = (f"the values of sample '{name}' {size}, other than those the model was trained "
                    f"on (median distance {distance:.1f} standard deviations); bring them to the "
                    "same scale")  # fmt: skip
            raise InvalidInput([Problem(where, what)])


def _never_logged(values: Array) -> bool:
    return bool(np.percentile(values, 99) > LOGGED_P99 or values.max() > LOGGED_MAX)
