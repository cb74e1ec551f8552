"""How each kind of response is fitted, and the training sets of tasks as its solver sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from genesig.arrays import Array
from genesig.data.steps.normalise import moment_settings
from genesig.errors import GenesigError
from genesig.genome.order import Genome
from genesig.optim.structured.stretches import Stretches
from genesig.response.design import SEVERAL
from genesig.response.known import ByKind
from genesig.results import Dataset
from genesig.selection.linear.kinds.classification import CLASSIFICATION
from genesig.selection.linear.kinds.record import Fitting, Ground, Sets
from genesig.selection.linear.kinds.regression import REGRESSION
from genesig.selection.linear.kinds.several_classes import SEVERAL_CLASSES
from genesig.selection.linear.kinds.survival import SURVIVAL
from genesig.selection.linear.tasks import LinearSettings, TrainingSet

FITTED: dict[str, Fitting] = ByKind(
    {
        "classification": CLASSIFICATION,
        SEVERAL: SEVERAL_CLASSES,
        "regression": REGRESSION,
        "survival": SURVIVAL,
    }
)


Steps = Sequence[dict[str, Any]]


def outer_sets(
    X: Array,
    folds: Steps,
    dataset: Dataset,
    genes: Array,
    protocol: LinearSettings,
    todo: list[TrainingSet],
    factors: Array | None = None,
) -> Sets:
    """Describe the training sets of tasks that share the matrix X, of some genes, one each.

    Factors (n_omics,) multiply the l1 terms of the genes of each omic.
    """
    Y = np.column_stack([task.y for task in todo])
    rows = np.hstack([task.training_mask() for task in todo])
    weights = dataset.prior_weights(factors)
    kind = FITTED[todo[0].kind]
    ground = Ground(
        **moment_settings(folds),
        ties=todo[0].ties,
        stretches=_stretches(dataset, genes, protocol),
        weights=None if weights is None else weights[genes],
    )
    if ground.stretches is not None and not kind.stretches:
        raise GenesigError(f"linear.penalty: 'fused' is not made for {todo[0].kind}; take l1")
    return kind.sets(X, Y, rows, [task.covariates for task in todo], ground)


def _stretches(dataset: Dataset, genes: Array, protocol: LinearSettings) -> Stretches | None:
    """Return the norm of the penalty fused, for the genes that are columns of a matrix."""
    if protocol.penalty == "l1":
        return None
    names, positions = dataset.places()
    return Stretches(Genome.from_columns(len(genes), names[genes], positions[genes]), protocol.jump)


def inner_sets(todo: list[TrainingSet], outer: Sets) -> Sets:
    """Describe what trains the inner folds of each task, one after the other."""
    folds = np.array([len(task.inner_folds) for task in todo])
    rows = np.hstack([task.inner_training_masks() for task in todo])
    Y = np.repeat(np.column_stack([task.y for task in todo]), folds, axis=1)
    held = [task.covariates for task in todo for _ in task.inner_folds]
    return outer.inner(Y, rows, held, np.repeat(np.arange(len(todo)), folds))
