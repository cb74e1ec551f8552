"""What each kind of response tells the penalty on sets: responses, or risk sets and a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from genesig.optim.classes import coded, shares
from genesig.optim.cox.risk_sets import USUAL, RiskSets
from genesig.response.design import SEVERAL
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


class Told(NamedTuple):
    """Responses Y (n, T) of some training rows, centred; what was taken off, (T,); risk sets."""

    Y: Array
    mean: Array
    risk: RiskSets | None = None


def numbers(task: Task, rows: Array) -> Told:
    """Take two classes as -1 and 1, or numbers."""
    y = task.y[rows]
    return Told((y - y.mean())[:, None], np.array([y.mean()]))


def columns(task: Task, rows: Array) -> Told:
    """Make a column of each class, over the root of its share in the training set of the task."""
    outer = task.training_rows()
    share = shares(task.y[:, None], outer, int(task.y.max()) + 1)
    Y = coded(task.y[rows][:, None], share)[:, 0]
    return Told(Y - Y.mean(axis=0), Y.mean(axis=0))


def gradient(task: Task, rows: Array) -> Told:
    """Take -(n/2) times the gradient of Cox's partial likelihood at 0, and the risk sets."""
    y = task.y[rows]
    risk = RiskSets.of(y["time"], y["event"], task.ties or USUAL)
    Y = np.empty((len(y), 1))
    Y[risk.order, 0] = -len(y) / 2 * risk.gradient(risk.shares(np.zeros(len(y))))
    return Told(Y, np.zeros(1), risk)


TOLD: dict[str, Callable[[Task, Array], Told]] = {
    "classification": numbers,
    SEVERAL: columns,
    "regression": numbers,
    "survival": gradient,
}
