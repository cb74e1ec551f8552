"""One cell of the benchmark: a group of methods on one data set, one repeat of splits and halves.

    python benchmarks/cell.py DATA GROUP REPEAT --data FOLDER --out FILE [--folds 5] [--pairs 1]

FILE gets a line of JSON for each method with its measures.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from answers_data import Plan, Study, divided_study
from answers_runs import Record, rival_record, run_together
from answers_table import agreement, scores_of_record
from by_glmnet import installed
from questions import question
from rivals import GROUPS, NOT_ODDS, RIVALS
from scipy.special import expit

from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import RiskSets
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.calibration import calibration_line
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

Array = np.ndarray[Any, Any]


def records(group: str, study: Study) -> dict[str, Record]:
    """Return method -> record of the methods of a group that the kind of response has."""
    kind = study.dataset.design.kind
    if group == "genesig":
        return run_together(GROUPS[group], study)
    if group == "glmnet" and not installed():
        print("R with the package glmnet is not here: its methods are left out", file=sys.stderr)
        return {}
    return {
        name: rival_record(RIVALS[kind][name], study)
        for name in GROUPS[group]
        if name in RIVALS[kind]
    }


def brier(y: Array, probabilities: Array) -> float:
    """Return the mean over the classes of their mean squared error of probabilities (n, T).

    y (n,): classes, the smallest of which has the first column.
    """
    _, class_of_sample = np.unique(y, return_inverse=True)
    n_classes = probabilities.shape[1]
    loss = np.square(probabilities - np.eye(n_classes)[class_of_sample]).sum(axis=1)
    return float(np.mean([loss[class_of_sample == c].mean() for c in range(n_classes)]))


def calibration_error(method: str, study: Study, record: Record) -> dict[str, float]:
    """Return the Brier score of classes, or the slope of numbers and of times, at best 1.

    {} for a method whose scores are no log odds.
    """
    y = study.dataset.response()[record.row]
    f = np.array(record.score)
    if study.dataset.design.classes is None:
        return {"slope": _cox_slope(y, f) if y.dtype.names else calibration_line(y, f).slope}
    if method in NOT_ODDS:
        return {}
    probabilities = expit(f) if record.told is None else np.array(record.told)
    return {
        "brier": brier(
            y,
            probabilities
            if probabilities.ndim > 1
            else np.column_stack([1 - probabilities, probabilities]),
        )
    }


def _cox_slope(y: Array, f: Array) -> float:
    """Return the weight of a score in Cox's regression on it alone; NaN for equal scores."""
    if np.ptp(f) == 0:
        return np.nan
    risk = RiskSets.from_times(y["time"], y["event"])
    score = f[risk.order][:, None]
    no_penalised_columns = score[:, :0]
    return float(ridge(risk, no_penalised_columns, score, np.ones(1)).b[0, 0])


def measure_record(method: str, study: Study, record: Record, true: Array | None) -> dict[str, Any]:
    """Return column -> value of the row of a method on one data set.

    true: the informative genes of simulated data; None if they are unknown.
    """
    (n, d) = study.dataset.X.shape
    kind = study.dataset.design.kind
    headline = ASSESSMENT_KINDS[kind].headline
    assessment = assess(scores_of_record(study, record), headline)[0]
    out: dict[str, Any] = {
        "kind": kind,
        "method": method,
        "samples": n,
        "all_genes": d,
        "measure": headline.name,
        "error": assessment.error,
        "auc": assessment.auc,
        **calibration_error(method, study, record),
    }
    if record.lists is not None:
        out["genes"] = float(np.median([len(genes) for genes in record.lists]))
        if true is not None:
            false = [np.setdiff1d(genes, true) for genes in record.lists]
            out["false_genes"] = float(np.mean([len(genes) for genes in false]))
            out["true_genes"] = float(np.mean([*map(len, record.lists)])) - out["false_genes"]
    if record.again is not None:
        out["stability"] = agreement(record.again, d)[0]
    return out | {
        "seconds": record.seconds,
        "memory_mb": record.memory,
        "warnings": sum(record.warnings.values()),
    }


def rows(data: str, group: str, repeat: int, plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Return a row of measures for each method of the cell."""
    dataset, true = question(data, folder, repeat)
    study = divided_study(dataset, replace(plan, repeats=1, seed=repeat))
    cell_columns = {"data": data, "repeat": repeat, "folds": plan.folds, "pairs": plan.pairs}
    return [
        {**cell_columns, **measure_record(method, study, record, true)}
        for method, record in records(group, study).items()
    ]


def main() -> None:
    """Run one cell and write it, whole or not at all."""
    asks = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asks.add_argument("name")
    asks.add_argument("group", choices=GROUPS)
    asks.add_argument("repeat", type=int)
    asks.add_argument("--data", type=Path, required=True)
    asks.add_argument("--out", type=Path, required=True)
    asks.add_argument("--folds", type=int, default=5)
    asks.add_argument("--pairs", type=int, default=1)
    arguments = asks.parse_args()
    plan = Plan(folds=arguments.folds, inner_folds=arguments.folds, pairs=arguments.pairs)
    cell_rows = rows(arguments.name, arguments.group, arguments.repeat, plan, arguments.data)
    part = arguments.out.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in cell_rows), encoding="utf-8")
    part.replace(arguments.out)


if __name__ == "__main__":
    sys.exit(main())
