"""Fitting of each kind of outcome; elastic nets of training sets and of their inner folds."""

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
from genesig.selection.linear.kinds.classification import CLASSIFICATION_FITTING
from genesig.selection.linear.kinds.record import ElasticNets, Fitting, MatrixSettings
from genesig.selection.linear.kinds.regression import REGRESSION_FITTING
from genesig.selection.linear.kinds.several_classes import SEVERAL_CLASSES_FITTING
from genesig.selection.linear.kinds.survival import SURVIVAL_FITTING
from genesig.selection.linear.training_sets import LinearSettings, TrainingSet

FITTINGS: dict[str, Fitting] = ByKind(
    {
        "classification": CLASSIFICATION_FITTING,
        SEVERAL: SEVERAL_CLASSES_FITTING,
        "regression": REGRESSION_FITTING,
        "survival": SURVIVAL_FITTING,
    }
)


FoldSteps = Sequence[dict[str, Any]]


def outer_elastic_nets(
    X: Array,
    fold_steps: FoldSteps,
    dataset: Dataset,
    genes: Array,
    settings: LinearSettings,
    training_sets: list[TrainingSet],
    omic_factors: Array | None = None,
) -> ElasticNets:
    """Return the elastic nets of training sets that share the matrix X of some genes.

    `omic_factors` (n_omics,) multiply the l1 terms of the genes of each omic.
    """
    kind_name = training_sets[0].kind
    kind = FITTINGS[kind_name]
    penalty_factors = dataset.prior_weights(omic_factors)
    matrix_settings = MatrixSettings(
        **moment_settings(fold_steps),
        ties=training_sets[0].ties,
        fusion=_fusion_penalty(dataset, genes, settings),
        penalty_factors=None if penalty_factors is None else penalty_factors[genes],
    )
    if matrix_settings.fusion is not None and not kind.allows_fusion:
        raise GenesigError(f"linear.penalty: 'fused' is not made for {kind_name}; take l1")
    return kind.elastic_nets(
        X,
        np.column_stack([training_set.y for training_set in training_sets]),
        np.hstack([training_set.training_mask() for training_set in training_sets]),
        [training_set.covariates for training_set in training_sets],
        matrix_settings,
    )


def _fusion_penalty(dataset: Dataset, genes: Array, settings: LinearSettings) -> Stretches | None:
    """Return the norm of the penalty ``fused`` for the genes of a matrix; None for l1."""
    if settings.penalty == "l1":
        return None
    chromosomes, positions = dataset.places()
    genome = Genome.from_columns(len(genes), chromosomes[genes], positions[genes])
    return Stretches(genome, settings.jump)


def inner_elastic_nets(training_sets: list[TrainingSet], outer: ElasticNets) -> ElasticNets:
    """Return the elastic nets of the rows that train each inner fold of each set, in order."""
    n_folds = np.array([len(training_set.inner_folds) for training_set in training_sets])
    parent = np.repeat(np.arange(len(training_sets)), n_folds)
    Y = np.column_stack([training_set.y for training_set in training_sets])
    rows = np.hstack([training_set.inner_training_masks() for training_set in training_sets])
    covariates = [training_sets[number].covariates for number in parent]
    return outer.inside(Y[:, parent], rows, covariates, parent)
