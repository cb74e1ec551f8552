"""Scores of samples that had no part in the choice of settings, and probabilities by them.

The settings of smallest error were chosen by the samples left out of all inner folds, so that the
scores of these look better than they are: a line fitted to them would state probabilities too far
from each other. Here the folds of a sample have no say in what scores it. Nothing is fitted anew.

The test samples of a split have no part in it: with labels of theirs, even through other splits,
scores that know nothing would seem to be worth something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from genesig.optim.class_line import fitted_line
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.tasks import Task

Array = np.ndarray[Any, Any]


Choose = Callable[[Task, Array], tuple[Array, Any]]


PARTS = 5


"""Most parts into which the inner folds are dealt: each chooses once without itself."""


def unseen(task: Task, choose: Choose) -> Array | None:
    """Return the score of each training sample, less the cut, (n, ...), else NaN.

    None without classes, and under permuted labels, of which no probability is told.

    Parameters
    ----------
    task : Task
    choose : callable
        The task without some of its folds, and the numbers of the others, to the scores
        (n_folds, n, ...) of all samples by each fold at what these choose, and where it is cut.
    """
    kind, folds = FITTED[task.kind], np.arange(len(task.inner))
    if kind.by_class is None or task.permutation:
        return None
    found = None
    for part in range(min(PARTS, len(folds))):
        scores, cut = choose(*_without(task, folds[folds % PARTS != part]))
        found = np.full(scores.shape[1:], np.nan) if found is None else found
        for fold in folds[folds % PARTS == part]:
            rows = task.inner[fold]
            found[rows] = kind.told(scores[fold, rows], cut)
    return found


def _without(task: Task, others: Array) -> tuple[Task, Array]:
    """Return the task of some folds and their numbers; of all folds, where these lack a class."""
    inner = tuple(task.inner[fold] for fold in others)
    rows = np.concatenate([*inner, np.zeros(0, dtype=np.int64)])
    if len(np.unique(task.y[rows])) < len(np.unique(task.y[task.train])):
        return task, np.arange(len(task.inner))
    return replace(task, train=np.sort(rows), inner=inner), others


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
