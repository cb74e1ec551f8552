"""The part of report_data.json about errors, chance and model selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pandas as pd

from genesig.report.page.measure import MEASURES
from genesig.report.page.record import (
    Curve,
    Fit,
    HeldOut,
    HeldOutSample,
    Null,
    Rejection,
    Study,
    plain,
    rounded,
)
from genesig.report.page.tables import at_mu, own_margins
from genesig.report.page.words import counted, decimal
from genesig.selection.assess.calibration import rejection
from genesig.selection.assess.scores import relative_squared_error

if TYPE_CHECKING:
    from genesig.results import Dataset, Fits


class Surface(TypedDict):
    """The validation error over tau and the ``rows``, mean over the outer splits.

    The rows are values of mu, each at its best lam, where several were searched, else of lam
    (``along``). ``error`` is rows × n_tau, ``size`` the number of genes, searched mu × n_tau; null
    where a split's list was longer than can be chosen. ``chosen`` has [tau number, row, splits],
    ``final`` [tau number, row] of the final model.
    """

    tau: list[float]
    along: str
    rows: list[float]
    error: list[list[float | None]]
    size: list[list[float | None]]
    chosen: list[list[int]]
    final: list[int]


class Prediction(Study):
    """How the model was selected, beside what every topic may read."""

    surface: Surface


def surface(observed: Fits, final: Fits) -> Surface:
    """Average the validation error over the outer splits, and count the chosen points.

    Over mu and tau, each with its best lam, where several mu were searched; else over lam and tau.
    """
    several = len(observed.searched) > 1
    error = observed.cv_error.min(axis=3) if several else observed.cv_error[:, 0].swapaxes(1, 2)
    places = [_place(observed, fit, several) for fit in range(len(observed))]
    chosen = Counter(places)
    return {
        "tau": rounded(observed.tau, 4),
        "along": "mu" if several else "lam",
        "rows": rounded(observed.searched if several else observed.lam, 4),
        "error": rounded(error.mean(axis=0), 4),
        "size": rounded(observed.cv_size.mean(axis=0), 4),
        "chosen": [[tau, row, count] for (tau, row), count in sorted(chosen.items())],
        "final": list(_place(final, 0, several)),
    }


def _place(fits: Fits, fit: int, several: bool) -> tuple[int, int]:
    """Return the numbers of tau and of the row of the surface that a fit chose."""
    tau, lam, mu = (int(index) for index in fits.choice[fit])
    return tau, int(np.argmin(np.abs(fits.searched - fits.mu[mu]))) if several else lam


def null_errors(null: Mapping[str, Any], controls: pd.DataFrame) -> Null:
    """Return the errors of the permutations with their chosen lists, and the observed one."""
    errors = np.asarray(null["error"], dtype=float)
    own = controls[(controls["model"] == "genesig") & at_mu(controls, None)]
    return {
        "errors": rounded(errors[np.isfinite(errors[:, -1]), -1], 5) if errors.size else [],
        "observed": rounded(own["error"].iloc[0], 5) if len(own) else None,
    }


def held_out(dataset: Dataset, predictions: pd.DataFrame) -> HeldOut:
    """Sum up the scores that samples got while they were held out, from the chosen lists."""
    table, classes = predictions[at_mu(predictions, None)], dataset.design.classes
    if classes is not None and len(classes) > 2:
        return _of_several(dataset, table, classes)
    truth = dict(zip(dataset.samples, dataset.plain().tolist(), strict=True))
    two, fitted = classes is not None, MEASURES[dataset.design.kind].fitted
    samples = [_sample(name, rows, truth, classes) | _probable(rows, classes)
               for name, rows in _by_sample(dataset, table)]  # fmt: skip
    if not (two or fitted):  # the score estimates nothing that could stand beside it
        shown = dict(zip(dataset.samples, dataset.kind.label_cells(dataset.obs, dataset.design),
                         strict=True))  # fmt: skip
        samples = [{**one, "label": str(shown[one["sample"]])} for one in samples]
    return {
        "samples": samples,
        "roc": [_roc(repeat, rows, truth) for repeat, rows in table.groupby("repeat")]
        if two else None,
        "confusion": _confusion(table, truth) if two else None,
        "rejection": _rejection(samples, classes) if classes is not None else None,
        "fit": _fit(samples) if fitted else None,
    }  # fmt: skip


def with_shrinkage(tested: HeldOut, final: Fits) -> HeldOut:
    """Add the shrinkage of the final model's line of the probabilities, where it has one."""
    shrinkage = final.with_chosen().shrinkage
    if shrinkage is None:
        return tested
    return {**tested, "shrinkage": rounded(shrinkage[0], 4)}


def _of_several(dataset: Dataset, table: pd.DataFrame, classes: Sequence[str]) -> HeldOut:
    """Score samples by the margin of their own class: what is wrong is not above 0."""
    table = table.assign(score=own_margins(table, classes))
    label = dataset.kind.label_cells(dataset.obs, dataset.design)
    right = dict.fromkeys(dataset.samples, 1.0)
    own = dict(zip(dataset.samples, map(str, label), strict=True))
    samples: list[HeldOutSample] = [
        {**_sample(name, rows, right, ("", "")), "label": own[name]}
        for name, rows in _by_sample(dataset, table)
    ]
    seen = pd.crosstab(table["label"].astype(str), table["predicted"].astype(str))
    counts = seen.reindex(index=list(classes), columns=list(classes), fill_value=0)
    repeats = max(table["repeat"].nunique(), 1)
    found: HeldOut = {"samples": samples, "roc": None, "rejection": None, "fit": None,
                      "confusion": rounded(counts.to_numpy() / repeats, 4)}  # fmt: skip
    told = [name for name in (f"probability of {each}" for each in classes) if name in table]
    if told:
        called = pd.Index(classes).get_indexer(pd.Index(table["predicted"].astype(str)))
        each = table[told].to_numpy(dtype=float)[np.arange(len(called)), called]
        found["probability"] = rounded(each[called >= 0].mean(), 4)
    return found


def _by_sample(dataset: Dataset, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    rows = dict(iter(table.groupby("sample")))
    return [(name, rows[name]) for name in dataset.samples if name in rows]


def _sample(
    name: str, rows: pd.DataFrame, truth: dict[str, float], classes: Sequence[str] | None
) -> HeldOutSample:
    scores = rows["score"].to_numpy(dtype=float)
    label = truth[name] if classes is None else classes[int(truth[name] > 0)]
    return {
        "sample": name,
        "label": label,
        "scores": rounded(scores, 4),
        "mean": rounded(scores.mean(), 4),
        "wrong": None if classes is None else int((scores * truth[name] <= 0).sum()),
        "tested": len(scores),
    }


def _probable(rows: pd.DataFrame, classes: Sequence[str] | None) -> HeldOutSample:
    """Return the probabilities of the positive of two classes, where the table has these."""
    column = "" if classes is None else f"probability of {classes[1]}"
    if column not in rows or rows[column].isna().any():
        return {}  # type: ignore[typeddict-item]
    return {"probabilities": rounded(rows[column], 5)}  # type: ignore[typeddict-item]


def _roc(repeat: Any, rows: pd.DataFrame, truth: dict[str, float]) -> Curve:
    """Trace (false, true) positive rates over falling thresholds; tied scores are one step."""
    score = rows["score"].to_numpy(dtype=float)
    positive = np.array([truth[name] > 0 for name in rows["sample"]])
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    totals = [(~positive).sum(), positive.sum()]
    curve = [
        np.concatenate([[0.0], np.cumsum(hits[order])[last] / max(total, 1)])
        for hits, total in zip((~positive, positive), totals, strict=True)
    ]
    auc = None if 0 in totals else rounded(np.trapezoid(curve[1], curve[0]), 4)
    return {
        "repeat": plain(repeat), "x": rounded(curve[0], 4), "y": rounded(curve[1], 4), "auc": auc
    }  # fmt: skip


def _confusion(table: pd.DataFrame, truth: dict[str, float]) -> list[list[float]]:
    """Return mean counts per repeat, rows = true class; a score of 0 counts as an error."""
    y = np.array([truth[name] for name in table["sample"]])
    correct = table["score"].to_numpy(dtype=float) * y > 0
    repeats = max(table["repeat"].nunique(), 1)
    counts = np.array(
        [[((y == true) & (correct == (true == said))).sum() for said in (-1, 1)]
         for true in (-1, 1)]
    )  # fmt: skip
    return rounded(counts / repeats, 4)  # type: ignore[no-any-return]


def _rejection(samples: list[HeldOutSample], classes: Sequence[str]) -> list[Rejection]:
    y = np.array([1.0 if one["label"] == classes[1] else -1.0 for one in samples])
    mean = np.array([one["mean"] for one in samples])
    found: list[Rejection] = []
    for side, name in zip((-1.0, 1.0), classes, strict=True):
        one = rejection(y, mean, side)
        found.append({"class": name, "threshold": rounded(one.threshold, 4), "wrong": one.wrong,
                      "rejected": one.rejected, "predicted": one.predicted,
                      "share": rounded(one.share, 4)})  # fmt: skip
    return found


def _fit(samples: list[HeldOutSample]) -> Fit:
    """R² and Pearson's r of the mean held-out scores."""
    y = np.array([one["label"] for one in samples], dtype=float)
    f = np.array([one["mean"] for one in samples], dtype=float)
    r = np.corrcoef(y, f)[0, 1] if y.std() > 0 and f.std() > 0 else np.nan
    return {"r": rounded(r, 4), "r2": rounded(1 - relative_squared_error(y, f), 4)}


def grid_warnings(data: Prediction) -> list[str]:
    """Say that the grid of tau may end too early."""
    surface = data["surface"]
    last = len(surface["tau"]) - 1
    edge = sum(count for tau, _, count in surface["chosen"] if tau == last)
    if last and edge > data["design"]["outer"] / 2:
        return [
            "Most splits chose the longest lists of the grid; a grid that allows longer ones may do"
            " better."
        ]
    return []


def chance_warnings(data: Prediction) -> list[str]:
    """Say that chance was not ruled out, or could not have been."""
    p = data["answer"]["p"]
    if not p["permutations"]:
        return ["No permutation test was run, so chance is not ruled out."]
    if p["smallest"] > 0.05:
        return [
            f"With {counted(p['permutations'], 'permutation')} no p below"
            f" {decimal(p['smallest'])} can be reached."
        ]
    return []


def solver_warnings(data: Prediction, observed: Fits) -> list[str]:
    """Count the fits that did not reach the requested accuracy."""
    gap = observed.gap[~np.isnan(observed.gap)]
    missed = int((gap > data["config"]["linear"]["tolerance"]).sum())
    if not missed:
        return []
    return [
        f"{counted(missed, 'fit')} of {gap.size} did not reach the requested accuracy"
        f" (largest relative duality gap {gap.max():.1e})."
    ]
