"""The choice of tau and mu by the inner folds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from genesig.optim.structured.blocks import Blocks
from genesig.selection.linear.kinds.known import FITTED
from genesig.selection.linear.tasks import Task
from genesig.selection.sets.ground import Ground
from genesig.selection.sets.protocol import SetsProtocol

Array = np.ndarray[Any, Any]

CRITERION = "squared_error"


@dataclass(frozen=True)
class Choice:
    """Numbers of tau and mu in their grids, and where a score is cut."""

    tau: int
    mu: int
    threshold: float


def choose(
    task: Task, folds: Iterable[Ground], blocks: Blocks, protocol: SetsProtocol
) -> Choice:  # fmt: skip
    """Choose by the error of the samples left out; ties go to the fewest sets.

    Where the first sets of every path are more than `most`, the first tau serves.
    """
    held = zip(folds, task.inner, strict=True)
    scores = np.stack([_scores(ground, blocks, rows, protocol) for ground, rows in held])
    cut = FITTED[task.kind].cut(task, scores)
    error, se = FITTED[task.kind].error(task, scores, cut, CRITERION)
    error = error.round(12)
    if np.isnan(error).all():
        return Choice(0, 0, 0.0)
    best = np.unravel_index(np.nanargmin(error), error.shape)
    bound = (error[best] + se[best] * protocol.one_standard_error).round(12)
    tau = int(np.argmax((error <= bound).any(axis=1)))
    mu = int(np.nanargmin(error[tau]))
    return Choice(tau, mu, float(cut[tau, mu]))


def _scores(ground: Ground, blocks: Blocks, held: Array, protocol: SetsProtocol) -> Array:
    """Return scores (n_tau, n_mu, n_samples); NaN but of the held rows, and where a path ended."""
    tau, mus = protocol.tau_fractions(), protocol.mu_grid()
    out = np.full((len(tau), len(mus), len(ground.Z)), np.nan)
    design = ground.design(blocks)
    for at, mu in enumerate(mus):
        path = ground.path(design, tau, float(mu), protocol.tolerance, protocol.most)
        out[: len(path.tau), at, held] = ground.scores(design, path, held)
    return out
