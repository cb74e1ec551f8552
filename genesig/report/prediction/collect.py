"""The parts of report_data.json about accuracy, permutations and model selection; warnings.

Held-out scores are those of the chosen lists: the gene list that the inner folds of a split chose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from genesig.report.page.measure import MEASURES
from genesig.report.page.record import (
    FitStatistics,
    HeldOut,
    HeldOutSample,
    NullErrors,
    RejectionRule,
    RepeatRocCurve,
    Study,
    rounded,
)
from genesig.report.page.tables import at_mu, class_margins
from genesig.report.page.verdict import LEVEL
from genesig.report.page.words import counted, decimal, short_symbol, shorten
from genesig.selection.assess.calibration import rejection
from genesig.selection.assess.intervals import (
    called_class,
    confusion_matrix,
    relative_squared_error,
    roc_curve,
)
from genesig.selection.model.contributions import (
    HeldOutContributions,
    held_out_contributions,
)

if TYPE_CHECKING:  # the job that draws the page has no data frames
    import pandas as pd

    from genesig.results import Dataset, Fits, Splits


class ErrorSurface(TypedDict):
    """Validation error over the grid of the model selection, mean over the outer splits."""

    tau: list[float]
    along: str  # quantity of the rows: "mu" if several mu were searched, else "lam"
    rows: list[float]  # values of mu, each at its best lam, or values of lam
    # (n_rows, n_tau); None if the list of a split was longer than allowed
    error: list[list[float | None]]
    size: list[list[float | None]]  # (n_mu, n_tau) number of genes; None like `error`
    chosen: list[list[int]]  # [tau index, row, number of splits] of each chosen point
    final: list[int]  # [tau index, row] of the final model


class Prediction(Study):
    """The keys of report_data.json that this topic reads."""

    surface: ErrorSurface


def collect_prediction(
    dataset: Dataset,
    splits: Splits,
    observed: Fits,
    final: Fits,
    tables: Mapping[str, pd.DataFrame],
    null: Mapping[str, Any],
    fold_steps: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the keys `surface`, `held_out` and `null` of the report.

    null: as in `StudyResults`. fold_steps: normalise.folds of the config.
    """
    held_out = with_contributions(
        _held_out_scores(dataset, tables["predictions"]),
        dataset,
        held_out_contributions(dataset, splits, observed, fold_steps),
    )
    shrinkage = final.with_chosen().shrinkage  # None unless the model gives probabilities
    if shrinkage is not None:
        (held_out["shrinkage"],) = shrinkage  # of the only fit
    return {
        "surface": _error_surface(observed, final),
        "held_out": held_out,
        "null": _permutation_errors(null, tables["controls"]),
    }


def _error_surface(observed: Fits, final: Fits) -> ErrorSurface:
    """Return the mean validation error over tau and mu (or lam), and the chosen points."""
    grid = observed.grid
    several_mu = len(grid.searched) > 1
    # (n_splits, n_rows, n_tau), from (n_splits, n_mu, n_tau, n_lam)
    error = grid.error.min(axis=3) if several_mu else grid.error[:, 0].swapaxes(1, 2)
    points = [_chosen_point(observed, fit, several_mu) for fit in range(len(observed))]
    splits_of_point = Counter(points)
    return {
        "tau": grid.tau.tolist(),
        "along": "mu" if several_mu else "lam",
        "rows": (grid.searched if several_mu else grid.lam).tolist(),
        "error": error.mean(axis=0).tolist(),
        "size": grid.n_genes.mean(axis=0).tolist(),
        "chosen": [[tau, row, count] for (tau, row), count in sorted(splits_of_point.items())],
        "final": list(_chosen_point(final, 0, several_mu)),  # fit 0 is the only one
    }


def _chosen_point(fits: Fits, fit: int, several_mu: bool) -> tuple[int, int]:
    """Return the indices of tau and of the row of `ErrorSurface` that a fit chose."""
    tau, lam, mu = (int(index) for index in fits.choice[fit])
    if not several_mu:
        return tau, lam
    # The chosen mu is a searched one, but equal numbers may differ by rounding.
    return tau, int(np.argmin(np.abs(fits.grid.searched - fits.mu[mu])))


def _permutation_errors(null: Mapping[str, Any], controls: pd.DataFrame) -> NullErrors:
    """Return the errors of the permutations with their chosen lists, and the observed one."""
    errors = np.asarray(null["error"], dtype=float)  # (n_permutations, n_lists), chosen list last
    chosen_errors = errors[:, -1] if errors.size else errors.ravel()
    chosen_rows = controls[(controls["model"] == "genesig") & at_mu(controls, None)]
    return {
        "errors": chosen_errors[np.isfinite(chosen_errors)].tolist(),
        "observed": float(chosen_rows["error"].iloc[0]) if len(chosen_rows) else None,
    }


def _held_out_scores(dataset: Dataset, predictions: pd.DataFrame) -> HeldOut:
    """Return the held-out scores of each sample from the chosen lists, with ROC and confusion."""
    table = predictions[at_mu(predictions, None)]  # rows of the chosen lists
    classes = dataset.design.classes
    if classes is not None and len(classes) > 2:
        return _held_out_of_several_classes(dataset, table, classes)
    # ±1 of two classes, else the number, of survival the time
    response_of_sample = dict(zip(dataset.samples, dataset.label_values().tolist(), strict=True))
    has_classes = classes is not None
    score_estimates_outcome = MEASURES[dataset.design.kind].fitted
    label_of_sample: dict[str, Any] = response_of_sample
    if not score_estimates_outcome:  # the class, or time and event as text
        labels = dataset.response_kind.label_cells(dataset.obs, dataset.design)
        label_of_sample = dict(zip(dataset.samples, map(str, labels), strict=True))
    samples = [
        _held_out_sample(
            name, rows, label_of_sample[name], response_of_sample[name] if has_classes else None
        )
        | _held_out_probabilities(rows, classes)
        for name, rows in _tables_by_sample(dataset, table)
    ]
    return {
        "samples": samples,
        "roc": [
            _roc_curve(repeat, rows, response_of_sample) for repeat, rows in table.groupby("repeat")
        ]
        if has_classes
        else None,
        "confusion": _confusion_matrix(table, response_of_sample) if has_classes else None,
        "rejection": _rejection_regions(samples, classes) if classes is not None else None,
        "fit": _fit_of_scores(samples) if score_estimates_outcome else None,
    }


MAX_SHOWN_TERMS = 8  # contributions to the score of a sample; the page sums up the smaller ones
MAX_TERM_LETTERS = 24


def with_contributions(
    held_out: HeldOut, dataset: Dataset, contributions: HeldOutContributions
) -> HeldOut:
    """Return the held-out scores with the largest contributions to the mean of each sample.

    `contributions.terms` has a row for each sample, a column for each gene, then each covariate.
    """
    symbols = dataset.var["symbol"].to_numpy()
    names = [
        short_symbol(str(symbols[gene])) or shorten(dataset.genes[gene], MAX_TERM_LETTERS)
        for gene in contributions.genes
    ]
    names += [shorten(column, MAX_TERM_LETTERS) for column in contributions.covariates]
    row_of_sample = dict(zip(dataset.samples, range(len(dataset.samples)), strict=True))
    samples: list[HeldOutSample] = []
    for sample in held_out["samples"]:
        row = row_of_sample[sample["sample"]]
        values = contributions.terms[row]
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0]
        largest = order[:MAX_SHOWN_TERMS]
        samples.append(
            {
                **sample,
                "terms": [names[term] for term in largest],
                "contributions": values[largest].tolist(),
                "other_terms": len(order) - len(largest),
                "intercept": contributions.intercepts[row],
            }
        )
    return {**held_out, "samples": samples}


def _held_out_of_several_classes(
    dataset: Dataset, table: pd.DataFrame, classes: Sequence[str]
) -> HeldOut:
    """Return held-out margins of each sample's own class; a margin of at most 0 is an error."""
    import pandas as pd

    table = table.assign(score=class_margins(table, classes))
    labels = dataset.response_kind.label_cells(dataset.obs, dataset.design)
    label_of_sample = dict(zip(dataset.samples, map(str, labels), strict=True))
    samples: list[HeldOutSample] = [
        # A margin above 0 calls the true class, whichever it is.
        _held_out_sample(name, rows, label_of_sample[name], right_sign=1.0)
        for name, rows in _tables_by_sample(dataset, table)
    ]
    true_class = pd.Index(classes).get_indexer(pd.Index(table["label"].astype(str)))
    called = pd.Index(classes).get_indexer(pd.Index(table["predicted"].astype(str)))
    counts = confusion_matrix(true_class, called, len(classes))[:, :-1]  # without those uncalled
    repeats = max(table["repeat"].nunique(), 1)
    held_out: HeldOut = {
        "samples": samples,
        "roc": None,
        "rejection": None,
        "fit": None,
        "confusion": (counts / repeats).tolist(),
    }
    probability_columns = [
        name for name in (f"probability of {class_name}" for class_name in classes) if name in table
    ]
    if probability_columns:
        probabilities = table[probability_columns].to_numpy(dtype=float)
        called_probabilities = probabilities[np.arange(len(called)), called]
        # Without a call, `called` is -1: the probability of any class, not counted.
        held_out["probability"] = called_probabilities[called >= 0].mean()
    return held_out


def _tables_by_sample(dataset: Dataset, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return (sample, rows of the predictions) in the order of the data set."""
    rows = dict(iter(table.groupby("sample")))
    return [(name, rows[name]) for name in dataset.samples if name in rows]


def _held_out_sample(
    name: str, rows: pd.DataFrame, label: Any, right_sign: float | None
) -> HeldOutSample:
    """Return the record of one sample from its rows of the predictions, one a repeat.

    right_sign: ±1, the sign of a score that calls its class; None without classes.
    """
    scores = rows["score"].to_numpy(dtype=float)
    return {
        "sample": name,
        "label": label,
        "scores": scores.tolist(),
        # as the page shows it, so that a reader finds the same rejected calls and r from it
        "mean": rounded(scores.mean(), 4),
        "wrong": None if right_sign is None else int((scores * right_sign <= 0).sum()),
        "tested": len(scores),
    }


def _held_out_probabilities(rows: pd.DataFrame, classes: Sequence[str] | None) -> HeldOutSample:
    """Return the key `probabilities` of the record of a sample; {} if a repeat has none."""
    column = "" if classes is None else f"probability of {classes[1]}"
    if column not in rows or rows[column].isna().any():
        return {}  # type: ignore[typeddict-item]
    return {"probabilities": rows[column].astype(float).tolist()}  # type: ignore[typeddict-item]


def _roc_curve(
    repeat: Any, rows: pd.DataFrame, response_of_sample: dict[str, float]
) -> RepeatRocCurve:
    """Return the ROC curve of a repeat, tied scores as one step; `auc` is None for one class."""
    scores = rows["score"].to_numpy(dtype=float)
    positive = np.array([response_of_sample[name] > 0 for name in rows["sample"]])
    false_positive_rate, true_positive_rate = roc_curve(positive, scores)
    has_both = positive.any() and not positive.all()
    auc = float(np.trapezoid(true_positive_rate, false_positive_rate)) if has_both else None
    return {
        "repeat": repeat,
        "x": false_positive_rate.tolist(),
        "y": true_positive_rate.tolist(),
        "auc": auc,
    }


def _confusion_matrix(
    table: pd.DataFrame, response_of_sample: dict[str, float]
) -> list[list[float]]:
    """Return mean counts per repeat, rows = true class; a score of 0 counts as an error."""
    positive = np.array([response_of_sample[name] > 0 for name in table["sample"]])
    called = called_class(positive, table["score"].to_numpy(dtype=float))
    repeats = max(table["repeat"].nunique(), 1)
    counts = confusion_matrix(positive, called, n_classes=2)[:, :-1]  # all samples are called
    return (counts / repeats).tolist()  # type: ignore[no-any-return]


def _rejection_regions(samples: list[HeldOutSample], classes: Sequence[str]) -> list[RejectionRule]:
    """Return for each class how many of its calls have to be rejected so that none is wrong."""
    y = np.array([1.0 if sample["label"] == classes[1] else -1.0 for sample in samples])
    mean_scores = np.array([sample["mean"] for sample in samples])
    regions: list[RejectionRule] = []
    for sign, name in zip((-1.0, 1.0), classes, strict=True):
        region = rejection(y, mean_scores, sign)
        regions.append(
            {
                "class": name,
                "threshold": region.threshold,
                "wrong": region.wrong,
                "rejected": region.rejected,
                "predicted": region.predicted,
                "share": region.share,
            }
        )
    return regions


def _fit_of_scores(samples: list[HeldOutSample]) -> FitStatistics:
    """Return R² and Pearson's r of the mean held-out scores."""
    observed = np.array([sample["label"] for sample in samples], dtype=float)
    mean_scores = np.array([sample["mean"] for sample in samples], dtype=float)
    r = (
        np.corrcoef(observed, mean_scores)[0, 1]
        if observed.std() > 0 and mean_scores.std() > 0
        else np.nan
    )
    return {"r": r, "r2": 1 - relative_squared_error(observed, mean_scores)}


def grid_warnings(data: Prediction) -> list[str]:
    """Return the warning that the grid of tau may end too early; [] if it does not."""
    grid = data["surface"]
    # tau falls along the grid: the last one selects most genes. A single one is no grid.
    last_tau = len(grid["tau"]) - 1
    n_at_edge = sum(count for tau, _, count in grid["chosen"] if tau == last_tau)
    if last_tau and n_at_edge > data["design"]["outer"] / 2:
        return [
            "Most splits chose the longest lists of the grid; a grid that allows longer ones may do"
            " better."
        ]
    return []


def chance_warnings(data: Prediction) -> list[str]:
    """Return the warning that permutations are missing or too few; [] if they are enough."""
    p = data["answer"]["p"]
    if not p["permutations"]:
        return ["No permutation test was run, so chance is not ruled out."]
    if p["smallest"] > LEVEL:
        return [
            f"With {counted(p['permutations'], 'permutation')} no p below"
            f" {decimal(p['smallest'])} can be reached."
        ]
    return []


def solver_warnings(data: Prediction, observed: Fits) -> list[str]:
    """Return the warning with the number of fits above the requested gap; [] if there are none."""
    gaps = observed.gap[~np.isnan(observed.gap)]
    n_missed = int((gaps > data["config"]["linear"]["tolerance"]).sum())
    if not n_missed:
        return []
    return [
        f"{counted(n_missed, 'fit')} of {gaps.size} did not reach the requested accuracy"
        f" (largest relative duality gap {gaps.max():.1e})."
    ]
