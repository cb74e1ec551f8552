"""Run one cell of the benchmark: a group of methods on one data set, in one repeat of the splits.

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
from answers_data import Plan, Study, split_study
from answers_rivals import balanced_mean
from answers_runs import Record, rival_record, run_together
from answers_table import agreement, scores_of_record
from by_glmnet import is_glmnet_installed
from questions import read_question
from rivals import GROUPS, NOT_ODDS, RIVALS
from scipy.special import expit

from genesig.optim.cox.path import ridge
from genesig.optim.cox.risk_sets import RiskSets
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.calibration import calibration_line
from genesig.selection.assess.kinds import ASSESSMENT_KINDS

Array = np.ndarray[Any, Any]


def run_group(group: str, study: Study) -> dict[str, Record]:
    """Return method -> record of the methods of a group that exist for the kind of response."""
    kind = study.dataset.design.kind
    if group == "genesig":
        return run_together(GROUPS[group], study)
    if group == "glmnet" and not is_glmnet_installed():
        print("R or its package glmnet is not installed: no glmnet methods", file=sys.stderr)
        return {}
    return {
        name: rival_record(RIVALS[kind][name], study)
        for name in GROUPS[group]
        if name in RIVALS[kind]
    }


def brier(y: Array, probabilities: Array) -> float:
    """Return the Brier score with classes of equal weight.

    y (n,): classes; probabilities (n, T): of the classes in ascending order.
    """
    _, class_of_sample = np.unique(y, return_inverse=True)
    loss = np.square(probabilities - np.eye(probabilities.shape[1])[class_of_sample]).sum(axis=1)
    return balanced_mean(y, loss)


def measure_calibration(method: str, study: Study, record: Record) -> dict[str, float]:
    """Return the Brier score of classes, or the calibration slope of numbers and times.

    {} for a method whose scores are no log odds.
    """
    y = study.dataset.response()[record.row]
    f = np.array(record.score)
    if study.dataset.design.classes is None:
        return {"slope": _cox_slope(y, f) if y.dtype.names else calibration_line(y, f).slope}
    if method in NOT_ODDS:
        return {}
    probabilities = expit(f) if record.probabilities is None else np.array(record.probabilities)
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1 - probabilities, probabilities])
    return {"brier": brier(y, probabilities)}


def _cox_slope(y: Array, f: Array) -> float:
    """Return the coefficient of scores f in Cox's regression on f alone; NaN for equal scores."""
    if np.ptp(f) == 0:
        return np.nan
    risk = RiskSets.from_times(y["time"], y["event"])
    score = f[risk.order][:, None]
    no_penalised_columns = score[:, :0]
    return float(ridge(risk, no_penalised_columns, score, np.ones(1)).b[0, 0])


def measure_record(
    method: str, study: Study, record: Record, informative: Array | None
) -> dict[str, Any]:
    """Return the row (column -> value) of a method on one data set.

    informative: columns of the informative genes; None if they are unknown.
    """
    (n, d) = study.dataset.X.shape
    kind = study.dataset.design.kind
    headline = ASSESSMENT_KINDS[kind].headline
    assessment = assess(scores_of_record(study, record), headline)[0]
    row: dict[str, Any] = {
        "kind": kind,
        "method": method,
        "samples": n,
        "all_genes": d,
        "measure": headline.name,
        "error": assessment.error,
        "auc": assessment.auc,
        **measure_calibration(method, study, record),
    }
    if record.lists is not None:
        lengths = [len(genes) for genes in record.lists]
        row["genes"] = float(np.median(lengths))
        if informative is not None:
            n_false = [len(np.setdiff1d(genes, informative)) for genes in record.lists]
            row["false_genes"] = float(np.mean(n_false))
            row["true_genes"] = float(np.mean(lengths)) - row["false_genes"]
    if record.half_lists is not None:
        row["stability"] = agreement(record.half_lists, d)[0]
    return row | {
        "seconds": record.seconds,
        "memory_mb": record.memory,
        "warnings": sum(record.warnings.values()),
    }


def run_cell(data: str, group: str, repeat: int, plan: Plan, folder: Path) -> list[dict[str, Any]]:
    """Return a row of measures for each method of the cell; `folder` has the published data."""
    dataset, informative = read_question(data, folder, repeat)
    study = split_study(dataset, replace(plan, repeats=1, seed=repeat))
    cell_columns = {"data": data, "repeat": repeat, "folds": plan.folds, "pairs": plan.pairs}
    return [
        {**cell_columns, **measure_record(method, study, record, informative)}
        for method, record in run_group(group, study).items()
    ]


def main() -> None:
    """Run one cell and write its rows, all of them or none."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("repeat", type=int)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1)
    arguments = parser.parse_args()
    plan = Plan(folds=arguments.folds, inner_folds=arguments.folds, pairs=arguments.pairs)
    rows = run_cell(arguments.name, arguments.group, arguments.repeat, plan, arguments.data)
    part = arguments.out.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    part.replace(arguments.out)


if __name__ == "__main__":
    sys.exit(main())
