"""The loops of the linear protocol, called by data set, splits, fold steps and single settings."""

from __future__ import annotations

from genesig.selection.linear import half_samples
from genesig.selection.linear import nested_cross_validation as loops
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy


def nested_cross_validation(
    dataset, splits, half_sample_study=None, *, labels, batch, fold_steps, **linear
):
    """Return the fits of a batch of outer splits."""
    study = PreparedStudy(dataset, splits, fold_steps)
    settings = LinearSettings(**linear)
    return loops.nested_cross_validation(
        study, settings, half_sample_study, labels=labels, batch=batch
    )


def fit_final_model(dataset, splits, half_sample_study=None, *, fold_steps, **linear):
    """Return the fit of all samples."""
    study = PreparedStudy(dataset, splits, fold_steps)
    return loops.fit_final_model(study, LinearSettings(**linear), half_sample_study)


def fit_half_samples(dataset, splits, half_sample_study=None, *, fold_steps, **linear):
    """Return the fits of the half-subsamples."""
    study = PreparedStudy(dataset, splits, fold_steps)
    return loops.fit_half_samples(study, LinearSettings(**linear), half_sample_study)


def study_half_samples(dataset, splits, *, permutations, fold_steps, **linear):
    """Return the half-sample lists under observed and under permuted labels."""
    study = PreparedStudy(dataset, splits, fold_steps)
    settings = LinearSettings(**linear)
    return half_samples.study_half_samples(study, settings, permutations=permutations)
