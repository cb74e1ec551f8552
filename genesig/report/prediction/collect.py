"""The part of report_data.json about samples, splits, errors and model selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from genesig.report.page.rounding import plain, rounded
from genesig.report.page.rows import at_mu
from genesig.report.page.thinning import MOST_SAMPLES, spread
from genesig.selection.assess.rejection import rejection
from genesig.selection.assess.scores import relative_squared_error

if TYPE_CHECKING:
    from genesig.results import Dataset, Fits, Splits

Array = np.ndarray[Any, Any]

MOST_NAMES = 30


def study(dataset: Dataset) -> dict[str, Any]:
    """Say what was studied and what was left out, with its reason.

    ``exchanged`` is what a permutation exchanges: "samples", samples "within" groups whose label
    varies, whole "groups" of one label, or "both".
    """
    design, notes = dataset.design, dataset.provenance
    y, kept = dataset.response(), spread(len(dataset.samples), MOST_SAMPLES)
    counts = None if design.classes is None else [int((y == s).sum()) for s in (-1, 1)]
    return {
        "label": design.label,
        "task": design.task,
        "classes": plain(design.classes),
        "counts": counts,
        "group": design.group,
        "pair": design.pair,
        "groups": None if design.group is None else len(set(dataset.groups())),  # type: ignore[arg-type]
        "exchanged": _exchanged(dataset),
        "samples": len(dataset.samples),
        "genes": len(dataset.genes),
        "inputs": plain(notes.get("inputs", {})),
        "steps": plain(notes.get("steps", [])),
        "dropped": _dropped(notes.get("dropped", [])),
        "response": {
            "name": [dataset.samples[row] for row in kept],
            "value": rounded(y[kept], 5),
        },
    }


def _exchanged(dataset: Dataset) -> str:
    groups = dataset.groups()
    if groups is None:
        return "samples"
    y = dataset.response()
    several = [np.ptp(y[groups == group]) > 0 for group in set(groups)]
    return "within" if all(several) else "both" if any(several) else "groups"


def _dropped(dropped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in dropped:
        groups.setdefault((str(one["kind"]), str(one["reason"])), []).append(str(one["name"]))
    return [
        {"kind": kind, "reason": reason, "count": len(names), "names": names[:MOST_NAMES]}
        for (kind, reason), names in groups.items()
    ]


def design(splits: Splits) -> dict[str, Any]:
    """Say how the samples were divided."""
    train, test = ([len(getattr(s, side)) for s in splits.outer] for side in ("train", "test"))
    inner = [len(s.inner) for s in splits.outer]
    return {
        "scheme": splits.scheme,
        "inner_scheme": splits.inner_scheme,
        "seed": splits.seed,
        "outer": len(splits.outer),
        "repeats": len({split.repeat for split in splits.outer}),
        "inner": [min(inner), max(inner)],
        "subsamples": len(splits.subsamples),
        "train": [min(train), max(train)],
        "test": [min(test), max(test)],
    }


def surface(observed: Fits, final: Fits) -> dict[str, Any]:
    """Average the validation error over the outer splits, and count the chosen points."""
    chosen = Counter((int(tau), int(lam)) for tau, lam in observed.choice)
    return {
        "tau": rounded(observed.tau, 4),
        "lam": rounded(observed.lam, 4),
        "error": rounded(observed.cv_error.mean(axis=0), 4),
        "size": rounded(observed.cv_size.mean(axis=0), 4),
        "chosen": [[tau, lam, count] for (tau, lam), count in sorted(chosen.items())],
        "final": [int(index) for index in final.choice[0]],
    }


def null_errors(
    null: Mapping[str, Any], controls: pd.DataFrame, mu: float, at: int
) -> dict[str, Any]:
    """Return the errors of the permutations at one mu, and the observed one."""
    errors = np.asarray(null["error"], dtype=float)
    own = controls[(controls["model"] == "genesig") & at_mu(controls, mu)]
    return {
        "errors": rounded(errors[np.isfinite(errors[:, at]), at], 5) if errors.size else [],
        "observed": rounded(own["error"].iloc[0], 5) if len(own) else None,
    }


def held_out(dataset: Dataset, predictions: pd.DataFrame, mu: float) -> dict[str, Any]:
    """Sum up the scores that samples got while they were held out, at one mu."""
    table = predictions[at_mu(predictions, mu)]
    classes = dataset.design.classes
    truth = dict(zip(dataset.samples, dataset.response().tolist(), strict=True))
    samples = [_sample(name, rows, truth, classes) for name, rows in _by_sample(dataset, table)]
    two = classes is not None
    return {
        "samples": samples,
        "roc": [_roc(repeat, rows, truth) for repeat, rows in table.groupby("repeat")]
        if two else None,
        "confusion": _confusion(table, truth) if two else None,
        "rejection": _rejection(samples, classes) if classes is not None else None,
        "fit": None if two else _fit(samples),
    }  # fmt: skip


def _by_sample(dataset: Dataset, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    rows = dict(iter(table.groupby("sample")))
    return [(name, rows[name]) for name in dataset.samples if name in rows]


def _sample(
    name: str, rows: pd.DataFrame, truth: dict[str, float], classes: tuple[str, str] | None
) -> dict[str, Any]:
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


def _roc(repeat: Any, rows: pd.DataFrame, truth: dict[str, float]) -> dict[str, Any]:
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


def _rejection(samples: list[dict[str, Any]], classes: tuple[str, str]) -> list[dict[str, Any]]:
    y = np.array([1.0 if one["label"] == classes[1] else -1.0 for one in samples])
    mean = np.array([one["mean"] for one in samples])
    found = []
    for side, name in zip((-1.0, 1.0), classes, strict=True):
        one = rejection(y, mean, side)
        found.append({
            "class": name,
            "threshold": rounded(one.threshold, 4),
            "wrong": one.wrong,
            "rejected": one.rejected,
            "predicted": one.predicted,
            "share": rounded(one.share, 4),
        })  # fmt: skip
    return found


def _fit(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """R² and Pearson's r of the mean held-out scores."""
    y, f = (np.array([one[key] for one in samples], dtype=float) for key in ("label", "mean"))
    r = np.corrcoef(y, f)[0, 1] if y.std() > 0 and f.std() > 0 else np.nan
    return {"r": rounded(r, 4), "r2": rounded(1 - relative_squared_error(y, f), 4)}
