"""The line from scores to probabilities of each training set, by its own left-out samples.

The test samples of a split have no part in it: with labels of theirs, even through other splits,
scores that know nothing would seem to be worth something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.optim.class_line import fitted_line
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


def class_lines(todo: Sequence[Task], unseen: Sequence[Array | None]) -> Array | None:
    """Return the line (k, T + 1) of each task, see `fitted_line`; None without any scores.

    NaN where a task has none.

    Parameters
    ----------
    todo : list of Task
    unseen : list of (n, ...) float or None
        Scores of each, see `unseen.unseen`.
    """
    kind = FITTED[todo[0].kind]
    if kind.by_class is None:
        return None
    pairs = zip(todo, unseen, strict=True)
    found = [None if f is None else _line(task, kind.by_class(f)) for task, f in pairs]
    known = next((len(each) for each in found if each is not None), None)
    if known is None:
        return None
    return np.stack([np.full(known, np.nan) if each is None else each for each in found])


def _line(task: Task, f: Array) -> Array:
    known = ~np.isnan(f).any(axis=1)
    y = task.y[known]
    return fitted_line(f[known], (y > 0 if FITTED[task.kind].signs else y).astype(np.int64))
